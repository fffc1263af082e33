// RMSD of two sets, of other atoms, in place and over permutations on a CUDA GPU.
#include "pleat/core/cuda/cuda_gpu.cuh"
#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/cuda/fit_on_gpu.cuh"
#include "pleat/rmsd/cuda/gpu_comparison.cuh"
#include "pleat/rmsd/cuda/gpu_comparisons.h"
#include "pleat/rmsd/cuda/permuted_on_gpu.cuh"

namespace pleat::rmsd {

using Gpu = pleat::cuda::CudaGpu;

std::unique_ptr<Comparison> make_fit_on_cuda(const FitFrames& rows, const FitFrames& columns,
                                             double cutoff, const Context& context) {
    const Gpu gpu(context.device.index);
    return std::make_unique<cuda::GpuComparison<Gpu, cuda::FitOnGpu<Gpu>>>(
        cuda::FitOnGpu<Gpu>(rows, columns, cutoff, gpu), columns.frame_count(),
        resolve_threads(context), gpu);
}

std::unique_ptr<Comparison> make_permuted_on_cuda(const Frames& frames, Index first_row,
                                                  const PlaceTable& table, double cutoff,
                                                  const Context& context) {
    const Gpu gpu(context.device.index);
    return std::make_unique<cuda::GpuComparison<Gpu, cuda::PermutedOnGpu<Gpu>>>(
        cuda::PermutedOnGpu<Gpu>(frames, first_row, table, cutoff, gpu),
        first_row > 0 ? first_row : frames.frame_count(), resolve_threads(context), gpu);
}

}  // namespace pleat::rmsd
