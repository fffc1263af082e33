// Weights: counts near copies with a kernel, here the definition, and turns the counts into
// weights.
#include "pleat/weights/weights.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/weights/kernel.h"

namespace pleat::weights {

namespace {

class ReferenceKernel final : public Kernel {
public:
    explicit ReferenceKernel(const Problem& problem)
        : problem_(problem), neighbours_(static_cast<std::size_t>(problem.letters.extent(0)), 0) {}

    Index step_count() const override { return problem_.letters.extent(0); }

    void step(Index n) override {
        const Index columns = problem_.letters.extent(1);
        const Index min_identical = columns - problem_.max_differences;
        Index count = 0;
        for (Index m = 0; m < problem_.letters.extent(0); ++m) {
            Index identical = 0;
            for (Index i = 0; i < columns; ++i) {
                if (problem_.letters(n, i) == problem_.letters(m, i)) ++identical;
            }
            if (identical >= min_identical) ++count;
        }
        neighbours_[n] = count;
    }

    std::vector<Index> neighbours() const override { return neighbours_; }

private:
    Problem problem_;
    std::vector<Index> neighbours_;
};

}  // namespace

std::unique_ptr<Kernel> make_reference_kernel(const Problem& problem) {
    return std::make_unique<ReferenceKernel>(problem);
}

bool gpu_pays(Index sequences, Index columns, int threads) {
    // The CPU kernel on AVX-512 if no comparison can stop early; see README.md.
    constexpr double kSecondsPerPairAndWord = 2.3e-10;
    // Starting CUDA takes 0.2 s, during which the threads are free; packing and copying to the GPU
    // take the remaining time.
    constexpr double kFreeSeconds = 0.3;
    const double pairs = 0.5 * static_cast<double>(sequences) * static_cast<double>(sequences);
    const auto words = static_cast<double>((columns + 63) / 64);
    return pairs * words * kSecondsPerPairAndWord / threads > kFreeSeconds;
}

std::unique_ptr<Kernel> make_kernel(const Problem& problem, const Context& context) {
    switch (context.device.kind) {
        case Device::Kind::reference: return make_reference_kernel(problem);
        case Device::Kind::cpu: break;
        case Device::Kind::cuda:
            if (gpu_pays(problem.letters.extent(0), problem.letters.extent(1),
                         resolve_threads(context)))
                return make_cuda_kernel(problem, context);
    }
    return make_cpu_kernel(problem, context);
}

Index min_identical(double identity, Index columns) {
    constexpr double kRounding = 1e-9;
    const double exact = identity * static_cast<double>(columns);
    return static_cast<Index>(std::ceil(exact - kRounding)) + 1;
}

std::vector<double> sequence_weights(View<const std::uint8_t, 2> letters, double identity,
                                     const Context& context) {
    if (!(identity >= 0.0 && identity <= 1.0))
        throw UsageError(fmt::format("expected an identity from 0 to 1, found {}", identity));
    const Index sequences = letters.extent(0), columns = letters.extent(1);
    const Index max_differences = columns - min_identical(identity, columns);
    std::vector<double> weights(static_cast<std::size_t>(sequences), 1.0);
    if (max_differences < 0 || sequences < 2) return weights;

    const auto kernel = make_kernel({letters, max_differences}, context);
    for_each_block(context, "weights", kernel->step_count(), 1,
                   [&](Index step, Index) { kernel->step(step); });
    const std::vector<Index> neighbours = kernel->neighbours();
    for (std::size_t n = 0; n < weights.size(); ++n)
        weights[n] = 1.0 / static_cast<double>(neighbours[n]);
    return weights;
}

double effective_count(std::span<const double> weights) {
    double sum = 0.0;
    for (const double weight : weights) sum += weight;
    return sum;
}

}  // namespace pleat::weights
