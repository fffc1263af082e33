// Tests of the axes along which weights of frames are fitted: what they leave out has a bound.
#include "pleat/saxs/fit/frame_axes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "pleat/saxs/fit/least_squares.h"
#include "pleat/saxs/fit/reweight.h"
#include "pleat/saxs/fit/set_fit.h"
#include "pleat/saxs/model/form_factors.h"

namespace pleat::saxs {
namespace {

/// Frames of two bodies at any distance, whose partial profiles have relative noise, and the curve
/// of a mixture with errors of a percent.
struct TwoBodies {
    static constexpr Index kPoints = 120;
    static constexpr double kRadius = 1.6;

    Profile curve;
    Array<double, 3> partial;

    TwoBodies(Index frames, double noise, double error = 0.01) : partial(frames, 6, kPoints) {
        for (Index k = 0; k < kPoints; ++k)
            curve.q.push_back(0.01 + 0.0025 * static_cast<double>(k));
        std::mt19937_64 random(3);
        std::uniform_real_distribution<double> distance(20, 90), exposure(0.8, 1.2),
            relative(-std::sqrt(3.0), std::sqrt(3.0));
        for (Index frame = 0; frame < frames; ++frame) {
            const double r = distance(random), sites = exposure(random);
            for (Index k = 0; k < kPoints; ++k) {
                const double q = curve.q[static_cast<std::size_t>(k)];
                const double amplitudes[3] = {3000 * std::exp(-q * q * 30),
                                              2300 * std::exp(-q * q * 32),
                                              120 * sites * std::exp(-q * q * 45)};
                for (Index a = 0; a < 3; ++a)
                    for (Index b = a; b < 3; ++b)
                        partial(frame, channel_pair(a, b, 3), k) =
                            (a == b ? 1 : 2) * amplitudes[a] * amplitudes[b] *
                            (2 + 2 * std::sin(q * r) / (q * r)) * (1 + noise * relative(random));
            }
        }
        std::normal_distribution<double> normal;
        std::vector<Index> members;
        for (Index n = 0; n < 4; ++n) members.push_back(n * frames / 4);
        const std::vector<double> weights = {0.4, 0.3, 0.2, 0.1};
        curve.intensity =
            intensity(weighted_partial(partial, members, weights), curve.q, kRadius, {1.02, 1.2});
        for (double& value : curve.intensity) {
            value *= 1e-6;
            curve.sigma.push_back(error * value);
            value += curve.sigma.back() * normal(random);
        }
    }
    EnsembleProblem problem() const { return {&curve, partial, kRadius, {}}; }
    /// The profile of a frame at a contrast, divided by sigma.
    std::vector<double> profile(Index frame, const Contrast& contrast) const {
        std::vector<double> one = intensity(partial[frame], curve.q, kRadius, contrast);
        for (std::size_t k = 0; k < one.size(); ++k) one[k] /= curve.sigma[k];
        return one;
    }
};

Fit fit_of_mean(const EnsembleProblem& problem, const FrameAxes& axes) {
    return fit(*problem.curve, axes.partial[0], problem.mean_radius, problem.options);
}

EnsembleProblem on_axes(const EnsembleProblem& problem, const FrameAxes& axes) {
    EnsembleProblem result = problem;
    result.partial = axes.partial;
    return result;
}

double distance(std::span<const double> a, std::span<const double> b) {
    double square = 0;
    for (std::size_t k = 0; k < a.size(); ++k) square += (a[k] - b[k]) * (a[k] - b[k]);
    return std::sqrt(square);
}

/// The longest part of some frames' profiles that axes leave out, at contrasts within the options.
double longest_left_out(const EnsembleProblem& problem, const FrameAxes& axes) {
    const FitOptions& options = problem.options;
    double longest = 0;
    for (Index frame = 0; frame < problem.partial.extent(0); frame += 7) {
        std::vector<double> alone(static_cast<std::size_t>(problem.partial.extent(0)), 0);
        alone[static_cast<std::size_t>(frame)] = 1;
        const Array<double, 2> described = axes.mean(axes.partial, alone);
        for (const double c1 : {0.0, 0.6, 1.0})
            for (const double c2 : {0.0, 0.4, 1.0}) {
                const Contrast contrast{std::lerp(options.c1_min, options.c1_max, c1),
                                        std::lerp(options.c2_min, options.c2_max, c2)};
                const auto by_errors = [&](View<const double, 2> partial) {
                    std::vector<double> one =
                        intensity(partial, problem.curve->q, problem.mean_radius, contrast);
                    for (std::size_t k = 0; k < one.size(); ++k) one[k] /= problem.curve->sigma[k];
                    return one;
                };
                longest = std::max(
                    longest, distance(by_errors(described), by_errors(problem.partial[frame])));
            }
    }
    return longest;
}

TEST(FrameAxes, LeaveOutNoMoreThanTheirBoundAtAnyContrast) {
    const TwoBodies frames(600, 0);
    Array<double, 3> net(Index{600}, Index{1}, TwoBodies::kPoints);
    for (Index frame = 0; frame < 600; ++frame)
        std::ranges::copy(
            intensity(frames.partial[frame], frames.curve.q, TwoBodies::kRadius, {1, 1}),
            net[frame].begin());
    EnsembleProblem problem = frames.problem();
    std::vector<EnsembleProblem> problems(5, problem);
    problems[1].options.c1_min = problems[1].options.c1_max = 1;
    problems[2].options.c1_min = 0.5;
    problems[2].options.c1_max = 2;
    problems[3].options.c2_min = problems[3].options.c2_max = 0;
    problems[4].partial = net;
    for (std::size_t n = 0; n < problems.size(); ++n)
        for (const double tolerance : {1.0, 0.01}) {
            SCOPED_TRACE(testing::Message() << n << ' ' << tolerance);
            const FrameAxes axes(problems[n], tolerance);
            // With c1 of 0.5 to 2, errors of 2e-6 of the partial profiles are more than 1.
            if (tolerance == 1 && n != 2) {
                EXPECT_LE(axes.left_out * fit_of_mean(problems[n], axes).scale, 1 + 1e-9);
            }
            const double longest = longest_left_out(problems[n], axes);
            EXPECT_LE(longest, axes.left_out * (1 + 1e-6));
            // A bound that is far above what is left out would not be one to rely on.
            EXPECT_GT(longest, axes.left_out / 100);
        }
}

TEST(FrameAxes, BoundWhatTheyLeaveOutIfTheyAreTooMany) {
    const TwoBodies frames(700, 0.02);
    const FrameAxes axes(frames.problem());
    EnsembleProblem problem = frames.problem();
    std::vector<std::string> warnings;
    problem.warnings = &warnings;
    for (int n = 0; n < 2; ++n) warn_of_axes(problem, axes);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("more than 400 axes"), std::string::npos);
    const TwoBodies few(700, 0);
    warn_of_axes(problem, FrameAxes(few.problem()));
    EXPECT_EQ(warnings.size(), 1u);
    EXPECT_EQ(axes.partial.extent(0), static_cast<Index>(kMaxProfileAxes) + 1);
    EXPECT_GT(axes.left_out * fit_of_mean(frames.problem(), axes).scale, kFrameTolerance);
    const double longest = longest_left_out(frames.problem(), axes);
    EXPECT_LE(longest, axes.left_out * (1 + 1e-6));
    EXPECT_GT(longest, axes.left_out / 100);
}

TEST(FrameAxes, DoNotDescribeTheNoiseOfSinglePrecision) {
    const TwoBodies exact(2000, 0), noisy(2000, 1e-6);
    const FrameAxes of_exact(exact.problem()), of_noisy(noisy.problem());
    EXPECT_GE(of_exact.partial.extent(0), 10);
    EXPECT_LE(of_noisy.partial.extent(0), of_exact.partial.extent(0) * 5 / 4);
    const auto basis_of = [](const TwoBodies& frames, const FrameAxes& axes) {
        const EnsembleProblem problem = on_axes(frames.problem(), axes);
        return ProfileCoordinates(problem, axes, fit_of_mean(problem, axes)).basis.size();
    };
    const std::size_t before = basis_of(exact, of_exact), after = basis_of(noisy, of_noisy);
    EXPECT_GE(before, 5u);
    EXPECT_LE(after, before + 1);
}

TEST(FrameAxes, HaveTheSameBitsForAnyNumberOfThreads) {
    const TwoBodies frames(1500, 6e-7);
    EnsembleProblem problem = frames.problem();
    problem.context.threads = 1;
    const FrameAxes one(problem);
    problem.context.threads = 5;
    const FrameAxes five(problem);
    EXPECT_TRUE(std::ranges::equal(one.partial, five.partial));
    EXPECT_TRUE(std::ranges::equal(one.amounts, five.amounts));
}

/// Weights that minimise the objective in some coordinates at a scale, and the objective in others.
struct Minimum {
    std::vector<double> weights;
    double objective = 0, chi2 = 0;

    Minimum(const ProfileCoordinates& in, const ProfileCoordinates& of, double theta,
            double scale) {
        const std::function<int()> threads = [] { return 1; };
        const Context context;
        WeightDual dual(in.x, threads, context);
        std::vector<double> l(in.basis.size(), 0);
        weights = dual.minimize(scale, in.target(scale), theta, l);
        std::vector<double> left = of.curve;
        for (std::size_t k = 0; k < left.size(); ++k) left[k] -= scale * of.mean[k];
        for (std::size_t r = 0; r < of.basis.size(); ++r) {
            double along = 0;
            for (std::size_t i = 0; i < weights.size(); ++i) {
                const auto frame = static_cast<Index>(i);
                along += weights[i] *
                         of.x.x(frame / kFrameBlock, static_cast<Index>(r), frame % kFrameBlock);
            }
            for (std::size_t k = 0; k < left.size(); ++k) left[k] -= scale * along * of.basis[r][k];
        }
        chi2 = dot(left.data(), left.data(), left.size());
        objective = chi2 / 2;
        for (const double weight : weights)
            if (weight > 0)
                objective +=
                    theta * weight * std::log(weight * static_cast<double>(weights.size()));
    }
};

TEST(ProfileCoordinates, BoundWhatTheyChange) {
    const TwoBodies frames(700, 0, 0.003);
    const FrameAxes axes(frames.problem());
    const EnsembleProblem problem = on_axes(frames.problem(), axes);
    const Fit at = fit_of_mean(problem, axes);
    const ProfileCoordinates all(problem, axes, at, 1e-9);
    double largest_part = 0;
    for (const double tolerance : {3.0, 0.3, 0.03})
        for (const double theta : {1000.0, 30.0, 1.0}) {
            const ProfileCoordinates some(problem, axes, at, tolerance);
            EXPECT_LT(some.basis.size(), all.basis.size());
            const Minimum found(some, all, theta, at.scale), best(all, all, theta, at.scale);
            const double excess = some.excess(found.weights, theta, at.scale);
            const double above = found.objective - best.objective;
            EXPECT_GE(above, -1e-6 * best.objective) << tolerance << ' ' << theta;
            EXPECT_LE(above, excess * (1 + 1e-3) + 1e-6 * best.objective)
                << tolerance << ' ' << theta;
            largest_part = std::max(largest_part, above / excess);
            double moved = 0;
            for (std::size_t i = 0; i < best.weights.size(); ++i)
                moved += std::abs(best.weights[i] - found.weights[i]);
            EXPECT_LE(moved, std::sqrt(2 * excess / theta) * (1 + 1e-3) + 1e-6);
            EXPECT_LE(std::abs(std::sqrt(found.chi2) - std::sqrt(best.chi2)),
                      std::sqrt(2 * excess) * (1 + 1e-3) + 1e-6);
        }
    EXPECT_GT(largest_part, 0.3);
    // With all axes nothing is left out.
    const Minimum best(all, all, 1, at.scale);
    EXPECT_NEAR(all.excess(best.weights, 1, at.scale), 0, 1e-6);
}

// Every set with one other member, fitted by all points.
TEST(Replacements, AreThoseThatFitBest) {
    const TwoBodies frames(400, 0);
    EnsembleProblem problem = frames.problem();
    for (const bool background : {false, true}) {
        problem.options.background = background;
        const FrameAxes axes(problem);
        const EnsembleProblem described = on_axes(problem, axes);
        const Fit at = fit_of_mean(problem, axes);
        const ProfileCoordinates coordinates(described, axes, at, 1e-6);
        problem.options.c1_min = problem.options.c1_max = at.contrast.c1;
        problem.options.c2_min = problem.options.c2_max = at.contrast.c2;
        const ProductTable table(problem, true, 1);
        const Members members = {5, 120, 300};
        std::vector<Members> sets;
        for (std::size_t m = 0; m < members.size(); ++m)
            for (Index frame = 0; frame < 400; ++frame) {
                if (std::ranges::find(members, frame) != members.end()) continue;
                Members set = members;
                set[m] = frame;
                std::sort(set.begin(), set.end());
                sets.push_back(set);
            }
        std::vector<std::pair<double, Index>> order;
        for (const FittedSet& set : fit_from(
                 table, sets, [&](std::size_t) { return at.contrast; }, 1e-4, 1))
            if (*std::min_element(set.weights.begin(), set.weights.end()) >= kMinWeight)
                for (const Index frame : set.members)
                    if (std::ranges::find(members, frame) == members.end())
                        order.push_back({set.chi2, frame});
        std::sort(order.begin(), order.end());
        ASSERT_GT(order.size(), 20u);
        std::vector<Index> expected;
        for (const auto& [chi2, frame] : order)
            if (expected.size() < 8 && std::ranges::find(expected, frame) == expected.end())
                expected.push_back(frame);
        std::sort(expected.begin(), expected.end());
        EXPECT_EQ(best_replacements(coordinates, members, 8, 2, {}), expected);
        // In the few directions of searches, all of these are among those that searches fit.
        const ProfileCoordinates few(described, axes, at);
        EXPECT_LT(few.basis.size(), coordinates.basis.size());
        EXPECT_TRUE(std::ranges::includes(best_replacements(few, members, 30, 2, {}), expected));
        problem.options = {};
    }
}

TEST(MinimalEnsembles, DoNotDependOnTheNumberOfThreads) {
    const TwoBodies frames(1200, 6e-7);
    std::vector<Weighted> first;
    for (const int threads : {1, 3, 16}) {
        Context context;
        context.threads = threads;
        const std::vector<Weighted> found = minimal_ensembles(frames.problem(), 3, context);
        if (threads == 1) first = found;
        ASSERT_EQ(found.size(), first.size());
        for (std::size_t n = 0; n < found.size(); ++n) {
            EXPECT_EQ(found[n].frames, first[n].frames) << threads;
            EXPECT_EQ(found[n].weights, first[n].weights) << threads;
            EXPECT_EQ(found[n].validation, first[n].validation) << threads;
        }
    }
}

// Found in turn, they end three times as far from the minimum.
TEST(MaximumEntropy, FindsWeightsScaleAndContrastTogether) {
    const TwoBodies frames(500, 0, 0.03);
    EnsembleProblem problem = frames.problem();
    std::vector<Reweighted> some = maximum_entropy(problem, {});
    some.resize(6);
    problem.options.background = true;
    some.push_back(maximum_entropy(problem, {})[3]);
    // With an observable of each kind besides the curve.
    Array<double, 2> values(500, 3);
    for (Index frame = 0; frame < 500; ++frame)
        for (Index n = 0; n < 3; ++n) values(frame, n) = std::sin(static_cast<double>(frame + n));
    const ObservableAxes observables({{"a", 0.4, 0.05, ObservableKind::gaussian, {}},
                                      {"b", -0.2, 0.05, ObservableKind::upper, {}},
                                      {"c", -0.1, 0.05, ObservableKind::lower, {}}},
                                     values);
    problem.options.background = false;
    problem.observables = &observables;
    const std::size_t alone = some.size();
    for (const Reweighted& one : maximum_entropy(problem, {}))
        if (some.size() < alone + 6) some.push_back(one);
    for (std::size_t n = 0; n < some.size(); ++n) {
        const Reweighted& one = some[n];
        const std::vector<double> l = observables.fit(one.result.weights, one.theta).multipliers;
        const Fit& at = one.result.fit;
        // The slopes of the objective along the weights are equal at the minimum.
        double mean = 0, spread = 0;
        std::vector<double> slopes;
        for (Index frame = 0; frame < 500; ++frame) {
            const std::vector<double> profile = frames.profile(frame, at.contrast);
            double along = 0;
            for (std::size_t k = 0; k < profile.size(); ++k)
                along +=
                    profile[k] * (frames.curve.intensity[k] - at.model[k]) / frames.curve.sigma[k];
            const double weight = one.result.weights[static_cast<std::size_t>(frame)];
            slopes.push_back(std::log(std::max(weight, 1e-300)) - at.scale * along / one.theta);
            for (Index r = 0; n >= alone && r < 3; ++r)
                slopes.back() += l[static_cast<std::size_t>(r)] * observables.x(r, frame);
            mean += weight * slopes.back();
        }
        for (std::size_t i = 0; i < slopes.size(); ++i)
            spread += one.result.weights[i] * std::abs(slopes[i] - mean);
        EXPECT_LT(spread, 0.004) << one.theta;
        if (n >= alone) {
            EXPECT_GT(std::abs(l[0]), 0);
        }
    }
}

TEST(MaximumEntropy, OfCopiesKeepsWeightsEqual) {
    TwoBodies frames(40, 0);
    for (Index frame = 1; frame < 40; ++frame)
        std::copy(frames.partial[0].begin(), frames.partial[0].end(),
                  frames.partial[frame].begin());
    for (const Reweighted& one : maximum_entropy(frames.problem(), {})) {
        EXPECT_NEAR(one.result.effective_frames, 40, 1e-9);
        EXPECT_TRUE(std::isfinite(one.result.fit.chi2));
    }
}

}  // namespace
}  // namespace pleat::saxs
