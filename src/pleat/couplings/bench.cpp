// Times one evaluation of the couplings and its steps, on random families or on named alignment
// files.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/core/cuda/cuda_device.h"
#include "pleat/couplings/kernel/column_work.h"
#include "pleat/couplings/kernel/kernel.h"
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

// Relative rounding errors of f: in a fit with the default tolerance, and in a tight fit.
constexpr double kCoarseError = 1e-6, kFineError = 1e-9;

// A kernel with a model in vector 0, the optimal fields, and a small fraction of the model in
// vector 2. It is made at first use; all benchmarks of the same alignment and device share it.
class Evaluated {
public:
    Evaluated(const Case& input, const Context& context, double objective_error)
        : input_(input), context_(context), objective_error_(objective_error) {}

    Kernel& kernel() {
        if (kernel_ != nullptr) return *kernel_;
        weights_ = weights::sequence_weights(input_.letters, 0.8, {});
        Problem problem;
        problem.letters = input_.letters;
        problem.weights = View<const double, 1>(weights_.data(), input_.count());
        problem.letter_count = input_.letter_count;
        problem.lambda_pair = 0.2 * static_cast<double>(input_.columns() - 1);
        problem.objective_error = objective_error_;
        kernel_ = make_kernel(problem, context_);
        kernel_->reserve(3);
        kernel_->set_model(0, test::random_model(input_.columns(), input_.letter_count, 0.05, 1));
        kernel_->evaluate_best_fields(0, 1);
        const int model = 0;
        const double share = 0.02;
        kernel_->combine(2, std::span(&model, 1), std::span(&share, 1));
        return *kernel_;
    }
    void count_sizes(benchmark::State& state) const {
        state.counters["sequences"] = static_cast<double>(input_.count());
        state.counters["columns"] = static_cast<double>(input_.columns());
        state.counters["letters"] = input_.letter_count;
        // Precision of the CUDA kernel's operands; see Problem::objective_error.
        if (context_.device.kind == Device::Kind::cuda)
            state.counters["fp16_parts"] = objective_error_ < kCoarseError ? 2 : 1;
    }

private:
    const Case& input_;
    Context context_;
    double objective_error_;
    std::vector<double> weights_;
    std::unique_ptr<Kernel> kernel_;
};

// The accuracy of the fields that a fit asks for at a gap of 1e-3; see couplings.cpp.
void set_field_gap(Kernel& kernel) { kernel.field_gap = 1e-3 * 1e-3 * kernel.latest().objective; }

// The fields are already the best ones, so each evaluation takes one pass over the logits.
void time_evaluation(benchmark::State& state, Evaluated& at) {
    Kernel& kernel = at.kernel();
    set_field_gap(kernel);
    kernel.evaluate_best_fields(0, 1);
    for (auto _ : state) benchmark::DoNotOptimize(kernel.evaluate_best_fields(0, 1).objective);
    at.count_sizes(state);
}

// Times evaluations as in a fit: before each the point moves by 2 % (not timed), so that the fields
// must be minimised again, as accurately as in a fit with a gap of 1e-3.
void time_moved_evaluation(benchmark::State& state, Evaluated& at) {
    Kernel& kernel = at.kernel();
    set_field_gap(kernel);
    const int vectors[] = {0, 2};
    double factors[] = {1, 1};
    for (auto _ : state) {
        state.PauseTiming();
        kernel.combine(0, vectors, factors);
        factors[1] = -factors[1];
        double norm2 = 0;
        kernel.dots(0, std::span(vectors, 1), std::span(&norm2, 1));  // waits for the device
        benchmark::DoNotOptimize(norm2);
        state.ResumeTiming();
        benchmark::DoNotOptimize(kernel.evaluate_best_fields(0, 1).objective);
    }
    if (factors[1] < 0) kernel.combine(0, vectors, factors);
    at.count_sizes(state);
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

// Rows of 24 floats read per second, counting only the rows of the sequence tree.
void time_sums(benchmark::State& state, const Case& input, bool scatter) {
    Sums sums(input);
    const ColumnSteps& steps = column_steps(sums.stride);
    for (auto _ : state) {
        if (scatter) {
            steps.scatter_rows(sums.tree, sums.rows.data(), sums.table.data());
        } else {
            steps.sum_rows(sums.tree, sums.table.data(), sums.rows.data());
        }
        benchmark::ClobberMemory();
    }
    state.counters["rows/s"] = benchmark::Counter(static_cast<double>(sums.tree.rows.size()),
                                                  benchmark::Counter::kIsIterationInvariantRate);
    state.counters["tree/plain"] = sums.tree.cost(input.columns());
}

void time_softmax(benchmark::State& state, const Case& input, bool gram) {
    Sums sums(input);
    const std::vector<std::uint8_t> letters(input.count(), 0);
    const std::vector<float> weights(input.count(), 1.0f);
    const std::vector<double> fields(input.letter_count, 0.0);
    std::vector<double> totals(input.letter_count), matrix(input.letter_count * input.letter_count);
    Array<float, 2> out(input.count(), Index{sums.stride});
    const ColumnView view{input.count(), input.letter_count, sums.stride, letters.data(),
                          weights.data()};
    const ColumnSteps& steps = column_steps(sums.stride);
    steps.sum_rows(sums.tree, sums.table.data(), sums.rows.data());
    steps.softmax_pass(view, sums.rows.data(), fields.data(), out.data(), totals.data());
    for (auto _ : state) {
        if (gram) {
            steps.gram_pass(view, out.data(), input.letter_count - 1, matrix.data());
        } else {
            steps.softmax_pass(view, sums.rows.data(), fields.data(), out.data(), totals.data());
        }
        benchmark::ClobberMemory();
    }
    state.counters["logits/s"] = benchmark::Counter(static_cast<double>(input.count()),
                                                    benchmark::Counter::kIsIterationInvariantRate);
}

void add(const Case& input) {
    const std::string size =
        std::to_string(input.count()) + "x" + std::to_string(input.columns()) + "/" + input.name;
    const auto time = [](const std::string& name, auto body) {
        benchmark::RegisterBenchmark(name.c_str(), body)->Unit(benchmark::kMillisecond);
    };
    const auto evaluation = [&](const std::string& kind, const std::string& name,
                                const std::shared_ptr<Evaluated>& at, auto body) {
        benchmark::RegisterBenchmark((kind + "/" + size + "/" + name).c_str(),
                                     [at, body](benchmark::State& state) { body(state, *at); })
            ->Unit(benchmark::kMillisecond)
            ->MeasureProcessCPUTime()
            ->UseRealTime();
    };
    const auto evaluations = [&](const std::string& name, const Context& context) {
        const auto coarse = std::make_shared<Evaluated>(input, context, kCoarseError);
        evaluation("evaluation", name, coarse, &time_evaluation);
        evaluation("moved_evaluation", name, coarse, &time_moved_evaluation);
        if (context.device.kind != Device::Kind::cuda)
            return;  // the other devices give the same values
        evaluation("fine_evaluation", name, std::make_shared<Evaluated>(input, context, kFineError),
                   &time_evaluation);
    };
    Context context;
    for (context.threads = 1; context.threads <= 2; ++context.threads) {
        evaluations("threads:" + std::to_string(context.threads), context);
    }
    for (const CudaDevice& gpu : find_cuda_devices().devices) {
        context.device = {Device::Kind::cuda, gpu.index};
        if (gpu.usable) evaluations(context.device.name(), context);
    }
    time("sum_rows/" + size, [&input](benchmark::State& state) { time_sums(state, input, false); });
    time("scatter_rows/" + size,
         [&input](benchmark::State& state) { time_sums(state, input, true); });
    time("softmax/" + size,
         [&input](benchmark::State& state) { time_softmax(state, input, false); });
    time("gram/" + size, [&input](benchmark::State& state) { time_softmax(state, input, true); });
}

}  // namespace

// bench_couplings [benchmark options] [alignment files]
int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    std::vector<Case> cases;
    cases.reserve(argc + 3);
    if (argc == 1) {
        // A table of five columns takes only 10 KiB and stays in the L1 cache: an upper limit of
        // the speed.
        for (const auto& [count, columns] :
             {std::pair<Index, Index>{4000, 5}, {3000, 75}, {3600, 160}}) {
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
