// Tests of the analysis of curves: shapes with known Rg, Dmax and P(r), bad curves, comparisons.
#include "pleat/saxs/analysis/analysis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>

#include "pleat/bio/scattering/profile.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/saxs/analysis/curve_comparison.h"
#include "pleat/saxs/analysis/pair_distances.h"

namespace pleat::saxs {
namespace {

constexpr double kRadius = 30;
const double kSphereRg = kRadius * std::sqrt(0.6);

double sphere(double q, double radius = kRadius) {
    const double x = q * radius;
    const double amplitude = 3 * (std::sin(x) - x * std::cos(x)) / (x * x * x);
    return amplitude * amplitude;
}

/// P(r) of a sphere with I(0) = 1.
double sphere_pairs(double r) {
    const double x = r / (2 * kRadius);
    if (x >= 1) return 0;
    return 12 * x * x * (2 - 3 * x + x * x * x) / (2 * kRadius) / (4 * std::numbers::pi);
}

/// A curve of 200 points with errors of `noise` at the begin, growing with q.
template <class Intensity>
Profile curve_of(Intensity intensity, double noise, std::uint64_t seed, double q_max = 0.35) {
    constexpr std::size_t kPoints = 200;
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    Profile curve;
    curve.source = "made";
    for (std::size_t k = 0; k < kPoints; ++k) {
        const double q = 0.008 + (q_max - 0.008) * static_cast<double>(k) / (kPoints - 1);
        const double value = intensity(q);
        curve.q.push_back(q);
        curve.sigma.push_back(noise * std::sqrt(std::max(value, 0.0) + 0.01));
        curve.intensity.push_back(value + curve.sigma.back() * normal(random));
    }
    return curve;
}

AnalysisParameters of_concentrations(const char* text) {
    AnalysisParameters parameters;
    parameters.concentration = text;
    return parameters;
}

CurveAnalysis only(const Profile& curve) { return analyse({&curve, 1}, {}).curves.front(); }

/// I(q) of unit scatterers on a line, two domains, or anything else of points.
struct Points {
    std::vector<double> distances;  ///< of all pairs
    double gyration_radius = 0, diameter = 0;

    explicit Points(const std::vector<std::array<double, 3>>& points) {
        double sum = 0;
        for (const auto& a : points)
            for (const auto& b : points) {
                const double r = std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
                distances.push_back(r);
                sum += r * r;
                diameter = std::max(diameter, r);
            }
        gyration_radius = std::sqrt(sum / 2 / static_cast<double>(distances.size()));
    }
    double operator()(double q) const {
        double sum = 0;
        for (const double r : distances) sum += r > 0 ? std::sin(q * r) / (q * r) : 1;
        return sum / static_cast<double>(distances.size());
    }
};

/// Points in an ellipsoid of revolution about z around a centre.
void add_ellipsoid(double across, double along, double centre, int count,
                   std::vector<std::array<double, 3>>& points) {
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int n = 0; n < count;) {
        const double x = uniform(random), y = uniform(random), z = uniform(random);
        if (x * x + y * y + z * z > 1) continue;
        points.push_back({across * x, across * y, along * z + centre});
        ++n;
    }
}

TEST(CurveAnalysis, FindsRgDmaxAndPairDistancesOfASphere) {
    int near_guinier = 0, near_pairs = 0, near_diameter = 0, bins = 0, covered = 0;
    constexpr int kDraws = 20;
    for (const double noise : {0.005, 0.02, 0.05})
        for (int draw = 0; draw < kDraws; ++draw) {
            const auto one = only(curve_of([](double q) { return sphere(q); }, noise, 17 + draw));
            ASSERT_TRUE(one.guinier.is_valid && one.pairs.is_valid);
            const PairDistances& pairs = one.pairs;
            near_guinier += std::abs(one.guinier.gyration_radius - kSphereRg) <
                            2 * one.guinier.gyration_radius_error;
            near_pairs +=
                std::abs(pairs.gyration_radius - kSphereRg) < 2 * pairs.gyration_radius_error;
            near_diameter +=
                std::abs(pairs.diameter / (2 * kRadius) - 1) < 0.05 ||
                (pairs.diameter_low < 2 * kRadius && pairs.diameter_high > 2 * kRadius);
            for (std::size_t n = 1; n < pairs.r.size() && pairs.r[n] < 2 * kRadius; ++n, ++bins)
                covered +=
                    std::abs(pairs.p[n] - sphere_pairs(pairs.r[n])) < 1.645 * pairs.p_error[n];
        }
    EXPECT_GE(near_guinier, 54);
    EXPECT_GE(near_pairs, 54);
    EXPECT_GE(near_diameter, 54);
    EXPECT_GT(covered, 0.85 * bins);
}

TEST(CurveAnalysis, FindsRgAndDmaxOfLongAndTwoDomainParticles) {
    std::vector<std::array<double, 3>> prolate, domains;
    add_ellipsoid(20, 50, 0, 120, prolate);
    add_ellipsoid(18, 18, -30, 80, domains);
    add_ellipsoid(18, 18, 30, 80, domains);
    for (const auto& points : {prolate, domains}) {
        const Points particle(points);
        int near = 0, near_diameter = 0;
        for (int draw = 0; draw < 10; ++draw) {
            const CurveAnalysis one = only(curve_of(particle, 0.01, 5 + draw, 0.25));
            near += std::abs(one.pairs.gyration_radius - particle.gyration_radius) <
                    2 * one.pairs.gyration_radius_error;
            near_diameter += std::abs(one.pairs.diameter / particle.diameter - 1) < 0.05 ||
                             (one.pairs.diameter_low < particle.diameter &&
                              one.pairs.diameter_high > particle.diameter);
        }
        EXPECT_GE(near, 8);
        EXPECT_GE(near_diameter, 8);
    }
}

TEST(CurveAnalysis, SmoothCurveIsTheTransformOfPairDistances) {
    const CurveAnalysis one = only(curve_of([](double q) { return sphere(q); }, 0.01, 3));
    const double none[] = {0};
    EXPECT_NEAR(intensity_of(one.pairs, none)[0] / one.pairs.forward_intensity, 1, 1e-3);
    EXPECT_NEAR(one.pairs.chi2, 1, 0.3);
    EXPECT_NEAR(one.features.kratky_position, 1.62, 0.05);
    EXPECT_NEAR(one.features.kratky_height, 1.03, 0.03);
    EXPECT_TRUE(one.features.shape.starts_with("compact"));
}

TEST(CurveAnalysis, FindsTheCrossSectionOfRods) {
    // A thin rod of length 300 with a circular section of radius 10.
    const auto rod = [](double q) {
        const double rc2 = 50, x = q * 300;
        double sine_integral = 0;
        for (int n = 0; n < static_cast<int>(std::lround(x / 0.1)); ++n) {
            const double t = 0.05 + 0.1 * n;
            sine_integral += std::sin(t) / t * 0.1;
        }
        const double half = std::sin(x / 2) / (x / 2);
        return (2 * sine_integral / x - half * half) * std::exp(-q * q * rc2 / 2);
    };
    const CurveAnalysis one = only(curve_of(rod, 0.002, 3, 0.25));
    ASSERT_TRUE(one.section.is_valid);
    EXPECT_NEAR(one.section.radius, std::sqrt(50.0), 2 * one.section.radius_error);
    EXPECT_NEAR(one.section.length, 300, 60);
}

/// How many of 20 draws have a finding with this text.
template <class Intensity>
int draws_that_name(const char* text, Intensity intensity, double noise) {
    int named = 0;
    for (int draw = 0; draw < 20; ++draw) {
        const CurveAnalysis one = only(curve_of(intensity, noise, 40 + draw));
        named += std::ranges::any_of(one.findings, [&](const std::string& finding) {
            return finding.find(text) != std::string::npos;
        });
    }
    return named;
}

TEST(CurveAnalysis, NamesLargeAggregatesThatStandOutBeforeTheGuinierRange) {
    const auto aggregated = [](double q) {
        return sphere(q) + 0.3 * std::exp(-std::pow(q * 200, 2) / 3);
    };
    for (const double noise : {0.005, 0.02})
        EXPECT_GE(draws_that_name("aggregates", aggregated, noise), 19);
}

TEST(CurveAnalysis, NamesRepulsionOfHardSpheres) {
    // The structure factor of Percus and Yevick at a volume fraction of 0.05.
    const auto repulsive = [](double q) {
        constexpr double f = 0.05, a = (1 + 2 * f) * (1 + 2 * f) / ((1 - f) * (1 - f)),
                         b = -6 * f * (1 + f / 2) * (1 + f / 2) / ((1 - f) * (1 - f));
        const double x = 2 * q * kRadius, s = std::sin(x), c = std::cos(x), x2 = x * x;
        const double g = a * (s - x * c) / x2 + b * (2 * x * s + (2 - x2) * c - 2) / (x2 * x) +
                         f * a / 2 *
                             (-x2 * x2 * c + 4 * ((3 * x2 - 6) * c + (x2 - 6) * x * s + 6)) /
                             (x2 * x2 * x);
        return sphere(q) / (1 + 24 * f * g / x / ((1 - f) * (1 - f)));
    };
    for (const double noise : {0.005, 0.02})
        EXPECT_GE(draws_that_name("repulsion", repulsive, noise), 19);
}

TEST(CurveAnalysis, NamesNeitherOfARodOrASphere) {
    std::vector<std::array<double, 3>> prolate;
    add_ellipsoid(15, 60, 0, 120, prolate);
    const Points particle(prolate);
    for (const char* text : {"aggregates", "repulsion"}) {
        EXPECT_LE(draws_that_name(
                      text, [](double q) { return sphere(q); }, 0.005),
                  1);
        EXPECT_LE(draws_that_name(text, particle, 0.005), 1);
    }
}

TEST(CurveAnalysis, AgreesWithRawOnGlucoseIsomerase) {
    const auto file =
        test::shared_folder() / "data/saxs/glucose_isomerase/glucose_isomerase.dat.gz";
    if (!test::shared_is_present(file)) GTEST_SKIP() << file;
    const CurveAnalysis one = only(read_profile(file).profile);
    EXPECT_NEAR(one.guinier.gyration_radius, 33.89, 0.3);
    EXPECT_NEAR(one.pairs.diameter, 100.8, 0.08 * 100.8);
    EXPECT_NEAR(one.features.mass_of_porod_volume, 169.1, 0.05 * 169.1);
    // Stored in RAW's file; its 157.0 leaves out q from 0 to the first point (bench/curves).
    EXPECT_NEAR(one.features.mass_of_correlation, 147.98, 0.05 * 147.98);
}

/// Curves of frames whose radius grows by `growth` from one to the next.
std::vector<Profile> growing_spheres(double growth) {
    std::vector<Profile> frames;
    frames.reserve(5);
    for (int n = 0; n < 5; ++n)
        frames.push_back(curve_of([&](double q) { return sphere(q, kRadius * (1 + growth * n)); },
                                  0.005, 60 + n));
    return frames;
}

TEST(CurveAnalysis, WarnsOfAnRgThatRisesWithTheFrames) {
    const auto is_told = [](const std::vector<Profile>& frames) {
        return std::ranges::any_of(analyse(frames, {}).notes, [](const Note& note) {
            return note.is_warning && note.text.starts_with("Rg rises with the number");
        });
    };
    EXPECT_TRUE(is_told(growing_spheres(0.03)));
    EXPECT_FALSE(is_told(growing_spheres(0)));
}

TEST(CurveAnalysis, FindsTheMassOfAProteinOnAnAbsoluteScale) {
    // 66 kDa at 2 mg/ml: 2 mg/ml / (N / 66000 g) molecules, each of 66000 g / N * 2.0854e10 cm / g.
    constexpr double kForward = 2e-3 * 66000 / 6.02214e23 * 2.0854e10 * 2.0854e10;
    const Profile curve = curve_of([&](double q) { return sphere(q); }, 0.002, 3);
    Profile scaled = curve;
    for (std::vector<double>* values : {&scaled.intensity, &scaled.sigma})
        for (double& value : *values) value *= kForward;
    AnalysisParameters parameters = of_concentrations("2");
    EXPECT_TRUE(
        std::isnan(analyse({&scaled, 1}, parameters).curves.front().features.mass_of_intensity));
    parameters.absolute_scale = true;
    const CurveAnalysis one = analyse({&scaled, 1}, parameters).curves.front();
    EXPECT_NEAR(one.features.mass_of_intensity, 66, 1);
}

// Points beyond 200 are joined; the line must not change by what it leaves out.
TEST(CurveAnalysis, GuiniersLawUsesAllPointsOfFineCurves) {
    Profile fine;
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal;
    for (int k = 0; k < 20000; ++k) {
        fine.q.push_back(0.004 + 6e-6 * k);
        fine.sigma.push_back(0.05);
        fine.intensity.push_back(sphere(fine.q.back()) + 0.05 * normal(random));
    }
    const Guinier line = guinier(fine);
    ASSERT_TRUE(line.is_valid);
    // About 8000 points of 5 %: with every n-th of 200 alone the noise would be 1 % of Rg.
    EXPECT_LT(line.error_of_points, 0.003 * kSphereRg);
    EXPECT_NEAR(line.gyration_radius, kSphereRg, 2 * line.gyration_radius_error);
    fine.intensity[3000] += 0.05 * 8;
    EXPECT_EQ(std::ranges::count(guinier(fine).outliers, 3000u), 1);
}

TEST(CurveAnalysis, RefusesFewPointsAndCurvesWithoutIntensity) {
    Profile curve = curve_of([](double q) { return sphere(q); }, 0.01, 3);
    for (double& intensity : curve.intensity) intensity = -1;
    EXPECT_THROW(only(curve), InputError);
    curve = curve_of([](double q) { return sphere(q); }, 0.01, 3);
    for (std::vector<double>* values : {&curve.q, &curve.intensity, &curve.sigma})
        values->resize(14);
    EXPECT_THROW(only(curve), InputError);
}

TEST(CurveAnalysis, FindsNoSizeInAConstant) {
    const CurveAnalysis one = only(curve_of([](double) { return 1.0; }, 0.01, 3));
    EXPECT_FALSE(one.pairs.is_valid);
    EXPECT_FALSE(one.findings.empty());
}

TEST(CurveAnalysis, CutsWideAnglesThatPairDistancesCannotUse) {
    const Profile curve = curve_of([](double q) { return sphere(q); }, 0.01, 3, 2);
    AnalysisParameters parameters;
    parameters.q_max = 10;
    const SampleAnalysis analysis = analyse({&curve, 1}, parameters);
    EXPECT_LT(analysis.result().curve.q.back(), 0.8);
    EXPECT_FALSE(analysis.notes.empty());
}

TEST(CurveComparison, CountsRunsOfTosses) {
    // Of 8 equally probable triples 2 have a run of 3, and all but 2 one of 2.
    EXPECT_DOUBLE_EQ(longest_run_probability(3, 3), 0.25);
    EXPECT_DOUBLE_EQ(longest_run_probability(3, 2), 0.75);
    EXPECT_DOUBLE_EQ(longest_run_probability(5, 1), 1);
    EXPECT_DOUBLE_EQ(longest_run_probability(5, 6), 0);
    // Schilling (1990): in 200 tosses a run of 6 or more has a probability of 0.97.
    EXPECT_NEAR(longest_run_probability(200, 6), 0.966, 0.005);
}

TEST(CurveComparison, AveragesFramesUntilOneDiffers) {
    std::vector<Profile> frames;
    frames.reserve(6);
    for (int n = 0; n < 6; ++n)
        frames.push_back(curve_of(
            [n](double q) { return n < 4 ? sphere(q) : sphere(q, 1.2 * kRadius); }, 0.005, n));
    const SampleAnalysis analysis = analyse(frames, {});
    EXPECT_EQ(analysis.averaged.size(), 4u);
    EXPECT_EQ(analysis.result().name, "average");
    EXPECT_NEAR(analysis.result().pairs.gyration_radius, kSphereRg, 0.1);
    EXPECT_FALSE(analysis.notes.empty());
}

TEST(CurveComparison, ExtrapolatesConcentrations) {
    std::vector<Profile> curves;
    for (const double c : {1.0, 2.0, 4.0})
        curves.push_back(curve_of(
            [c](double q) { return c * sphere(q) * (1 - 0.05 * c * std::exp(-900 * q * q)); },
            0.003, static_cast<int>(c)));
    const SampleAnalysis analysis = analyse(curves, of_concentrations("1,2,4"));
    EXPECT_EQ(analysis.result().name, "extrapolated");
    EXPECT_NEAR(analysis.result().pairs.forward_intensity, 1, 0.02);
    EXPECT_THROW(analyse(curves, of_concentrations("1,2")), UsageError);
    EXPECT_THROW(analyse(curves, of_concentrations("1,2,x")), UsageError);
}

}  // namespace
}  // namespace pleat::saxs
