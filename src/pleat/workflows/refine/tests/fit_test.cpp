// Fit: the likelihood by its definition, profiles of moves against fresh ones, and a made hinge.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <random>

#include "pleat/core/error.h"
#include "pleat/core/hardware/instruction_set.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/saxs/fit/resampling.h"
#include "pleat/saxs/model/scatterer_positions.h"
#include "pleat/workflows/refine/sampling/sampler.h"
#include "pleat/workflows/refine/tests/made_hinge.h"

namespace pleat::refine {

namespace {

using pleat::test::error_text;
using pleat::test::TemporaryFolder;
using test::grid;
using test::Hinge174;
using test::StopAfter;
using test::structure;

/// The only target of a batch.
std::unique_ptr<SamplingTarget> single_target(const Hinge174& hinge, const ProfileModel& model,
                                              const CurveLikelihood& likelihood) {
    return std::make_unique<CurveTarget>(
        hinge.chain, std::make_shared<ProfileBatch>(model, 1, Device{}), 0, likelihood);
}

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
    for (int n = 0; n < 100000; ++n) {
        const double scale = (n + 0.5) * kStep;
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

TEST(CurveLikelihood, IsItsFormulaOnEveryInstructionSet) {
    constexpr Index kPoints = 83;
    const std::vector<double> c2 = {-2, -0.5, 0, 1, 2, 3.5, 4};
    std::mt19937_64 random(6);
    std::normal_distribution<double> normal;
    for (const Index grid_points : {7, 8, 51})
        for (const Index pairs : {1, 3}) {
            const std::vector<double> q = grid(grid_points, 0.5);
            Array<double, 2> partial(pairs, grid_points);
            for (double& value : partial) value = 10 + normal(random);
            // A profile of its own, whose scale may be below 0: Phi counts there.
            for (const double signal : {1.0, 0.0, -0.02}) {
                Profile curve;
                for (Index k = 0; k < kPoints; ++k) {
                    curve.q.push_back(0.005 + 0.49 * static_cast<double>(k) / kPoints);
                    curve.sigma.push_back(1 + 0.5 * std::sin(static_cast<double>(k)));
                    curve.intensity.push_back(20 * signal + curve.sigma.back() * normal(random));
                }
                std::vector<double> weights;
                for (const double contrast : c2) {
                    std::vector<double> profile(q.size());
                    for (Index n = 0; n < grid_points; ++n)
                        for (Index pair = 0; pair < pairs; ++pair)
                            profile[static_cast<std::size_t>(n)] +=
                                std::pow(contrast, static_cast<double>(pair)) * partial(pair, n);
                    const std::vector<double> model = saxs::interpolate_spline(q, profile, curve.q);
                    double a = 0, e = 0, c = 0;
                    for (std::size_t k = 0; k < model.size(); ++k) {
                        const double weight = 1 / (curve.sigma[k] * curve.sigma[k]);
                        a += weight * model[k] * model[k];
                        e += weight * model[k] * curve.intensity[k];
                        c += weight * curve.intensity[k] * curve.intensity[k];
                    }
                    weights.push_back(std::erfc(-e / std::sqrt(2 * a)) / 2 / std::sqrt(a) *
                                      std::exp(-(c - e * e / a) / 2));
                }
                double expected = 0;
                for (const double weight : weights)
                    expected += weight / static_cast<double>(weights.size());
                ASSERT_GT(expected, 0);
                const CurveLikelihood likelihood(curve, q,
                                                 {.model_error = 0, .correlation = 0.03, .c2 = c2});
                for (const std::string& name : instruction_sets()) {
                    restrict_instruction_set(name);
                    EXPECT_NEAR(likelihood.log_likelihood(partial.view()), std::log(expected), 1e-9)
                        << name << ", " << grid_points << ", " << pairs << ", " << signal;
                }
                restrict_instruction_set("");
            }
        }
}

TEST(CurveTarget, MovesKeepTheProfileOfAFreshStart) {
    const Hinge174 hinge;
    const ProfileModel model = make_profile_model(hinge.chain, hinge.draw(0), hinge.q, {});
    const Profile curve = hinge.curve_of(hinge.draw(1), model, true);
    const CurveLikelihood likelihood(curve, hinge.q, {.c2 = {0, 1, 2}});
    const auto target = single_target(hinge, model, likelihood),
               fresh = single_target(hinge, model, likelihood);
    target->set_beta(0.05);
    Sampler sampler(hinge.moves, *target, hinge.chain, 2, 0);
    sampler.start(hinge.draw(2).angles());
    sampler.run(0, 300);
    fresh->set_beta(0.05);
    fresh->start(sampler.conformation());
    const double weight = fresh->accepted_log_weight();
    EXPECT_NEAR(target->accepted_log_weight(), weight, 1e-3 * std::abs(weight));
    target->start(sampler.conformation());
    EXPECT_EQ(target->accepted_log_weight(),
              weight);  // the bits of a start, so that a chain can resume
    EXPECT_GT(sampler.counts.accepted[0] + sampler.counts.accepted[1], 20);
}

TEST(CurveTarget, TheTruthHasTheHighestLikelihood) {
    const Hinge174 hinge;
    const Conformation truth = hinge.draw(1);
    const ProfileModel model = make_profile_model(hinge.chain, hinge.draw(0), hinge.q, {});
    const CurveLikelihood likelihood(hinge.curve_of(truth, model, false), hinge.q,
                                     {.c2 = {0, 1, 2}});
    const auto target = single_target(hinge, model, likelihood);
    target->start(truth);
    EXPECT_LT(target->fit().chi2, 1e-6);
    EXPECT_EQ(target->fit().c2, 1);
    const double best = target->log_likelihood();
    for (Index n = 2; n < 12; ++n) {
        ASSERT_TRUE(target->prepare(hinge.draw(n)));
        EXPECT_LT(target->prepared_log_weight(), best);
        target->accept();
        EXPECT_LT(target->log_likelihood(), best);
    }
}

Parameters fit_parameters() {
    Parameters parameters;
    parameters.linkers = "A:174-179";
    parameters.mode = Mode::fit;
    parameters.frames = 64;
    parameters.chains = 4;
    parameters.moves = 10;
    parameters.doublings = 0;
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
    EXPECT_LT(found.evidence->log_evidence,
              *std::max_element(found.quantities.back().values.begin(),
                                found.quantities.back().values.end()));
    EXPECT_GT(found.evidence->error, 0);
}

/// Stops after every one or two steps, from the pilot to the last doubling, and resumes.
std::optional<Result> run_with_stops(const Hinge174& hinge, const Profile& curve,
                                     const Parameters& parameters, Context context) {
    for (int stops = 0; stops < 200; ++stops) {
        StopAfter stop(stops % 2 == 0 ? 1 : 2);
        context.progress = &stop;
        try {
            return run(hinge.ensemble, {.curve = &curve}, parameters, context);
        } catch (const Cancelled&) {
        }
    }
    return std::nullopt;
}

TEST(Fit, HasTheSameBitsForAnyThreadsAndAfterAStop) {
    const TemporaryFolder folder;
    const Hinge174 hinge;
    const ProfileModel model = make_profile_model(hinge.chain, hinge.draw(0), hinge.q, {});
    const Profile curve = hinge.curve_of(hinge.draw(1), model, true);
    Parameters parameters = fit_parameters();
    parameters.frames = 18;
    parameters.moves = 5;
    parameters.doublings = 1;
    Context context;
    context.threads = 1;
    const Result whole = run(hinge.ensemble, {.curve = &curve}, parameters, context);
    context.threads = 2;
    context.checkpoint = folder / "checkpoint.npz";
    const std::optional<Result> ended = run_with_stops(hinge, curve, parameters, context);
    ASSERT_TRUE(ended);
    const Result& resumed = *ended;
    EXPECT_TRUE(
        std::equal(whole.frames.xyz.begin(), whole.frames.xyz.end(), resumed.frames.xyz.begin()));
    EXPECT_EQ(whole.chi2, resumed.chi2);
    EXPECT_EQ(whole.evidence->log_evidence, resumed.evidence->log_evidence);
    EXPECT_EQ(whole.moves[0].accepted, resumed.moves[0].accepted);
    // A run that had ended is only measured again; the last doubling counts.
    EXPECT_EQ(whole.step[0], 2 * 5 * std::ssize(whole.evidence->powers));
    context.checkpoint_seconds = 0;
    context.checkpoint = folder / "whole.npz";
    run(hinge.ensemble, {.curve = &curve}, parameters, context);
    const Result again = run(hinge.ensemble, {.curve = &curve}, parameters, context);
    EXPECT_EQ(again.step, whole.step);
    EXPECT_EQ(again.chi2, whole.chi2);
}

TEST(Fit, GridOfQHasEnoughPointsForASpline) {
    const Hinge174 hinge;
    constexpr double kLast = 0.75;
    std::vector<Conformation> drawn;
    double extent = 0;
    for (Index n = 0; n < 8; ++n) {
        drawn.push_back(hinge.draw(n));
        Array<float, 2> xyz(Index{3}, hinge.chain.atom_count());
        drawn.back().write(xyz.view(), 0);
        extent = std::max(extent, saxs::box_diagonal(xyz.view()));
    }
    const auto intensities = [&](Index points) {
        std::vector<std::vector<double>> all;
        const std::vector<double> q = grid(points, kLast);
        const ProfileModel model = make_profile_model(hinge.chain, drawn[0], q, {});
        for (const Conformation& at : drawn) {
            const Array<double, 3> partial = hinge.partial_of(at, model);
            std::vector<double> values;
            for (Index k = 0; k < points; ++k)
                values.push_back(partial(0, 0, k) + partial(0, 1, k) + partial(0, 2, k));
            all.push_back(saxs::interpolate_spline(q, values, grid(601, kLast)));
        }
        return all;
    };
    const Index points = grid_points(kLast, extent);
    ASSERT_LT(points, 60);
    const auto exact = intensities(601), found = intensities(points);
    for (std::size_t n = 0; n < drawn.size(); ++n)
        for (std::size_t k = 0; k < 601; ++k)
            EXPECT_NEAR(found[n][k] / exact[n][k], 1, 3e-3) << n << " at " << k;
}

TEST(Fit, ResumesWithinAPower) {
    const TemporaryFolder folder;
    const Hinge174 hinge;
    const ProfileModel model = make_profile_model(hinge.chain, hinge.draw(0), hinge.q, {});
    const Profile curve = hinge.curve_of(hinge.draw(1), model, true);
    Parameters parameters = fit_parameters();
    parameters.frames = 16;
    parameters.moves = 102;  // two steps of each power
    Context context;
    const Result whole = run(hinge.ensemble, {.curve = &curve}, parameters, context);
    context.checkpoint = folder / "checkpoint.npz";
    const std::optional<Result> resumed = run_with_stops(hinge, curve, parameters, context);
    ASSERT_TRUE(resumed);
    EXPECT_EQ(whole.chi2, resumed->chi2);
    EXPECT_EQ(whole.step[0], 102 * std::ssize(whole.evidence->powers));
}

TEST(Fit, DoesNotResumeARunOfAnotherNumberOfFrames) {
    const TemporaryFolder folder;
    const Hinge174 hinge;
    const ProfileModel model = make_profile_model(hinge.chain, hinge.draw(0), hinge.q, {});
    const Profile curve = hinge.curve_of(hinge.draw(1), model, true);
    Parameters parameters = fit_parameters();
    parameters.frames = 17;  // as 18, five for each of four lineages at most
    Context context;
    context.checkpoint = folder / "checkpoint.npz";
    StopAfter stop(1);
    context.progress = &stop;
    EXPECT_THROW(run(hinge.ensemble, {.curve = &curve}, parameters, context), Cancelled);
    context.progress = nullptr;
    parameters.frames = 18;
    EXPECT_THROW(run(hinge.ensemble, {.curve = &curve}, parameters, context), InputError);
}

TEST(Fit, RefusesToFitNothing) {
    EXPECT_THROW(run(structure(), {}, fit_parameters(), {}), UsageError);
    Parameters few_lineages = fit_parameters();
    few_lineages.chains = 3;
    Profile few;
    few.q = {0.01, 0.02, 0.03};
    few.intensity = few.sigma = {3, 2, 1};
    EXPECT_THROW(run(structure(), {.curve = &few}, few_lineages, {}), UsageError);
    EXPECT_NE(error_text<InputError>([&] {
                  run(structure(), {.curve = &few}, fit_parameters(), {});
              }).find("expected at least 10 points up to q = 0.5, found 3"),
              std::string::npos);
}

}  // namespace

}  // namespace pleat::refine
