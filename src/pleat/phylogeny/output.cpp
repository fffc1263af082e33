// Output: the names and the help of the values of a comparison with null alignments.
#include "pleat/phylogeny/output.h"

#include <algorithm>
#include <cmath>

#include "pleat/core/files/output_file.h"

namespace pleat::phylogeny {

namespace {

const TreeResult& or_empty(const TreeResult* tree) {
    static const TreeResult none;
    return tree != nullptr ? *tree : none;
}

}  // namespace

ResultColumns pair_columns(const TreeResult* tree, const char* file) {
    const TreeResult& from = or_empty(tree);
    const auto column = [&](const char* name, const char* help, const auto& values) {
        return ResultColumn{name, help, ColumnValue(values).or_none(tree != nullptr), file};
    };
    return {
        column("tree_score", "float64 [pair], the number that is compared with the null alignments",
               from.score),
        column("tree_mean", "float64 [pair], mean tree_score of the null alignments", from.mean),
        column("tree_p",
               "float64 [pair], probability that a pair of the null alignments has this "
               "tree_score or more; calibrated where it is small only",
               from.p),
        column("tree_e",
               "float64 [pair], tree_p x pairs: expected number of pairs with this tree_score "
               "or more without covariation",
               from.e),
        column("extrapolated",
               "uint8 [pair], 1: above all pairs of all null alignments, so that tree_p is of "
               "the gamma tail alone",
               from.extrapolated)};
}

ResultColumns facts(const TreeResult* tree, const char* file) {
    const TreeResult& from = or_empty(tree);
    const auto of_tree = [&](const char* name, const auto& value, const char* help) {
        return fact(name, ColumnValue(value).or_none(tree != nullptr), help);
    };
    const Index significant =
        std::count_if(from.e.begin(), from.e.end(), [](double e) { return e < kSignificantE; });
    return {{"substitutions",
             "int64 [L], the fewest substitutions on the tree that explain each column",
             ColumnValue(from.substitutions).or_none(tree != nullptr), file},
            {"tree", "the tree of the null alignments in Newick format",
             ColumnValue(from.newick).or_none(tree != nullptr), "tree.nwk"},
            {"substitution_tree",
             "this tree with the substitutions of one most parsimonious history as lengths",
             ColumnValue(from.substitution_newick).or_none(tree != nullptr), "substitutions.nwk"},
            of_tree("null_alignments", from.null_alignments, "number of null alignments"),
            fact("mean_identity",
                 ColumnValue(from.mean_identity)
                     .or_none(tree != nullptr && !std::isnan(from.mean_identity)),
                 "of all pairs of sequences, where both have residues"),
            of_tree("tree_mean_ratio", from.mean_ratio,
                    "mean statistic, without APC, of the null alignments / of the alignment"),
            {"tree_small_p",
             "fraction of the pairs with tree_e of 0.05 or more whose tree_p is below 0.01",
             ColumnValue(from.small_p).or_none(tree != nullptr), "results"},
            of_tree("tree_dropped", from.dropped,
                    "substitutions per null alignment that found no column (--tree-null branch)"),
            of_tree("tree_tail_threshold", from.tail_threshold,
                    "score from which on tree_p is that of a gamma tail"),
            of_tree("tree_tail_shape", from.tail_shape, "of the gamma tail"),
            of_tree("tree_tail_scale", from.tail_scale, "of the gamma tail"),
            of_tree("tree_significant", significant, "pairs with tree_e below 0.05")};
}

void write_tree(RunDirectory& run, const TreeResult& tree) {
    write_text(run.output("tree.nwk"), tree.newick);
    write_text(run.output("substitutions.nwk"), tree.substitution_newick);
    if (!tree.null_fasta.empty()) write_text(run.output("null.fasta"), tree.null_fasta);
}

}  // namespace pleat::phylogeny
