// The choice of a kernel for rmsd.
#include "pleat/rmsd/kernel/kernel.h"

#include "pleat/rmsd/cuda/tile_bits.h"
#include "pleat/rmsd/cuda/tile_pack.h"

namespace pleat::rmsd {

std::unique_ptr<Kernel> make_kernel(const Problem& problem, const Context& context) {
    switch (context.device.kind) {
        case Device::Kind::reference: return make_reference_kernel(problem);
        case Device::Kind::cpu: break;
        case Device::Kind::cuda: return make_cuda_kernel(problem, context);
    }
    return make_cpu_kernel(problem, context);
}

std::int64_t clustering_memory(Index frames, Index atoms, int gpus) {
    return tile_memory(frames, atoms, TileFormat::half) + bit_memory(frames, gpus) +
           (std::int64_t{256} << 20);
}

}  // namespace pleat::rmsd
