// Kernel: the choice of a device.
#include "pleat/mutual_information/kernel/kernel.h"

namespace pleat::mutual_information {

std::unique_ptr<Kernel> make_kernel(const Problem& problem, const Context& context) {
    switch (context.device.kind) {
        case Device::Kind::reference: return make_reference_kernel(problem);
        case Device::Kind::cpu: break;
        case Device::Kind::cuda: return make_cuda_kernel(problem, context);
    }
    return make_cpu_kernel(problem, context);
}

}  // namespace pleat::mutual_information
