// Parameters: the options of mutual information, described once.
#include "pleat/mutual_information/kernel/kernel.h"
#include "pleat/mutual_information/mutual_information.h"

namespace pleat::mutual_information {

namespace {

std::vector<Field> null_fields(Parameters& p) {
    return {
        {.name = "order",
         .target = &p.order,
         .help = "Number of columns taken together: 2 for pairs; 3 for pairs and triples",
         .min = 2,
         .max = 3},
        {.name = "null",
         .target = &p.null,
         .help = "Null model, in which columns are permuted independently: exact (mean and "
                 "variance over all permutations), sampled (random shuffles), both, or none; auto: "
                 "exact, and with --shuffles both; tree: alignments that evolve along a tree of "
                 "the sequences instead, for related sequences"},
        {.name = "shuffles",
         .target = &p.shuffles,
         .help = "Compare with this number of random shuffles of all columns too, for p, "
                 "percentiles and family-wise p",
         .letter = 'n',
         .min = 1,
         .max = static_cast<double>(kMaxShuffles),
         .automatic = "none; 10000 with --null sampled or both"},
        {.name = "triple-variance",
         .target = &p.triple_variance,
         .help = "Compute the exact variance of the mutual information of triples, which their "
                 "Z-scores need",
         .negated_flag = true}};
}

std::vector<Field> tree_fields(Parameters& p) {
    std::vector<Field> all = phylogeny::fields(p.tree);
    all.insert(all.end(),
               {{.name = "tree-weights",
                 .target = &p.tree_weights,
                 .help = "With --null tree: weight sequences by the letters of each column "
                         "(position-based), by --identity, or not"},
                {.name = "statistic",
                 .target = &p.statistic,
                 .help = "With --null tree: number that is compared, over the rows where both "
                         "columns have a residue: G statistic (gt) or mutual information (mi), or "
                         "these less the average product (gtp, mip)"}});
    return all;
}

std::vector<Field> count_fields(Parameters& p) {
    return {{.name = "gaps",
             .target = &p.gaps,
             .help = "Count gaps as a symbol, or omit rows with a gap in either column of a pair "
                     "(only --order 2 without --shuffles)"},
            {.name = "sequence-weights",
             .target = &p.sequence_weights,
             .help = "Weight each sequence by 1 / the number of sequences similar to it (pairs "
                     "without exact null only)"},
            {.name = "identity",
             .target = &p.identity,
             .help = "Sequences with a greater fraction of identical columns share their weight",
             .letter = 'w',
             .min = 0,
             .max = 1},
            {.name = "pseudocount",
             .target = &p.pseudocount,
             .help = "Number added to every cell of a contingency table (pairs without exact null "
                     "only)",
             .unit = "sequences",
             .min = 0,
             .max = 1e6},
            {.name = "min-entropy",
             .target = &p.min_entropy,
             .help = "Flag columns with a smaller entropy in columns.tsv, and do not rank triples "
                     "that contain one",
             .unit = "bits",
             .min = 0}};
}

std::vector<Field> list_fields(Parameters& p) {
    return {{.name = "top",
             .target = &p.top,
             .help = "Maximum number of pairs, and of triples, in the tables",
             .min = 1,
             .max = 1e8},
            {.name = "rank-by",
             .target = &p.rank_by,
             .help = "Number that ranks triples: mi, z (exact), sampled_z, percentile, synergy "
                     "(minus the co-information) or excess (over what pairs explain); auto: the "
                     "first computed one of z, sampled_z and mi"},
            {.name = "min-z",
             .target = &p.min_z,
             .help = "List only pairs with at least this Z-score (without a null model, this APC "
                     "value); with --order 3, keep and list only triples in which the number that "
                     "--rank-by names is at least this",
             .automatic = "none"},
            {.name = "all-triples",
             .target = &p.all_triples,
             .help = "Keep every triple in triples.npz"}};
}

}  // namespace

std::span<const std::string_view> names_of(NullModel) {
    static constexpr std::string_view names[] = {"auto", "sampled", "exact",
                                                 "both", "none",    "tree"};
    return names;
}

std::span<const std::string_view> names_of(Gaps) {
    static constexpr std::string_view names[] = {"symbol", "omit"};
    return names;
}

std::span<const std::string_view> names_of(PairScore) {
    static constexpr std::string_view names[] = {"gtp", "gt", "mip", "mi"};
    return names;
}

std::span<const std::string_view> names_of(TreeWeights) {
    static constexpr std::string_view names[] = {"position", "identity", "none"};
    return names;
}

std::span<const std::string_view> names_of(RankBy) {
    static constexpr std::string_view names[] = {"auto",       "mi",      "z",     "sampled_z",
                                                 "percentile", "synergy", "excess"};
    return names;
}

std::vector<Field> fields(Parameters& p) {
    std::vector<Field> all;
    for (const std::vector<Field>& group :
         {null_fields(p), tree_fields(p), count_fields(p), list_fields(p)})
        all.insert(all.end(), group.begin(), group.end());
    return all;
}

}  // namespace pleat::mutual_information
