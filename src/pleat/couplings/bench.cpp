// Times one evaluation of the couplings and its steps, on random families or on named alignment files.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/read_alignment.h"
#include "pleat/core/cuda_device.h"
#include "pleat/couplings/column_work.h"
#include "pleat/couplings/kernel.h"
#include "pleat/couplings/tests/random_family.h"
#include "pleat/weights/weights.h"

namespace {

using namespace pleat;
using namespace pleat::couplings;

struct Case {
    std::string name;
    Array<std::uint8_t, 2> letters;
    int letter_count = 21;
    Index count() const { return letters.extent(0); }
    Index columns() const { return letters.extent(1); }
};

void time_evaluation(benchmark::State& state, const Case& input, const Context& context) {
    const std::vector<double> weights = weights::sequence_weights(input.letters, 0.8, {});
    Problem problem;
    problem.letters = input.letters;
    problem.weights = View<const double, 1>(weights.data(), input.count());
    problem.letter_count = input.letter_count;
    problem.lambda_pair = 0.2 * static_cast<double>(input.columns() - 1);
    const std::unique_ptr<Kernel> kernel = make_kernel(problem, context);
    kernel->reserve(2);
    kernel->set_model(0, test::random_model(input.columns(), input.letter_count, 0.05, 1));
    kernel->evaluate_best_fields(0, 1);
    // From here on the fields are the best already: one pass over the logits an evaluation.
    for (auto _ : state) benchmark::DoNotOptimize(kernel->evaluate_best_fields(0, 1).objective);
}

struct Sums {
    explicit Sums(const Case& input)
        : stride(row_stride(input.letter_count)),
          tree(build_sequence_tree(input.letters, input.letter_count, stride, 1)),
          table(input.columns(), Index{input.letter_count}, Index{stride}),
          rows(input.count(), Index{stride}) {
        for (Index k = 0; k < table.size(); ++k) table.data()[k] = static_cast<float>(k % 7);
    }
    int stride;
    SequenceTree tree;
    Array<float, 3> table;
    Array<float, 2> rows;
};

// Rows of 24 floats a second, the tree's own rows only.
void time_sums(benchmark::State& state, const Case& input, bool scatter) {
    Sums sums(input);
    for (auto _ : state) {
        if (scatter) {
            scatter_rows(sums.tree, sums.rows.data(), sums.stride, sums.table.data());
        } else {
            sum_rows(sums.tree, sums.table.data(), sums.stride, sums.rows.data());
        }
        benchmark::ClobberMemory();
    }
    state.counters["rows/s"] = benchmark::Counter(static_cast<double>(sums.tree.rows.size()),
                                                  benchmark::Counter::kIsIterationInvariantRate);
    state.counters["tree/plain"] = sums.tree.cost(input.columns());
}

void time_softmax(benchmark::State& state, const Case& input, bool gram) {
    Sums sums(input);
    const std::vector<std::uint8_t> own(input.count(), 0);
    const std::vector<float> weights(input.count(), 1.0f);
    const std::vector<double> fields(input.letter_count, 0.0);
    std::vector<double> totals(input.letter_count), matrix(input.letter_count * input.letter_count);
    Array<float, 2> out(input.count(), Index{sums.stride});
    const ColumnView view{input.count(), input.letter_count, sums.stride, own.data(), weights.data()};
    sum_rows(sums.tree, sums.table.data(), sums.stride, sums.rows.data());
    softmax_pass(view, sums.rows.data(), fields.data(), out.data(), totals.data());
    for (auto _ : state) {
        if (gram) {
            gram_pass(view, out.data(), input.letter_count - 1, matrix.data());
        } else {
            softmax_pass(view, sums.rows.data(), fields.data(), out.data(), totals.data());
        }
        benchmark::ClobberMemory();
    }
    state.counters["logits/s"] = benchmark::Counter(static_cast<double>(input.count()),
                                                    benchmark::Counter::kIsIterationInvariantRate);
}

void add(const Case& input) {
    const std::string size = std::to_string(input.count()) + "x" + std::to_string(input.columns()) +
                             "/" + input.name;
    const auto time = [](const std::string& name, auto body) {
        benchmark::RegisterBenchmark(name.c_str(), body)->Unit(benchmark::kMillisecond);
    };
    const auto evaluation = [&](const std::string& name, const Context& context) {
        benchmark::RegisterBenchmark(
            ("evaluation/" + size + "/" + name).c_str(),
            [&input, context](benchmark::State& state) { time_evaluation(state, input, context); })
            ->Unit(benchmark::kMillisecond)
            ->MeasureProcessCPUTime()
            ->UseRealTime();
    };
    Context context;
    for (context.threads = 1; context.threads <= 2; ++context.threads) {
        evaluation("threads:" + std::to_string(context.threads), context);
    }
    for (const CudaDevice& gpu : find_cuda_devices().devices) {
        context.device = {Device::Kind::cuda, gpu.index};
        if (gpu.usable) evaluation(context.device.name(), context);
    }
    time("sum_rows/" + size, [&input](benchmark::State& state) { time_sums(state, input, false); });
    time("scatter_rows/" + size, [&input](benchmark::State& state) { time_sums(state, input, true); });
    time("softmax/" + size, [&input](benchmark::State& state) { time_softmax(state, input, false); });
    time("gram/" + size, [&input](benchmark::State& state) { time_softmax(state, input, true); });
}

}  // namespace

// bench_couplings [benchmark options] [alignment files]
int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    std::vector<Case> cases;
    cases.reserve(argc + 3);
    if (argc == 1) {
        // Five columns: a table of 10 KiB, so the rows come from the first-level cache: the ceiling.
        for (const auto& [count, columns] : {std::pair<Index, Index>{4000, 5}, {3000, 75}, {3600, 160}}) {
            cases.push_back({"random", test::RandomFamily(count, columns, 21, 1).letters});
        }
    }
    for (int k = 1; k < argc; ++k) {
        Alignment alignment = read_alignment(argv[k]);
        cases.push_back({std::filesystem::path(argv[k]).filename().string(),
                         std::move(alignment.letters), alignment.alphabet->size()});
    }
    for (const Case& input : cases) add(input);
    benchmark::RunSpecifiedBenchmarks();
}
