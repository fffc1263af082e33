// Tree null: alignments that evolve along a tree as each column did, but independently of the
// others.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/phylogeny/significance.h"
#include "pleat/phylogeny/tree.h"

namespace pleat::phylogeny {

/// States by node and column, and what was counted of them; memory that a thread reuses.
struct TreeDraw {
    Array<std::uint8_t, 2> reconstructed;  ///< [node, column]: Fitch's states
    Array<std::uint8_t, 2> evolved;        ///< [node, column]: those of the null
    Array<std::uint8_t, 2> letters;  ///< [column, row]: leaves of the null; `states` where the
                                     ///< alignment has no residue
    Index dropped = 0;               ///< substitutions that found no column (branch)

    std::vector<std::uint32_t> branch_changes;  ///< [node]
    std::vector<std::uint32_t> changes, changes_from,
        visits;  ///< [column, from, to], [column, from]
};

/// Draws null alignments of one alignment and tree.
class TreeNull {
public:
    /// `letters` is [row, column]; letters from `states` on (gaps, unknown) are missing. The tree's
    /// rows must be those of `letters`. At most 32 states.
    TreeNull(Tree tree, View<const std::uint8_t, 2> letters, int states);

    /// Fitch's score of each column: the smallest number of substitutions that explain it.
    const std::vector<Index>& substitutions() const { return scores_; }

    /// Draws null number `null`. The same numbers for any thread that calls it. Thread-safe with
    /// one `draw` for each thread.
    void draw(TreeNullKind kind, std::uint64_t seed, Index null, TreeDraw& draw) const;

    Index row_count() const { return rows_; }
    Index column_count() const { return columns_; }
    int states() const { return states_; }
    const Tree& tree() const { return tree_; }

private:
    void reconstruct(std::uint64_t seed, std::uint32_t null, TreeDraw& draw) const;
    void count_changes(TreeDraw& draw) const;
    void evolve_markov(std::uint64_t seed, std::uint32_t null, TreeDraw& draw) const;
    void evolve_branch(std::uint64_t seed, std::uint32_t null, TreeDraw& draw) const;

    Tree tree_;
    Index rows_, columns_;
    int states_;
    Array<std::uint8_t, 2> letters_;  // [row, column]
    Array<std::uint32_t, 2> sets_;    // [node, column]: bit a: Fitch allows state a
    std::vector<Index> scores_;
};

/// Position-based weights (Henikoff, Henikoff, J. Mol. Biol. 243:574, 1994): each column gives
/// 1 / (its distinct residues x rows with this residue) to a row; the sum is divided by the row's
/// residues. Their mean is 1; a row without residues has 0.
std::vector<double> position_weights(View<const std::uint8_t, 2> letters, int states);

}  // namespace pleat::phylogeny
