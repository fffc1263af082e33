// The choice of a kernel for the weights.
#include "pleat/weights/kernel.h"

#include "pleat/core/loops/parallel.h"
#include "pleat/weights/weights.h"

namespace pleat::weights {

bool gpu_pays(Index sequences, Index columns, int threads) {
    // Of the CPU kernel on AVX-512 where no pair can be left early; see README.md.
    constexpr double kSecondsPerPairAndWord = 2.3e-10;
    // Starting CUDA takes 0.2 s, during which the threads are free; the rest is what packing and
    // copying to the GPU take.
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

}  // namespace pleat::weights
