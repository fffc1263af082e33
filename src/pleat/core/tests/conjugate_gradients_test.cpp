// Tests of the nonlinear conjugate gradients: steps by hand, line search, stops, saved states.
#include "pleat/core/math/minimise.h"

#include <gtest/gtest.h>

#include "pleat/core/files/npy.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/core/tests/vectors_in_memory.h"

namespace pleat {
namespace {

using test::Quadratic;
using test::VectorsInMemory;
using Outcome = ConjugateGradients::Outcome;

TEST(ConjugateGradients, TakesTheStepsOfTheFormulas) {
    // f = 1/2 (4 x^2 + y^2) from (1, 2): g = (4, 2), |g|^2 = 20; the first step is -g / sqrt(20).
    const auto f = [](const std::vector<double>& x, std::vector<double>& g) {
        g = {4 * x[0], x[1]};
        return 0.5 * (4 * x[0] * x[0] + x[1] * x[1]);
    };
    VectorsInMemory<double> vectors(2, f);
    ConjugateGradients minimiser(vectors, {.max_trials = 20, .min_fall = 0});
    vectors.set(minimiser.x(), {1, 2});
    minimiser.start();
    EXPECT_FALSE(minimiser.is_converged_at_start());
    // Slope -20 at 0, -20 + 68 t at t: at t = 1 / sqrt(20) = 0.2236 it is -4.8, below 0.2 * -20?
    // No: -4.8 < -4, so the first trial is accepted.
    ASSERT_EQ(minimiser.step(), Outcome::moved);
    const double t = 1 / std::sqrt(20.0);
    EXPECT_EQ(vectors.evaluations, 2);
    EXPECT_NEAR(vectors.value(minimiser.x())[0], 1 - 4 * t, 1e-15);
    EXPECT_NEAR(vectors.value(minimiser.x())[1], 2 - 2 * t, 1e-15);

    const double gx = 4 * (1 - 4 * t), gy = 2 - 2 * t;
    const double beta = (gx * gx + gy * gy) / 20;
    const double sx = -4 * beta - gx, sy = -2 * beta - gy;
    const double slope = sx * gx + sy * gy;
    double step = t * -20 / slope;  // as long as the last one foresees, then halved until accepted
    const double curvature = 4 * sx * sx + sy * sy;
    int trials = 1;
    while (0.5 * curvature * step * step + slope * step > 1e-4 * step * slope ||
           slope + curvature * step >= 0.2 * slope) {
        step *= 0.5;
        ++trials;
    }
    ASSERT_EQ(minimiser.step(), Outcome::moved);
    EXPECT_EQ(vectors.evaluations, 2 + trials);
    EXPECT_NEAR(vectors.value(minimiser.x())[0], 1 - 4 * t + step * sx, 1e-14);
    EXPECT_NEAR(vectors.value(minimiser.x())[1], 2 - 2 * t + step * sy, 1e-14);
    EXPECT_EQ(minimiser.iterations(), 2);
}

TEST(ConjugateGradients, ConvergesWhenTheFallOverTheWindowIsSmall) {
    const Quadratic f(test::spectrum(20, 10), 3, 100);
    VectorsInMemory<double> vectors(20, f);
    ConjugateGradients minimiser(vectors, {});
    vectors.set(minimiser.x(), std::vector<double>(20, 0));
    minimiser.start();
    std::vector<double> values;
    Outcome outcome = Outcome::moved;
    while (outcome == Outcome::moved && values.size() < 1000) {
        outcome = minimiser.step();
        values.push_back(minimiser.objective());
    }
    ASSERT_EQ(outcome, Outcome::converged);
    const std::size_t last = values.size() - 1;
    EXPECT_EQ(minimiser.iterations(), static_cast<Index>(last));
    EXPECT_LT((values[last - 5] - values[last]) / values[last - 5], 0.01);
    for (std::size_t k = 5; k < last; ++k) {
        EXPECT_GE((values[k - 5] - values[k]) / values[k - 5], 0.01) << k;
    }
}

TEST(ConjugateGradients, ConvergesWithATightStop) {
    const Quadratic f(test::spectrum(20, 10), 5, 1);
    VectorsInMemory<double> vectors(20, f);
    ConjugateGradients minimiser(vectors, {.max_trials = 40, .min_fall = 1e-9});
    vectors.set(minimiser.x(), std::vector<double>(20, 0));
    minimiser.start();
    Outcome outcome = Outcome::moved;
    for (int k = 0; k < 2000 && outcome == Outcome::moved; ++k) outcome = minimiser.step();
    EXPECT_EQ(outcome, Outcome::converged);
    EXPECT_NEAR(minimiser.objective(), 1, 1e-7);
}

TEST(ConjugateGradients, FailsAtTheLastTrialOfALineSearch) {
    const auto uphill = [](const std::vector<double>& x, std::vector<double>& g) {
        g[0] = -1;
        return x[0];
    };
    VectorsInMemory<double> vectors(1, uphill);
    ConjugateGradients minimiser(vectors, {});
    vectors.set(minimiser.x(), {0});
    minimiser.start();
    EXPECT_EQ(minimiser.step(), Outcome::failed);
    EXPECT_EQ(vectors.evaluations, 1 + 5);
    EXPECT_EQ(vectors.value(minimiser.x())[0], 1.0 / 16);
    EXPECT_EQ(minimiser.objective(), 0);
    EXPECT_EQ(minimiser.iterations(), 0);
}

TEST(ConjugateGradients, RefusesStepsAfterWhichTheSlopeIsFlat) {
    // From 1 on x^2 / 2 the first step 1 / |g| ends at the minimum: f fell, the slope is 0. Halved:
    // at 0.5 the slope is 0.5 of the first, steeper than 0.2.
    const auto parabola = [](const std::vector<double>& x, std::vector<double>& g) {
        g[0] = x[0];
        return 0.5 * x[0] * x[0];
    };
    VectorsInMemory<double> vectors(1, parabola);
    ConjugateGradients minimiser(vectors, {});
    vectors.set(minimiser.x(), {1});
    minimiser.start();
    EXPECT_EQ(minimiser.step(), Outcome::moved);
    EXPECT_EQ(vectors.value(minimiser.x())[0], 0.5);
    EXPECT_EQ(vectors.evaluations, 3);
}

TEST(ConjugateGradients, DetectsAStartThatHasConverged) {
    const Quadratic f(test::spectrum(5, 10), 9);
    VectorsInMemory<double> vectors(5, f);
    ConjugateGradients minimiser(vectors, {});
    vectors.set(minimiser.x(), f.centre);
    minimiser.start();
    EXPECT_TRUE(minimiser.is_converged_at_start());
}

TEST(ConjugateGradients, ALoadedStateTakesTheSameStepsBitForBit) {
    test::TemporaryFolder folder;
    for (const int before : {0, 1, 7}) {
        const Quadratic f(test::spectrum(20, 30), 11, 3);
        VectorsInMemory<float> vectors(20, f);
        ConjugateGradients whole(vectors, {});
        vectors.set(whole.x(), std::vector<double>(20, 0));
        whole.start();
        for (int k = 0; k < before; ++k) ASSERT_EQ(whole.step(), Outcome::moved);
        const auto file = folder / ("state" + std::to_string(before) + ".npz");
        NpzWriter writer(file);
        whole.save(writer);
        writer.close();

        VectorsInMemory<float> other(20, f);
        ConjugateGradients resumed(other, {});
        resumed.load(NpzReader(file));
        Outcome outcome = Outcome::moved;
        while (outcome == Outcome::moved) {
            outcome = whole.step();
            ASSERT_EQ(resumed.step(), outcome);
            ASSERT_EQ(resumed.objective(), whole.objective());
        }
        EXPECT_EQ(other.value(resumed.x()), vectors.value(whole.x()));
        EXPECT_EQ(resumed.iterations(), whole.iterations());
        EXPECT_EQ(resumed.evaluations(), whole.evaluations());
    }
}

}  // namespace
}  // namespace pleat
