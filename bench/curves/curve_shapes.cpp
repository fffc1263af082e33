// Coverage of the analysis of curves: how often Rg, Dmax and P(r) of known shapes lie in its
// errors.
//
// bench_curve_shapes [DRAWS [STRUCTURE...]]: by default 100 draws of each shape, with errors of
// 0.5, 2 and 5 % of I(0) in turn, or of structures alone: balls of 3 angstrom at each atom. Prints
// one row per shape, then how often curves with aggregates or repulsion are named, and the CPU time
// of a curve of 2000 points.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/saxs/analysis/analysis.h"

namespace {

using namespace pleat;
using namespace pleat::saxs;
using Random = std::mt19937_64;
using Intensity = std::function<double(double)>;
using Point = std::array<double, 3>;

/// An ellipsoid with these half axes, or a cylinder along z (x its radius, z its half length).
struct Body {
    Point half = {}, centre = {};
    double contrast = 1;
    bool is_cylinder = false;

    double amount() const {  // excess scattering length, up to a factor
        const double box = half[0] * half[1] * half[2] * contrast;
        return is_cylinder ? 1.5 * box : box;
    }
    Point draw(Random& random) const {
        std::uniform_real_distribution<double> uniform(-1, 1);
        for (;;) {
            const double x = uniform(random), y = uniform(random), z = uniform(random);
            if (x * x + y * y + (is_cylinder ? 0 : z * z) > 1) continue;
            return {centre[0] + half[0] * x, centre[1] + half[1] * y, centre[2] + half[2] * z};
        }
    }
};
Body ellipsoid(double x, double y, double z, Point centre = {}, double contrast = 1) {
    return {{x, y, z}, centre, contrast};
}
Body sphere(double radius, Point centre = {}, double contrast = 1) {
    return ellipsoid(radius, radius, radius, centre, contrast);
}
Body cylinder(double radius, double length, double contrast = 1, Point centre = {}) {
    return {{radius, radius, length / 2}, centre, contrast, true};
}

/// P(r) of a shape by random pairs of its points: bins of equal width up to Dmax.
struct Shape {
    static constexpr std::size_t kBins = 1000;
    std::string name, kind;
    double diameter = 0, gyration_radius = 0;
    std::vector<double> share;  // of all pairs, per bin

    Shape(std::string of, std::string sort, double longest, const std::vector<Body>& bodies)
        : name(std::move(of)), kind(std::move(sort)), diameter(longest), share(kBins) {
        constexpr int kPairs = 20'000'000;
        std::vector<double> amounts;
        amounts.reserve(bodies.size());
        for (const Body& body : bodies) amounts.push_back(std::abs(body.amount()));
        std::discrete_distribution<std::size_t> choose(amounts.begin(), amounts.end());
        Random random(7);
        double total = 0, moment = 0;
        for (int n = 0; n < kPairs; ++n) {
            const Body &a = bodies[choose(random)], &b = bodies[choose(random)];
            const Point p = a.draw(random), q = b.draw(random);
            const double r = std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]),
                         sign = a.contrast * b.contrast > 0 ? 1 : -1;
            share[std::min(kBins - 1, static_cast<std::size_t>(r / diameter * kBins))] += sign;
            total += sign;
            moment += sign * r * r / 2;
        }
        for (double& one : share) one /= total;
        gyration_radius = std::sqrt(moment / total);
    }
    double distance(std::size_t bin) const {
        return (static_cast<double>(bin) + 0.5) * diameter / kBins;
    }
    double intensity(double q) const {
        double sum = 0;
        for (std::size_t k = 0; k < kBins; ++k)
            sum += share[k] * std::sin(q * distance(k)) / (q * distance(k));
        return sum;
    }
    /// P(r) with I(0) = 1, smoothed over 11 bins by a parabola.
    double pairs(double r) const {
        const auto middle = static_cast<std::ptrdiff_t>(r / diameter * kBins);
        double sum = 0, weight = 0;
        for (std::ptrdiff_t k = -10; k <= 10; ++k) {
            if (middle + k < 0 || middle + k >= static_cast<std::ptrdiff_t>(kBins)) continue;
            const double x = static_cast<double>(k) / 11, w = (1 - x * x) * (1 - x * x);
            sum += w * share[static_cast<std::size_t>(middle + k)];
            weight += w;
        }
        return sum / weight * kBins / diameter / (4 * std::numbers::pi);
    }
};

/// The constants were set with the first set, the windows of P(r) and the error of Dmax with the
/// first two in view; the third was made afterwards.
std::vector<Shape> shapes() {
    std::vector<Shape> all;
    const char* set = "first";
    const auto add = [&](const char* name, double longest, const std::vector<Body>& bodies) {
        all.emplace_back(name, set, longest, bodies);
    };
    add("sphere 30", 60, {sphere(30)});
    add("sphere 60", 120, {sphere(60)});
    add("ellipsoid 20 20 50", 100, {ellipsoid(20, 20, 50)});
    add("ellipsoid 40 40 16", 80, {ellipsoid(40, 40, 16)});
    add("ellipsoid 20 35 50", 100, {ellipsoid(20, 35, 50)});
    add("rod 12 x 80", std::hypot(24, 80), {cylinder(12, 80)});
    add("rod 10 x 150", std::hypot(20, 150), {cylinder(10, 150)});
    add("disc 40 x 15", std::hypot(80, 15), {cylinder(40, 15)});
    add("disc 60 x 20", std::hypot(120, 20), {cylinder(60, 20)});
    add("core-shell 40, core 25 of -0.5", 80, {sphere(40), sphere(25, {}, -1.5)});
    add("hollow sphere 40, 28", 80, {sphere(40), sphere(28, {}, -1)});
    add("two domains 20, 60 apart", 100, {sphere(20), sphere(20, {0, 0, 60})});
    set = "second";
    add("sphere 18", 36, {sphere(18)});
    add("ellipsoid 15 15 60", 120, {ellipsoid(15, 15, 60)});
    add("ellipsoid 60 60 15", 120, {ellipsoid(60, 60, 15)});
    add("ellipsoid 25 30 45", 90, {ellipsoid(25, 30, 45)});
    add("rod 8 x 200", std::hypot(16, 200), {cylinder(8, 200)});
    add("disc 80 x 25", std::hypot(160, 25), {cylinder(80, 25)});
    add("core-shell 45, core 30 of 0.4", 90, {sphere(45), sphere(30, {}, -0.6)});
    add("core-shell 50, core 30 of 2.5", 100, {sphere(50), sphere(30, {}, 1.5)});
    add("three domains 18", 36 + std::hypot(60, 50),
        {sphere(18, {0, 0, -25}), sphere(18, {30, 0, 0}), sphere(18, {60, 0, 25})});
    add("domains 25 and 15, 55 apart", 95, {sphere(25), sphere(15, {0, 0, 55})});
    add("hollow cylinder 35, 20 x 90", std::hypot(70, 90),
        {cylinder(35, 90), cylinder(20, 90, -1)});
    set = "third";
    add("sphere 45", 90, {sphere(45)});
    add("ellipsoid 30 30 70", 140, {ellipsoid(30, 30, 70)});
    add("ellipsoid 50 50 28", 100, {ellipsoid(50, 50, 28)});
    add("ellipsoid 18 40 60", 120, {ellipsoid(18, 40, 60)});
    add("rod 14 x 110", std::hypot(28, 110), {cylinder(14, 110)});
    add("disc 50 x 12", std::hypot(100, 12), {cylinder(50, 12)});
    add("core-shell 55, core 40 of 0.2", 110, {sphere(55), sphere(40, {}, -0.8)});
    add("hollow sphere 60, 45", 120, {sphere(60), sphere(45, {}, -1)});
    add("two domains 28, 70 apart", 126, {sphere(28), sphere(28, {0, 0, 70})});
    add("four domains 16", 32 + std::hypot(45, 45),
        {sphere(16), sphere(16, {45, 0, 0}), sphere(16, {0, 45, 0}), sphere(16, {45, 45, 0})});
    add("sphere 30 and rod 8 x 60 beside it", 30 + std::hypot(90, 8),
        {sphere(30), cylinder(8, 60, 1, {0, 0, 60})});
    add("hollow cylinder 25, 10 x 120", std::hypot(50, 120),
        {cylinder(25, 120), cylinder(10, 120, -1)});
    return all;
}

Shape structure_shape(const std::string& file) {
    constexpr double kRadius = 3;
    const Ensemble ensemble =
        read_ensemble({file}, {.topology = {}, .select = "protein", .range = {0, 1, 1}});
    const auto xyz = ensemble.xyz[0];
    std::vector<Body> bodies;
    double longest = 0;
    for (Index n = 0; n < xyz.extent(1); ++n) {
        const Point at = {xyz(0, n), xyz(1, n), xyz(2, n)};
        for (const Body& other : bodies) {
            const Point& b = other.centre;
            longest = std::max(longest, std::hypot(at[0] - b[0], at[1] - b[1], at[2] - b[2]));
        }
        bodies.push_back(sphere(kRadius, at));
    }
    return {std::filesystem::path(file).filename().string(), "structure", longest + 2 * kRadius,
            bodies};
}

/// The exact curve of `count` points whose errors are a fraction `noise` of I(0), fewer at wide
/// angles.
Profile exact_curve(const Intensity& intensity, double gyration_radius, std::size_t count,
                    double noise) {
    const double from = std::min(0.01, 0.35 / gyration_radius), to = 0.3;
    Profile curve;
    curve.source = "made";
    for (std::size_t k = 0; k < count; ++k) {
        const double q =
            from + (to - from) * static_cast<double>(k) / static_cast<double>(count - 1);
        curve.q.push_back(q);
        curve.intensity.push_back(intensity(q));
        curve.sigma.push_back(noise * std::sqrt(std::max(curve.intensity.back(), 0.0) + 0.01));
    }
    return curve;
}
CurveAnalysis analysis_of(Profile curve, std::uint64_t seed) {
    Random random(seed);
    std::normal_distribution<double> normal;
    for (std::size_t k = 0; k < curve.size(); ++k)
        curve.intensity[k] += curve.sigma[k] * normal(random);
    return analyse({&curve, 1}, {}).curves.front();
}

constexpr double kNoises[] = {0.005, 0.02, 0.05};
constexpr std::size_t kPoints = 300;

/// Whether findings name aggregates or repulsion, or anything.
struct Warnings {
    int aggregates = 0, repulsion = 0, any = 0, draws = 0;

    void add(const CurveAnalysis& one) {
        const auto has = [&](const char* text) {
            return std::ranges::any_of(one.findings, [&](const std::string& finding) {
                return finding.find(text) != std::string::npos;
            });
        };
        aggregates += has("aggregates");
        repulsion += has("repulsion");
        any += has("aggregates") || has("repulsion");
        ++draws;
    }
};

void print_coverage(const Shape& shape, int draws) {
    double guinier = 0, rg = 0, diameter = 0, bins = 0, covered = 0, ratio = 0, width = 0;
    double by_noise[3] = {}, bins_by_noise[3] = {};
    Warnings warnings;
    Profile curves[3];
    for (int n = 0; n < 3; ++n)
        curves[n] = exact_curve([&](double q) { return shape.intensity(q); }, shape.gyration_radius,
                                kPoints, kNoises[n]);
    for (int draw = 0; draw < draws; ++draw) {
        const CurveAnalysis one = analysis_of(curves[draw % 3], 1000 + draw);
        warnings.add(one);
        guinier +=
            one.guinier.is_valid && std::abs(one.guinier.gyration_radius - shape.gyration_radius) <
                                        2 * one.guinier.gyration_radius_error;
        const PairDistances& pairs = one.pairs;
        if (!pairs.is_valid) continue;
        rg += std::abs(pairs.gyration_radius - shape.gyration_radius) <
              2 * pairs.gyration_radius_error;
        diameter += std::abs(pairs.diameter / shape.diameter - 1) < 0.05 ||
                    (pairs.diameter_low < shape.diameter && pairs.diameter_high > shape.diameter);
        ratio += pairs.diameter / shape.diameter / draws;
        width += (pairs.diameter_high - pairs.diameter_low) / shape.diameter / draws;
        for (std::size_t n = 1; n < pairs.r.size() && pairs.r[n] < shape.diameter; ++n) {
            const bool is_in =
                std::abs(pairs.p[n] - shape.pairs(pairs.r[n])) < 1.645 * pairs.p_error[n];
            ++bins;
            covered += is_in;
            by_noise[draw % 3] += is_in;
            ++bins_by_noise[draw % 3];
        }
    }
    const double all = draws / 100.0;
    fmt::print(
        "{}\t{}\t{:.1f}\t{:.0f}\t{:.0f}\t{:.0f}\t{:.1f}\t{:.1f} {:.1f} {:.1f}\t{:.3f} "
        "({:.2f})\t{:.0f}\n",
        shape.name, shape.kind, shape.gyration_radius, guinier / all, rg / all, diameter / all,
        100 * covered / bins, 100 * by_noise[0] / bins_by_noise[0],
        100 * by_noise[1] / bins_by_noise[1], 100 * by_noise[2] / bins_by_noise[2], ratio, width,
        warnings.any / all);
    std::fflush(stdout);
}

/// Intensity of a sphere with I(0) = 1.
double of_sphere(double q, double radius) {
    const double x = q * radius, amplitude = 3 * (std::sin(x) - x * std::cos(x)) / (x * x * x);
    return amplitude * amplitude;
}
/// The structure factor of hard spheres (Percus and Yevick).
double of_hard_spheres(double q, double radius, double fraction) {
    const double f = fraction, x = 2 * q * radius, s = std::sin(x), c = std::cos(x);
    const double a = std::pow(1 + 2 * f, 2) / std::pow(1 - f, 4),
                 b = -6 * f * std::pow(1 + f / 2, 2) / std::pow(1 - f, 4), d = f * a / 2;
    const double g =
        a * (s - x * c) / (x * x) + b * (2 * x * s + (2 - x * x) * c - 2) / std::pow(x, 3) +
        d * (-std::pow(x, 4) * c + 4 * ((3 * x * x - 6) * c + (x * x * x - 6 * x) * s + 6)) /
            std::pow(x, 5);
    return 1 / (1 + 24 * f * g / x);
}

void print_warnings(int draws) {
    constexpr double kRadius = 30, kRg = kRadius * 0.7746;
    const auto monomer = [](double q) { return of_sphere(q, kRadius); };
    std::map<std::string, Intensity> cases;
    for (const double times : {2.5, 4.0, 8.0})  // radius of the aggregates, in monomers'
        cases[fmt::format("5 % of the mass in spheres of {:.0f} monomers", std::pow(times, 3))] =
            [=](double q) {
                return 0.95 * monomer(q) +
                       0.05 * std::pow(times, 3) * of_sphere(q, times * kRadius);
            };
    for (const double fraction : {0.02, 0.05, 0.1})
        cases[fmt::format("hard spheres, volume fraction {}", fraction)] = [=](double q) {
            return monomer(q) * of_hard_spheres(q, kRadius, fraction);
        };
    fmt::print("\ncurve\terrors %\taggregates named\trepulsion named\n");
    for (const auto& [name, intensity] : cases)
        for (const double noise : kNoises) {
            Warnings warnings;
            for (int draw = 0; draw < draws / 3; ++draw)
                warnings.add(analysis_of(exact_curve(intensity, kRg, kPoints, noise), 77 + draw));
            const double all = warnings.draws / 100.0;
            fmt::print("{}\t{}\t{:.0f}\t{:.0f}\n", name, 100 * noise, warnings.aggregates / all,
                       warnings.repulsion / all);
            std::fflush(stdout);
        }
}

void print_time() {
    const Profile curve = exact_curve([](double q) { return of_sphere(q, 30); }, 23.2, 2000, 0.02);
    constexpr int kTimes = 10;
    const std::clock_t start = std::clock();
    for (int n = 0; n < kTimes; ++n) analysis_of(curve, static_cast<std::uint64_t>(n));
    fmt::print("\nCPU seconds of a curve of 2000 points\t{:.3f}\n",
               static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / kTimes);
}

}  // namespace

int main(int count, char** values) {
    try {
        const int draws = count > 1 ? std::stoi(values[1]) : 100;
        fmt::print(
            "shape\tset\tRg\tGuinier Rg in 2 sigma %\tP(r) Rg in 2 sigma %\tDmax %\tP(r) "
            "band %\tof 0.5, 2, 5 % errors\tmean Dmax / true (width)\twarned %\n");
        for (int n = 2; n < count; ++n) print_coverage(structure_shape(values[n]), draws);
        if (count > 2) return 0;
        for (const Shape& shape : shapes()) print_coverage(shape, draws);
        print_warnings(draws);
        print_time();
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 4;
    }
    return 0;
}
