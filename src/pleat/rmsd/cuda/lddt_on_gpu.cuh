// lDDT on a GPU: both sides' coordinates, the list of near atoms, and blocks launched.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/cuda/grow.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/rmsd/cuda/lddt_kernel.cuh"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/measures/lddt_block.h"

namespace pleat::rmsd::cuda {

using pleat::cuda::Sides;

/// A measure of GpuComparison. Distances of listed pairs are kept for all frames where they fit,
/// else measured again for each block, some pairs of atoms at a time.
template <class Gpu>
class LddtOnGpu {
public:
    /// `kept_bytes`: of the GPU's memory for distances. Throws as make_lddt().
    LddtOnGpu(const LddtFrames& frames, Gpu gpu, std::int64_t kept_bytes)
        : gpu_(std::move(gpu)), is_reference_(frames.is_reference) {
        const bool has_one_side = frames.rows == frames.columns;
        add(*frames.rows);
        if (!has_one_side) add(*frames.columns);
        std::vector<unsigned> near(static_cast<std::size_t>(words(atoms_) * atoms_));
        for (std::size_t n = 0; n < sides_.size(); ++n)
            if (n + 1 == sides_.size() || !is_reference_) find_near(sides_[n], near);
        const std::vector<ListedPair> pairs = listed_pairs(near, atoms_, frames.residues);
        pair_count_ = static_cast<Index>(pairs.size());
        pleat::cuda::upload(pairs_, pairs);
        std::int64_t padded = 0;
        for (const Side& side : sides_) padded += rounded_up(side.frames);
        is_kept_ = 4 * padded * pair_count_ <= kept_bytes;
        for (Side& side : sides_) count_near(side);
    }

    double cost() const { return 0.5 + 5e-4 * static_cast<double>(pair_count_); }

    void run(Block rows, Block columns, float* values) {
        if (rows.count <= 0 || columns.count <= 0) return;
        const Index launches = std::max<Index>((pair_count_ + kLddtPairs - 1) / kLddtPairs, 1);
        if (launches > 1) pleat::cuda::grow(missed_, rows.count * columns.count);
        const Index row_tiles = tiles_of(rows);
        for (Index n = 0; n < launches; ++n) {
            const Index first = n * kLddtPairs,
                        count = std::min<Index>(kLddtPairs, pair_count_ - first);
            const LddtTask task{side_of(sides_.front(), rows, first, count, row_distances_),
                                side_of(sides_.back(), columns, first, count, column_distances_),
                                pairs_.data() + first,
                                count,
                                row_tiles,
                                missed_.data(),
                                n == 0,
                                n + 1 == launches,
                                is_reference_,
                                values};
            gpu_.launch("compare distances", &count_missed, Sides{row_tiles * tiles_of(columns)},
                        Sides{kLddtThreads}, 0, task);
        }
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;

    struct Side {
        Array<float> xyz;        ///< [frame, atom, axis]
        Array<float> distances;  ///< [pair, frame] if they are kept
        Array<unsigned> counts;  ///< [frame]: distances below the radius
        Index frames = 0;
    };

    static Index rounded_up(Index frames) {
        return (frames + kLddtTile - 1) / kLddtTile * kLddtTile;
    }
    static Index words(Index atoms) { return (atoms + 31) / 32; }
    /// Tiles begin at multiples of their side.
    static Index tiles_of(Block block) {
        return (block.first + block.count - 1) / kLddtTile - block.first / kLddtTile + 1;
    }
    LddtCoordinates coordinates(const Side& side) const { return {side.xyz.data(), atoms_}; }

    void add(const pleat::Array<float, 3>& frames) {
        Side side;
        side.frames = frames.extent(0);
        atoms_ = frames.extent(1);
        side.xyz = Array<float>(frames.size());
        side.xyz.upload(frames.data());
        sides_.push_back(std::move(side));
    }

    void find_near(const Side& side, std::vector<unsigned>& near) {
        Array<unsigned> found(static_cast<Index>(near.size()));
        const Index of_row = (atoms_ + kLddtThreads - 1) / kLddtThreads;
        gpu_.launch("find near atoms", &find_near_pairs,
                    Sides{atoms_ * of_row, (side.frames + kSearched - 1) / kSearched},
                    Sides{kLddtThreads}, 0, coordinates(side), side.frames, found.data());
        std::vector<unsigned> bits(near.size());
        found.download(bits.data());
        for (std::size_t n = 0; n < near.size(); ++n) near[n] |= bits[n];
    }

    static std::vector<ListedPair> listed_pairs(const std::vector<unsigned>& near, Index atoms,
                                                const std::vector<std::int32_t>& residues) {
        std::vector<ListedPair> pairs;
        for (Index k = 0; k < atoms; ++k)
            for (Index l = k + 1; l < atoms; ++l) {
                const unsigned word = near[static_cast<std::size_t>(k * words(atoms) + l / 32)];
                if ((word >> l % 32 & 1U) == 0 || !are_apart(residues, k, l)) continue;
                pairs.push_back({static_cast<std::int32_t>(k), static_cast<std::int32_t>(l)});
            }
        require_countable(static_cast<std::int64_t>(pairs.size()));
        return pairs;
    }

    void measure(const Side& side, const LddtDistances& to, Index first, Index count) {
        if (count == 0) return;
        gpu_.launch("measure distances", &measure_distances,
                    Sides{(to.stride + kLddtThreads - 1) / kLddtThreads,
                          (count + kLddtChunk - 1) / kLddtChunk},
                    Sides{kLddtThreads}, 0, coordinates(side), side.frames, pairs_.data() + first,
                    count, to);
    }

    /// Counts each frame's distances below the radius, and keeps distances if there is room.
    void count_near(Side& side) {
        const Index stride = rounded_up(side.frames);
        side.counts = Array<unsigned>(stride);
        Array<float> some;
        for (Index first = 0; first < pair_count_; first += kLddtPairs) {
            const Index count = std::min<Index>(kLddtPairs, pair_count_ - first);
            // Memory for kept distances of all pairs, else for those of some frames.
            if (is_kept_ && first == 0) side.distances = Array<float>(stride * pair_count_);
            const Index frames = is_kept_ ? stride : std::min<Index>(stride, kFramesAtOnce);
            if (!is_kept_) pleat::cuda::grow(some, frames * count);
            for (Index frame = 0; frame < stride; frame += frames) {
                const LddtDistances to{
                    is_kept_ ? side.distances.data() + first * stride : some.data(), frame,
                    std::min(frames, stride - frame)};
                measure(side, to, first, count);
                gpu_.launch("count near atoms", &count_near_distances,
                            Sides{(to.stride + kLddtThreads - 1) / kLddtThreads},
                            Sides{kLddtThreads}, 0, to, side.frames, count, side.counts.data());
            }
        }
    }

    /// The side of a launch, with the distances of its pairs.
    LddtSide side_of(const Side& side, Block block, Index first, Index count,
                     Array<float>& distances) {
        LddtDistances kept{nullptr, 0, rounded_up(side.frames)};
        if (is_kept_) {
            kept.values = side.distances.data() + first * kept.stride;
        } else {
            kept.first = block.first / kLddtTile * kLddtTile;
            kept.stride = tiles_of(block) * kLddtTile;
            pleat::cuda::grow(distances, kept.stride * std::max<Index>(count, 1));
            kept.values = distances.data();
            measure(side, kept, first, count);
        }
        return {coordinates(side), kept, side.counts.data(), block};
    }

    /// Frames whose distances are measured together if they are not kept.
    static constexpr Index kFramesAtOnce = 4096;

    Gpu gpu_;
    bool is_reference_, is_kept_ = false;
    Index atoms_ = 0, pair_count_ = 0;
    std::vector<Side> sides_;  ///< rows and columns, or one for both
    Array<ListedPair> pairs_;
    Array<float> row_distances_, column_distances_;
    Array<MissedBoth> missed_;
};

}  // namespace pleat::rmsd::cuda
