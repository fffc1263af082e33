// The GPU kernel in float64: one thread per pair, with the steps of the reference.
#pragma once

#include <algorithm>
#include <utility>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/superposition/superpose.h"

namespace pleat::rmsd::cuda {

constexpr int kPairThreads = 128;

/// Row `blockIdx.y` of the band with the later frames; threads of a block take frames side by side,
/// whose coordinates the second cache serves to all rows of the band.
static __global__ void __launch_bounds__(kPairThreads)
    superpose_band(const double* xyz, Index frames, Index atoms, double weight, Index first_row,
                   float* rmsd) {
    const Index i = first_row + blockIdx.y;
    const Index j = i + 1 + static_cast<Index>(blockIdx.x) * kPairThreads + threadIdx.x;
    if (j >= frames) return;
    const double sum = superposed_residual(xyz + i * 3 * atoms, xyz + j * 3 * atoms, atoms);
    const Index position = pairs_before(i, frames) - pairs_before(first_row, frames) + j - i - 1;
    rmsd[position] = static_cast<float>(sqrt(sum / weight));
}

template <class Gpu>
class PairKernel final : public Kernel {
public:
    PairKernel(const Frames& frames, Gpu gpu)
        : frames_(frames.frame_count()),
          atoms_(frames.atom_count()),
          weight_(frames.weight),
          gpu_(std::move(gpu)),
          xyz_(frames.xyz.size()) {
        xyz_.upload(frames.xyz.data());
    }

    void band(Block rows, float* rmsd) override {
        constexpr Index kMaxRows = 4096, kMaxPairs = Index{1} << 26;
        const Index end = rows.first + rows.count;
        for (Index first = rows.first; first < end;) {
            const Index longest = std::max<Index>(frames_ - 1 - first, 1);
            const Index count =
                std::min({end - first, kMaxRows, std::max<Index>(kMaxPairs / longest, 1)});
            const Index pairs = pairs_before(first + count, frames_) - pairs_before(first, frames_);
            if (output_.size() < pairs) output_ = Array<float>(pairs);
            if (pairs > 0) {
                const pleat::cuda::Sides grid{(longest + kPairThreads - 1) / kPairThreads, count};
                gpu_.launch("superpose frames", &superpose_band, grid,
                            pleat::cuda::Sides{kPairThreads}, 0, xyz_.data(), frames_, atoms_,
                            weight_, first, output_.data());
                output_.download(rmsd, 0, pairs);
            }
            rmsd += pairs;
            first += count;
        }
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;

    Index frames_, atoms_;
    double weight_;
    Gpu gpu_;
    Array<double> xyz_;    ///< [frame, axis, atom]
    Array<float> output_;  ///< of some rows
};

}  // namespace pleat::rmsd::cuda
