// Annealing: posteriors and evidence against direct draws, bits, and the residual test.
#include "pleat/workflows/refine/sampling/annealing.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "pleat/workflows/refine/convergence/convergence.h"
#include "pleat/workflows/refine/tests/made_chain.h"
#include "pleat/workflows/refine/tests/made_hinge.h"

namespace pleat::refine {

namespace {

using test::Hinge174;

constexpr std::array<double, 4> kShares = {0.4, 0.3, 0.2, 0.1}, kLogLikelihoods = {-9, -2, -6, -1};

/// (phi, psi) of a residue in its quadrants, with these probabilities.
TorsionTables quadrant_tables() {
    TorsionTables tables;
    for (std::vector<double>& table : tables)
        for (std::size_t cell = 0; cell < kCells * kCells; ++cell)
            table.push_back(kShares[2 * (cell / kCells / 36) + cell % kCells / 36] / (36 * 36));
    return tables;
}

std::size_t quadrant_of(const Conformation& conformation) {
    const LinkerResidue& residue = conformation.model().residues.front();
    return 2 * (conformation.phi(residue) >= 0 ? 1u : 0u) +
           (conformation.psi(residue) >= 0 ? 1u : 0u);
}

/// Overlaps, and a likelihood of the quadrant.
class QuadrantTarget final : public SamplingTarget {
public:
    explicit QuadrantTarget(const ChainModel& model) : overlaps_(model) {}
    void start(const Conformation& at) override {
        overlaps_.start(at);
        accepted_ = kLogLikelihoods[quadrant_of(at)];
    }
    bool prepare(const Conformation& proposed) override {
        pending_ = kLogLikelihoods[quadrant_of(proposed)];
        return overlaps_.prepare(proposed);
    }
    double prepared_log_weight() override {
        return overlaps_.prepared_log_weight() + beta_ * pending_;
    }
    void accept() override {
        overlaps_.accept();
        accepted_ = pending_;
    }
    double accepted_log_weight() override {
        return overlaps_.accepted_log_weight() + beta_ * accepted_;
    }
    void set_beta(double beta) override { beta_ = beta; }
    double log_likelihood() override { return accepted_; }

private:
    StericTarget overlaps_;
    double accepted_ = 0, pending_ = 0, beta_ = 1;
};

TEST(Annealing, HasThePosteriorAndTheEvidenceOfDirectDraws) {
    const ChainModel model = test::made_model("AAAAAAGAAAAAAAA", "A:7");
    const Prior prior(model, quadrant_tables());
    const Moves moves(model, prior);
    std::array<double, 4> expected{};
    double evidence = 0, draws = 0;
    Sterics sterics(model);
    Conformation at(model);
    for (Index n = 0; n < 40000; ++n) {
        Random random(77, 0, n);
        at.set_angles(moves.draw_prior(random));
        const OverlapEnergy overlap = sterics.overlap(at);
        if (overlap.hard_pairs > 0) continue;
        const double weight = std::exp(-overlap.energy),
                     likelihood = std::exp(kLogLikelihoods[quadrant_of(at)]);
        draws += weight;
        evidence += weight * likelihood;
        expected[quadrant_of(at)] += weight * likelihood;
    }
    const auto make_targets = [&](Index count) {
        TargetBatch targets;
        for (Index n = 0; n < count; ++n)
            targets.push_back(std::make_unique<QuadrantTarget>(model));
        return targets;
    };
    constexpr Index kRuns = 16;
    const AnnealingOptions options{.conformations = 256, .lineages = 64, .moves = 20};
    std::vector<std::array<double, 4>> shares(kRuns);
    std::vector<double> evidences, errors;
    for (Index run = 0; run < kRuns; ++run) {
        Context context;
        context.seed = static_cast<std::uint64_t>(run + 1);
        const Posterior found = anneal(
            model, moves, make_targets, options, [](const Posterior&) { return true; }, "quadrants",
            context);
        EXPECT_GT(found.powers.size(), 2u);
        EXPECT_EQ(found.powers.back(), 1);
        EXPECT_GT(found.ancestors, 20);
        for (Index n = 0; n < options.conformations; ++n) {
            const double* const angles = &found.angles(n, 0);
            at.set_angles({angles, angles + model.hinge_count()});
            shares[run][quadrant_of(at)] += 1.0 / static_cast<double>(options.conformations);
        }
        evidences.push_back(std::exp(found.log_evidence));
        errors.push_back(evidence_error(found.lineages, options.lineages));
    }
    const auto mean_and_error = [&](const auto& value_of) {
        double sum = 0, squares = 0;
        for (std::size_t n = 0; n < shares.size(); ++n) sum += value_of(n) / kRuns;
        for (std::size_t n = 0; n < shares.size(); ++n) squares += std::pow(value_of(n) - sum, 2);
        return std::pair(sum, std::sqrt(squares / (kRuns - 1) / kRuns));
    };
    for (std::size_t quadrant = 0; quadrant < 4; ++quadrant) {
        const auto [mean, error] =
            mean_and_error([&](std::size_t n) { return shares[n][quadrant]; });
        EXPECT_NEAR(mean, expected[quadrant] / evidence, 4 * error + 0.003) << quadrant;
    }
    const auto [mean, error] = mean_and_error([&](std::size_t n) { return evidences[n]; });
    EXPECT_NEAR(mean, evidence / draws, 4 * error);
    // What a run claims is the deviation between runs.
    const double claimed = mean_and_error([&](std::size_t n) { return errors[n]; }).first,
                 between = error * std::sqrt(double{kRuns}) / mean;
    EXPECT_GT(claimed, between / 1.8);
    EXPECT_LT(claimed, between * 1.8);
}

TEST(Annealing, HasTheSameBitsHoweverThreadsAndCallsDivideThem) {
    const Hinge174 hinge;
    const ProfileModel model = make_profile_model(hinge.chain, hinge.draw(0), hinge.q, {});
    const Profile curve = hinge.curve_of(hinge.draw(1), model, true);
    const CurveFitSetup setup(hinge.chain, hinge.moves, {.curve = &curve}, {}, {});
    std::vector<double> first;
    for (const auto& [threads, together, in_turn] :
         std::vector<std::array<int, 3>>{{1, 1, 1}, {3, 1, 3}, {2, 4, 2}, {1, 7, 1}}) {
        Context context;
        context.threads = threads;
        const Posterior found = anneal(
            hinge.chain, hinge.moves, [&](Index count) { return setup.make_targets(count); },
            {.conformations = 16,
             .lineages = 4,
             .moves = 5,
             .together = together,
             .in_turn = in_turn},
            [](const Posterior&) { return true; }, "divided", context);
        std::vector<double> all(found.angles.begin(), found.angles.end());
        all.insert(all.end(), found.fits.begin(), found.fits.end());
        if (first.empty()) first = all;
        EXPECT_EQ(all, first) << together << " together, " << in_turn << " in turn";
    }
}

TEST(AnnealingOptions, DivideConformationsForAGpu) {
    const auto divided = [](Index conformations) {
        AnnealingOptions options{.conformations = conformations};
        options.divide_for_gpu();
        return std::pair(options.together, options.in_turn);
    };
    EXPECT_EQ(divided(16), std::pair(Index{1}, Index{1}));
    EXPECT_EQ(divided(64), std::pair(Index{1}, Index{4}));
    EXPECT_EQ(divided(1024), std::pair(Index{16}, Index{4}));
    EXPECT_EQ(divided(10000), std::pair(Index{16}, Index{4}));
}

TEST(ResidualTest, PassesNoiseAndFindsBothKindsOfMisfit) {
    const Hinge174 hinge;
    const ProfileModel model = make_profile_model(hinge.chain, hinge.draw(0), hinge.q, {});
    const Array<double, 3> partial = hinge.partial_of(hinge.draw(1), model);
    const LikelihoodOptions options{.model_error = 0, .correlation = 0.03, .c2 = {0, 1, 2}};
    double squares = 0, runs = 0;
    constexpr int kDraws = 200;
    const auto test_of = [&](const Profile& curve) {
        return CurveLikelihood(curve, hinge.q, options).residual_test(partial.view()[0]);
    };
    for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
        const ResidualTest test =
            test_of(hinge.curve_of({{1.0, hinge.draw(1)}}, model, 0.02, true, seed));
        squares += test.squares < 0.1 ? 1.0 / kDraws : 0;
        runs += test.runs < 0.1 ? 1.0 / kDraws : 0;
    }
    // Noise has probabilities below 0.1 in a tenth of the cases; runs come in steps.
    EXPECT_NEAR(squares, 0.1, 0.07);
    EXPECT_NEAR(runs, 0.1, 0.08);
    Profile curve = hinge.curve_of({{1.0, hinge.draw(1)}}, model, 0.02, true);
    for (std::size_t k = 0; k < curve.size(); ++k)  // a wave of 1.2 sigma and no noise
        curve.intensity[k] =
            hinge.curve_of({{1.0, hinge.draw(1)}}, model, 0.02, false).intensity[k] +
            1.2 * curve.sigma[k] * (k / 7 % 2 == 0 ? 1 : -1);
    EXPECT_LT(test_of(curve).runs, 1e-3);
    for (std::size_t k = 0; k < curve.size(); ++k)
        curve.intensity[k] += 3 * curve.sigma[k] * (k % 2 == 0 ? 1 : -1);
    EXPECT_LT(test_of(curve).squares, 1e-3);
}

}  // namespace

}  // namespace pleat::refine
