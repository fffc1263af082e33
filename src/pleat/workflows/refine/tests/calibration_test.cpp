// Calibration: truths drawn from the prior have uniform ranks among the frames of their curves
// (simulation-based calibration, Talts et al. 2018).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <random>

#include "pleat/workflows/refine/fit/curve_fit.h"
#include "pleat/workflows/refine/sampling/annealing.h"
#include "pleat/workflows/refine/sampling/pool.h"
#include "pleat/workflows/refine/tests/long_tests.h"
#include "pleat/workflows/refine/tests/made_chain.h"

namespace pleat::refine {

namespace {

constexpr std::size_t kNumbers = 3;
constexpr const char* kNames[kNumbers] = {"distance", "Rg", "angle"};
constexpr double kError = 0.02;

/// Two helices of 14 residues on a linker of five.
struct TwoHelices {
    ChainModel chain;
    Prior prior;
    Moves moves;
    std::vector<double> q;
    ProfileModel profile;
    std::vector<double> sigma;  ///< of all curves: of the start's intensities
    std::vector<double> c2 = {0, 1, 2};

    static ChainModel make_chain() {
        test::MadeChain made;
        test::add_peptide(made, std::string(33, 'A'), "A", -60, -45);
        return make_chain_model(made.topology, made.xyz(),
                                {.linkers = parse_ranges("A:15-19", "--linkers")});
    }
    TwoHelices() : chain(make_chain()), prior(chain, coil_tables()), moves(chain, prior) {
        for (int n = 0; n < 26; ++n) q.push_back(0.016 * n);
        profile = make_profile_model(chain, Conformation(chain), q, {});
        for (const double value : intensity_of(Conformation(chain), 1))
            sigma.push_back(kError * value);
    }

    std::vector<double> intensity_of(const Conformation& at, double contrast) const {
        ProfileBatch batch(profile, 1, Device{});
        batch.start(0, at);
        const View<const double, 2> partial = batch.profile(0);
        std::vector<double> intensity;
        for (Index k = 0; k < partial.extent(1); ++k)
            intensity.push_back(partial(0, k) + contrast * partial(1, k) +
                                contrast * contrast * partial(2, k));
        return intensity;
    }
    /// Distance of the helices' centres, Rg of CA atoms, and the angle between the helices.
    std::array<double, kNumbers> numbers_of(const Conformation& at) const {
        std::vector<Vector> ca;
        for (const ClashPoint& point : chain.points) ca.push_back(at.atom(point.atom));
        Vector mean;
        for (const Vector& one : ca) mean = mean + (1.0 / static_cast<double>(ca.size())) * one;
        double square = 0;
        for (const Vector& one : ca) square += dot(one - mean, one - mean);
        const auto centre = [&](const Domain& domain) {
            return at.piece(domain.piece)(domain.centre);
        };
        return {distance(centre(chain.domains[0]), centre(chain.domains[1])),
                std::sqrt(square / static_cast<double>(ca.size())),
                bond_angle(unit(ca[11] - ca[2]), {}, unit(ca[30] - ca[21]))};
    }

    Context with_seed(std::uint64_t seed) const {
        Context context;
        context.seed = seed;
        return context;
    }
    Conformation conformation(const double* angles) const {
        Conformation at(chain);
        at.set_angles({angles, angles + chain.hinge_count()});
        return at;
    }
};

/// Ranks [number][truth] of truths among as many conformations of their posteriors, one in 24.
/// `confidence`: errors that the likelihood takes are smaller by it.
std::array<std::vector<Index>, kNumbers> ranks_of(Index truths, Index draws, Index moves,
                                                  double confidence) {
    const TwoHelices two;
    const Pool prior = sample_pool(two.chain, two.moves, {.chains = truths, .moves = 300}, "truths",
                                   two.with_seed(1));
    std::array<std::vector<Index>, kNumbers> ranks;
    for (Index truth = 0; truth < truths; ++truth) {
        std::mt19937_64 random(static_cast<std::uint64_t>(truth));
        std::normal_distribution<double> normal;
        const Conformation at = two.conformation(&prior.angles(0, truth, 0));
        Profile curve;
        curve.q = two.q;
        curve.intensity = two.intensity_of(at, two.c2[random() % two.c2.size()]);
        for (std::size_t k = 0; k < curve.size(); ++k) {
            curve.intensity[k] += two.sigma[k] * normal(random);
            curve.sigma.push_back(two.sigma[k] / confidence);
        }
        const CurveLikelihood likelihood(curve, two.q,
                                         {.model_error = 0, .correlation = 0.03, .c2 = two.c2});
        const auto with_curve = [&](Index count) {
            const auto profiles = std::make_shared<ProfileBatch>(two.profile, count, Device{});
            TargetBatch targets;
            for (Index n = 0; n < count; ++n)
                targets.push_back(
                    std::make_unique<CurveTarget>(two.chain, profiles, n, likelihood));
            return targets;
        };
        const Posterior found = anneal(
            two.chain, two.moves, with_curve, {.conformations = 24 * draws, .moves = moves},
            [](const Posterior&) { return true; }, "calibration",
            two.with_seed(100 + static_cast<std::uint64_t>(truth)));
        const auto expected = two.numbers_of(at);
        std::array<Index, kNumbers> below{};
        for (Index draw = 0; draw < draws; ++draw) {
            const auto numbers = two.numbers_of(two.conformation(&found.angles(24 * draw, 0)));
            for (std::size_t n = 0; n < kNumbers; ++n) below[n] += numbers[n] < expected[n];
        }
        for (std::size_t n = 0; n < kNumbers; ++n) ranks[n].push_back(below[n]);
    }
    return ranks;
}

/// Chi^2 of ranks from 0 to `draws` in bins of equal probability, and the share of truths that are
/// in the interval without the `outside` lowest and highest ranks.
struct Calibration {
    double chi_square = 0, covered = 0;
};
Calibration assess(const std::vector<Index>& ranks, Index draws, Index bins, Index outside) {
    std::vector<double> counts(static_cast<std::size_t>(bins));
    Calibration found;
    for (const Index rank : ranks) {
        ++counts[static_cast<std::size_t>(rank * bins / (draws + 1))];
        if (rank >= outside && rank <= draws - outside)
            found.covered += 1 / static_cast<double>(ranks.size());
    }
    const double expected = static_cast<double>(ranks.size()) / static_cast<double>(bins);
    for (const double count : counts)
        found.chi_square += (count - expected) * (count - expected) / expected;
    return found;
}

TEST(Calibration, TruthsHaveUniformRanks) {
    const auto ranks = ranks_of(20, 9, 15, 1);
    for (std::size_t n = 0; n < kNumbers; ++n) {
        const Calibration found = assess(ranks[n], 9, 5, 1);
        EXPECT_LT(found.chi_square, 18.5) << kNames[n];  // p = 0.001, 4 degrees of freedom
        EXPECT_GE(found.covered, 0.5) << kNames[n];      // 0.8; p = 0.002
    }
}

TEST(Calibration, TwoHundredTruthsHaveUniformRanksAndTooSmallErrorsDoNot) {
    if (!test::runs_long_tests()) GTEST_SKIP() << "PLEAT_LONG_TESTS is not set";
    const auto ranks = ranks_of(200, 19, 30, 1), confident = ranks_of(200, 19, 30, 3);
    for (std::size_t n = 0; n < kNumbers; ++n) {
        const Calibration found = assess(ranks[n], 19, 10, 1),
                          wrong = assess(confident[n], 19, 10, 1);
        std::printf(
            "%s: chi^2 of ranks %.1f, %.1f %% in the 90 %% interval; with a third of the "
            "errors %.1f, %.1f %%\n",
            kNames[n], found.chi_square, 100 * found.covered, wrong.chi_square,
            100 * wrong.covered);
        EXPECT_LT(found.chi_square, 21.7) << kNames[n];  // p = 0.01, 9 degrees of freedom
        EXPECT_GE(found.covered, 0.86) << kNames[n];
        EXPECT_LE(found.covered, 0.94) << kNames[n];
        if (n < 2) {
            EXPECT_GT(wrong.chi_square, 21.7) << kNames[n];
        }
    }
}

}  // namespace

}  // namespace pleat::refine
