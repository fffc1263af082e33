// Parameters: the options of mutual information, described once.
#include "pleat/mutual_information/kernel/null_sums.h"
#include "pleat/mutual_information/mutual_information.h"

namespace pleat::mutual_information {

namespace {

std::vector<Field> null_fields(Parameters& p) {
    return {{.name = "order",
             .target = &p.order,
             .help = "Columns taken together: 2, pairs; 3, pairs and triples",
             .min = 2,
             .max = 3},
            {.name = "null",
             .target = &p.null,
             .help = "What MI is compared with, columns permuted independently: exact (mean and "
                     "variance without sampling), sampled (shuffles), both, none",
             .choices = {"sampled", "exact", "both", "none"}},
            {.name = "shuffles",
             .target = &p.shuffles,
             .help = "Shuffles of all columns",
             .letter = 'n',
             .min = 1,
             .max = static_cast<double>(kMostShuffles)},
            {.name = "triple-variance",
             .target = &p.triple_variance,
             .help = "Compute the exact variance of triples, and their Z",
             .negated_flag = true}};
}

std::vector<Field> count_fields(Parameters& p) {
    return {
        {.name = "gaps",
         .target = &p.gaps,
         .help = "Gaps as a symbol like all others, or rows with a gap in either column left out "
                 "(pairs without sampling only)",
         .choices = {"symbol", "omit"}},
        {.name = "weights",
         .target = &p.weights,
         .help = "Weight sequences by the number of their near copies (pairs without exact null "
                 "only)"},
        {.name = "identity",
         .target = &p.identity,
         .help = "Identity above which sequences share their weight",
         .letter = 'w',
         .min = 0,
         .max = 1},
        {.name = "pseudocount",
         .target = &p.pseudocount,
         .help = "Added to every cell of a table (pairs without exact null only)",
         .unit = "sequences",
         .min = 0,
         .max = 1e6},
        {.name = "min-entropy",
         .target = &p.least_entropy,
         .help =
             "Flag columns of a smaller entropy in columns.tsv, and leave triples with one out of "
             "the ranking",
         .unit = "bits",
         .min = 0}};
}

std::vector<Field> list_fields(Parameters& p) {
    return {
        {.name = "top",
         .target = &p.top,
         .help = "Pairs and triples that the tables list",
         .letter = 'k',
         .min = 1,
         .max = 1e8},
        {.name = "by",
         .target = &p.by,
         .help =
             "Number that ranks triples: mi, z (exact), sampled_z, percentile, synergy (minus the "
             "co-information) or excess (over what pairs explain); by default the first there is "
             "of z, sampled_z, mi",
         .choices = {"", "mi", "z", "sampled_z", "percentile", "synergy", "excess"}},
        {.name = "threshold",
         .target = &p.threshold,
         .help = "Of pairs, list none with a smaller Z (MIp without a null); with --order 3, keep "
                 "all triples of at least this value of the number that ranks them, and list no "
                 "other",
         .automatic = "none"},
        {.name = "all", .target = &p.all, .help = "Keep every triple in triples.npz"}};
}

}  // namespace

std::vector<Field> fields(Parameters& p) {
    std::vector<Field> all;
    for (const std::vector<Field>& part : {null_fields(p), count_fields(p), list_fields(p)})
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

}  // namespace pleat::mutual_information
