// Contact list: order, separations, Z and probabilities of made scores.
#include "pleat/couplings/contacts/contact_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "small_family.h"

namespace pleat::couplings {
namespace {

using pleat::testing::SmallFamily;

TEST(ContactList, IsSortedAndKeepsTheMinSeparation) {
    SmallFamily family(5, 12, Alphabet::protein(), 1);
    family.result.effective_sequences = kMinEffectiveSequences;
    // Columns stand 2 apart in the source, so a separation of 7 asks for 4 columns between.
    const std::vector<RankedPair> pairs =
        rank_pairs(family.alignment, family.result, {.min_separation = 7});
    ASSERT_EQ(pairs.size(), 36u);  // 8 + 7 + ... + 1
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        EXPECT_GE(pairs[k].j - pairs[k].i, 4);
        EXPECT_EQ(pairs[k].raw, family.result.raw(pairs[k].i, pairs[k].j));
        EXPECT_EQ(pairs[k].corrected, family.result.corrected(pairs[k].i, pairs[k].j));
        if (k == 0) continue;
        EXPECT_GE(pairs[k - 1].corrected, pairs[k].corrected);
        EXPECT_GE(pairs[k - 1].probability, pairs[k].probability);
    }
    EXPECT_EQ(rank_pairs(family.alignment, family.result, {.min_separation = 1}).size(), 66u);
    EXPECT_TRUE(rank_pairs(family.alignment, family.result, {.min_separation = 23}).empty());
}

TEST(ContactList, KeepsEqualScoresInRowOrder) {
    SmallFamily family(5, 4, Alphabet::protein(), 2);
    family.result.corrected.fill(1);
    const std::vector<RankedPair> pairs =
        rank_pairs(family.alignment, family.result, {.min_separation = 1, .threads = 3});
    const std::vector<std::pair<Index, Index>> expected = {{0, 1}, {0, 2}, {0, 3},
                                                           {1, 2}, {1, 3}, {2, 3}};
    ASSERT_EQ(pairs.size(), expected.size());
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        EXPECT_EQ(std::make_pair(pairs[k].i, pairs[k].j), expected[k]);
        EXPECT_EQ(pairs[k].z, 0.0);
    }
}

TEST(ContactList, GivesScoresOfAnotherKindNoProbability) {
    const SmallFamily family(5, 14, Alphabet::rna(), 3);
    const ListOptions options{.min_separation = 1, .is_calibrated = false};
    for (const RankedPair& pair : rank_pairs(family.alignment, family.result, options))
        EXPECT_TRUE(std::isnan(pair.probability));
    const Parameters usual;
    Parameters raw, other;
    raw.apc = false;
    for (const Alphabet* alphabet : {&Alphabet::protein(), &Alphabet::rna(), &Alphabet::dna()}) {
        EXPECT_TRUE(has_probabilities(usual, *alphabet));
        EXPECT_FALSE(has_probabilities(raw, *alphabet));
        other.norm = alphabet == &Alphabet::protein() ? NormLetters::all : NormLetters::residues;
        EXPECT_FALSE(has_probabilities(other, *alphabet));
    }
}

TEST(ContactList, GivesNucleicAcidsClassesAndProbabilities) {
    SmallFamily family(5, 14, Alphabet::rna(), 3);
    family.alignment.columns.assign(14, 0);
    for (std::size_t k = 0; k < 14; ++k) family.alignment.columns[k] = static_cast<Index>(k);
    const BasePairs base_pairs{.pairs = {{1, 12}}, .is_given = true};
    const ScoreScale scale = score_scale(family.result.corrected, family.alignment.columns);
    const RnaFamily depth{14, family.result.effective_sequences};
    const View<const double, 2> scores = family.result.corrected;
    int tertiary = 0;
    for (const RankedPair& pair : rank_pairs(family.alignment, family.result,
                                             {.min_separation = 4, .base_pairs = &base_pairs})) {
        EXPECT_EQ(pair.pair_class, pair_classes(base_pairs, 14)(pair.i, pair.j));
        if (pair.j - pair.i < 5) {
            EXPECT_TRUE(std::isnan(pair.probability));
        } else if (pair.pair_class == PairClass::tertiary) {
            ++tertiary;
            EXPECT_EQ(pair.probability, tertiary_contact_probability(pair.z, depth));
        } else {
            const double stacked = stacked_z(scores, scale, pair.i, pair.j);
            EXPECT_EQ(pair.probability, rna_contact_probability(pair.z, stacked, depth));
        }
    }
    EXPECT_GT(tertiary, 10);
    EXPECT_EQ(stacked_z(scores, scale, 0, 13), scale.z(scores(1, 12)));
    EXPECT_EQ(stacked_z(scores, scale, 3, 9),
              std::max(scale.z(scores(2, 10)), scale.z(scores(4, 8))));
}

TEST(ContactList, ComparesPairsWithThoseOfTheSameParts) {
    SmallFamily family(5, 20, Alphabet::protein(), 4);
    family.result.effective_sequences = 100;
    std::vector<Index> part(20);
    for (std::size_t k = 8; k < 20; ++k) part[k] = 1;
    const std::vector<RankedPair> pairs =
        rank_pairs(family.alignment, family.result, {.part_of_column = part});
    double sum[3] = {}, squares[3] = {}, count[3] = {};
    for (const RankedPair& pair : pairs) {
        const bool is_inter = pair.i < 8 && pair.j >= 8;
        const int kind = is_inter ? 2 : pair.i >= 8;
        EXPECT_EQ(std::isnan(pair.probability), is_inter);
        if (!is_inter) {
            EXPECT_GE(pair.j - pair.i, 3) << "columns are 2 apart in the source";
            EXPECT_EQ(pair.probability, contact_probability(pair.z, kind == 0 ? 8 : 12));
        }
        sum[kind] += pair.z;
        squares[kind] += pair.z * pair.z;
        count[kind] += 1;
    }
    EXPECT_EQ(count[2], 96);
    for (int kind = 0; kind < 3; ++kind) {
        EXPECT_NEAR(sum[kind], 0, 1e-9);
        EXPECT_NEAR(squares[kind] / (count[kind] - 1), 1, 1e-9);
    }
}

TEST(ContactList, GivesShallowFamiliesNoProbability) {
    SmallFamily family(5, 12, Alphabet::protein(), 1);
    family.result.effective_sequences = kMinEffectiveSequences - 0.1;
    for (const RankedPair& pair :
         rank_pairs(family.alignment, family.result, {.min_separation = 6}))
        EXPECT_TRUE(std::isnan(pair.probability));
    family.result.effective_sequences = kMinEffectiveSequences;
    for (const RankedPair& pair :
         rank_pairs(family.alignment, family.result, {.min_separation = 6}))
        EXPECT_FALSE(std::isnan(pair.probability));
}

TEST(Calibration, WarnsOfFewSequencesWithTheNearestMeasurement) {
    EXPECT_NE(depth_warning(2).find("need at least 20"), std::string::npos);
    EXPECT_NE(depth_warning(35).find("0.38"), std::string::npos) << depth_warning(35);
    EXPECT_NE(depth_warning(35).find("0.15"), std::string::npos) << depth_warning(35);
    EXPECT_NE(depth_warning(499), "");
    EXPECT_EQ(depth_warning(500), "");
    EXPECT_EQ(depth_warning(5000), "");
    EXPECT_NE(depth_warning(1.0, true).find("need at least 20"), std::string::npos);
    EXPECT_EQ(depth_warning(20, true), "");
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

TEST(Calibration, OfNucleicAcidsDependsOnDepthAndNeighbours) {
    const RnaFamily deep{100, 1000}, shallow{100, 10};
    // 1 / (1 + exp(-(2.521 + 0.596 s - 1.151 ln L + 0.014 n + 0.155 s n + 0.496 t)))
    const double s = 3 / std::sqrt(1.25), t = 6 / std::sqrt(2), n = std::log(10.0),
                 l = std::log(100.0);
    EXPECT_NEAR(rna_contact_probability(3, 6, deep),
                1 / (1 + std::exp(-(2.521 + 0.596 * s - 1.151 * l + 0.014 * n + 0.155 * s * n +
                                    0.496 * t))),
                1e-12);
    EXPECT_NEAR(tertiary_contact_probability(3, deep),
                1 / (1 + std::exp(-(1.512 + 0.566 * s - 1.032 * l + 0.013 * n + 0.135 * s * n))),
                1e-12);
    EXPECT_LT(rna_contact_probability(5, 0, shallow), rna_contact_probability(5, 0, deep));
    EXPECT_LT(rna_contact_probability(5, 0, deep), rna_contact_probability(5, 5, deep));
    EXPECT_EQ(tertiary_contact_probability(40, {41, 1e6}), 0.8);
    // Outside the range of the data the nearest length and depth count.
    EXPECT_EQ(rna_contact_probability(3, 1, {4000, 4000 * 1e6}),
              rna_contact_probability(3, 1, {4000, 4000 * 1e3}));
}

}  // namespace
}  // namespace pleat::couplings
