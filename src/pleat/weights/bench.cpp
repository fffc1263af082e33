// Times the weights at named sizes, on random families or on the alignment files that are named, by
// the CPU and, where there is one, by a GPU.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/core/tests/cuda_absence.h"
#include "pleat/weights/kernel.h"
#include "pleat/weights/tests/random_family.h"
#include "pleat/weights/weights.h"

namespace {

using pleat::Array;
using pleat::Index;

constexpr double kIdentity = 0.8;

struct Case {
    std::string name;
    Array<std::uint8_t, 2> letters;
};

void time_weights(benchmark::State& state, const Case& input, int threads) {
    pleat::Context context;
    context.threads = threads;
    double effective = 0.0;
    for (auto _ : state) {
        const auto weights = pleat::weights::sequence_weights(input.letters, kIdentity, context);
        effective = pleat::weights::effective_count(weights);
    }
    const double sequences = static_cast<double>(input.letters.extent(0));
    state.counters["effective"] = effective;
    state.counters["pairs/s"] = benchmark::Counter(sequences * (sequences - 1) / 2,
                                                   benchmark::Counter::kIsIterationInvariantRate);
}

void time_packing(benchmark::State& state, const Case& input) {
    for (auto _ : state) benchmark::DoNotOptimize(pleat::weights::pack(input.letters));
}

struct OnGpu {
    explicit OnGpu(const Case& input) {
        context.device = {pleat::Device::Kind::cuda, 0};
        const Index columns = input.letters.extent(1);
        problem = {input.letters, columns - pleat::weights::min_identical(kIdentity, columns)};
    }
    pleat::Context context;
    pleat::weights::Problem problem;
};

// Times packing, copying and counting on a GPU that has been started, for any problem size.
void time_gpu(benchmark::State& state, const Case& input) {
    const OnGpu gpu(input);
    for (auto _ : state) {
        const auto kernel = pleat::weights::make_cuda_kernel(gpu.problem, gpu.context);
        for (Index step = 0; step < kernel->step_count(); ++step) kernel->step(step);
        benchmark::DoNotOptimize(kernel->neighbours());
    }
}

// Times only the GPU kernel. It counts the operations that no method on these bit planes can avoid:
// per pair of distinct sequences and 32 columns one XOR-and-OR per plane and one addition; and one
// population count, in its own unit.
void time_counting(benchmark::State& state, const Case& input) {
    const OnGpu gpu(input);
    for (auto _ : state) {
        const auto kernel = pleat::weights::make_cuda_kernel(gpu.problem, gpu.context);
        const auto start = std::chrono::steady_clock::now();
        for (Index step = 0; step < kernel->step_count(); ++step) kernel->step(step);
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        state.SetIterationTime(taken.count());
    }
    const pleat::weights::BitPlanes packed = pleat::weights::pack(input.letters);
    double distinct = 0;
    for (const auto copies : packed.multiplicity) distinct += copies > 0;
    const double half_words = static_cast<double>((input.letters.extent(1) + 31) / 32);
    const double counts = distinct * (distinct - 1) / 2 * half_words;
    constexpr auto kRate = benchmark::Counter::kIsIterationInvariantRate;
    state.counters["distinct"] = distinct;
    state.counters["operations/s"] = benchmark::Counter(counts * (packed.plane_count() + 1), kRate);
    state.counters["population_counts/s"] = benchmark::Counter(counts, kRate);
}

void add_gpu(const Case& input, const std::string& size) {
    benchmark::RegisterBenchmark(("weights/" + size + "/cuda").c_str(),
                                 [&input](benchmark::State& state) { time_gpu(state, input); })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
    benchmark::RegisterBenchmark(("counting/" + size + "/cuda").c_str(),
                                 [&input](benchmark::State& state) { time_counting(state, input); })
        ->Unit(benchmark::kMillisecond)
        ->UseManualTime();
}

void add(const Case& input, bool has_gpu) {
    const std::string size = std::to_string(input.letters.extent(0)) + "x" +
                             std::to_string(input.letters.extent(1)) + "/" + input.name;
    for (const int threads : {1, 2}) {
        const std::string name = "weights/" + size + "/threads:" + std::to_string(threads);
        benchmark::RegisterBenchmark(
            name.c_str(),
            [&input, threads](benchmark::State& state) { time_weights(state, input, threads); })
            ->Unit(benchmark::kMillisecond)
            ->MeasureProcessCPUTime()
            ->UseRealTime();
    }
    benchmark::RegisterBenchmark(("packing/" + size).c_str(), [&input](benchmark::State& state) {
        time_packing(state, input);
    })->Unit(benchmark::kMillisecond);
    if (has_gpu) add_gpu(input, size);
}

}  // namespace

int main(int count, char** arguments) {
    benchmark::Initialize(&count, arguments);
    std::vector<Case> cases;
    for (int k = 1; k < count; ++k) {
        const std::string path = arguments[k];
        cases.push_back(
            {path.substr(path.find_last_of('/') + 1), pleat::read_alignment(path).letters});
    }
    if (cases.empty()) {
        cases.push_back({"small", pleat::weights::random_family(3068, 75, 21, 1)});
        cases.push_back({"middle", pleat::weights::random_family(3629, 159, 21, 2)});
        cases.push_back({"deep", pleat::weights::random_family(36690, 82, 21, 3)});
        cases.push_back({"deeper", pleat::weights::random_family(200000, 150, 21, 6)});
        cases.push_back({"wide", pleat::weights::random_family(5000, 1000, 21, 4)});
        cases.push_back({"rna", pleat::weights::random_family(5000, 200, 5, 5)});
    }
    const std::string absence = pleat::test::cuda_absence();
    if (!absence.empty()) benchmark::AddCustomContext("cuda", absence);
    for (const Case& input : cases) add(input, absence.empty());
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
