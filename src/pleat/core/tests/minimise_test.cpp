// Tests of L-BFGS: known minima, rounding noise, bad steps, hopeless functions, saved states.
#include "pleat/core/math/minimise.h"

#include <gtest/gtest.h>

#include <limits>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/core/tests/vectors_in_memory.h"

namespace pleat {
namespace {

using test::Quadratic;
using test::VectorsInMemory;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
using Function = typename VectorsInMemory<T>::Function;

std::vector<double> constant(int size, double value) {
    return std::vector<double>(static_cast<std::size_t>(size), value);
}

/// A minimiser with its vectors, started at `x`.
template <class T>
struct Fit {
    VectorsInMemory<T> vectors;
    Lbfgs minimiser;

    Fit(const std::vector<double>& x, Function<T> function, const Lbfgs::Options& options = {})
        : vectors(static_cast<Index>(x.size()), std::move(function)), minimiser(vectors, options) {
        vectors.set(minimiser.x(), x);
        minimiser.start();
    }
    /// Steps until f <= target, no step is found, or `limit` is reached; returns the steps made.
    int run(int limit, double target = -kInfinity) {
        int steps = 0;
        while (steps < limit && minimiser.objective() > target && minimiser.step()) ++steps;
        return steps;
    }
    std::vector<double> x() const { return vectors.value(minimiser.x()); }
    double gradient_norm() const { return test::norm(vectors.value(minimiser.gradient())); }
};

struct Case {
    int size;
    double condition;
    int limit;
};

class Quadratics : public testing::TestWithParam<Case> {};

// The limits are about twice what was seen; steepest descent would need about the condition number.
TEST_P(Quadratics, ReachTheirMinimum) {
    const Case c = GetParam();
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const Quadratic f(test::spectrum(c.size, c.condition), seed);
        Fit<double> fit(constant(c.size, 0), f);
        const double target = 1e-10 * fit.minimiser.objective();
        const int steps = fit.run(c.limit, target);
        EXPECT_LE(fit.minimiser.objective(), target) << "seed " << seed << ", steps " << steps;
        EXPECT_EQ(fit.minimiser.evaluations(), fit.vectors.evaluations);
        RecordProperty("steps_" + std::to_string(seed), steps);
    }
}

TEST_P(Quadratics, LoseNothingButRoundingInFloat) {
    const Case c = GetParam();
    const Quadratic f(test::spectrum(c.size, c.condition), 7);
    Fit<float> fit(constant(c.size, 0), f);
    const double target = 1e-8 * fit.minimiser.objective();
    const int steps = fit.run(2 * c.limit, target);
    EXPECT_LE(fit.minimiser.objective(), target) << "steps " << steps;
}

INSTANTIATE_TEST_SUITE_P(Spectra, Quadratics,
                         testing::Values(Case{1, 1, 10}, Case{2, 10, 20}, Case{30, 1e2, 120},
                                         Case{100, 1e4, 1000}, Case{60, 1e6, 6000}));

TEST(Lbfgs, ScalesOfTheFunctionDoNotMatter) {
    for (const double scale : {1e-3, 1e3, 1e6, 1e9}) {
        auto values = test::spectrum(20, 100);
        for (double& value : values) value *= scale;
        const Quadratic f(values, 3);
        Fit<double> fit(constant(20, 0), f);
        const double first = fit.minimiser.objective();
        fit.run(200, 1e-10 * first);
        EXPECT_LE(fit.minimiser.objective(), 1e-10 * first) << scale;
    }
}

TEST(Lbfgs, DescendsRosenbrocksValley) {
    for (const int size : {2, 10, 50}) {
        Fit<double> fit(constant(size, -0.5), test::rosenbrock);
        const int steps = fit.run(60 + 20 * size, 1e-16);
        EXPECT_LE(fit.minimiser.objective(), 1e-16) << size << ", steps " << steps;
        for (const double value : fit.x()) EXPECT_NEAR(value, 1, 1e-6);
    }
}

TEST(Lbfgs, EveryHistoryLengthWorks) {
    const Quadratic f(test::spectrum(40, 1e3), 11);
    for (int history = 1; history <= 8; ++history) {
        Fit<double> fit(constant(40, 0), f, {.history = history});
        const double target = 1e-10 * fit.minimiser.objective();
        const int steps = fit.run(1500, target);
        EXPECT_LE(fit.minimiser.objective(), target) << "history " << history << ", " << steps;
    }
}

// Over n equal eigenvalues the first pair gives the exact inverse curvature.
TEST(Lbfgs, OneCurvatureTakesTwoSteps) {
    const Quadratic f(constant(25, 3.0), 5);
    Fit<double> fit(constant(25, 0), f);
    const double first = fit.minimiser.objective();
    EXPECT_LE(fit.run(2, 1e-20 * first), 2);
    EXPECT_LE(fit.minimiser.objective(), 1e-20 * first);
}

// With as much history as dimensions and exact slopes, quasi-Newton ends in about n steps.
TEST(Lbfgs, MatchesTheDenseUpdateOfTheInverseHessian) {
    constexpr int n = 6, m = 4;
    const Quadratic f(test::spectrum(n, 50), 17);
    Fit<double> fit(constant(n, 0), f, {.history = m});
    // H after the updates (Nocedal and Wright 2006, 6.17), from gamma I, on the last m pairs.
    std::vector<std::vector<double>> xs{fit.x()}, gs{fit.vectors.value(fit.minimiser.gradient())};
    for (int step = 0; step < 9; ++step) {
        ASSERT_TRUE(fit.minimiser.step());
        xs.push_back(fit.x());
        gs.push_back(fit.vectors.value(fit.minimiser.gradient()));
        if (fit.minimiser.objective() < 1e-8) break;
        const int count = std::min<int>(m, static_cast<int>(xs.size()) - 2);
        if (count < 1) continue;
        const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
            double sum = 0;
            for (int k = 0; k < n; ++k) sum += a[k] * b[k];
            return sum;
        };
        // The pairs before the newest point gave the step that led to it.
        const int last = static_cast<int>(xs.size()) - 2;
        std::vector<std::vector<double>> s, y;
        for (int k = last - count; k < last; ++k) {
            s.emplace_back(n);
            y.emplace_back(n);
            for (int e = 0; e < n; ++e) {
                s.back()[e] = xs[k + 1][e] - xs[k][e];
                y.back()[e] = gs[k + 1][e] - gs[k][e];
            }
        }
        std::vector<std::vector<double>> h(n, std::vector<double>(n, 0.0));
        for (int e = 0; e < n; ++e) h[e][e] = dot(s.back(), y.back()) / dot(y.back(), y.back());
        for (int k = 0; k < count; ++k) {
            const double rho = 1 / dot(s[k], y[k]);
            std::vector<double> hy(n);
            for (int e = 0; e < n; ++e) hy[e] = dot(h[e], y[k]);
            const double yhy = dot(y[k], hy);
            for (int a = 0; a < n; ++a) {
                for (int b = 0; b < n; ++b) {
                    h[a][b] += rho * ((1 + rho * yhy) * s[k][a] * s[k][b] - hy[a] * s[k][b] -
                                      s[k][a] * hy[b]);
                }
            }
        }
        // The step made is along -H g.
        std::vector<double> made(n), wanted(n);
        for (int e = 0; e < n; ++e) {
            made[e] = xs[last + 1][e] - xs[last][e];
            wanted[e] = -dot(h[e], gs[last]);
        }
        const double cosine = dot(made, wanted) / std::sqrt(dot(made, made) * dot(wanted, wanted));
        EXPECT_NEAR(cosine, 1, 1e-9) << "step " << step;
    }
}

TEST(Lbfgs, FitsALogisticRegression) {
    constexpr int rows = 300, size = 12;
    std::mt19937_64 random(23);
    std::normal_distribution<double> normal;
    std::vector<std::vector<double>> inputs(rows, std::vector<double>(size));
    std::vector<double> labels(rows);
    for (int r = 0; r < rows; ++r) {
        double logit = 0;
        for (int k = 0; k < size; ++k) {
            inputs[r][k] = normal(random) * (k + 1);
            logit += inputs[r][k] / (k + 1) * (k % 3 - 1);
        }
        labels[r] = normal(random) < logit ? 1 : 0;
    }
    const auto f = [&](const std::vector<double>& x, std::vector<double>& g) {
        double sum = 0;
        for (int k = 0; k < size; ++k) {
            sum += 0.05 * x[k] * x[k];
            g[k] = 0.1 * x[k];
        }
        for (int r = 0; r < rows; ++r) {
            double h = 0;
            for (int k = 0; k < size; ++k) h += inputs[r][k] * x[k];
            sum += std::log1p(std::exp(-std::abs(h))) + std::max(h, 0.0) - labels[r] * h;
            const double p = 1 / (1 + std::exp(-h));
            for (int k = 0; k < size; ++k) g[k] += (p - labels[r]) * inputs[r][k];
        }
        return sum;
    };
    Fit<double> fit(constant(size, 0), f);
    const double first = fit.gradient_norm();
    int steps = 0;
    while (steps < 200 && fit.gradient_norm() > 1e-8 * first && fit.minimiser.step()) ++steps;
    EXPECT_LE(fit.gradient_norm(), 1e-8 * first) << "steps " << steps;
}

// f far above the fall that is left: its differences are rounding, only slopes tell the way.
TEST(Lbfgs, GoesOnWhereDifferencesOfTheObjectiveAreRounding) {
    const Quadratic exact(test::spectrum(50, 1e2), 31, 1e5);
    const auto rounded = [&](const std::vector<double>& x, std::vector<double>& g) {
        return static_cast<double>(static_cast<float>(exact(x, g)));  // steps of 0.0078
    };
    for (const double precision : {1e-9, 1e-7}) {
        Fit<float> fit(constant(50, 0), rounded, {.f_precision = precision});
        const double first = fit.gradient_norm();
        for (int steps = 0; steps < 1000 && fit.minimiser.step(); ++steps) {
            if (fit.gradient_norm() < 1e-4 * first) break;
        }
        EXPECT_LT(fit.gradient_norm(), 1e-4 * first) << "precision " << precision;
    }
}

// Noise of a few units in the last place of float, different at each point: it ends, near the
// minimum.
TEST(Lbfgs, EndsUnderNoise) {
    const Quadratic exact(test::spectrum(30, 1e2), 37, 1e4);
    const auto noisy = [&](const std::vector<double>& x, std::vector<double>& g) {
        const double f = exact(x, g);
        double mixed = 0;
        for (const double value : x) mixed += std::sin(1e7 * value);
        return f * (1 + 1e-8 * mixed);
    };
    Fit<float> fit(constant(30, 0), noisy, {.f_precision = 1e-7});
    const double first = fit.gradient_norm();
    const int steps = fit.run(2000);
    EXPECT_LT(steps, 500);
    EXPECT_LT(fit.gradient_norm(), 1e-6 * first);
    EXPECT_LT(fit.vectors.evaluations, 1000);
}

TEST(Lbfgs, StaysAtTheOptimum) {
    const Quadratic f(test::spectrum(10, 10), 41);
    Fit<double> fit(f.centre, f);
    EXPECT_EQ(fit.gradient_norm(), 0);
    EXPECT_FALSE(fit.minimiser.step());
    EXPECT_EQ(fit.x(), f.centre);
}

TEST(Lbfgs, BacksOffFromWhereTheFunctionIsNotDefined) {
    for (const double outside : {kInfinity, -kInfinity, std::nan("")}) {
        // x - log x, defined for x > 0 only; the first step overshoots by far.
        const auto barrier = [&](const std::vector<double>& x, std::vector<double>& g) {
            g[0] = x[0] > 0 ? 100 - 100 / x[0] : std::nan("");
            return x[0] > 0 ? 100 * (x[0] - std::log(x[0])) : outside;
        };
        Fit<double> fit({5.0}, barrier, {.first_step = 10});
        fit.run(100, 100 + 1e-9);
        EXPECT_NEAR(fit.x()[0], 1, 1e-4) << outside;
    }
}

TEST(Lbfgs, GivesUpOnFunctionsWithoutAMinimum) {
    const auto falling = [](const std::vector<double>& x, std::vector<double>& g) {
        g[0] = -1;
        return -x[0];
    };
    Fit<double> line({0.0}, falling);
    EXPECT_LT(line.run(100), 100);
    const auto exponential = [](const std::vector<double>& x, std::vector<double>& g) {
        g[0] = -std::exp(x[0]);
        return -std::exp(x[0]);
    };
    Fit<double> steep({0.0}, exponential);
    steep.run(100);
    EXPECT_TRUE(std::isfinite(steep.minimiser.objective()));
}

TEST(Lbfgs, GivesUpOnAWrongGradient) {
    const Quadratic exact(test::spectrum(8, 10), 43);
    const auto uphill = [&](const std::vector<double>& x, std::vector<double>& g) {
        const double f = exact(x, g);
        for (double& value : g) value = -value;
        return f;
    };
    Fit<double> fit(constant(8, 0), uphill);
    const double first = fit.minimiser.objective();
    EXPECT_EQ(fit.run(10), 0);
    EXPECT_EQ(fit.minimiser.objective(), first);
    EXPECT_EQ(fit.x(), constant(8, 0));
    EXPECT_LT(fit.vectors.evaluations, 100);
}

TEST(Lbfgs, NeverRaisesTheObjectiveBeyondItsRounding) {
    Fit<double> fit(constant(20, 1.5), test::rosenbrock);
    double last = fit.minimiser.objective();
    for (int steps = 0; steps < 300 && fit.minimiser.step(); ++steps) {
        EXPECT_LE(fit.minimiser.objective(), last * (1 + 1e-9));
        last = fit.minimiser.objective();
    }
}

TEST(Lbfgs, ALoadedStateTakesTheSameStepsBitForBit) {
    test::TemporaryFolder folder;
    for (const int before : {0, 1, 3, 20}) {
        const auto file = folder / ("state" + std::to_string(before) + ".npz");
        Fit<float> whole(constant(12, -0.5), test::rosenbrock);
        whole.run(before);
        NpzWriter writer(file);
        whole.minimiser.save(writer);
        writer.close();

        VectorsInMemory<float> vectors(12, test::rosenbrock);
        Lbfgs resumed(vectors, {});
        resumed.load(NpzReader(file));
        EXPECT_EQ(resumed.evaluations(), whole.minimiser.evaluations());
        for (int step = 0; step < 30; ++step) {
            ASSERT_EQ(resumed.step(), whole.minimiser.step());
            ASSERT_EQ(resumed.objective(), whole.minimiser.objective()) << before << " " << step;
        }
        EXPECT_EQ(vectors.value(resumed.x()), whole.x());
        EXPECT_EQ(vectors.value(resumed.gradient()),
                  whole.vectors.value(whole.minimiser.gradient()));
    }
}

TEST(Lbfgs, RefusesAStateOfOtherShape) {
    test::TemporaryFolder folder;
    Fit<float> fit(constant(12, -0.5), test::rosenbrock, {.history = 6});
    fit.run(10);
    NpzWriter writer(folder / "state.npz");
    fit.minimiser.save(writer);
    writer.close();
    const NpzReader reader(folder / "state.npz");
    VectorsInMemory<float> wider(13, test::rosenbrock);
    Lbfgs other_size(wider, {.history = 6});
    EXPECT_THROW(other_size.load(reader), InputError);
}

TEST(Lbfgs, ResumesWithTheNewestStepsThatAShorterHistoryHasRoomFor) {
    test::TemporaryFolder folder;
    Fit<float> fit(constant(12, -0.5), test::rosenbrock, {.history = 6});
    fit.run(10);
    NpzWriter writer(folder / "state.npz");
    fit.minimiser.save(writer);
    writer.close();
    VectorsInMemory<float> same(12, test::rosenbrock);
    Lbfgs resumed(same, {.history = 3});
    resumed.load(NpzReader(folder / "state.npz"));
    const double before = resumed.objective();
    EXPECT_EQ(before, fit.minimiser.objective());
    for (int step = 0; step < 60; ++step) resumed.step();
    EXPECT_LT(resumed.objective(), 1e-2 * before);
}

}  // namespace
}  // namespace pleat
