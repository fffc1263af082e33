// Times the GPU's work of rmsd on made ensembles beside its limits, as JSON.
//
// bench_rmsd_gpu PART [FRAMES ATOMS [CUTOFF]], PART one of
//   ceilings   multiply-adds a second, float32, float16 on tensor cores
//   matrix     all values of FRAMES x ATOMS (5000 x 140), and how far they are from float64
//   tally      histogram and neighbours (100000 x 100, 2 angstrom)
//   daura      clustering (1000000 x 100, 2 angstrom): seconds of each stage
//   check      clusters and neighbours of FRAMES x ATOMS (20000 x 100) beside the CPU's definition
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "made_ensemble.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "product_ceilings.h"

namespace {

using namespace pleat;
using namespace pleat::rmsd;
using Json = nlohmann::ordered_json;

struct Size {
    Index frames, atoms;
    double cutoff;
    Index pairs() const { return pairs_before(frames, frames); }
};

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

Context gpu_context() {
    Context context;
    context.device = {Device::Kind::cuda, 0};
    context.threads = available_threads();
    return context;
}

Array<float, 3> made(const Size& size) {
    // Of more frames than a state has neighbours in reach there are more states.
    const Index states = std::clamp<Index>(size.frames / 500, 20, 2000);
    return bench::MadeEnsemble(size.atoms, states, 1).frames(size.frames, available_threads());
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

Json ceilings() {
    return {
        {"float32_multiply_adds_a_second", bench::multiply_adds_a_second(bench::Product::float32)},
        {"float16_multiply_adds_a_second",
         bench::multiply_adds_a_second(bench::Product::float16_tensor)}};
}

/// Seconds, and which share of them three products of float16 take at their ceiling.
Json timed(const Size& size, const std::vector<double>& seconds) {
    const double products =
        3 * 9.0 * static_cast<double>(size.atoms) * static_cast<double>(size.pairs());
    const double rate = ceilings()["float16_multiply_adds_a_second"];
    return {{"kernel_seconds", seconds},
            {"median", median(seconds)},
            {"floor_seconds", products / rate},
            {"fraction", products / rate / median(seconds)}};
}

Json matrix(const Size& size) {
    const Frames frames = centre(made(size), {}, available_threads());
    const Context context = gpu_context();
    std::vector<float> truth(static_cast<std::size_t>(size.pairs())), found(truth.size());
    double seconds = 0.0;
    make_cuda_kernel({.frames = &frames, .precision = FitPrecision::float64}, context, &seconds)
        ->band({0, size.frames}, truth.data());
    Json told{
        {"frames", size.frames}, {"atoms", size.atoms}, {"float64", {{"kernel_seconds", seconds}}}};
    const auto kernel = make_cuda_kernel({.frames = &frames}, context, &seconds);
    std::vector<double> samples;
    for (int repeat = 0; repeat < 6; ++repeat) {
        seconds = 0.0;
        kernel->band({0, size.frames}, found.data());
        if (repeat > 0) samples.push_back(seconds);
    }
    double worst = 0.0;
    for (std::size_t pair = 0; pair < truth.size(); ++pair)
        worst = std::max(worst, std::fabs(double{found[pair]} - truth[pair]));
    told["split"] = timed(size, samples);
    told["split"]["worst_error"] = std::isnan(worst) ? 1e9 : worst;
    return told;
}

Json tally(const Size& size) {
    const Frames frames = centre(made(size), {}, available_threads());
    Json told{{"frames", size.frames}, {"atoms", size.atoms}, {"cutoff", size.cutoff}};
    double seconds = 0.0;
    const auto kernel = make_cuda_kernel({.frames = &frames}, gpu_context(), &seconds);
    std::vector<double> samples;
    PairCounts counts;
    for (int repeat = 0; repeat < 4; ++repeat) {
        counts = {};
        seconds = 0.0;
        kernel->counter()->count({0, size.frames},
                                 {.cutoff = size.cutoff, .counts_neighbours = size.cutoff > 0},
                                 counts);
        if (repeat > 0) samples.push_back(seconds);
    }
    told["split"] = timed(size, samples);
    told["split"]["near_pairs"] = counts.near.size();
    told["split"]["mean"] = counts.statistics.mean();
    return told;
}

/// Notes when each stage was last heard of.
struct Stages final : Progress {
    void update(std::string_view stage, std::int64_t done, std::int64_t,
                std::string_view) override {
        last[std::string(stage)] = {now() - start, done};
    }
    bool cancelled() override { return false; }
    void message(std::string_view) override {}
    double start = now();
    std::map<std::string, std::pair<double, std::int64_t>> last;
};

Json cluster(const Frames& frames, const Size& size, DeviceClusters& clusters) {
    Context context = gpu_context();
    Stages stages;
    context.progress = &stages;
    clusters =
        cluster_on_cuda(*rmsd::memory_source(rmsd::borrowed(frames)), {size.cutoff}, context);
    const double all = now() - stages.start;
    std::vector<std::int64_t> sizes(clusters.centres.size());
    for (const std::int32_t cluster : clusters.assignment)
        ++sizes[static_cast<std::size_t>(cluster)];
    Json told{{"seconds", all}};
    for (const auto& [stage, at] : stages.last) told["until_" + stage] = at.first;
    told["clusters"] = sizes.size();
    told["alone"] = std::count(sizes.begin(), sizes.end(), 1);
    told["largest"] = sizes.empty() ? 0 : sizes.front();
    told["sizes_descend"] = std::is_sorted(sizes.rbegin(), sizes.rend());
    return told;
}

Json daura(const Size& size) {
    const double start = now();
    const Array<float, 3> xyz = made(size);
    const double generated = now();
    const Frames frames = centre(xyz, {}, available_threads());
    Json told{{"frames", size.frames},
              {"atoms", size.atoms},
              {"cutoff", size.cutoff},
              {"gpu_bytes", clustering_memory(size.frames, size.atoms)},
              {"made_seconds", generated - start},
              {"centred_seconds", now() - generated}};
    DeviceClusters found;
    told["half"] = cluster(frames, size, found);
    return told;
}

/// Clusters by definition from a bit a pair, computed by the CPU in float64.
DeviceClusters by_definition(const Frames& frames, double cutoff) {
    Context context;
    context.threads = available_threads();
    const auto kernel =
        make_cpu_kernel({.frames = &frames, .precision = FitPrecision::float64}, context);
    const Index count = frames.frame_count();
    std::vector<std::vector<std::int32_t>> near(static_cast<std::size_t>(count));
    std::vector<float> rmsd;
    for (Index row = 0; row < count; row += 480) {
        const Block rows{row, std::min<Index>(480, count - row)};
        rmsd.resize(static_cast<std::size_t>(pairs_before(row + rows.count, count) -
                                             pairs_before(row, count)));
        kernel->band(rows, rmsd.data());
        const float* at = rmsd.data();
        for (Index i = row; i < row + rows.count; ++i)
            for (Index j = i + 1; j < count; ++j)
                if (*at++ < static_cast<float>(cutoff)) {
                    near[i].push_back(static_cast<std::int32_t>(j));
                    near[j].push_back(static_cast<std::int32_t>(i));
                }
    }
    std::vector<std::int64_t> counts;
    counts.reserve(near.size());
    for (const auto& list : near) counts.push_back(static_cast<std::int64_t>(list.size()));
    DeviceClusters found;
    found.assignment.assign(static_cast<std::size_t>(count), -1);
    for (;;) {
        Index best = -1;
        for (Index i = 0; i < count; ++i)
            if (found.assignment[i] < 0 && (best < 0 || counts[i] > counts[best])) best = i;
        if (best < 0) return found;
        std::vector<std::int32_t> members{static_cast<std::int32_t>(best)};
        for (const std::int32_t j : near[best])
            if (found.assignment[j] < 0) members.push_back(j);
        for (const std::int32_t j : members) {
            found.assignment[j] = static_cast<std::int32_t>(found.centres.size());
            for (const std::int32_t other : near[j]) --counts[other];
        }
        found.centres.push_back(static_cast<std::int32_t>(best));
    }
}

Json check(const Size& size) {
    const Frames frames = centre(made(size), {}, available_threads());
    const DeviceClusters expected = by_definition(frames, size.cutoff);
    Json told{{"frames", size.frames}, {"atoms", size.atoms}, {"cutoff", size.cutoff}};
    DeviceClusters found;
    told["half"] = cluster(frames, size, found);
    told["differ"] = found.assignment != expected.assignment || found.centres != expected.centres;
    return told;
}

Json run(const std::string& part, int count, char** words) {
    const auto size = [&](Index frames, Index atoms) {
        return Size{count > 3 ? std::atoll(words[2]) : frames,
                    count > 3 ? std::atoll(words[3]) : atoms,
                    count > 4 ? std::atof(words[4]) : 2.0};
    };
    if (part == "ceilings") return ceilings();
    if (part == "matrix") return matrix(size(5000, 140));
    if (part == "tally") return tally(size(100000, 100));
    if (part == "daura") return daura(size(1000000, 100));
    if (part == "check") return check(size(20000, 100));
    throw std::invalid_argument("expected ceilings, matrix, tally, daura or check, found " + part);
}

}  // namespace

int main(int count, char** words) {
    try {
        std::cout << run(count > 1 ? words[1] : "", count, words).dump(1) << std::endl;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
