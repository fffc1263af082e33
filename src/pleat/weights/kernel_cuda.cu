// CUDA kernel: the host packs the bit planes, the GPU counts the pairs of each tile.
#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "pleat/core/cuda/cuda_check.cuh"
#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/cuda/device_array.cuh"
#include "pleat/core/loops/parallel.h"
#include "pleat/weights/bit_planes.h"
#include "pleat/weights/kernel.h"
#include "pleat/weights/near_pairs.cuh"

namespace pleat::weights {

namespace {

using pleat::cuda::check;
using pleat::cuda::DeviceArray;

constexpr Index kTileGroups = cuda::kTile / BitPlanes::kGroup;
/// Half words of pairs in one step: about 20 ms of an H200.
constexpr Index kStepHalfWords = Index{1} << 35;
constexpr Index kMaxGridRows = 65535;

class CudaKernel final : public Kernel {
public:
    CudaKernel(const BitPlanes& packed, const Problem& problem)
        : distinct_(packed.distinct),
          planes_(packed.plane_count()),
          max_differences_(static_cast<std::uint32_t>(
              std::min<Index>(problem.max_differences, std::numeric_limits<std::uint32_t>::max()))),
          tiles_((packed.group_count() + kTileGroups - 1) / kTileGroups),
          words_(packed.word_count()),
          half_words_((problem.letters.extent(1) + 31) / 32),
          bits_(tiles_ * cuda::kTile * words_ * planes_),
          copies_(tiles_ * cuda::kTile),
          counts_(tiles_ * cuda::kTile) {
        bits_.upload(packed.bits.data(), 0, packed.bits.size());
        copies_.upload(packed.multiplicity.data(), 0, packed.multiplicity.size());
        const Index row_half_words = (tiles_ + 1) * cuda::kTile * cuda::kTile * half_words_;
        rows_per_step_ =
            std::clamp(kStepHalfWords / std::max(Index{1}, row_half_words), Index{1}, kMaxGridRows);
    }

    Index step_count() const override {
        return (folded_rows() + rows_per_step_ - 1) / rows_per_step_;
    }

    void step(Index index) override {
        const Index first = index * rows_per_step_;
        const Index last = std::min(first + rows_per_step_, folded_rows());
        switch (planes_) {
            case 3: count<3>(first, last); break;
            case 5: count<5>(first, last); break;
            default: count<8>(first, last);
        }
    }

    std::vector<Index> neighbours() const override {
        std::vector<std::uint64_t> counts(static_cast<std::size_t>(counts_.size()));
        counts_.download(counts.data());
        std::vector<Index> result;
        result.reserve(distinct_.size());
        for (const Index u : distinct_)
            result.push_back(static_cast<Index>(counts[static_cast<std::size_t>(u)]));
        return result;
    }

private:
    Index folded_rows() const { return (tiles_ + 1) / 2; }

    template <int kPlanes>
    void count(Index first, Index last) {
        const cuda::PackedSequences packed = {reinterpret_cast<const uint4*>(bits_.data()),
                                              reinterpret_cast<const cuda::Count*>(copies_.data()),
                                              tiles_, words_, static_cast<int>(half_words_)};
        const dim3 grid(static_cast<unsigned>(tiles_ + 1), static_cast<unsigned>(last - first));
        cuda::count_near<kPlanes><<<grid, cuda::kTileThreads>>>(
            packed, max_differences_, first, reinterpret_cast<cuda::Count*>(counts_.data()));
        check(cudaGetLastError(), "cannot start to weight the sequences");
        // Waits, so that progress and cancelling refer to finished steps.
        check(cudaStreamSynchronize(cudaStreamPerThread), "cannot weight the sequences");
    }

    std::vector<Index> distinct_;  ///< [sequence]: its distinct sequence
    int planes_;
    std::uint32_t max_differences_;
    Index tiles_, words_, half_words_;
    Index rows_per_step_ = 1;
    DeviceArray<std::uint64_t> bits_;    ///< [group, word, plane, sequence in the group]
    DeviceArray<std::uint64_t> copies_;  ///< [distinct sequence]
    DeviceArray<std::uint64_t> counts_;  ///< [distinct sequence]
};

}  // namespace

std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, const Context& context) {
    use_cuda_device(context.device.index);
    return std::make_unique<CudaKernel>(pack(problem.letters, resolve_threads(context)), problem);
}

}  // namespace pleat::weights
