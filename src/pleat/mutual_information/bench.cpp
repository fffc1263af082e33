// Times the hot loops of mutual information at named sizes, on made columns or on alignment files.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/core/tests/cuda_absence.h"
#include "pleat/mutual_information/exact/pair_moments.h"
#include "pleat/mutual_information/kernel/kernel.h"
#include "pleat/mutual_information/kernel/shuffled_planes.h"
#include "pleat/mutual_information/tests/random_columns.h"

namespace {

using namespace pleat;
using namespace pleat::mutual_information;

constexpr Index kShuffles = 256;
constexpr Index kSide = 16;  // columns of a tile's blocks of triples

struct Case {
    std::string name;
    CodedColumns columns;
    Statistic statistic = make_statistic(columns.row_count());
};

Context context_on(Device::Kind kind, int threads = 1) {
    Context context;
    context.device = {kind, 0};
    context.threads = threads;
    return context;
}

void report(benchmark::State& state, Index items) {
    state.counters["seconds a pair or triple and shuffle"] = benchmark::Counter(
        static_cast<double>(items * kShuffles),
        benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void time_shuffles(benchmark::State& state, const Case& input) {
    const CodedColumns& columns = input.columns;
    const PlaneLayout layout(columns, {0, columns.column_count()}, {});
    Array<std::uint64_t, 1> bits(layout.group_bytes() / 8);
    for (auto _ : state)
        for (Index first = 0; first < kShuffles; first += kLanes)
            shuffle_planes(columns, layout, 1, first, 1, 1, bits.data());
    report(state, columns.column_count());
}

void time_pairs(benchmark::State& state, const Case& input, Device::Kind kind) {
    const Problem problem{&input.columns, &input.statistic, 1};
    const auto kernel = make_kernel(problem, context_on(kind));
    const Index pairs = pair_count(input.columns.column_count());
    Array<std::int64_t, 1> observed(pairs);
    kernel->observe_pairs(observed);
    NullSums sums(pairs);
    for (auto _ : state) kernel->sample_pairs({0, kShuffles}, observed, sums, nullptr);
    report(state, pairs);
}

void time_triples(benchmark::State& state, const Case& input, Device::Kind kind) {
    const Problem problem{&input.columns, &input.statistic, 1};
    const auto kernel = make_kernel(problem, context_on(kind));
    const auto tiles = triple_tiles(input.columns.column_count(), kSide);
    const TripleTile tile = triple_tile(tiles[tiles.size() / 2].side);
    Array<std::int64_t, 1> observed(tile.count);
    kernel->observe_triples(tile, observed);
    NullSums sums(tile.count);
    for (auto _ : state) kernel->sample_triples(tile, {0, kShuffles}, observed, sums);
    report(state, tile.count);
}

void time_moments(benchmark::State& state, const Case& input) {
    const Index pairs = pair_count(input.columns.column_count());
    Array<double, 1> mean(pairs), variance(pairs);
    const Context context = context_on(Device::Kind::cpu);
    for (auto _ : state) pair_moments(input.columns, mean, variance, context);
}

void add(const std::string& name, void (*time)(benchmark::State&, const Case&), const Case& input) {
    benchmark::RegisterBenchmark((name + "/" + input.name).c_str(), [time, &input](
                                                                        benchmark::State& state) {
        time(state, input);
    })->Unit(benchmark::kMillisecond);
}

void add_kernels(const Case& input, Device::Kind kind, const std::string& suffix) {
    const auto add_one = [&](const std::string& name, auto time) {
        benchmark::RegisterBenchmark(
            (name + suffix + "/" + input.name).c_str(),
            [time, &input, kind](benchmark::State& state) { time(state, input, kind); })
            ->Unit(benchmark::kMillisecond);
    };
    add_one("pairs", time_pairs);
    add_one("triples", time_triples);
}

}  // namespace

int main(int count, char** values) {
    benchmark::Initialize(&count, values);
    std::vector<Case> cases;
    for (int i = 1; i < count; ++i) {
        const Alignment alignment =
            read_alignment(values[i], {.format = "", .alphabet = "", .keep_unknown = true});
        cases.push_back({std::string(values[i]), compact_columns(alignment.letters)});
    }
    if (cases.empty()) {
        cases.push_back({"753x264", random_columns(753, 264, 9, 1)});
        cases.push_back({"140x71", random_columns(140, 71, 6, 1)});
        cases.push_back({"998x161", random_columns(998, 161, 22, 1)});
    }
    const bool has_gpu = pleat::test::cuda_absence().empty();
    for (const Case& input : cases) {
        add("shuffles", time_shuffles, input);
        add("exact_pairs", time_moments, input);
        add_kernels(input, Device::Kind::cpu, "");
        if (has_gpu) add_kernels(input, Device::Kind::cuda, "_gpu");
    }
    benchmark::RunSpecifiedBenchmarks();
}
