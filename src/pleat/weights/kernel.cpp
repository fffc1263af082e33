// The choice of a kernel for the weights.
#include "pleat/weights/kernel.h"

#include "pleat/core/error.h"

namespace pleat::weights {

std::unique_ptr<Kernel> make_kernel(const Problem& problem, const Context& context) {
    switch (context.device.kind) {
        case Device::Kind::reference: return make_reference_kernel(problem);
        case Device::Kind::cpu: return make_cpu_kernel(problem, context);
        case Device::Kind::cuda: break;
    }
    throw DeviceError("this build has no CUDA kernels");
}

}  // namespace pleat::weights
