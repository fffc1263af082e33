// Times the GPU's work of saxs on made globules, beside float64 and the GPU's limit, as JSON.
//
// bench_saxs_gpu PART, one of
//   profile   one profile of 1888 bodies, 51 q, and a rigid move of two in five of them
//   frames    1000 frames of 1888 bodies in a batch, as a part of the GPU's multiply-adds
//   float64   the same in float64, and one profile
//   gradient  a gradient and a profile of 1888 bodies, 51 q, and of 12000 scatterers, 501 q, in
//   both
//             precisions
//   atoms     100000 scatterers, 501 q
//   chains    64 chains of 200 bodies, a move of each in a batch
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/debye/body_pairs.h"
#include "pleat/saxs/kernel/kernel.h"
#include "pleat/saxs/session/profile_session.h"
#include "pleat/saxs/tests/globule.h"
#include "pleat/saxs/tests/turns.h"
#include "product_ceilings.h"

namespace {

using namespace pleat;
using namespace pleat::saxs;
using Json = nlohmann::ordered_json;
using saxs::test::RandomScatterers;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Seconds of each of many calls, sorted; the first ones are left out.
std::vector<double> samples(int count, const std::function<void()>& call) {
    std::vector<double> seconds;
    for (int n = 0; n < count + 20; ++n) {
        const double start = now();
        call();
        if (n >= 20) seconds.push_back(now() - start);
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds;
}

Json told(const std::vector<double>& sorted) {
    return {{"median_seconds", sorted[sorted.size() / 2]}, {"least_seconds", sorted.front()}};
}

Context gpu() {
    Context context;
    context.device = {Device::Kind::cuda, 0};
    return context;
}

Array<double, 3> profiles_of(Kernel& kernel, const RandomScatterers& given, Index frames) {
    Array<double, 3> partial(frames, given.model.pair_count(), given.model.q_count());
    View<const float, 3> xyz = given.xyz.view();
    xyz.extents[0] = frames;
    kernel.profiles(xyz, {}, partial);
    return partial;
}

/// The largest relative difference of the GPU's first frames from float64's.
double worst_error(const RandomScatterers& given, Index frames,
                   Precision precision = Precision::float32) {
    Context cpu;
    cpu.threads = available_threads();
    const auto exact = given.model.scatterer_count() > 20000
                           ? make_multipole_kernel(given.model, Precision::float64, cpu)
                           : make_cpu_kernel(given.model, Precision::float64, cpu);
    const Array<double, 3> expected = profiles_of(*exact, given, frames);
    const Array<double, 3> found =
        profiles_of(*make_cuda_kernel(given.model, precision, gpu()), given, frames);
    double worst = 0.0;
    for (Index n = 0; n < expected.size(); ++n)
        worst = std::max(worst, std::fabs(found.data()[n] / expected.data()[n] - 1.0));
    return std::isnan(worst) ? 1e9 : worst;
}

Json profile() {
    const RandomScatterers given = saxs::test::paper_size();
    Json result{{"error", worst_error(given, 1)}};
    const Index count = given.model.scatterer_count();
    const SortedScatterers one = sort_by_type(given.model);
    const auto pairs = make_cuda_body_pairs(given.model, one, Precision::float32, 0);
    const Array<float, 3> slots = sorted_positions(one, given.xyz, 0, 1);
    Array<double, 3> partial(Index{1}, Index{1}, given.model.q_count());
    const PairJob job{0, 0, 0};
    result["full"] = told(samples(500, [&] { pairs->evaluate(slots, {}, {&job, 1}, partial); }));
    const std::vector<std::int32_t> bodies = saxs::test::two_parts(count);
    ProfileSession session(given.model, given.xyz, {}, bodies, {.refresh = 0}, gpu());
    saxs::test::Sampler sampler(bodies, 1);
    std::vector<Index> moved;
    for (Index i = 0; i < 2 * count / 5; ++i) moved.push_back(i);
    const Array<float, 2> xyz = sampler.turned(session.positions(0), moved);
    const Move move{0, moved, xyz};
    result["session_move"] = told(samples(500, [&] {
        session.propose({&move, 1});
        session.reject(0);
    }));
    const SortedScatterers two = sort_by_body(given.model, bodies, 2);
    const auto body_pairs = make_cuda_body_pairs(given.model, two, Precision::float32, 0);
    const Array<float, 3> two_slots = sorted_positions(two, given.xyz, 0, 1);
    const PairJob across{0, 0, 1};
    result["move"] = told(samples(500, [&] {
        body_pairs->evaluate(two_slots, {}, {&across, 1}, partial);
    }));
    return result;
}

/// Seconds of the GPU for all frames at once, and their part of its multiply-adds.
Json timed(const RandomScatterers& given, int repeats, Precision precision = Precision::float32) {
    const Index frames = given.xyz.extent(0), q_count = given.model.q_count();
    const double count = static_cast<double>(given.model.scatterer_count());
    const SortedScatterers runs = sort_by_type(given.model);
    const auto pairs = make_cuda_body_pairs(given.model, runs, precision, 0);
    const Array<float, 3> slots = sorted_positions(runs, given.xyz, 0, frames);
    std::vector<PairJob> jobs;
    for (Index n = 0; n < frames; ++n) jobs.push_back({static_cast<std::int32_t>(n), 0, 0});
    Array<double, 3> partial(frames, Index{1}, q_count);
    std::vector<double> device, all;
    for (int n = 0; n <= repeats; ++n) {
        const double start = now();
        pairs->evaluate(slots, {}, jobs, partial);
        if (n == 0) continue;
        all.push_back(now() - start);
        device.push_back(pairs->device_seconds());
    }
    std::sort(all.begin(), all.end());
    std::sort(device.begin(), device.end());
    const double rate = bench::multiply_adds_a_second(bench::Product::float32);
    const double products =
        2.0 * 0.5 * count * (count - 1.0) * static_cast<double>(q_count * frames);
    return {{"scatterers", given.model.scatterer_count()},
            {"q", q_count},
            {"frames", frames},
            {"device", told(device)},
            {"with_transfers", told(all)},
            {"multiply_adds_a_second", rate},
            {"fraction", products / rate / device[device.size() / 2]}};
}

Json frames() {
    const RandomScatterers given = saxs::test::paper_size(51, 1000);
    Json result = timed(given, 9);
    result["error"] = worst_error(given, 3);
    return result;
}

Json float64() {
    const RandomScatterers given = saxs::test::paper_size(51, 1000);
    Json result = timed(given, 9, Precision::float64);
    result["error"] = worst_error(given, 3, Precision::float64);
    const auto kernel = make_cuda_kernel(given.model, Precision::float64, gpu());
    result["profile"] = told(samples(200, [&] { profiles_of(*kernel, given, 1); }));
    return result;
}

/// Seconds of a gradient and a profile, with their transfers, and the gradient's error beside the
/// CPU's in float64, relative to the largest component.
Json gradient_of(const RandomScatterers& given, Precision precision, int repeats) {
    const auto kernel = make_cuda_kernel(given.model, precision, gpu());
    Array<double, 2> weight(Index{1}, given.model.q_count());
    for (Index k = 0; k < weight.size(); ++k)
        weight.data()[k] = std::cos(0.7 * static_cast<double>(k));
    Array<double, 2> found(Index{3}, given.model.scatterer_count()), expected = found;
    const auto gradient = [&](Kernel& by, Array<double, 2>& to) {
        by.gradient(given.xyz.view()[0], {}, weight, to);
    };
    Json result{{"gradient", told(samples(repeats, [&] { gradient(*kernel, found); }))},
                {"profile", told(samples(repeats, [&] { profiles_of(*kernel, given, 1); }))}};
    Context cpu;
    cpu.threads = available_threads();
    gradient(*make_cpu_kernel(given.model, Precision::float64, cpu), expected);
    double largest = 0.0, worst = 0.0;
    for (Index n = 0; n < found.size(); ++n) {
        largest = std::max(largest, std::fabs(expected.data()[n]));
        worst = std::max(worst, std::fabs(found.data()[n] - expected.data()[n]));
    }
    result["error"] = std::isnan(worst) ? 1e9 : worst / largest;
    return result;
}

Json gradient() {
    const RandomScatterers bodies = saxs::test::paper_size();
    const RandomScatterers atoms =
        saxs::test::globule({.scatterers = 12000, .types = 15, .q = 501, .step = 0.001}, 30.0);
    return {{"bodies", gradient_of(bodies, Precision::float32, 200)},
            {"bodies_float64", gradient_of(bodies, Precision::float64, 100)},
            {"atoms", gradient_of(atoms, Precision::float32, 10)},
            {"atoms_float64", gradient_of(atoms, Precision::float64, 5)}};
}

Json atoms() {
    const RandomScatterers given =
        saxs::test::globule({.scatterers = 100000, .types = 15, .q = 501, .step = 0.001}, 15.0);
    Json result = timed(given, 5);
    result["error"] = worst_error(given, 1);
    return result;
}

Json chains() {
    constexpr Index kChains = 64;
    const RandomScatterers given = saxs::test::globule(
        {.scatterers = 200, .types = 21, .q = 51, .step = 0.01, .frames = kChains}, 70.0);
    const std::vector<std::int32_t> bodies(200, 0);
    ProfileSession session(given.model, given.xyz, {}, bodies, {.refresh = 0}, gpu());
    // Ten scatterers move, so that the one body changes and all its pairs are new.
    std::vector<Index> moved;
    for (Index i = 50; i < 60; ++i) moved.push_back(i);
    std::vector<Array<float, 2>> places;
    std::vector<Move> moves;
    for (Index chain = 0; chain < kChains; ++chain) {
        places.emplace_back(Index{3}, Index{10});
        for (Index axis = 0; axis < 3; ++axis)
            for (Index n = 0; n < 10; ++n)
                places.back()(axis, n) =
                    given.xyz(chain, axis, 50 + n) + 0.1f * static_cast<float>(n * (axis + 1));
    }
    for (Index chain = 0; chain < kChains; ++chain)
        moves.push_back({chain, moved, places[static_cast<std::size_t>(chain)]});
    int step = 0;
    const std::vector<double> seconds = samples(500, [&] {
        session.propose(moves);
        for (Index chain = 0; chain < kChains; ++chain)
            if ((chain + step) % 2 == 0)
                session.accept(chain);
            else
                session.reject(chain);
        ++step;
    });
    Json result = told(seconds);
    result["moves_a_second"] = static_cast<double>(kChains) / seconds[seconds.size() / 2];
    double worst = 0.0;
    for (Index chain = 0; chain < kChains; ++chain) worst = std::max(worst, session.refresh(chain));
    result["drift"] = worst;
    return result;
}

}  // namespace

int main(int count, char** values) {
    const std::map<std::string, Json (*)()> parts{{"profile", profile}, {"frames", frames},
                                                  {"float64", float64}, {"gradient", gradient},
                                                  {"atoms", atoms},     {"chains", chains}};
    if (count != 2 || !parts.contains(values[1])) {
        std::cerr << "usage: bench_saxs_gpu profile|frames|float64|gradient|atoms|chains\n";
        return 2;
    }
    try {
        std::cout << parts.at(values[1])().dump(1) << std::endl;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 4;
    }
    return 0;
}
