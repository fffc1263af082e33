// dRMSD on a CUDA GPU.
#include "pleat/core/cuda/cuda_gpu.cuh"
#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/cuda/drmsd_on_gpu.cuh"
#include "pleat/rmsd/cuda/gpu_comparison.cuh"
#include "pleat/rmsd/cuda/gpu_comparisons.h"

namespace pleat::rmsd {

std::unique_ptr<Comparison> make_drmsd_on_cuda(const TwoSets& sides,
                                               const std::vector<double>& weights,
                                               FitPrecision precision, const Context& context) {
    using Gpu = pleat::cuda::CudaGpu;
    const Gpu gpu(context.device.index);
    return std::make_unique<cuda::GpuComparison<Gpu, cuda::DrmsdOnGpu<Gpu>>>(
        cuda::DrmsdOnGpu<Gpu>(sides.rows, sides.columns, weights, precision, gpu,
                              gpu.free_bytes() / 2),
        sides.columns.extent(0), resolve_threads(context), gpu);
}

}  // namespace pleat::rmsd
