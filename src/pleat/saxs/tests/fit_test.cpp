// Tests of fits: scale, background and contrast that are known come back; ensembles that are known
// too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>

#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/saxs/fit/ensemble_fit.h"
#include "pleat/saxs/fit/fit.h"
#include "pleat/saxs/fit/frame_axes.h"
#include "pleat/saxs/fit/least_squares.h"
#include "pleat/saxs/model/form_factors.h"

namespace pleat::saxs {
namespace {

constexpr double kRadius = 1.6;

/// Partial profiles of Gaussian bodies, of which each frame has its own width: any contrast gives
/// another shape.
Array<double, 3> partials(Index frames, std::span<const double> q, std::uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> width(12, 40);
    Array<double, 3> partial(frames, 6, static_cast<Index>(q.size()));
    for (Index frame = 0; frame < frames; ++frame) {
        const double rg = width(random), shell = rg + 4;
        for (std::size_t k = 0; k < q.size(); ++k) {
            const double v = 1000 * std::exp(-q[k] * q[k] * rg * rg / 6 * 0.9),
                         x = 700 * std::exp(-q[k] * q[k] * rg * rg / 6),
                         h = 60 * std::exp(-q[k] * q[k] * shell * shell / 6);
            const double amplitude[3] = {v, x, h};
            for (Index a = 0; a < 3; ++a) {
                for (Index b = a; b < 3; ++b)
                    partial(frame, channel_pair(a, b, 3), static_cast<Index>(k)) =
                        (a == b ? 1 : 2) * amplitude[a] * amplitude[b];
            }
        }
    }
    return partial;
}

Profile curve_of(View<const double, 2> partial, const Contrast& contrast, double scale,
                 double background, std::uint64_t noise) {
    Profile curve;
    for (int k = 0; k < 200; ++k) curve.q.push_back(0.005 + 0.0015 * k);
    const std::vector<double> model = intensity(partial, curve.q, kRadius, contrast);
    std::mt19937_64 random(noise);
    std::normal_distribution<double> normal;
    for (std::size_t k = 0; k < model.size(); ++k) {
        const double value = scale * model[k] + background,
                     sigma = 0.01 * scale * model[0] * (0.02 + model[k] / model[0]);
        curve.sigma.push_back(sigma);
        curve.intensity.push_back(value + (noise > 0 ? sigma * normal(random) : 0));
    }
    return curve;
}

std::vector<double> curve_grid() {
    std::vector<double> q;
    q.reserve(200);
    for (int k = 0; k < 200; ++k) q.push_back(0.005 + 0.0015 * k);
    return q;
}

TEST(Fit, FindsWhatACurveWasMadeOf) {
    const Array<double, 3> partial = partials(1, curve_grid());
    const Contrast truth{1.02, 1.7};
    const Profile curve = curve_of(partial[0], truth, 3e-7, 0.002, 0);
    FitOptions options;
    options.background = true;
    const Fit found = fit(curve, partial[0], kRadius, options);
    EXPECT_NEAR(found.contrast.c1, truth.c1, 1e-4);
    EXPECT_NEAR(found.contrast.c2, truth.c2, 1e-2);
    EXPECT_NEAR(found.scale / 3e-7, 1, 1e-3);
    EXPECT_NEAR(found.background, 0.002, 1e-6);
    EXPECT_LT(found.chi2, 1e-6);
    EXPECT_EQ(found.parameters, 4);
    EXPECT_FALSE(found.c1_at_bound || found.c2_at_bound);
    options.c1_min = options.c1_max = 1;
    const Fit fixed = fit(curve, partial[0], kRadius, options);
    EXPECT_EQ(fixed.contrast.c1, 1);
    EXPECT_EQ(fixed.parameters, 3);
    EXPECT_GT(fixed.chi2, found.chi2);
}

TEST(Fit, OfNoiseHasChiSquaredOne) {
    const Array<double, 3> partial = partials(1, curve_grid());
    double sum = 0;
    for (std::uint64_t noise = 1; noise <= 20; ++noise)
        sum +=
            fit(curve_of(partial[0], {1, 1}, 1e-6, 0, noise), partial[0], kRadius, {}).chi2_reduced;
    // Standard error of the mean of 20 with 197 degrees of freedom each: 0.023.
    EXPECT_NEAR(sum / 20, 1, 0.1);
}

TEST(Residuals, OfNoiseHaveRunsOfChance) {
    std::mt19937 generator(1);
    std::normal_distribution<double> normal;
    double smallest = 1, sum = 0;
    constexpr int kTrials = 400;
    for (int trial = 0; trial < kTrials; ++trial) {
        std::vector<double> noise(200);
        for (double& value : noise) value = normal(generator);
        const double probability = few_runs_probability(noise);
        smallest = std::min(smallest, probability);
        sum += probability;
    }
    // The mean of uniform numbers, four standard errors.
    EXPECT_NEAR(sum / kTrials, 0.5, 4 * std::sqrt(1.0 / 12 / kTrials) + 0.03);
    EXPECT_GT(smallest, 1e-5);
    // 40 runs of 4 points: 81 are expected, with a standard deviation of 6.3.
    std::vector<double> wave(160);
    for (std::size_t k = 0; k < wave.size(); ++k) wave[k] = k / 4 % 2 == 0 ? 1.0 : -0.1;
    const double deviation = std::sqrt(80.0 * 79 / 159);
    EXPECT_NEAR(few_runs_probability(wave) / (std::erfc(41 / deviation / std::sqrt(2.0)) / 2), 1,
                1e-9);
    EXPECT_EQ(few_runs_probability(std::vector<double>(30, 1.0)), 0);
    EXPECT_EQ(few_runs_probability(std::vector<double>{1, -1}), 1);
    EXPECT_EQ(few_runs_probability(std::vector<double>{1}), 1);
}

TEST(Fit, TellsOfBounds) {
    const Array<double, 3> partial = partials(1, curve_grid());
    const Profile curve = curve_of(partial[0], {1.02, 5}, 1e-6, 0, 0);
    const Fit found = fit(curve, partial[0], kRadius, {});
    EXPECT_TRUE(found.c2_at_bound);
    EXPECT_NEAR(found.contrast.c2, 4, 1e-3);
}

// c1 and c2 are strongly correlated: the lowest chi^2 at a bound of one is found by the other.
TEST(Fit, FollowsAValleyToABound) {
    // A long valley, x = y in units of the ranges, that falls towards small c1 and large c2.
    const auto chi2 = [](const Contrast& at) {
        const double x = (at.c1 - 0.95) / 0.1, y = (at.c2 + 2) / 6;
        const double along = x - y, across = x + y - 1;
        return 4 + 0.3 * (along + 3) * (along + 3) + 1e5 * across * across;
    };
    const FitOptions options{.c1_min = 0.95, .c1_max = 1.05, .c2_min = -2, .c2_max = 1.93};
    const Contrast found = search_contrast(options, true, chi2);
    // The bound of c2, which no point of the grid meets inside the valley, closes the rest of it.
    double smallest = INFINITY;
    for (int n = 0; n <= 100000; ++n) smallest = std::min(smallest, chi2({0.95 + 1e-6 * n, 1.93}));
    EXPECT_LE(chi2(found), smallest * (1 + 1e-6));
    EXPECT_NEAR(found.c2, 1.93, 1e-6);
}

TEST(Fit, OfANegativeCurveHasNoNegativeScale) {
    const Array<double, 3> partial = partials(1, curve_grid());
    Profile curve = curve_of(partial[0], {1, 1}, 1e-6, 0, 0);
    for (double& value : curve.intensity) value = -value;
    const Fit found = fit(curve, partial[0], kRadius, {});
    EXPECT_EQ(found.scale, 0);
    EXPECT_TRUE(std::isfinite(found.chi2));
}

TEST(VolumeFactor, IsOneAtOneAndTheVolumeAtZero) {
    EXPECT_DOUBLE_EQ(volume_factor(1, 1.6, 0.3), 1);
    EXPECT_DOUBLE_EQ(volume_factor(1.05, 1.6, 0), 1.05 * 1.05 * 1.05);
    EXPECT_LT(volume_factor(1.05, 1.6, 0.5), volume_factor(1.05, 1.6, 0));
}

TEST(LeastSquares, WithoutNegativeAmounts) {
    // Two columns alike and one that would be negative.
    const std::vector<double> matrix = {2, 2, 1, 2, 2, 1, 1, 1, 1}, right = {2, 2, -1};
    const std::vector<double> x = solve_nonnegative(matrix, right);
    EXPECT_NEAR(x[0] + x[1], 1, 1e-12);
    EXPECT_EQ(x[2], 0);
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal;
    for (int trial = 0; trial < 200; ++trial) {
        // The conditions of Karush, Kuhn and Tucker.
        const std::size_t n = 1 + static_cast<std::size_t>(trial) % 8;
        std::vector<double> rows(3 * n * n), a(n * n), b(n);
        for (double& value : rows) value = normal(random);
        for (std::size_t i = 0; i < n; ++i) {
            b[i] = normal(random);
            for (std::size_t j = 0; j < n; ++j)
                for (std::size_t k = 0; k < 3 * n; ++k)
                    a[i * n + j] += rows[k * n + i] * rows[k * n + j];
        }
        const std::vector<double> found = solve_nonnegative(a, b);
        for (std::size_t i = 0; i < n; ++i) {
            double slope = -b[i];
            for (std::size_t j = 0; j < n; ++j) slope += a[i * n + j] * found[j];
            EXPECT_GE(found[i], 0);
            EXPECT_GE(slope, -1e-8);
            EXPECT_NEAR(slope * found[i], 0, 1e-8);
        }
    }
}

/// A problem whose curve is made of frames 3 and 7 of 12.
struct Mixture {
    Array<double, 3> partial = partials(12, curve_grid(), 3);
    Profile curve;
    Mixture(std::uint64_t noise) {
        const std::vector<Index> frames = {3, 7};
        const std::vector<double> weights = {0.3, 0.7};
        curve = curve_of(weighted_partial(partial, frames, weights), {1.01, 1}, 1e-6, 0, noise);
    }
    /// At the contrast that the curve was made with: frames differ in too little to tell it too.
    EnsembleProblem problem() const {
        FitOptions options;
        options.c1_min = options.c1_max = 1.01;
        options.c2_min = options.c2_max = 1;
        return {&curve, partial, kRadius, options};
    }
};

TEST(MinimalEnsembles, FindTheMembersAndTheirWeights) {
    const Mixture mixture(0);
    Context context;
    context.threads = 2;
    const std::vector<Weighted> sizes = minimal_ensembles(mixture.problem(), 3, context);
    ASSERT_GE(sizes.size(), 2u);
    EXPECT_EQ(sizes[1].frames, (std::vector<Index>{3, 7}));
    EXPECT_NEAR(sizes[1].weights[0], 0.3, 1e-3);
    EXPECT_LT(sizes[1].fit.chi2, 1e-4);
    EXPECT_GT(sizes[0].fit.chi2, sizes[1].fit.chi2);
    EXPECT_NEAR(sizes[1].effective_frames, std::exp(-0.3 * std::log(0.3) - 0.7 * std::log(0.7)),
                1e-2);
}

TEST(MinimalEnsembles, AreAsSmallAsNoiseAllows) {
    const Mixture mixture(9);
    const std::vector<Weighted> sizes = minimal_ensembles(mixture.problem(), 4, {});
    EXPECT_EQ(choose_simplest(sizes), 1u);
    for (std::size_t n = 1; n < sizes.size(); ++n)
        EXPECT_LE(sizes[n].fit.chi2, sizes[n - 1].fit.chi2 * (1 + 1e-9));
}

TEST(MinimalEnsembles, ChosenAreTheSmallestWithinAStandardErrorOfTheBest) {
    std::vector<Weighted> sizes(4);
    const double validations[] = {4, 1.3, 1.2, 1.25}, errors[] = {3, 0.01, 0.15, 0.01};
    for (std::size_t n = 0; n < sizes.size(); ++n) {
        sizes[n].validation = validations[n];
        sizes[n].validation_error = errors[n];
    }
    EXPECT_EQ(choose_simplest(sizes), 1u);
    EXPECT_EQ(are_within_error_of_best(sizes), (std::vector<bool>{false, true, true, true}));
    sizes[2].validation_error = 0.06;
    EXPECT_EQ(choose_simplest(sizes), 2u);
    EXPECT_EQ(are_within_error_of_best(sizes), (std::vector<bool>{false, false, true, true}));
    EXPECT_TRUE(are_within_error_of_best({}).empty());
}

TEST(MinimalEnsembles, OfCopiesNeedOne) {
    Mixture mixture(4);
    // All frames alike: any of them will do, and no weight is lost.
    for (Index frame = 1; frame < 12; ++frame)
        std::copy(mixture.partial[0].begin(), mixture.partial[0].end(),
                  mixture.partial[frame].begin());
    const std::vector<Weighted> sizes = minimal_ensembles(mixture.problem(), 2, {});
    for (const Weighted& one : sizes) {
        EXPECT_NEAR(std::accumulate(one.weights.begin(), one.weights.end(), 0.0), 1, 1e-9);
        EXPECT_TRUE(std::isfinite(one.fit.chi2));
    }
    EXPECT_EQ(choose_simplest(sizes), 0u);
}

// A table of all pairs of frames would take 512 MB. In a process of its own, whose peak starts
// anew.
TEST(MinimalEnsembles, OfManyFramesTakeNoTableOfAllPairs) {
    constexpr std::int64_t kMax = 300'000'000;
    const auto grow = [] {
        std::vector<double> q;
        q.reserve(20);
        for (int k = 0; k < 20; ++k) q.push_back(0.005 + 0.015 * k);
        const Array<double, 3> partial = partials(8000, q, 6);
        Profile curve{q, intensity(partial[17], q, kRadius, {1, 1}), {}};
        for (const double value : curve.intensity) curve.sigma.push_back(0.01 * value);
        FitOptions options;
        options.c1_min = options.c1_max = options.c2_min = options.c2_max = 1;
        Context context;
        context.threads = 1;
        const std::int64_t before = peak_memory();
        const std::vector<Weighted> sizes =
            minimal_ensembles({&curve, partial, kRadius, options}, 1, context);
        const bool is_found = sizes.size() == 1 && sizes[0].frames == std::vector<Index>{17};
        std::exit(is_found && peak_memory() - before < kMax ? 0 : 1);
    };
    EXPECT_EXIT(grow(), ::testing::ExitedWithCode(0), "");
}

// A further member of this one does no better than a weight of 0.
TEST(MinimalEnsembles, LeaveOutSizesThatDoNotHelp) {
    const Array<double, 3> partial = partials(6, curve_grid(), 15);
    const Profile curve = curve_of(partial[5], {1.01, 1}, 1e-6, 0, 0);
    const std::vector<Weighted> sizes = minimal_ensembles({&curve, partial, kRadius, {}}, 3, {});
    ASSERT_FALSE(sizes.empty());
    EXPECT_EQ(sizes[0].frames, std::vector<Index>{5});
    for (const Weighted& one : sizes)
        for (const double weight : one.weights) EXPECT_GE(weight, kMinWeight);
}

TEST(FrameAxes, DescribeEveryFrame) {
    const Mixture mixture(2);
    const EnsembleProblem problem = mixture.problem();
    const FrameAxes axes(problem);
    EXPECT_GE(axes.partial.extent(0), 2);
    for (Index frame = 0; frame < 12; ++frame) {
        std::vector<double> alone(12, 0);
        alone[static_cast<std::size_t>(frame)] = 1;
        const std::vector<double> found = intensity(axes.mean(axes.partial, alone), mixture.curve.q,
                                                    kRadius, {1.01, 1}),
                                  expected = intensity(mixture.partial[frame], mixture.curve.q,
                                                       kRadius, {1.01, 1});
        for (std::size_t k = 0; k < found.size(); ++k)
            EXPECT_NEAR(found[k], expected[k], 1e-5 * expected.front());
    }
    // Frames that are all alike differ along no axis.
    Mixture copies(2);
    for (Index frame = 1; frame < 12; ++frame)
        std::copy(copies.partial[0].begin(), copies.partial[0].end(),
                  copies.partial[frame].begin());
    EXPECT_EQ(FrameAxes(copies.problem()).partial.extent(0), 1);
}

TEST(MaximumEntropy, KeepsWeightsEqualUnlessTheCurveAsks) {
    const Mixture mixture(2);
    const std::vector<Reweighted> scan = maximum_entropy(mixture.problem(), {});
    ASSERT_EQ(scan.size(), 11u);
    for (std::size_t n = 1; n < scan.size(); ++n) {
        EXPECT_LT(scan[n].theta, scan[n - 1].theta);
        EXPECT_LE(scan[n].result.fit.chi2, scan[n - 1].result.fit.chi2 * (1 + 1e-3));
    }
    for (const Reweighted& one : scan)
        EXPECT_NEAR(std::accumulate(one.result.weights.begin(), one.result.weights.end(), 0.0), 1,
                    1e-9);
    const Weighted& chosen = scan[choose_simplest(scan)].result;
    EXPECT_LT(chosen.fit.chi2, 1.5);
    EXPECT_GT(chosen.effective_frames, 1.5);

    // A curve of the mean itself asks for nothing.
    Mixture flat(0);
    std::vector<Index> every(12);
    std::iota(every.begin(), every.end(), Index{0});
    flat.curve = curve_of(weighted_partial(flat.partial, every, std::vector<double>(12, 1.0 / 12)),
                          {1.01, 1}, 1e-6, 0, 0);
    const std::vector<Reweighted> none = maximum_entropy(flat.problem(), {});
    EXPECT_NEAR(none[0].result.effective_frames, 12, 1e-3);
    EXPECT_EQ(choose_simplest(none), 0u);
}

TEST(MaximumEntropy, DoesNotDependOnTheNumberOfThreads) {
    // More than 8 blocks of frames, so that 16 threads share each fit.
    constexpr Index kFrames = 5000;
    const Mixture mixture(2);
    Array<double, 3> partial(kFrames, mixture.partial.extent(1), mixture.partial.extent(2));
    for (Index frame = 0; frame < kFrames; ++frame)
        for (Index n = 0; n < partial[frame].size(); ++n) {
            const double part = 0.5 * static_cast<double>(frame) / kFrames;
            partial[frame].data[n] = (1 - part) * mixture.partial[frame % 12].data[n] +
                                     part * mixture.partial[(frame / 12) % 12].data[n];
        }
    EnsembleProblem problem = mixture.problem();
    problem.partial = partial;
    std::vector<Reweighted> first;
    for (const int threads : {1, 2, 16}) {
        problem.context.threads = threads;
        const std::vector<Reweighted> scan = maximum_entropy(problem, problem.context);
        if (threads == 1) first = scan;
        ASSERT_EQ(scan.size(), first.size());
        for (std::size_t n = 0; n < scan.size(); ++n) {
            EXPECT_EQ(scan[n].result.weights, first[n].result.weights) << threads;
            EXPECT_EQ(scan[n].result.validation, first[n].result.validation) << threads;
        }
    }
}

TEST(MaximumEntropy, IsTheMinimumOfItsObjective) {
    const Mixture mixture(2);
    const EnsembleProblem problem = mixture.problem();
    const Reweighted one = maximum_entropy(problem, {})[4];
    const Array<double, 2> profiles = frame_profiles(problem, one.result.fit.contrast);
    const auto objective = [&](const std::vector<double>& w) {
        double sum = 0;
        for (std::size_t k = 0; k < mixture.curve.size(); ++k) {
            double model = 0;
            for (Index f = 0; f < 12; ++f)
                model += w[static_cast<std::size_t>(f)] * profiles(f, static_cast<Index>(k));
            const double left = (mixture.curve.intensity[k] - one.result.fit.scale * model) /
                                mixture.curve.sigma[k];
            sum += left * left / 2;
        }
        for (const double value : w) sum += one.theta * value * std::log(12 * value);
        return sum;
    };
    const double smallest = objective(one.result.weights);
    std::mt19937_64 random(3);
    std::uniform_int_distribution<std::size_t> any(0, 11);
    for (int trial = 0; trial < 100; ++trial) {
        std::vector<double> w = one.result.weights;
        const std::size_t from = any(random), to = any(random);
        const double moved = 0.05 * w[from];
        w[from] -= moved;
        w[to] += moved;
        EXPECT_GE(objective(w), smallest * (1 - 1e-4));
    }
}

}  // namespace
}  // namespace pleat::saxs
