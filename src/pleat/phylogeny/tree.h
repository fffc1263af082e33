// Tree: a rooted tree whose leaves are the rows of an alignment, its Newick text, and UPGMA.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/view.h"

namespace pleat::phylogeny {

/// Every node follows its parent, so a loop over the nodes goes from the root to the leaves. The
/// root, node 0, may have any number of children (an unrooted tree of FastTree has three).
struct Tree {
    std::vector<std::int32_t> parent;  ///< [node]; -1 for the root
    std::vector<double> length;        ///< [node], of the branch above, at least 0; 0 if not given
    std::vector<std::string> names;    ///< [node], of leaves; empty for inner nodes
    std::vector<Index> row;            ///< [node]: the leaf's row; -1 for inner nodes

    Index node_count() const { return static_cast<Index>(parent.size()); }
    bool is_leaf(Index node) const { return row[static_cast<std::size_t>(node)] >= 0; }
    /// Adds a node below `parent` and returns its number.
    Index add(Index parent, std::string name, Index row = -1);
};

/// Reads a tree in Newick format (Olsen's definition): names in quotes ('it''s'), comments in
/// brackets, lengths after ':', labels of inner nodes, which are ignored, and multifurcations.
/// Underscores stay underscores. Rows are numbered in the order of the leaves. Throws InputError,
/// which calls the text `name`, for other text, a node of one child, a negative length, and a leaf
/// that occurs twice.
Tree parse_newick(const std::string& name, std::string_view text);

/// The same from a file, plain or compressed, of at most 1 GiB.
Tree read_newick(const std::filesystem::path& path);

/// Numbers the leaves by the rows with their names. Throws InputError, in one line with the number
/// and the names of both, if the leaves are not the rows.
void match_rows(Tree& tree, std::span<const std::string> rows, const std::string& source);

/// Throws InputError if two rows have one name.
void check_names(std::span<const std::string> rows, const std::string& source);

/// The tree in Newick format, with a newline at the end; names in quotes where they need some.
std::string to_newick(const Tree& tree);

/// Identity of every pair of rows, in condensed order (core/pairs/pair_order.h): identical columns
/// divided by columns in which both rows have a residue; 0 if there are none. `letters` is [row,
/// column]; letters from `states` on are not residues. N^2 / 2 floats.
std::vector<float> identities(View<const std::uint8_t, 2> letters, int states, int threads);

/// The mean of these, over all pairs.
double mean_identity(std::span<const float> identities);

/// How alike the rows are, from at most 500 of those with residues in half of the columns.
struct Relatedness {
    double mean_identity = 0;
    /// Identities of pairs vary at least 1.5 times as much as those of rows whose columns are
    /// independent: some rows share more of their history than others.
    bool is_tree = false;
};
Relatedness relatedness(View<const std::uint8_t, 2> letters, int states);

/// The tree of average linkage (UPGMA: Sokal, Michener, Univ. Kansas Sci. Bull. 38:1409, 1958) on
/// distances of 1 - identity, by chains of nearest neighbours, N^2 steps. Throws Cancelled.
Tree upgma(std::vector<float> identities, std::span<const std::string> names,
           const Context& context);

/// Rows from which on a tree must be given: UPGMA would take N^2 / 2 distances.
constexpr Index kMaxUpgmaRows = 10'000;

}  // namespace pleat::phylogeny
