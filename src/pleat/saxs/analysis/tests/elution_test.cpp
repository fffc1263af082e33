// Tests of elutions: made frames whose buffer and sample are known.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/saxs/analysis/elution.h"

namespace pleat::saxs {
namespace {

using test::error_text;

constexpr double kRg = 28;

/// The Guinier curve of a particle, I(0) = 1.
double particle(double q, double gyration_radius) {
    return std::exp(-q * q * gyration_radius * gyration_radius / 3);
}
double buffer(double q) { return 2 + 0.1 * std::exp(-q / 0.1); }

template <class Intensity>
CurveSeries made_series(Index frames, unsigned seed, const Intensity& intensity,
                        double noise = 0.02) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::vector<Profile> curves(frames);
    for (Index f = 0; f < frames; ++f) {
        for (int k = 0; k < 200; ++k) {
            const double q = 0.008 + 0.0015 * k, sigma = noise * (1 + 0.5 * k / 200.0);
            curves[f].q.push_back(q);
            curves[f].intensity.push_back(intensity(f, q) + sigma * normal(random));
            curves[f].sigma.push_back(sigma);
        }
        curves[f].source = "frame" + std::to_string(f);
    }
    return series_of(curves);
}

double gauss(double x, double width) { return std::exp(-x * x / (2 * width * width)); }

/// Aggregates at frame 70, the particle at frame 120 with a dimer in its front.
double elution_at(Index f, double q) {
    const auto x = static_cast<double>(f);
    return buffer(q) + 0.4 * gauss(x - 70, 8) * particle(q, 70) +
           0.3 * gauss(x - 100, 5) * 2 * particle(q, 40) + 2 * gauss(x - 120, 5) * particle(q, kRg);
}

TEST(Elution, FindsBufferAndSample) {
    int within = 0;
    constexpr int kTrials = 20;
    for (int seed = 0; seed < kTrials; ++seed) {
        const Elution found = analyse_elution(made_series(200, seed + 1, elution_at), {}, nullptr);
        double wrong = 0;
        for (Index f = found.buffer.first; f < found.buffer.first + found.buffer.count; ++f)
            wrong += (elution_at(f, 0.01) - buffer(0.01)) / static_cast<double>(found.buffer.count);
        EXPECT_LT(wrong, 0.003);  // of the peak's 2
        EXPECT_GE(found.buffer.count, 20);
        EXPECT_GE(found.sample.first, 108);
        EXPECT_LE(found.sample.first + found.sample.count, 133);
        EXPECT_GE(found.sample.count, 8);
        const Guinier line = guinier(found.subtracted);
        within += std::fabs(line.gyration_radius - kRg) < 2 * line.gyration_radius_error;
        const double highest = *std::max_element(found.signal.begin(), found.signal.end());
        EXPECT_NEAR(found.signal[120], highest, 0.1 * highest);
        EXPECT_NEAR(found.guinier[120].gyration_radius, kRg, 3);
        EXPECT_FALSE(found.guinier[5].is_valid);
    }
    EXPECT_GE(within, 16);
}

TEST(Elution, TakesGivenRanges) {
    const CurveSeries series = made_series(200, 3, elution_at);
    Notes notes;
    const Elution found = analyse_elution(series, {Block{60, 30}, Block{95, 20}}, &notes);
    EXPECT_EQ(found.buffer.first, 60);
    EXPECT_EQ(found.sample.count, 20);
    ASSERT_EQ(notes.size(), 3U);
    EXPECT_NE(notes[0].text.find("the buffer drifts"), std::string::npos);
    EXPECT_NE(notes[1].text.find("--buffer-frames"), std::string::npos);
    EXPECT_NE(notes[2].text.find("--sample-frames"), std::string::npos);
    EXPECT_NE(error_text<UsageError>([&] {
                  analyse_elution(series, {Block{190, 20}, {}}, nullptr);
              }).find("--buffer-frames: expected frames from 0 to 199, found 190 to 209"),
              std::string::npos);
}

TEST(Elution, NamesADriftingBuffer) {
    const auto drifting = [](Index f, double q) {
        return elution_at(f, q) + (f > 90 ? 0.15 * static_cast<double>(f - 90) / 110 : 0.0);
    };
    Notes notes;
    const Elution found = analyse_elution(made_series(200, 4, drifting), {}, &notes);
    ASSERT_TRUE(found.drift.has_value());
    EXPECT_GT(*found.drift, 0.05);
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_NE(notes[0].text.find("the buffer drifts"), std::string::npos);
    EXPECT_TRUE(notes[0].is_warning);
}

TEST(Elution, RefusesFramesWithoutPeakOrBuffer) {
    const auto flat = [](Index, double q) { return buffer(q); };
    EXPECT_NE(error_text<InputError>([&] {
                  analyse_elution(made_series(50, 5, flat), {}, nullptr);
              }).find("expected frames of an elution with a peak, found none"),
              std::string::npos);
    const auto rising = [](Index f, double q) {
        return buffer(q) + 0.5 * static_cast<double>(f) * particle(q, kRg);
    };
    EXPECT_NE(error_text<InputError>([&] {
                  analyse_elution(made_series(50, 6, rising), {}, nullptr);
              }).find("give --buffer-frames"),
              std::string::npos);
    EXPECT_NE(error_text<InputError>([&] {
                  analyse_elution(made_series(4, 7, flat), {}, nullptr);
              }).find("expected 10 frames of an elution or more, found 4"),
              std::string::npos);
}

TEST(CurveSeriesOf, NeedsOneGrid) {
    const CurveSeries series = made_series(2, 10, elution_at);
    Profile a = mean_of(series, {0, 1}), b = mean_of(series, {1, 1});
    for (double& q : b.q) q *= 1.001;
    const Profile both[] = {a, b};
    EXPECT_NE(error_text<InputError>([&] {
                  series_of(both);
              }).find("frame1: expected the same q as in frame0"),
              std::string::npos);
    // A point without a usable error in one frame is left out of all.
    b = mean_of(series, {1, 1});
    for (auto* values : {&b.q, &b.intensity, &b.sigma}) values->erase(values->begin() + 3);
    const Profile again[] = {a, b};
    EXPECT_EQ(series_of(again).q.size(), a.size() - 1);
}

}  // namespace
}  // namespace pleat::saxs
