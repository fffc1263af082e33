// Tests of the sequence tree: order, exact rebuilding, cost, chunks and threads.
#include "pleat/couplings/kernel/sequence_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "pleat/couplings/kernel/column_work.h"
#include "pleat/couplings/tests/random_family.h"

namespace pleat::couplings {
namespace {

using test::RandomFamily;

/// Checks that parents come first, chains are short, and rows rebuild every sequence.
void expect_sound(const SequenceTree& tree, View<const std::uint8_t, 2> letters, int letter_count,
                  int stride) {
    const Index count = letters.extent(0), columns = letters.extent(1);
    ASSERT_EQ(tree.count(), count);
    ASSERT_EQ(static_cast<Index>(tree.parent.size()), count);
    ASSERT_EQ(static_cast<Index>(tree.begin.size()), count + 1);
    EXPECT_EQ(tree.begin.front(), 0u);
    EXPECT_EQ(tree.begin.back(), tree.rows.size());
    std::vector<std::int32_t> sorted = tree.order, every(count);
    std::sort(sorted.begin(), sorted.end());
    std::iota(every.begin(), every.end(), 0);
    EXPECT_EQ(sorted, every);
    std::vector<std::vector<std::uint32_t>> rebuilt(count);
    for (Index k = 0; k < count; ++k) {
        ASSERT_LT(tree.parent[k], k);
        ASSERT_GE(tree.parent[k], -1);
        std::vector<std::uint32_t> rows(tree.rows.begin() + tree.begin[k],
                                        tree.rows.begin() + tree.begin[k + 1]);
        if (tree.parent[k] >= 0) {
            ASSERT_EQ(rows.size() % 2, 0u);
            ASSERT_LT(static_cast<Index>(rows.size()), columns);
            std::map<std::uint32_t, int> net;
            for (const std::uint32_t row : rebuilt[tree.parent[k]]) net[row] += 1;
            for (std::size_t r = 0; r < rows.size(); ++r)
                net[rows[r]] += r < rows.size() / 2 ? 1 : -1;
            rows.clear();
            for (const auto& [row, times] : net) {
                ASSERT_TRUE(times == 0 || times == 1);
                if (times == 1) rows.push_back(row);
            }
        }
        std::sort(rows.begin(), rows.end());
        rebuilt[k] = rows;
        std::vector<std::uint32_t> expected;
        for (Index j = 0; j < columns; ++j) {
            expected.push_back(static_cast<std::uint32_t>(
                (j * letter_count + letters(tree.order[k], j)) * stride));
        }
        ASSERT_EQ(rows, expected) << "position " << k;
    }
    EXPECT_LE(tree.cost(columns), 1.0);
    EXPECT_GT(tree.cost(columns), 0.0);
    const auto bytes = [](const auto& list) { return list.size() * sizeof(list[0]); };
    EXPECT_LE(static_cast<std::int64_t>(bytes(tree.order) + bytes(tree.parent) + bytes(tree.begin) +
                                        bytes(tree.rows) + bytes(tree.position_begin) +
                                        bytes(tree.positions)),
              tree_bytes(tree.count(), columns, letter_count));
}

bool same(const SequenceTree& a, const SequenceTree& b) {
    return a.order == b.order && a.parent == b.parent && a.begin == b.begin && a.rows == b.rows;
}

TEST(SequenceTree, RebuildsEverySequence) {
    std::uint64_t seed = 0;
    for (const Index count : {1, 2, 3, 4, 17, 200}) {
        for (const Index columns : {2, 3, 63, 64, 65, 130}) {
            for (const int letters : {5, 21}) {
                const RandomFamily family(count, columns, letters, ++seed);
                const int stride = row_stride(letters);
                const SequenceTree tree = build_sequence_tree(family.letters, letters, stride, 1);
                expect_sound(tree, family.letters, letters, stride);
            }
        }
    }
}

TEST(SequenceTree, IsTheSameForAnyThreads) {
    const Index count = 9000;  // three chunks of at most 4096
    const RandomFamily family(count, 20, 21, 3);
    const SequenceTree one = build_sequence_tree(family.letters, 21, 24, 1);
    expect_sound(one, family.letters, 21, 24);
    EXPECT_LT(one.cost(20), 0.8);
    for (const int threads : {2, 3, 8}) {
        EXPECT_TRUE(same(build_sequence_tree(family.letters, 21, 24, threads), one)) << threads;
    }
}

TEST(SequenceTree, StoresCopiesAtNoCost) {
    RandomFamily family(100, 30, 21, 5);
    for (Index n = 1; n < 100; ++n) std::copy_n(&family.letters(0, 0), 30, &family.letters(n, 0));
    const SequenceTree tree = build_sequence_tree(family.letters, 21, 24, 1);
    expect_sound(tree, family.letters, 21, 24);
    // Full sums at the root and, at most, every few generations.
    EXPECT_LE(tree.cost(30), 0.05);
}

TEST(SequenceTree, MakesUnrelatedSequencesRoots) {
    Array<std::uint8_t, 2> letters(5, 12);
    for (Index n = 0; n < 5; ++n) {
        for (Index i = 0; i < 12; ++i) letters(n, i) = static_cast<std::uint8_t>(n);
    }
    const SequenceTree tree = build_sequence_tree(letters, 21, 24, 1);
    expect_sound(tree, letters, 21, 24);
    EXPECT_EQ(tree.parent, std::vector<std::int32_t>(5, -1));
    EXPECT_EQ(tree.cost(12), 1.0);
}

// Sequences 0 ... 4 differ from the next by one letter: the tree must find this chain in any order.
TEST(SequenceTree, FindsTheNearestRelatives) {
    constexpr Index columns = 16;
    const int links[] = {3, 0, 4, 1, 2};  // sequence n is link links[n] of the chain
    Array<std::uint8_t, 2> letters(5, columns);
    for (Index n = 0; n < 5; ++n) {
        for (Index i = 0; i < columns; ++i) letters(n, i) = i < links[n] ? 1 : 0;
    }
    const SequenceTree tree = build_sequence_tree(letters, 21, 24, 1);
    expect_sound(tree, letters, 21, 24);
    // A root of 16 rows and four links of one letter: one row in, one row out.
    EXPECT_EQ(tree.rows.size(), 16u + 4 * 2);
}

TEST(SequenceTree, LimitsTheLengthOfChains) {
    constexpr Index columns = 200, count = 150;
    Array<std::uint8_t, 2> letters(count, columns);  // a chain of 149 links
    for (Index n = 0; n < count; ++n) {
        for (Index i = 0; i < columns; ++i) letters(n, i) = i < n ? 1 : 0;
    }
    const SequenceTree tree = build_sequence_tree(letters, 21, 24, 1);
    expect_sound(tree, letters, 21, 24);
    std::vector<int> generation(count, 0);
    for (Index k = 0; k < count; ++k) {
        if (tree.parent[k] >= 0) generation[k] = generation[tree.parent[k]] + 1;
    }
    EXPECT_LE(*std::max_element(generation.begin(), generation.end()), 32);
    EXPECT_LT(tree.cost(columns), 0.15);
}

}  // namespace
}  // namespace pleat::couplings
