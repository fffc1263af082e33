// Contact list: order, separations, Z and probabilities of made scores.
#include "pleat/couplings/contacts/contact_list.h"

#include <gtest/gtest.h>

#include <cmath>

#include "pleat/couplings/contacts/calibration.h"
#include "small_family.h"

namespace pleat::couplings {
namespace {

using pleat::testing::SmallFamily;

TEST(ContactList, IsSortedAndKeepsTheMinSeparation) {
    SmallFamily family(5, 12, Alphabet::protein(), 1);
    family.result.effective_sequences = kMinEffectiveSequences;
    // Columns stand 2 apart in the source, so a separation of 7 asks for 4 columns between.
    const std::vector<RankedPair> pairs = rank_pairs(family.alignment, family.result, 7);
    ASSERT_EQ(pairs.size(), 36u);  // 8 + 7 + ... + 1
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        EXPECT_GE(pairs[k].j - pairs[k].i, 4);
        EXPECT_EQ(pairs[k].raw, family.result.raw(pairs[k].i, pairs[k].j));
        EXPECT_EQ(pairs[k].corrected, family.result.corrected(pairs[k].i, pairs[k].j));
        if (k == 0) continue;
        EXPECT_GE(pairs[k - 1].corrected, pairs[k].corrected);
        EXPECT_GE(pairs[k - 1].probability, pairs[k].probability);
    }
    EXPECT_EQ(rank_pairs(family.alignment, family.result, 1).size(), 66u);
    EXPECT_TRUE(rank_pairs(family.alignment, family.result, 23).empty());
}

TEST(ContactList, KeepsEqualScoresInRowOrder) {
    SmallFamily family(5, 4, Alphabet::protein(), 2);
    family.result.corrected.fill(1);
    const std::vector<RankedPair> pairs = rank_pairs(family.alignment, family.result, 1, true, 3);
    const std::vector<std::pair<Index, Index>> expected = {{0, 1}, {0, 2}, {0, 3},
                                                           {1, 2}, {1, 3}, {2, 3}};
    ASSERT_EQ(pairs.size(), expected.size());
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        EXPECT_EQ(std::make_pair(pairs[k].i, pairs[k].j), expected[k]);
        EXPECT_EQ(pairs[k].z, 0.0);
    }
}

TEST(ContactList, GivesNucleicAcidsNoProbability) {
    const SmallFamily family(5, 4, Alphabet::rna(), 3);
    for (const RankedPair& pair : rank_pairs(family.alignment, family.result, 1))
        EXPECT_TRUE(std::isnan(pair.probability));
}

TEST(ContactList, GivesShallowFamiliesNoProbability) {
    SmallFamily family(5, 12, Alphabet::protein(), 1);
    family.result.effective_sequences = kMinEffectiveSequences - 0.1;
    for (const RankedPair& pair : rank_pairs(family.alignment, family.result, 6))
        EXPECT_TRUE(std::isnan(pair.probability));
    family.result.effective_sequences = kMinEffectiveSequences;
    for (const RankedPair& pair : rank_pairs(family.alignment, family.result, 6))
        EXPECT_FALSE(std::isnan(pair.probability));
}

TEST(Calibration, WarnsOfFewSequencesWithTheNearestMeasurement) {
    EXPECT_NE(depth_warning(2).find("need at least 20"), std::string::npos);
    EXPECT_NE(depth_warning(35).find("0.38"), std::string::npos) << depth_warning(35);
    EXPECT_NE(depth_warning(35).find("0.15"), std::string::npos) << depth_warning(35);
    EXPECT_NE(depth_warning(499), "");
    EXPECT_EQ(depth_warning(500), "");
    EXPECT_EQ(depth_warning(5000), "");
}

TEST(Calibration, ScalesByPairsSixColumnsApart) {
    Array<double, 2> scores(4, 4);
    const std::vector<Index> columns = {0, 5, 6, 12};
    // Pairs at least 6 apart: (0,2) 6, (0,3) 12, (1,3) 7, (2,3) 6; nearer ones hold a decoy.
    scores(0, 1) = scores(1, 2) = 1000;
    scores(0, 2) = 1;
    scores(0, 3) = 2;
    scores(1, 3) = 4;
    scores(2, 3) = 5;
    const ScoreScale scale = score_scale(scores, columns);
    EXPECT_DOUBLE_EQ(scale.mean, 3.0);
    EXPECT_DOUBLE_EQ(scale.deviation, std::sqrt(10.0 / 3.0));
    EXPECT_DOUBLE_EQ(scale.z(3.0 + scale.deviation), 1.0);
}

TEST(Calibration, ScalesNarrowAlignmentsByAllPairs) {
    Array<double, 2> scores(3, 3);
    scores(0, 1) = 1;
    scores(0, 2) = 2;
    scores(1, 2) = 3;
    EXPECT_DOUBLE_EQ(score_scale(scores, {0, 1, 2}).mean, 2.0);
    EXPECT_DOUBLE_EQ(score_scale(Array<double, 2>(2, 2), {0, 1}).z(7.0), 0.0);
}

TEST(Calibration, ProbabilityRisesWithZAndFallsWithTheColumns) {
    double longer = 1;
    for (const Index columns : {50, 100, 200, 500}) {
        double before = 0;
        for (double z = -10; z <= 40; z += 0.5) {
            const double now = contact_probability(z, columns);
            EXPECT_GT(now, before) << columns << ' ' << z;
            EXPECT_LT(now, 1.0);
            before = now;
        }
        EXPECT_LT(contact_probability(0, columns), longer);
        longer = contact_probability(0, columns);
    }
    // Outside the range of the data the nearest length counts.
    EXPECT_EQ(contact_probability(3, 2), contact_probability(3, 50));
    EXPECT_EQ(contact_probability(3, 9000), contact_probability(3, 500));
}

TEST(Calibration, IsLowForAveragePairsAndHighForStrongOnes) {
    EXPECT_LT(contact_probability(0, 150), 0.05);
    EXPECT_GT(contact_probability(8, 150), 0.7);
}

}  // namespace
}  // namespace pleat::couplings
