// Times the weights at named sizes, on random families or on the alignment files that are named.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/read_alignment.h"
#include "pleat/weights/bit_planes.h"
#include "pleat/weights/tests/random_family.h"
#include "pleat/weights/weights.h"

namespace {

using pleat::Array;
using pleat::Index;

struct Case {
    std::string name;
    Array<std::uint8_t, 2> letters;
};

void time_weights(benchmark::State& state, const Case& input, int threads) {
    pleat::Context context;
    context.threads = threads;
    double effective = 0.0;
    for (auto _ : state) {
        const auto weights = pleat::weights::sequence_weights(input.letters, 0.8, context);
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

void add(const Case& input) {
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
        cases.push_back({"wide", pleat::weights::random_family(5000, 1000, 21, 4)});
        cases.push_back({"rna", pleat::weights::random_family(5000, 200, 5, 5)});
    }
    for (const Case& input : cases) add(input);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
