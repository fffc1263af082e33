// GPU kernel of the weights: the host packs the bit planes, the GPU counts the pairs of each tile.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/weights/bit_planes.h"
#include "pleat/weights/kernel.h"
#include "pleat/weights/near_pairs.cuh"

namespace pleat::weights::cuda {

using pleat::cuda::Sides;

constexpr Index kTileGroups = kTile / BitPlanes::kGroup;
/// Half words of pairs in one step: about 20 ms of an H200.
constexpr Index kStepHalfWords = Index{1} << 35;
constexpr Index kMaxGridRows = 65535;

template <class Gpu>
class GpuKernel final : public Kernel {
public:
    GpuKernel(const BitPlanes& packed, const Problem& problem, Gpu gpu)
        : gpu_(std::move(gpu)),
          distinct_(packed.distinct),
          planes_(packed.plane_count()),
          max_differences_(static_cast<std::uint32_t>(
              std::min<Index>(problem.max_differences, std::numeric_limits<std::uint32_t>::max()))),
          tiles_((packed.group_count() + kTileGroups - 1) / kTileGroups),
          words_(packed.word_count()),
          half_words_((problem.letters.extent(1) + 31) / 32),
          bits_(tiles_ * kTile * words_ * planes_),
          copies_(tiles_ * kTile),
          counts_(tiles_ * kTile) {
        bits_.upload(packed.bits.data(), 0, packed.bits.size());
        copies_.upload(packed.multiplicity.data(), 0, packed.multiplicity.size());
        const Index row_half_words = (tiles_ + 1) * kTile * kTile * half_words_;
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
    template <class T>
    using Array = typename Gpu::template Array<T>;

    Index folded_rows() const { return (tiles_ + 1) / 2; }

    template <int kPlanes>
    void count(Index first, Index last) {
        const PackedSequences packed = {reinterpret_cast<const uint4*>(bits_.data()),
                                        reinterpret_cast<const Count*>(copies_.data()), tiles_,
                                        words_, static_cast<int>(half_words_)};
        gpu_.launch("weight the sequences", &count_near<kPlanes>, Sides{tiles_ + 1, last - first},
                    Sides{kTileThreads}, 0, packed, max_differences_, first,
                    reinterpret_cast<Count*>(counts_.data()));
        gpu_.wait();  // so that progress and cancelling refer to finished steps
    }

    Gpu gpu_;
    std::vector<Index> distinct_;  ///< [sequence]: its distinct sequence
    int planes_;
    std::uint32_t max_differences_;
    Index tiles_, words_, half_words_;
    Index rows_per_step_ = 1;
    Array<std::uint64_t> bits_;    ///< [group, word, plane, sequence in the group]
    Array<std::uint64_t> copies_;  ///< [distinct sequence]
    Array<std::uint64_t> counts_;  ///< [distinct sequence]
};

}  // namespace pleat::weights::cuda
