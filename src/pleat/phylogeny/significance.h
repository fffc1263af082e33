// Significance: the options of null alignments along a tree, and what these say about the scores of
// an alignment's pairs of columns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/fields.h"
#include "pleat/core/view.h"

#pragma GCC visibility push(default)

namespace pleat::phylogeny {

/// markov: each column keeps its own rate and composition; branch: each branch keeps its
/// substitutions, which fall on random columns (R-scape's null).
enum class TreeNullKind { markov, branch };
std::span<const std::string_view> names_of(TreeNullKind);

/// Options of a comparison with null alignments.
struct TreeOptions {
    std::string file;  ///< a Newick file; empty: UPGMA
    TreeNullKind kind = TreeNullKind::markov;
    std::int64_t alignments = 1000;
    double tail_mass = 0.0005;
    bool write_null = false;  ///< keep the first null alignment
};
std::vector<Field> fields(TreeOptions& options);

/// Pairs with a smaller E are counted as significant.
constexpr double kSignificantE = 0.05;

/// What null alignments that evolve along a tree say; [pair] each, i < j in lexicographic order.
/// Only small p are probabilities: of pairs without covariation about a fraction p has at most p if
/// p is well below 0.01.
struct TreeResult {
    std::vector<double> score;  ///< that of the alignment
    std::vector<double> mean;   ///< of the pair over all null alignments
    std::vector<double> p, e;   ///< p: against all pairs of all null alignments; e = p x pairs
    std::vector<std::uint8_t> extrapolated;  ///< 1: the score is above all null scores
    std::vector<Index> substitutions;        ///< [column], the fewest that explain it on the tree
    std::string newick;                      ///< the tree
    std::string substitution_newick;         ///< its lengths: substitutions in one reconstruction
    std::string null_fasta;  ///< the first null alignment; empty without TreeOptions::write_null
    std::int64_t null_alignments = 0;
    double mean_identity = 0;  ///< over all pairs of sequences; NaN above kMaxUpgmaRows rows
    double mean_ratio = 0;     ///< mean score, before APC, of the nulls / of the alignment
    double small_p = 0;        ///< fraction of the pairs with E of 0.05 or more whose p < 0.01
    double dropped = 0;        ///< substitutions per null that found no column (branch)
    double tail_threshold = 0, tail_shape = 0, tail_scale = 0;  ///< of the gamma tail
};

}  // namespace pleat::phylogeny

#pragma GCC visibility pop
