// Kernel: the certified gap, and the one place where a device is chosen.
#include "pleat/couplings/kernel.h"

#include "pleat/core/parallel.h"

namespace pleat::couplings {

double certified_gap(const Evaluation& at, const Problem& problem) {
    return at.field_gradient2 / (4 * problem.lambda_single) +
           at.pair_gradient2 / (4 * problem.lambda_pair);
}

std::unique_ptr<Kernel> make_kernel(const Problem& problem, const Context& context) {
    switch (context.device.kind) {
        case Device::Kind::reference: return make_reference_kernel(problem);
        case Device::Kind::cpu: return make_cpu_kernel(problem, resolve_threads(context));
        case Device::Kind::cuda: break;
    }
    return make_cuda_kernel(problem, context.device.index);
}

}  // namespace pleat::couplings
