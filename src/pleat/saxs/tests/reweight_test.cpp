// Tests of weights by observables: against a search over weights of three frames, the conditions of
// the minimum, distances, the choice of theta, and what is refused.
#include "pleat/saxs/fit/reweight.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "pleat/core/error.h"

namespace pleat::saxs {
namespace {

/// chi^2 / 2 + theta sum w ln(M w), as the formulas are written.
double objective(const std::vector<Observable>& list, View<const double, 2> values, double theta,
                 std::span<const double> weights) {
    double sum = 0;
    const auto frames = static_cast<double>(weights.size());
    for (const double w : weights) sum += w > 0 ? theta * w * std::log(frames * w) : 0;
    for (std::size_t n = 0; n < list.size(); ++n) {
        const Observable& one = list[n];
        const double power = one.averaging == Averaging::r6   ? -6
                             : one.averaging == Averaging::r3 ? -3
                                                              : 1;
        double mean = 0;
        for (std::size_t i = 0; i < weights.size(); ++i)
            mean +=
                weights[i] * std::pow(values(static_cast<Index>(i), static_cast<Index>(n)), power);
        const double measured = std::pow(one.value, power);
        const double error =
            power == 1 ? one.error : -power * std::pow(one.value, power - 1) * one.error;
        const bool is_above = mean > measured;
        // A distance is too long if the mean of its power is too small.
        if (one.kind == ObservableKind::upper && is_above == (power < 0)) continue;
        if (one.kind == ObservableKind::lower && is_above == (power > 0)) continue;
        sum += std::pow((mean - measured) / error, 2) / 2;
    }
    return sum;
}

/// The weights of three frames with the smallest objective, by steps along edges of the triangle of
/// weights, halved when none helps. The objective is convex.
std::vector<double> search(const std::vector<Observable>& list, View<const double, 2> values,
                           double theta) {
    std::vector<double> best(3, 1.0 / 3);
    double lowest = objective(list, values, theta, best);
    for (double step = 0.25; step > 1e-10;) {
        bool is_better = false;
        for (int from = 0; from < 3; ++from)
            for (int to = 0; to < 3; ++to) {
                if (from == to || best[from] < step) continue;
                std::vector<double> next = best;
                next[from] -= step;
                next[to] += step;
                const double value = objective(list, values, theta, next);
                if (value >= lowest) continue;
                lowest = value;
                best = next;
                is_better = true;
            }
        if (!is_better) step /= 2;
    }
    return best;
}

struct Made {
    std::vector<Observable> list;
    Array<double, 2> values;
};

/// Random observables of every kind.
Made make(Index frames, Index count, std::mt19937_64& random, double error) {
    Made made{{}, Array<double, 2>(frames, count)};
    std::uniform_real_distribution<double> distance(2, 8), share(0.2, 0.8);
    for (Index n = 0; n < count; ++n) {
        double low = 100, high = 0;
        for (Index i = 0; i < frames; ++i) {
            made.values(i, n) = distance(random);
            low = std::min(low, made.values(i, n));
            high = std::max(high, made.values(i, n));
        }
        made.list.push_back({"o" + std::to_string(n), low + share(random) * (high - low), error,
                             static_cast<ObservableKind>(random() % 3),
                             static_cast<Averaging>(random() % 3)});
    }
    return made;
}

TEST(Reweight, ThreeFramesAreThoseOfASearch) {
    std::mt19937_64 random(5);
    for (int trial = 0; trial < 200; ++trial) {
        const Made made = make(3, 1 + trial % 4, random, 0.5);
        const double theta = std::pow(10, trial % 5 - 2);
        const Reweighting result = reweight(made.list, made.values, {theta}, {});
        const std::vector<double>& found = result.scan[0].result.weights;
        const std::vector<double> wanted = search(made.list, made.values, theta);
        EXPECT_LE(objective(made.list, made.values, theta, found),
                  objective(made.list, made.values, theta, wanted) * (1 + 1e-9) + 1e-12)
            << trial;
        for (int i = 0; i < 3; ++i) EXPECT_NEAR(found[i], wanted[i], 2e-4) << trial;
    }
}

TEST(Reweight, ManyFramesMeetTheConditionsOfTheMinimum) {
    std::mt19937_64 random(6);
    int bounds = 0, free = 0;
    for (const double theta : {100.0, 3.0, 0.1}) {
        const Made made = make(1500, 37, random, 0.05);
        const Reweighting result = reweight(made.list, made.values, {theta}, {});
        const ObservableAxes axes(made.list, made.values);
        const std::vector<double>& weights = result.scan[0].result.weights;
        const ObservableFit& fit = result.observables.fits[0];
        // Multipliers follow from the means, and weights from the multipliers: a fixed point of
        // both is the minimum.
        std::vector<double> wanted;
        for (Index i = 0; i < 1500; ++i) {
            double exponent = 0;
            for (Index n = 0; n < 37; ++n)
                exponent -= fit.multipliers[static_cast<std::size_t>(n)] * axes.x(n, i);
            wanted.push_back(exponent);
        }
        const double largest = *std::ranges::max_element(wanted);
        for (double& exponent : wanted) exponent = std::exp(exponent - largest);
        const double sum = std::accumulate(wanted.begin(), wanted.end(), 0.0);
        double difference = 0;
        for (std::size_t i = 0; i < wanted.size(); ++i)
            difference += std::abs(weights[i] - wanted[i] / sum);
        EXPECT_LT(difference, 1e-5) << theta;
        EXPECT_LT(fit.chi2, result.observables.before.chi2);
        for (std::size_t n = 0; n < made.list.size(); ++n) {
            EXPECT_GE(axes.signs[n] * fit.multipliers[n], 0) << n;
            (fit.multipliers[n] == 0 ? bounds : free) += 1;
        }
    }
    EXPECT_GT(bounds, 10);  // that hold without a multiplier
    EXPECT_GT(free, 40);
}

TEST(Reweight, TheSameBitsForAnyNumberOfThreads) {
    std::mt19937_64 random(7);
    const Made made = make(1300, 12, random, 0.1);
    Context one, three;
    one.threads = 1;
    three.threads = 3;
    const Reweighting a = reweight(made.list, made.values, {}, one),
                      b = reweight(made.list, made.values, {}, three);
    EXPECT_EQ(a.chosen, b.chosen);
    for (std::size_t n = 0; n < a.scan.size(); ++n) {
        EXPECT_EQ(a.scan[n].result.weights, b.scan[n].result.weights);
        EXPECT_EQ(a.scan[n].result.validation, b.scan[n].result.validation);
    }
}

TEST(Reweight, DistancesAverageAsPowers) {
    Array<double, 2> values(2, 1);
    values(0, 0) = 2;
    values(1, 0) = 10;
    const double mean = std::pow((std::pow(2, -6) + std::pow(10, -6)) / 2, -1.0 / 6);
    Observable one{"d", 5, 0.1, ObservableKind::upper, Averaging::r6};
    Reweighting result = reweight({one}, values, {1}, {});
    EXPECT_NEAR(result.observables.before.means[0], mean, 1e-12);
    EXPECT_EQ(result.observables.before.chi2, 0);  // 2.24 is shorter than 5
    EXPECT_EQ(result.scan[0].result.weights, std::vector<double>({0.5, 0.5}));
    one.kind = ObservableKind::lower;
    result = reweight({one}, values, {1e-3}, {});
    EXPECT_GT(result.observables.before.chi2, 1);
    EXPECT_NEAR(result.observables.fits[0].means[0], 5, 0.01);
}

TEST(Reweight, LargestThetaThatSufficesIsChosen) {
    std::mt19937_64 random(8);
    std::normal_distribution<double> normal;
    const Index frames = 3000;
    constexpr double kError = 0.3;
    for (const Index count : {6, 40}) {
        // Values follow a coordinate, whose true mean is 1.2 instead of 0.
        Array<double, 2> values(frames, count);
        std::vector<Observable> list;
        for (Index i = 0; i < frames; ++i) {
            const double coordinate = normal(random);
            for (Index n = 0; n < count; ++n)
                values(i, n) = coordinate * (1 + 0.1 * static_cast<double>(n % 7)) + normal(random);
        }
        for (Index n = 0; n < count; ++n)
            list.push_back({"o" + std::to_string(n),
                            1.2 * (1 + 0.1 * static_cast<double>(n % 7)) + kError * normal(random),
                            kError,
                            {},
                            {}});
        const Reweighting result = reweight(list, values, {}, {});
        ASSERT_EQ(result.scan.size(), 11u);
        EXPECT_DOUBLE_EQ(result.scan[0].theta, 10.0 * static_cast<double>(count));
        for (std::size_t n = 1; n < 11; ++n)
            EXPECT_LT(result.scan[n].result.fit.chi2, result.scan[n - 1].result.fit.chi2);
        EXPECT_GT(result.chosen, 0u);
        EXPECT_LT(result.chosen, 9u);
        EXPECT_LT(result.scan[result.chosen].result.fit.chi2, count > 10 ? 3 : 1);
        EXPECT_EQ(result.notes.size(), count < 10 ? 1u : 0u);
        EXPECT_GT(result.scan[result.chosen].result.effective_frames, 500);
        EXPECT_TRUE(result.warnings.empty());
    }
}

TEST(Reweight, WarnsOfFewFrames) {
    Array<double, 2> values(100, 2);
    for (Index i = 0; i < 100; ++i) {
        values(i, 0) = static_cast<double>(i);
        values(i, 1) = 1;
    }
    const std::vector<Observable> list = {{"a", 200, 1, {}, {}}, {"b", 1, 1, {}, {}}};
    const Reweighting result = reweight(list, values, {0.01}, {});
    ASSERT_EQ(result.warnings.size(), 1u);
    EXPECT_NE(result.warnings[0].find("effective frames of 100, fewer than 20"), std::string::npos);
}

std::string message(const std::vector<Observable>& list, View<const double, 2> values,
                    const std::vector<double>& thetas = {1}) {
    try {
        reweight(list, values, thetas, {});
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(Reweight, RefusesWhatHasNoMeaning) {
    Array<double, 2> one(4, 1), two(4, 2);
    one.fill(3);
    two.fill(3);
    const Observable good{"a", 3, 1, {}, {}};
    EXPECT_EQ(message({good}, one), "");
    EXPECT_NE(message({}, Array<double, 2>(4, 0)).find("at least 1 observable"), std::string::npos);
    EXPECT_NE(message({good}, two).find("found shape [4, 2]"), std::string::npos);
    EXPECT_NE(message({good}, Array<double, 2>(0, 1)).find("shape [0, 1]"), std::string::npos);
    EXPECT_NE(message({good}, one, {0}).find("theta"), std::string::npos);
    EXPECT_NE(message({good}, one, {NAN}).find("theta"), std::string::npos);
    Observable bad = good;
    for (const double error : {0.0, -1.0, double{NAN}, double{INFINITY}}) {
        bad.error = error;
        EXPECT_NE(message({bad}, one).find("'a': expected an error above 0"), std::string::npos);
    }
    bad = good;
    bad.value = NAN;
    EXPECT_NE(message({bad}, one).find("finite value"), std::string::npos);
    bad = good;
    bad.averaging = Averaging::r6;
    bad.value = 0;
    EXPECT_NE(message({bad}, one).find("distance above 0"), std::string::npos);
    EXPECT_NE(message({good, good}, two).find("expected it once"), std::string::npos);
    const Observable low{"a", 5, 1, ObservableKind::lower, {}},
        high{"a", 4, 1, ObservableKind::upper, {}};
    EXPECT_NE(message({low, high}, two).find("at most the upper bound 4, found 5"),
              std::string::npos);
    EXPECT_NE(message({high, low}, two).find("at most the upper bound 4, found 5"),
              std::string::npos);
    one(2, 0) = NAN;
    EXPECT_NE(message({good}, one).find("found nan in frame 2"), std::string::npos);
    one(2, 0) = 0;
    bad = good;
    bad.averaging = Averaging::r3;
    EXPECT_NE(message({bad}, one).find("found 0 in frame 2"), std::string::npos);
}

}  // namespace
}  // namespace pleat::saxs
