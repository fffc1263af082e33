// Whole fits against independently computed minima: those of data/oracles always, larger families
// of ../shared if they are present.
#include "pleat/couplings/tests/oracle.h"

#include <gtest/gtest.h>

#include "pleat/couplings/contacts/scores.h"
#include "pleat/couplings/couplings.h"

namespace pleat::couplings {
namespace {

using test::OracleFamily;

void record(const OracleFamily& family, const Result& result) {
    std::ostringstream excess, difference;
    excess << result.objective / family.min_objective - 1;
    difference << test::largest_difference(result.corrected, family.corrected);
    testing::Test::RecordProperty(family.name + "_relative_excess", excess.str());
    testing::Test::RecordProperty(family.name + "_score_difference", difference.str());
    testing::Test::RecordProperty(family.name + "_evaluations", std::to_string(result.evaluations));
}

/// The oracles have the defaults of proteins for nucleic acids, too.
Parameters oracle_parameters() {
    Parameters parameters;
    parameters.identity = 0.8;
    parameters.norm = NormLetters::residues;
    return parameters;
}

void expect_tight_fit(const OracleFamily& family) {
    Parameters parameters = oracle_parameters();
    parameters.tolerance = 1e-8;
    const Result result = run(family.alignment, parameters, {});
    record(family, result);
    EXPECT_NE(result.stop_reason, StopReason::iteration_limit);
    EXPECT_NEAR(result.objective, family.min_objective, 1e-6 * result.objective);
    EXPECT_LE(result.relative_gap, 1e-6);
    EXPECT_LT(test::largest_difference(result.corrected, family.corrected), 1e-3);
    EXPECT_LT(test::largest_difference(result.raw, family.raw), 1e-3);
    // The same L pairs, in the same order but for pairs whose scores are equal to 1e-4 of the
    // largest.
    const auto found = test::top_pairs(result.corrected), best = test::top_pairs(family.corrected);
    EXPECT_EQ(test::shared_pairs(found, best), best.size());
    const double largest = *std::max_element(family.corrected.begin(), family.corrected.end());
    for (std::size_t k = 0; k < best.size(); ++k) {
        EXPECT_NEAR(family.corrected(found[k].first, found[k].second),
                    family.corrected(best[k].first, best[k].second), 1e-4 * largest)
            << k;
    }
    EXPECT_EQ(result.weights, family.weights);
}

/// `share`: of the best L pairs, how many must be the same.
void expect_default_fit(const OracleFamily& family, double share) {
    const Result result = run(family.alignment, oracle_parameters(), {});
    record(family, result);
    EXPECT_EQ(result.stop_reason, StopReason::converged);
    EXPECT_LE(result.relative_gap, 1e-4);
    EXPECT_LE((result.objective - family.min_objective) / result.objective,
              result.relative_gap + 1e-7);
    const auto found = test::top_pairs(result.corrected), best = test::top_pairs(family.corrected);
    EXPECT_GE(static_cast<double>(test::shared_pairs(found, best)),
              share * static_cast<double>(best.size()));
}

/// CCMpred's program stops early, above the minimum by at least `excess` of it. Scores agree to
/// `tolerance` of the largest one, and of the best L pairs all but `other_pairs` are the same.
void expect_compatible_fit(const OracleFamily& family, double excess, double tolerance,
                           std::size_t other_pairs) {
    Parameters parameters;
    parameters.compatible = CompatibleProgram::ccmpred;
    const Result result = run(family.alignment, parameters, {});
    EXPECT_EQ(result.iterations, family.compatible_iterations);
    EXPECT_EQ(result.stop_reason, StopReason::compatible_rule);
    EXPECT_GT(result.objective, family.min_objective * (1 + excess));
    EXPECT_LT(test::largest_difference(result.corrected, family.compatible), tolerance);
    const auto found = test::top_pairs(result.corrected), best = test::top_pairs(family.compatible);
    EXPECT_GE(test::shared_pairs(found, best) + other_pairs, best.size());
    if (other_pairs == 0) {
        EXPECT_EQ(found, best);
    }
}

void expect_correction(const OracleFamily& family, double tolerance) {
    EXPECT_LT(test::largest_difference(average_product_correction(family.raw), family.corrected),
              tolerance);
}

class CommittedFamilies : public testing::TestWithParam<const char*> {
protected:
    const OracleFamily family_ = test::committed_family(GetParam());
};

TEST_P(CommittedFamilies, AreFittedToTheirMinimum) { expect_tight_fit(family_); }

TEST_P(CommittedFamilies, KeepTheirCertificateByDefault) { expect_default_fit(family_, 0.9); }

/// The committed scores are those of a point whose steps depend on how objectives are rounded.
TEST_P(CommittedFamilies, StopWhereTheProgramDoes) {
    expect_compatible_fit(family_, 1e-4, 1e-3, 1);
}

TEST_P(CommittedFamilies, HaveTheCorrectedScoresOfTheirRawOnes) {
    expect_correction(family_, 1e-14);
}

INSTANTIATE_TEST_SUITE_P(Families, CommittedFamilies,
                         testing::Values("cheY200x25", "trna150x30", "trypsin189x40"),
                         [](const auto& name) { return std::string(name.param); });

/// One test, so that its absence is one skipped test.
TEST(SharedFamilies, AreFittedToTheirMinimaAndLikeTheProgram) {
    if (!std::filesystem::exists(test::shared_families()))
        GTEST_SKIP() << "the larger families of " << test::shared_families() << " are absent";
    for (const test::SharedFamily& known : test::kSharedFamilies) {
        SCOPED_TRACE(known.name);
        const OracleFamily family = test::shared_family(known);
        expect_tight_fit(family);
        expect_default_fit(family, 0.98);
        expect_compatible_fit(family, 0.005, 1e-4, 0);
        expect_correction(family, 1e-6);
    }
}

}  // namespace
}  // namespace pleat::couplings
