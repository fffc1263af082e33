// The choice of a kernel for the weights.
#include "pleat/weights/kernel.h"

namespace pleat::weights {

std::unique_ptr<Kernel> make_kernel(const Problem& problem, const Context& context) {
    switch (context.device.kind) {
        case Device::Kind::reference: return make_reference_kernel(problem);
        case Device::Kind::cpu:
        case Device::Kind::cuda: break;  // milliseconds on the CPU, which a GPU would not shorten
    }
    return make_cpu_kernel(problem, context);
}

}  // namespace pleat::weights
