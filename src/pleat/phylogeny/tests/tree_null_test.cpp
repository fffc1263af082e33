// Tests of the tree null: Fitch's score against all states, and what each null keeps.
#include "pleat/phylogeny/tree_null.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace pleat::phylogeny {
namespace {

/// A tree of these leaves: joins random nodes, two or sometimes three at a time.
std::string random_newick(int leaves, std::mt19937& random, bool only_two) {
    std::vector<std::string> nodes;
    for (int leaf = 0; leaf < leaves; ++leaf) nodes.push_back("r" + std::to_string(leaf));
    while (nodes.size() > 1) {
        std::shuffle(nodes.begin(), nodes.end(), random);
        const std::size_t count =
            nodes.size() > 2 && (!only_two || nodes.size() == 3) && random() % 2 == 0 ? 3 : 2;
        std::string joined = "(" + nodes.back();
        nodes.pop_back();
        for (std::size_t more = 1; more < count; ++more) {
            joined += "," + nodes.back();
            nodes.pop_back();
        }
        nodes.push_back(joined + ")");
    }
    return nodes[0] + ";";
}

Tree tree_of(const std::string& newick, Index rows) {
    Tree tree = parse_newick("t", newick);
    std::vector<std::string> names;
    for (Index row = 0; row < rows; ++row) names.push_back("r" + std::to_string(row));
    match_rows(tree, names, "t");
    return tree;
}

Array<std::uint8_t, 2> random_letters(Index rows, Index columns, int codes, std::mt19937& random) {
    Array<std::uint8_t, 2> letters(rows, columns);
    for (auto& letter : letters.view()) letter = static_cast<std::uint8_t>(random() % codes);
    return letters;
}

/// The fewest changes over all states of inner nodes.
Index fewest_changes(const Tree& tree, const Array<std::uint8_t, 2>& letters, Index column,
                     int states) {
    std::vector<std::size_t> free;  // nodes without a known state
    std::vector<int> state(tree.parent.size());
    for (std::size_t node = 0; node < state.size(); ++node) {
        const int letter = tree.row[node] < 0 ? states : letters(tree.row[node], column);
        if (letter < states)
            state[node] = letter;
        else
            free.push_back(node);
    }
    Index best = 1000;
    const auto ways = static_cast<Index>(std::pow(states, free.size()));
    for (Index way = 0; way < ways; ++way) {
        Index left = way, changes = 0;
        for (const std::size_t node : free) {
            state[node] = static_cast<int>(left % states);
            left /= states;
        }
        for (std::size_t node = 1; node < state.size(); ++node)
            changes += state[node] != state[static_cast<std::size_t>(tree.parent[node])];
        best = std::min(best, changes);
    }
    return best;
}

TEST(TreeNull, FindsTheFewestSubstitutions) {
    std::mt19937 random(11);
    for (int trial = 0; trial < 60; ++trial) {
        const int leaves = 2 + trial % 5, states = 2 + trial % 2;
        const Tree tree = tree_of(random_newick(leaves, random, false), leaves);
        const auto letters = random_letters(leaves, 12, states + 1, random);
        const TreeNull null(tree, letters, states);
        TreeDraw draw;
        null.draw(TreeNullKind::markov, 1, trial, draw);
        for (Index column = 0; column < 12; ++column) {
            const Index fewest = fewest_changes(tree, letters, column, states);
            EXPECT_EQ(null.substitutions()[column], fewest);
            Index changes = 0;  // of the drawn states
            for (Index node = 1; node < tree.node_count(); ++node)
                changes += draw.reconstructed(node, column) !=
                           draw.reconstructed(tree.parent[node], column);
            EXPECT_EQ(changes, fewest);
        }
    }
}

TEST(TreeNull, ScoreDoesNotDependOnTheRoot) {
    std::mt19937 random(13);
    const auto letters = random_letters(6, 200, 5, random);
    // One unrooted tree, rooted at an inner node, in several branches, and beside a leaf.
    std::vector<Index> first;
    for (const char* text : {"((r0,r1),r2,(r3,(r4,r5)));", "((r0,r1),(r2,(r3,(r4,r5))));",
                             "(r2,((r0,r1),(r3,(r4,r5))));", "(r0,(r1,(r2,(r3,(r4,r5)))));",
                             "(r4,(r5,(r3,(r2,(r0,r1)))));", "(r4,r5,(r3,(r2,(r0,r1))));"}) {
        const TreeNull null(tree_of(text, 6), letters, 4);
        if (first.empty()) first = null.substitutions();
        EXPECT_EQ(null.substitutions(), first) << text;
    }
}

class Nulls : public testing::TestWithParam<TreeNullKind> {};

TEST_P(Nulls, KeepTheMaskAndDependOnSeedAndNumberAlone) {
    std::mt19937 random(17);
    const Index rows = 40, columns = 37;
    const auto letters = random_letters(rows, columns, 6, random);
    const TreeNull null(tree_of(random_newick(rows, random, false), rows), letters, 4);
    TreeDraw a, b;
    null.draw(GetParam(), 5, 3, a);
    for (const Index other : {0, 9, 3}) null.draw(GetParam(), 5, other, b);
    EXPECT_TRUE(std::equal(a.letters.begin(), a.letters.end(), b.letters.begin()));
    null.draw(GetParam(), 6, 3, b);
    EXPECT_FALSE(std::equal(a.letters.begin(), a.letters.end(), b.letters.begin()));
    for (Index row = 0; row < rows; ++row)
        for (Index column = 0; column < columns; ++column)
            EXPECT_EQ(a.letters(column, row) < 4, letters(row, column) < 4);
}
INSTANTIATE_TEST_SUITE_P(Kinds, Nulls, testing::Values(TreeNullKind::markov, TreeNullKind::branch));

TEST(TreeNull, BranchKeepsTheSubstitutionsOfEveryBranch) {
    std::mt19937 random(19);
    const Index rows = 30, columns = 80;
    const auto letters = random_letters(rows, columns, 4, random);
    const Tree tree = tree_of(random_newick(rows, random, false), rows);
    const TreeNull null(tree, letters, 4);
    TreeDraw draw;
    null.draw(TreeNullKind::branch, 1, 0, draw);
    Index lost = 0;
    for (Index node = 1; node < tree.node_count(); ++node) {
        std::array<std::array<Index, 4>, 4> left{};
        for (Index column = 0; column < columns; ++column) {
            ++left[draw.reconstructed(tree.parent[node], column)][draw.reconstructed(node, column)];
            --left[draw.evolved(tree.parent[node], column)][draw.evolved(node, column)];
        }
        for (std::size_t a = 0; a < 4; ++a)
            for (std::size_t b = 0; b < 4; ++b) {
                if (a == b) continue;
                EXPECT_GE(left[a][b], 0);
                lost += left[a][b];
            }
    }
    EXPECT_EQ(lost, draw.dropped);
    std::array<Index, 4> root{}, permuted{};
    for (Index column = 0; column < columns; ++column) {
        ++root[draw.reconstructed(0, column)];
        ++permuted[draw.evolved(0, column)];
    }
    EXPECT_EQ(root, permuted);
}

/// Substitutions per column, against their probabilities as README.md writes them, in float64.
TEST(TreeNull, MarkovKeepsTheSubstitutionsOfColumnsOnAverage) {
    std::mt19937 random(23);
    const Index rows = 60, columns = 12;
    Array<std::uint8_t, 2> letters(rows, columns);
    // Column k has k rare letters.
    for (Index row = 0; row < rows; ++row)
        for (Index column = 0; column < columns; ++column)
            letters(row, column) = static_cast<Index>(random() % 24) < column ? random() % 3 : 3;
    const Tree tree = tree_of(random_newick(rows, random, true), rows);
    const TreeNull null(tree, letters, 4);
    const int count = 2000;
    std::vector<double> changes(columns), expected(columns);
    TreeDraw draw;
    for (Index number = 0; number < count; ++number) {
        null.draw(TreeNullKind::markov, 1, number, draw);
        std::vector<double> weight(tree.parent.size());
        for (Index node = 1; node < tree.node_count(); ++node)
            for (Index column = 0; column < columns; ++column)
                weight[node] += draw.reconstructed(node, column) !=
                                draw.reconstructed(tree.parent[node], column);
        for (Index column = 0; column < columns; ++column) {
            std::array<double, 4> out{}, occupied{};
            for (Index node = 1; node < tree.node_count(); ++node) {
                const auto from = draw.reconstructed(tree.parent[node], column);
                occupied[from] += weight[node];
                out[from] += from != draw.reconstructed(node, column);
            }
            for (Index node = 1; node < tree.node_count(); ++node) {
                const auto from = draw.evolved(tree.parent[node], column);
                changes[column] += from != draw.evolved(node, column);
                if (out[from] > 0)
                    expected[column] += std::min(1.0, weight[node] * out[from] / occupied[from]);
            }
        }
    }
    EXPECT_EQ(changes[0], 0);
    for (Index column = 1; column < columns; ++column) {
        EXPECT_NEAR(changes[column], expected[column], 4 * std::sqrt(expected[column] + 1))
            << column;
        EXPECT_GT(changes[column], 0);
    }
}

TEST(TreeNull, WeighsRareLettersMore) {
    // Two columns: rows 0 and 1 alike, row 2 differs in both, row 3 has one residue alone.
    Array<std::uint8_t, 2> letters(Index{4}, Index{2});
    letters(2, 0) = letters(2, 1) = 1;
    letters(3, 1) = 4;
    const std::vector<double> found = position_weights(letters, 4);
    const double raw[] = {(1.0 / 6 + 1.0 / 4) / 2, (1.0 / 6 + 1.0 / 4) / 2, (1.0 / 2 + 1.0 / 2) / 2,
                          1.0 / 6};
    const double sum = raw[0] + raw[1] + raw[2] + raw[3];
    for (std::size_t row = 0; row < 4; ++row) EXPECT_NEAR(found[row], 4 * raw[row] / sum, 1e-12);
}

}  // namespace
}  // namespace pleat::phylogeny
