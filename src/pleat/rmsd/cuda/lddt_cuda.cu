// lDDT on a CUDA GPU.
#include "pleat/core/cuda/cuda_gpu.cuh"
#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/cuda/gpu_comparison.cuh"
#include "pleat/rmsd/cuda/gpu_comparisons.h"
#include "pleat/rmsd/cuda/lddt_on_gpu.cuh"

namespace pleat::rmsd {

std::unique_ptr<Comparison> make_lddt_on_cuda(const LddtFrames& frames, const Context& context) {
    using Gpu = pleat::cuda::CudaGpu;
    const Gpu gpu(context.device.index);
    const Index columns = frames.columns->extent(0);
    return std::make_unique<cuda::GpuComparison<Gpu, cuda::LddtOnGpu<Gpu>>>(
        cuda::LddtOnGpu<Gpu>(frames, gpu, gpu.free_bytes() / 2), columns, resolve_threads(context),
        gpu);
}

}  // namespace pleat::rmsd
