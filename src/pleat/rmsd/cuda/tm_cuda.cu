// TM-score and GDT_TS on a CUDA GPU.
#include "pleat/core/cuda/cuda_gpu.cuh"
#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/cuda/gpu_comparison.cuh"
#include "pleat/rmsd/cuda/gpu_comparisons.h"
#include "pleat/rmsd/cuda/tm_gpu.cuh"

namespace pleat::rmsd {

std::unique_ptr<Comparison> make_tm_on_cuda(const FrameSet& rows, const FrameSet& columns,
                                            Metric metric, const Context& context) {
    using Gpu = pleat::cuda::CudaGpu;
    const Gpu gpu(context.device.index);
    return std::make_unique<cuda::GpuComparison<Gpu, cuda::TmOnGpu<Gpu>>>(
        cuda::TmOnGpu<Gpu>(*rows, *columns, metric == Metric::gdt_ts, gpu), columns->frame_count(),
        resolve_threads(context), gpu);
}

}  // namespace pleat::rmsd
