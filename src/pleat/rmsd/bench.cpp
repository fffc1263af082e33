// Times the hot loop of rmsd at named sizes, on made ensembles.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>

#include "pleat/core/tests/cuda_absence.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/tests/random_ensemble.h"

namespace {

using namespace pleat;
using namespace pleat::rmsd;

struct Case {
    const char* name;
    Index frames, atoms;
};
constexpr Case kCases[] = {
    {"2000x70", 2000, 70}, {"2000x140", 2000, 140}, {"1500x1000", 1500, 1000}};

void time_pairs(benchmark::State& state, const Case& size, Device::Kind kind,
                FitPrecision precision, int threads) {
    const Array<float, 3> xyz = random_ensemble(size.frames, size.atoms, 2.0, 1);
    const Frames frames = centre(xyz, {}, threads);
    Context context;
    context.device = {kind, 0};
    context.threads = threads;
    const auto kernel = make_kernel({&frames, precision}, context);
    const Index pairs = pairs_before(size.frames, size.frames);
    Array<float, 1> rmsd(pairs);
    for (auto _ : state) {
        for (Index row = 0; row < size.frames; row += 480)
            kernel->band({row, std::min<Index>(480, size.frames - row)},
                         rmsd.data() + pairs_before(row, size.frames));
    }
    state.counters["seconds a pair"] = benchmark::Counter(
        static_cast<double>(pairs),
        benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
    state.counters["multiply-adds a second"] =
        benchmark::Counter(9.0 * static_cast<double>(pairs * size.atoms),
                           benchmark::Counter::kIsIterationInvariantRate);
}

void add(const std::string& name, const Case& size, Device::Kind kind, FitPrecision precision,
         int threads) {
    benchmark::RegisterBenchmark((name + "/" + size.name).c_str(),
                                 [&size, kind, precision, threads](benchmark::State& state) {
                                     time_pairs(state, size, kind, precision, threads);
                                 })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
}

}  // namespace

int main(int count, char** values) {
    benchmark::Initialize(&count, values);
    const bool has_gpu = pleat::test::cuda_absence().empty();
    for (const Case& size : kCases) {
        add("mixed", size, Device::Kind::cpu, FitPrecision::mixed, 1);
        add("mixed_2_threads", size, Device::Kind::cpu, FitPrecision::mixed, 2);
        add("float64", size, Device::Kind::cpu, FitPrecision::float64, 1);
        if (has_gpu) add("gpu", size, Device::Kind::cuda, FitPrecision::float64, 1);
    }
    benchmark::RunSpecifiedBenchmarks();
}
