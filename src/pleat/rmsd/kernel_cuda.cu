// The CUDA kernel of rmsd: a thread a pair, all in float64, by the reference's own steps.
#include <algorithm>
#include <cmath>
#include <memory>

#include "pleat/core/cuda_check.cuh"
#include "pleat/core/cuda_device.h"
#include "pleat/core/device_array.cuh"
#include "pleat/rmsd/kernel.h"
#include "pleat/rmsd/superpose.h"

namespace pleat::rmsd {

namespace {

using pleat::cuda::check;
using pleat::cuda::DeviceArray;

constexpr int kThreads = 128;

/// Row `blockIdx.y` of the band with the later frames; threads of a block take frames side by side,
/// whose coordinates the second cache serves to all rows of the band.
__global__ void __launch_bounds__(kThreads)
    superpose_band(const double* xyz, Index frames, Index atoms, double weight, Index first_row,
                   float* rmsd) {
    const Index i = first_row + blockIdx.y;
    const Index j = i + 1 + static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
    if (j >= frames) return;
    const double sum = superposed_residual(xyz + i * 3 * atoms, xyz + j * 3 * atoms, atoms);
    const Index place = pairs_before(i, frames) - pairs_before(first_row, frames) + j - i - 1;
    rmsd[place] = static_cast<float>(sqrt(sum / weight));
}

class CudaKernel final : public Kernel {
public:
    explicit CudaKernel(const Frames& frames)
        : frames_(frames.frame_count()),
          atoms_(frames.atom_count()),
          weight_(frames.weight),
          xyz_(frames.xyz.size()) {
        xyz_.upload(frames.xyz.data());
    }

    void band(Block rows, float* rmsd) override {
        const Index pairs =
            pairs_before(rows.first + rows.count, frames_) - pairs_before(rows.first, frames_);
        if (pairs == 0) return;
        if (output_.size() < pairs) output_ = DeviceArray<float>(pairs);
        const Index longest = frames_ - 1 - rows.first;
        // Bands have fewer rows than a grid may have.
        const dim3 grid(static_cast<unsigned>((longest + kThreads - 1) / kThreads),
                        static_cast<unsigned>(rows.count));
        superpose_band<<<grid, kThreads>>>(xyz_.data(), frames_, atoms_, weight_, rows.first,
                                           output_.data());
        check(cudaGetLastError(), "cannot start to superpose frames");
        check(cudaStreamSynchronize(cudaStreamPerThread), "cannot superpose frames");
        output_.download(rmsd, 0, pairs);
    }

private:
    Index frames_, atoms_;
    double weight_;
    DeviceArray<double> xyz_;    ///< [frame, axis, atom]
    DeviceArray<float> output_;  ///< of a band
};

}  // namespace

std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, const Context& context) {
    use_cuda_device(context.device.index);
    return std::make_unique<CudaKernel>(*problem.frames);
}

}  // namespace pleat::rmsd
