// Tests of UPGMA: identities by definition, and the tree of average linkage.
#include <gtest/gtest.h>

#include <random>

#include "pleat/core/array.h"
#include "pleat/phylogeny/tree.h"

namespace pleat::phylogeny {
namespace {

Array<std::uint8_t, 2> random_letters(Index rows, Index columns, int codes) {
    std::mt19937 random(7);
    Array<std::uint8_t, 2> letters(rows, columns);
    for (auto& letter : letters.view()) letter = static_cast<std::uint8_t>(random() % codes);
    return letters;
}

TEST(Upgma, CountsIdentitiesWhereBothRowsHaveResidues) {
    for (const int states : {4, 20}) {
        const Index rows = 21, columns = 130;
        const Array<std::uint8_t, 2> letters = random_letters(rows, columns, states + 2);
        const std::vector<float> found = identities(letters, states, 2);
        std::size_t at = 0;
        for (Index m = 0; m < rows; ++m)
            for (Index n = m + 1; n < rows; ++n, ++at) {
                int same = 0, both = 0;
                for (Index i = 0; i < columns; ++i) {
                    if (letters(m, i) >= states || letters(n, i) >= states) continue;
                    ++both;
                    same += letters(m, i) == letters(n, i);
                }
                EXPECT_FLOAT_EQ(found[at], static_cast<float>(same) / static_cast<float>(both));
            }
    }
    Array<std::uint8_t, 2> gaps(Index{2}, Index{2});
    gaps(0, 0) = gaps(1, 1) = 4;
    EXPECT_EQ(identities(gaps, 4, 1), std::vector<float>{0});
}

TEST(Upgma, JoinsTheNearestByAverageDistance) {
    // Distances: ab 0.2, ac 0.4, bc 0.6, d 0.9 from all.
    const Tree tree = upgma({0.8f, 0.6f, 0.1f, 0.4f, 0.1f, 0.1f},
                            std::vector<std::string>{"a", "b", "c", "d"}, {});
    EXPECT_EQ(to_newick(tree), "(d:0.45,(c:0.25,(a:0.1,b:0.1):0.15):0.2);\n");
}

TEST(Relatedness, SeesRowsThatDescendFromEachOther) {
    Array<std::uint8_t, 2> letters = random_letters(700, 60, 4);
    EXPECT_FALSE(relatedness(letters, 4).is_tree);
    EXPECT_NEAR(relatedness(letters, 4).mean_identity, 0.25, 0.01);
    std::mt19937 random(3);
    for (Index row = 1; row < 700; ++row)
        for (Index column = 0; column < 60; ++column)
            if (random() % 16 != 0) letters(row, column) = letters(row / 2, column);
    EXPECT_TRUE(relatedness(letters, 4).is_tree);
    for (auto& letter : letters.view()) letter = 4;
    EXPECT_FALSE(relatedness(letters, 4).is_tree);
}

TEST(Relatedness, SeesNoTreeInFragmentsOfIndependentRows) {
    Array<std::uint8_t, 2> letters = random_letters(100, 100, 4);
    for (Index row = 1; row < 100; row += 2)
        for (Index column = 30; column < 100; ++column) letters(row, column) = 4;
    EXPECT_FALSE(relatedness(letters, 4).is_tree);
}

}  // namespace
}  // namespace pleat::phylogeny
