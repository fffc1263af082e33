// Seconds of the TM-score's kernel by its superpositions per thread and its warps per processor.
#include "tm_variants.h"

#include "pleat/core/cuda/cuda_gpu.cuh"
#include "pleat/rmsd/cuda/tm_gpu.cuh"

namespace pleat::bench {

namespace {

template <int kItems, int kMinWarps>
double seconds_of(const rmsd::Frames& frames) {
    using Gpu = pleat::cuda::CudaGpu;
    const Gpu gpu(0);
    rmsd::cuda::TmOnGpu<Gpu, kItems, kMinWarps> scores(frames, frames, false, gpu);
    const Index count = frames.frame_count();
    Gpu::Array<float> values(count * count);
    scores.run({0, 10}, {0, count}, values.data());
    pleat::cuda::Timer timer;
    timer.start();
    scores.run({0, count}, {0, count}, values.data());
    timer.stop();
    return timer.seconds();
}

}  // namespace

std::vector<TmVariant> time_tm_variants(const rmsd::Frames& frames) {
    return {{1, 16, seconds_of<1, 16>(frames)},
            {2, 12, seconds_of<2, 12>(frames)},
            {2, 20, seconds_of<2, 20>(frames)},
            {3, 12, seconds_of<3, 12>(frames)}};
}

}  // namespace pleat::bench
