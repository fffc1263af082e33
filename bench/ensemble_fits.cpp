// Times the fits of ensembles of many frames, minimal ensembles and maximum entropy, as JSON.
//
// bench_ensemble_fits [FRAMES [NOISE [THREADS...]]]: by default 10000 frames, whose partial
// profiles have relative noise of 6e-7 as those of a GPU have, and all threads. The frames are
// made: three rigid bodies on flexible linkers, of spheres in vacuum, of displaced volume and of
// hydration, at 505 values of q; the curve is that of a mixture of them with its errors. Prints
// seconds, seconds of CPU time, and what was found, which does not depend on the threads.
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/fit/ensemble_fit.h"
#include "pleat/saxs/fit/frame_axes.h"
#include "pleat/saxs/fit/resampling.h"
#include "pleat/saxs/model/form_factors.h"
#include "pleat/workflows/refine/chain/geometry.h"

namespace {

using namespace pleat;
using namespace pleat::saxs;
using refine::Vector;

/// Positions of spheres that make three rigid bodies on flexible linkers.
class MadeBodies {
public:
    static constexpr std::size_t kBodies = 3, kSpheres = 12;  // of a body

    explicit MadeBodies(std::mt19937_64& random) {
        for (auto& body : spheres_)
            for (Vector& sphere : body) sphere = 16 * in_unit_ball(random);
    }
    std::vector<Vector> draw(std::mt19937_64& random) const {
        std::vector<Vector> all;
        Vector centre;
        for (const auto& body : spheres_) {
            const Vector x = unit(in_unit_ball(random)), y = unit(cross(x, in_unit_ball(random))),
                         z = cross(x, y);
            for (const Vector& s : body) all.push_back(centre + s.x * x + s.y * y + s.z * z);
            centre = centre + 45 * unit(in_unit_ball(random)) + 12 * in_unit_ball(random);
        }
        return all;
    }

private:
    static Vector in_unit_ball(std::mt19937_64& random) {
        std::uniform_real_distribution<double> coordinate(-1, 1);
        while (true) {
            const Vector v{coordinate(random), coordinate(random), coordinate(random)};
            const double square = refine::dot(v, v);
            if (square > 1e-6 && square < 1) return v;
        }
    }
    std::array<std::array<Vector, kSpheres>, kBodies> spheres_;
};

/// Frames, and the curve of a mixture of some of them.
struct MadePool {
    static constexpr double kMeanRadius = 1.6, kStep = 0.0021, kFirst = 0.0113, kLast = 0.318;
    static constexpr std::size_t kGrid = 156, kPoints = 505;

    Profile curve;
    Array<double, 3> partial;

    MadePool(Index frames, double noise, const Context& context) {
        std::mt19937_64 random(1);
        const MadeBodies bodies(random);
        std::vector<std::vector<Vector>> positions;
        for (Index frame = 0; frame < frames; ++frame) positions.push_back(bodies.draw(random));
        for (std::size_t k = 0; k < kPoints; ++k)
            curve.q.push_back(kFirst + (kLast - kFirst) * static_cast<double>(k) / (kPoints - 1));
        std::vector<double> grid;
        for (std::size_t k = 0; k < kGrid; ++k) grid.push_back(kStep * static_cast<double>(k));
        partial = Array<double, 3>(frames, 6, static_cast<Index>(kPoints));
        parallel_for(resolve_threads(context), frames, [&](Index frame, int) {
            const Array<double, 2> sums =
                sum_pairs(positions[static_cast<std::size_t>(frame)], static_cast<unsigned>(frame));
            std::mt19937_64 of_frame(static_cast<unsigned>(frame));
            std::uniform_real_distribution<double> relative(-std::sqrt(3.0), std::sqrt(3.0));
            for (Index pair = 0; pair < 6; ++pair) {
                const std::vector<double> at =
                    interpolate_spline(grid, {sums.view()[pair].data, kGrid}, curve.q);
                for (std::size_t k = 0; k < kPoints; ++k)
                    partial(frame, pair, static_cast<Index>(k)) =
                        at[k] * (1 + noise * relative(of_frame));
            }
        });
        mix(random);
    }

private:
    /// The sums over pairs of the channels vacuum, displaced volume and hydration [pair, q].
    static Array<double, 2> sum_pairs(const std::vector<Vector>& at, unsigned seed) {
        constexpr Index kChannels = 3;
        const std::size_t count = at.size();
        std::mt19937_64 random(seed);
        std::uniform_real_distribution<double> exposure(0.5, 1.5);
        std::vector<std::array<double, 3>> electrons;
        for (std::size_t n = 0; n < count; ++n)
            electrons.push_back({970 + 7.0 * static_cast<double>(n % 5),
                                 760 + 5.0 * static_cast<double>(n % 7), 25 * exposure(random)});
        Array<double, 2> sums(6, static_cast<Index>(kGrid));
        std::vector<double> waves(kGrid);
        for (std::size_t i = 0; i < count; ++i)
            for (std::size_t j = i; j < count; ++j) {
                const double r = i == j ? 0 : refine::distance(at[i], at[j]);
                // sin(k x) of even steps.
                double before = 0, wave = std::sin(kStep * r);
                const double twice = 2 * std::cos(kStep * r);
                waves[0] = 1;
                for (std::size_t k = 1; k < kGrid; ++k) {
                    waves[k] = i == j ? 1 : wave / (kStep * static_cast<double>(k) * r);
                    const double next = twice * wave - before;
                    before = wave;
                    wave = next;
                }
                for (Index a = 0; a < kChannels; ++a)
                    for (Index b = a; b < kChannels; ++b) {
                        const auto x = static_cast<std::size_t>(a), y = static_cast<std::size_t>(b);
                        const double orders = (i == j ? 1 : 2) * (a == b ? 1 : 2);
                        const double amount =
                            orders / 2 *
                            (electrons[i][x] * electrons[j][y] + electrons[i][y] * electrons[j][x]);
                        double* const sum = sums.view()[channel_pair(a, b, kChannels)].data;
                        for (std::size_t k = 0; k < kGrid; ++k) sum[k] += amount * waves[k];
                    }
            }
        constexpr double kRadius[kChannels] = {7, 7.4, 8.5};
        for (Index a = 0; a < kChannels; ++a)
            for (Index b = a; b < kChannels; ++b)
                for (std::size_t k = 0; k < kGrid; ++k) {
                    const double q = kStep * static_cast<double>(k);
                    sums(channel_pair(a, b, kChannels), static_cast<Index>(k)) *=
                        std::exp(-q * q * (kRadius[a] * kRadius[a] + kRadius[b] * kRadius[b]) / 10);
                }
        return sums;
    }
    /// The curve: five frames, with the relative errors of a good measurement.
    void mix(std::mt19937_64& random) {
        std::vector<Index> members;
        for (Index n = 0; n < 5; ++n) members.push_back(n * partial.extent(0) / 5);
        const std::vector<double> weights = {0.35, 0.25, 0.2, 0.12, 0.08};
        curve.intensity = intensity(weighted_partial(partial, members, weights), curve.q,
                                    kMeanRadius, {1.02, 0.5});
        const double first = curve.intensity.front();
        std::normal_distribution<double> normal;
        for (double& value : curve.intensity) {
            curve.sigma.push_back(0.003 * value + 1.2e-4 * first);
            value += curve.sigma.back() * normal(random);
        }
    }
};

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

template <class Work>
nlohmann::ordered_json timed(const Work& work) {
    const double start = now();
    const std::clock_t cpu = std::clock();
    nlohmann::ordered_json result = work();
    result["seconds"] = now() - start;
    result["cpu_seconds"] = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
    return result;
}

nlohmann::ordered_json of_minimal(const std::vector<Weighted>& sizes) {
    nlohmann::ordered_json result;
    for (const Weighted& one : sizes)
        result["chi2"].push_back({one.frames.size(), one.fit.chi2, one.validation});
    return result;
}

nlohmann::ordered_json of_scan(const std::vector<Reweighted>& scan) {
    nlohmann::ordered_json result;
    for (const Reweighted& one : scan)
        result["chi2"].push_back({one.theta, one.result.fit.chi2, one.result.validation});
    return result;
}

}  // namespace

int main(int count, char** values) {
    try {
        const Index frames = count > 1 ? std::stoll(values[1]) : 10000;
        const double noise = count > 2 ? std::stod(values[2]) : 6e-7;
        std::vector<int> threads;
        for (int n = 3; n < count; ++n) threads.push_back(std::stoi(values[n]));
        if (threads.empty()) threads.push_back(available_threads());
        Context context;
        const MadePool pool(frames, noise, context);
        for (const int some : threads) {
            context.threads = some;
            const EnsembleProblem problem{
                &pool.curve, pool.partial, MadePool::kMeanRadius, {}, context};
            const nlohmann::ordered_json result = {
                {"frames", frames},
                {"noise", noise},
                {"threads", some},
                {"axes", timed([&] {
                     return nlohmann::ordered_json{
                         {"count", FrameAxes(problem).partial.extent(0) - 1}};
                 })},
                {"minimal_ensembles",
                 timed([&] { return of_minimal(minimal_ensembles(problem, 5, context)); })},
                {"maximum_entropy",
                 timed([&] { return of_scan(maximum_entropy(problem, context)); })}};
            std::cout << result.dump() << std::endl;
        }
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 4;
    }
    return 0;
}
