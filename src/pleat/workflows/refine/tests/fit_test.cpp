// Fit: the likelihood by its definition, profiles of moves against fresh ones, and a made hinge.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/workflows/refine/fit/curve_fit.h"
#include "pleat/workflows/refine/fit/curve_target.h"
#include "pleat/workflows/refine/sampling/ladder.h"

namespace pleat::refine {

namespace {

using pleat::test::error_text;
using pleat::test::TemporaryFolder;

/// The second domain of HIV's capsid protein, with a made linker between its helices.
Ensemble structure() {
    return read_ensemble({(pleat::test::data_folder() / "1a8o.pdb.gz").string()},
                         {.topology = {}, .select = "heavy and protein", .range = {}});
}

std::vector<double> grid(Index points, double last) {
    std::vector<double> q;
    for (Index n = 0; n < points; ++n)
        q.push_back(last * static_cast<double>(n) / static_cast<double>(points - 1));
    return q;
}

struct Hinge174 {
    Ensemble ensemble = structure();
    ChainModel chain =
        make_chain_model(ensemble.topology, ensemble.xyz.view()[0],
                         {.linkers = parse_ranges("A:174-179", "--linkers"), .groups = {}});
    Prior prior{chain, coil_tables()};
    Moves moves{chain, prior};
    std::vector<double> q = grid(41, 0.3);

    Conformation draw(Index chain_number) const {
        Conformation conformation(chain);
        conformation.set_angles(find_start(chain, moves, {}, 1, chain_number));
        return conformation;
    }
    /// The curve of a conformation with errors of 2 %.
    Profile curve_of(const Conformation& truth, const ProfileModel& model, bool noise) const {
        Array<float, 2> frame(Index{3}, chain.atom_count());
        Array<float, 3> xyz(Index{1}, Index{3}, model.model.scatterer_count()),
            scales(Index{1}, Index{1}, model.scales.extent(1));
        model.write(truth, frame, xyz.view()[0]);
        std::copy(model.scales.begin(), model.scales.end(), scales.begin());
        const Array<double, 3> partial = saxs::profiles(
            model.model, xyz.view(), scales.view(), {.precision = saxs::Precision::float64}, {});
        std::mt19937_64 random(3);
        std::normal_distribution<double> normal;
        Profile curve;
        for (Index k = 0; k < partial.extent(2); ++k) {
            const double c2 = 1, intensity = partial(0, 0, k) + c2 * partial(0, 1, k) +
                                             c2 * c2 * partial(0, 2, k);
            curve.q.push_back(q[static_cast<std::size_t>(k)]);
            curve.sigma.push_back(0.02 * intensity);
            curve.intensity.push_back(intensity +
                                      (noise ? curve.sigma.back() * normal(random) : 0));
        }
        return curve;
    }
};

TEST(CurveLikelihood, IsItsDefinition) {
    // Uncorrelated errors, one c2: by direct sums, and by an integral over the scale.
    const std::vector<double> q = grid(12, 0.3);
    Profile curve;
    Array<double, 2> partial(Index{3}, Index{12});
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal;
    for (Index k = 0; k < 12; ++k) {
        partial(0, k) = 100 * std::exp(-0.1 * static_cast<double>(k * k));
        partial(1, k) = 10 + normal(random);
        partial(2, k) = 5 + normal(random);
        const double intensity = partial(0, k) + 2 * partial(1, k) + 4 * partial(2, k);
        curve.q.push_back(q[static_cast<std::size_t>(k)]);
        curve.sigma.push_back(2.0);
        curve.intensity.push_back(0.3 * intensity + 2 * normal(random));
    }
    const CurveLikelihood likelihood(curve, q, {.model_error = 0, .correlation = 0.03, .c2 = {2}});
    const auto chi_square = [&](double scale) {
        double sum = 0;
        for (Index k = 0; k < 12; ++k) {
            const double model = scale * (partial(0, k) + 2 * partial(1, k) + 4 * partial(2, k));
            sum += std::pow((curve.intensity[static_cast<std::size_t>(k)] - model) / 2, 2);
        }
        return sum;
    };
    double integral = 0, smallest = 1e300;
    constexpr double kStep = 1e-5;
    for (double scale = kStep / 2; scale < 1; scale += kStep) {
        integral += kStep * std::exp(-chi_square(scale) / 2);
        smallest = std::min(smallest, chi_square(scale));
    }
    const CurveFit fit = likelihood.fit(partial.view());
    EXPECT_NEAR(fit.log_likelihood, std::log(integral / std::sqrt(2 * std::numbers::pi)), 1e-4);
    EXPECT_NEAR(fit.chi2, smallest / 12, 1e-4);
    // Two values of c2 count half each.
    const CurveLikelihood other(curve, q, {.model_error = 0, .correlation = 0.03, .c2 = {1}}),
        both(curve, q, {.model_error = 0, .correlation = 0.03, .c2 = {1, 2}});
    EXPECT_NEAR(both.fit(partial.view()).log_likelihood,
                std::log((std::exp(fit.log_likelihood) +
                          std::exp(other.fit(partial.view()).log_likelihood)) /
                         2),
                1e-9);
    // An error of the model makes a misfit less improbable.
    const CurveLikelihood tolerant(curve, q, {.model_error = 0.1, .correlation = 0.03, .c2 = {-1}}),
        strict(curve, q, {.model_error = 0, .correlation = 0.03, .c2 = {-1}});
    EXPECT_GT(tolerant.fit(partial.view()).log_likelihood,
              strict.fit(partial.view()).log_likelihood);
}

TEST(CurveTarget, MovesKeepTheProfileOfAFreshStart) {
    const Hinge174 hinge;
    const ProfileModel model = make_profile_model(hinge.chain, hinge.draw(0), hinge.q, {});
    const Profile curve = hinge.curve_of(hinge.draw(1), model, true);
    const CurveLikelihood likelihood(curve, hinge.q, {.c2 = {0, 1, 2}});
    CurveTarget target(hinge.chain, model, likelihood);
    target.set_beta(0.05);
    Sampler sampler(hinge.moves, target, hinge.chain, 2, 0);
    sampler.start(hinge.draw(2).angles());
    sampler.run(0, 300);
    CurveTarget fresh(hinge.chain, model, likelihood);
    fresh.set_beta(0.05);
    const double weight = fresh.log_weight(sampler.conformation());
    EXPECT_NEAR(sampler.log_weight(), weight, 1e-3 * std::abs(weight));
    sampler.refresh();
    EXPECT_EQ(sampler.log_weight(), weight);  // the bits of a start, so that a chain can resume
    EXPECT_GT(sampler.counts.accepted[0] + sampler.counts.accepted[1], 20);
}

TEST(CurveTarget, TheTruthHasTheHighestLikelihood) {
    const Hinge174 hinge;
    const Conformation truth = hinge.draw(1);
    const ProfileModel model = make_profile_model(hinge.chain, hinge.draw(0), hinge.q, {});
    const CurveLikelihood likelihood(hinge.curve_of(truth, model, false), hinge.q,
                                     {.c2 = {0, 1, 2}});
    CurveTarget target(hinge.chain, model, likelihood);
    target.log_weight(truth);
    target.accept();
    EXPECT_LT(target.fit().chi2, 1e-6);
    EXPECT_EQ(target.fit().c2, 1);
    const double best = target.fit().log_likelihood;
    for (Index n = 2; n < 12; ++n) {
        target.log_weight(hinge.draw(n));
        target.accept();
        EXPECT_LT(target.fit().log_likelihood, best);
    }
}

TEST(Ladder, SwapsByTheRatioOfWeightsAndEvensTheirShares) {
    Ladder ladder(4);
    EXPECT_EQ(ladder.betas.front(), 0);
    EXPECT_EQ(ladder.betas.back(), 1);
    EXPECT_NEAR(ladder.swap_probability(2, -10, -12), 1.0, 1e-12);  // the better one moves up
    EXPECT_NEAR(ladder.swap_probability(2, -12, -10),
                std::exp(-2 * (ladder.betas[3] - ladder.betas[2])), 1e-12);
    const std::vector<double> before = ladder.betas;
    ladder.count(0, 0.9);
    ladder.count(1, 0.5);
    ladder.count(2, 0.1);
    ladder.adapt(0);
    EXPECT_GT(ladder.betas[2], before[2]);  // rare swaps with 1: nearer to it
    EXPECT_TRUE(std::is_sorted(ladder.betas.begin(), ladder.betas.end()));
    EXPECT_EQ(Ladder(1).betas, std::vector<double>{1});
}

Parameters fit_parameters() {
    Parameters parameters;
    parameters.linkers = "A:174-179";
    parameters.mode = Mode::fit;
    parameters.frames = 60;
    parameters.chains = 2;
    parameters.moves = 10;
    parameters.burn_in = 15;
    parameters.rungs = 3;
    return parameters;
}

TEST(Fit, FindsTheDistanceOfAMadeHinge) {
    const Hinge174 hinge;
    const Conformation truth = hinge.draw(1);
    const ProfileModel model = make_profile_model(hinge.chain, hinge.draw(0), hinge.q, {});
    const Profile curve = hinge.curve_of(truth, model, true);
    Context context;
    const Result found = run(hinge.ensemble, {.curve = &curve}, fit_parameters(), context);
    Parameters pool = fit_parameters();
    pool.mode = Mode::pool;
    const Result prior = run(hinge.ensemble, {}, pool, context);
    const auto centre = [&](std::size_t domain) {
        return truth.piece(hinge.chain.domains[domain].piece)(hinge.chain.domains[domain].centre);
    };
    const double expected = distance(centre(0), centre(1));
    const auto share_of = [](std::vector<double> values, double share) {
        std::sort(values.begin(), values.end());
        return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
    };
    const std::vector<double>& distances = found.quantities[1].values;
    EXPECT_LT(share_of(distances, 0.02), expected);
    EXPECT_GT(share_of(distances, 0.98), expected);
    EXPECT_LT(share_of(distances, 0.95) - share_of(distances, 0.05),
              0.5 * (share_of(prior.quantities[1].values, 0.95) -
                     share_of(prior.quantities[1].values, 0.05)));
    EXPECT_LT(share_of(found.chi2, 0.5), 2);
    EXPECT_EQ(found.quantities.back().name, "ln_likelihood");
}

struct StopAfter final : Progress {
    explicit StopAfter(int count) : left(count) {}
    void update(std::string_view stage, std::int64_t, std::int64_t, std::string_view) override {
        left -= stage == "sample";
    }
    bool cancelled() override { return left <= 0; }
    void message(std::string_view) override {}
    int left;
};

TEST(Fit, HasTheSameBitsForAnyThreadsAndAfterAStop) {
    const TemporaryFolder folder;
    const Hinge174 hinge;
    const ProfileModel model = make_profile_model(hinge.chain, hinge.draw(0), hinge.q, {});
    const Profile curve = hinge.curve_of(hinge.draw(1), model, true);
    Parameters parameters = fit_parameters();
    parameters.frames = 12;
    parameters.burn_in = 4;
    parameters.moves = 5;
    Context context;
    context.threads = 1;
    const Result whole = run(hinge.ensemble, {.curve = &curve}, parameters, context);
    context.threads = 2;
    context.checkpoint = folder / "checkpoint.npz";
    for (const int rounds : {3, 4}) {
        StopAfter stop(rounds);
        context.progress = &stop;
        EXPECT_THROW(run(hinge.ensemble, {.curve = &curve}, parameters, context), Cancelled);
    }
    context.progress = nullptr;
    const Result resumed = run(hinge.ensemble, {.curve = &curve}, parameters, context);
    EXPECT_TRUE(
        std::equal(whole.frames.xyz.begin(), whole.frames.xyz.end(), resumed.frames.xyz.begin()));
    EXPECT_EQ(whole.chi2, resumed.chi2);
    EXPECT_EQ(whole.swaps, resumed.swaps);
}

TEST(Fit, RefusesToFitNothing) {
    EXPECT_THROW(run(structure(), {}, fit_parameters(), {}), UsageError);
    Profile few;
    few.q = {0.01, 0.02, 0.03};
    few.intensity = few.sigma = {3, 2, 1};
    EXPECT_NE(error_text<InputError>([&] {
                  run(structure(), {.curve = &few}, fit_parameters(), {});
              }).find("expected at least 10 points up to q = 0.5, found 3"),
              std::string::npos);
}

}  // namespace

}  // namespace pleat::refine
