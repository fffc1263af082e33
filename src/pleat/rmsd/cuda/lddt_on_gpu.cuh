// lDDT on a GPU: distances of listed pairs of atoms, the thresholds that differences miss, and
// blocks launched.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/cuda/grow.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/measures/lddt_block.h"

namespace pleat::rmsd::cuda {

using pleat::cuda::copy_async;
using pleat::cuda::end_copies;
using pleat::cuda::wait_for_copies;

/// Frames per side of a tile; a thread computes kFramesOfThread by kFramesOfThread pairs of frames.
constexpr int kLddtTile = 64, kFramesOfThread = 4, kLddtThreads = 256;
/// Number of frames in which a CTA searches for near atoms.
constexpr int kSearched = 256;
/// Listed atom pairs in shared memory at a time, and per launch: so few that the counts of four
/// thresholds per pair fit in 16 bits.
constexpr int kLddtChunk = 32, kLddtPairs = 16320;
static_assert(4 * kLddtPairs < 1 << 16 && kLddtPairs % kLddtChunk == 0);
constexpr int kLddtTileThreads = kLddtTile / kFramesOfThread;
static_assert(kLddtTileThreads * kLddtTileThreads == kLddtThreads);

// Counts like the CPU (lddt_block.cpp): the exponent of a difference relative to that of 0.25 is
// the number of missed thresholds; within kSlack units of a threshold float64 decides.
constexpr unsigned kMantissaBits = 23, kMantissa = (1u << kMantissaBits) - 1, kSlack = 96;
constexpr unsigned kBase = (125u << kMantissaBits) - kSlack;

/// Coordinates [frame, atom, axis].
struct LddtCoordinates {
    const float* xyz;
    Index atoms;

    /// With the roundings of the CPU.
    __device__ __forceinline__ double distance(Index frame, ListedPair pair) const {
        const float* const p = xyz + (frame * atoms + pair.k) * 3;
        const float* const q = xyz + (frame * atoms + pair.l) * 3;
        const double x = double{p[0]} - q[0], y = double{p[1]} - q[1], z = double{p[2]} - q[2];
        return __dsqrt_rn(__dadd_rn(__dadd_rn(__dmul_rn(x, x), __dmul_rn(y, y)), __dmul_rn(z, z)));
    }
};

/// Distances of listed pairs in frames that begin at a multiple of kLddtTile: [pair, frame].
struct LddtDistances {
    float* values;
    Index first, stride;
};

/// Marks the pairs of atoms that are about within the radius in any frame: bit l % 32 of word
/// [k, l / 32]. A CTA has one atom k, kLddtThreads others, and kSearched frames.
static __global__ void __launch_bounds__(kLddtThreads)
    find_near_pairs(LddtCoordinates coordinates, Index frames, unsigned* words) {
    const Index atoms = coordinates.atoms, of_row = (atoms + kLddtThreads - 1) / kLddtThreads;
    const Index k = blockIdx.x / of_row, other = blockIdx.x % of_row * kLddtThreads;
    if (other + kLddtThreads <= k) return;
    const Index l = other + threadIdx.x, start = static_cast<Index>(blockIdx.y) * kSearched,
                end = min(start + kSearched, frames);
    constexpr double kLimit = kInclusionRadius * (1 + 1e-9);
    bool is_near = false;
    if (l > k && l < atoms) {
        const ListedPair pair{static_cast<std::int32_t>(k), static_cast<std::int32_t>(l)};
        for (Index frame = start; frame < end && !is_near; ++frame)
            is_near = coordinates.distance(frame, pair) < kLimit;
    }
    const unsigned bits = __ballot_sync(~0u, is_near);
    if (threadIdx.x % 32 == 0 && bits != 0)
        atomicOr(words + k * ((atoms + 31) / 32) + l / 32, bits);
}

/// The distances of `count` pairs, rounded so that they are below the radius where the exact ones
/// are. A thread has one frame and kLddtChunk pairs; `frames`: how many there are.
static __global__ void __launch_bounds__(kLddtThreads)
    measure_distances(LddtCoordinates coordinates, Index frames, const ListedPair* pairs,
                      Index count, LddtDistances to) {
    const Index at = static_cast<Index>(blockIdx.x) * kLddtThreads + threadIdx.x;
    if (at >= to.stride || to.first + at >= frames) return;
    const Index first = static_cast<Index>(blockIdx.y) * kLddtChunk;
    for (Index n = first; n < first + kLddtChunk && n < count; ++n) {
        const double exact = coordinates.distance(to.first + at, pairs[n]);
        constexpr double kBelow = 0x1.dffffep3;  // the greatest float32 below the radius
        const bool is_near = exact < kInclusionRadius;
        to.values[n * to.stride + at] =
            static_cast<float>(is_near && exact > kBelow ? kBelow : exact);
    }
}

/// Adds the number of distances below the radius to `counts` [frame].
static __global__ void __launch_bounds__(kLddtThreads)
    count_near_distances(LddtDistances distances, Index frames, Index count, unsigned* counts) {
    const Index at = static_cast<Index>(blockIdx.x) * kLddtThreads + threadIdx.x;
    if (at >= distances.stride || distances.first + at >= frames) return;
    const Index first = static_cast<Index>(blockIdx.y) * kLddtPairs;
    unsigned found = 0;
    for (Index n = first; n < first + kLddtPairs && n < count; ++n)
        found += distances.values[n * distances.stride + at] < static_cast<float>(kInclusionRadius);
    if (found != 0) atomicAdd(counts + distances.first + at, found);
}

/// One side of the pairs of frames.
struct LddtSide {
    LddtCoordinates coordinates;
    LddtDistances distances;
    const unsigned* counts;  ///< [frame]: distances below the radius
    Block block;
};

/// For a pair of frames, how many of the other's distances each frame does not preserve.
struct MissedBoth {
    unsigned by_row, by_column;  ///< of distances below the radius in the row, and in the column
};

struct LddtTask {
    LddtSide rows, columns;
    const ListedPair* pairs;
    Index count;  ///< pairs of this launch
    Index row_tiles;
    MissedBoth* missed;  ///< [row, column]: of earlier launches; null if this is the only one
    bool is_first, is_last, is_reference;
    float* values;  ///< [row, column]
};

/// The mean of both directions, computed as on the CPU.
__device__ __forceinline__ float mean_of(const LddtTask& task, const MissedBoth& missed, Index i,
                                         Index j) {
    const auto lddt = [](unsigned thresholds, unsigned distances) {
        return 1.0 - static_cast<double>(thresholds) / (4.0 * static_cast<double>(distances));
    };
    const unsigned of_column = task.columns.counts[j],
                   of_row = task.is_reference ? 0 : task.rows.counts[i];
    if (of_row == 0 && of_column == 0) return 1.0f;
    if (of_row == 0) return static_cast<float>(lddt(missed.by_column, of_column));
    if (of_column == 0) return static_cast<float>(lddt(missed.by_row, of_row));
    return static_cast<float>(0.5 *
                              (lddt(missed.by_row, of_row) + lddt(missed.by_column, of_column)));
}

/// The number of missed thresholds, in the bits above the mantissa: see kBase.
__device__ __forceinline__ unsigned difference_bits(float p, float q) {
    // Not at powers of two, so that equal distances are not close to a threshold.
    return __float_as_uint(fminf(fmaxf(fabsf(p - q), 0.375f), 6.0f)) - kBase;
}

/// Returns `unit` (1 for the row, 2^16 for the column) if the distance is below the radius, else 0.
__device__ __forceinline__ unsigned nearness(float distance, unsigned unit) {
    return distance < static_cast<float>(kInclusionRadius) ? unit : 0;
}

/// The correction of a chunk's counts for pairs of frames with differences too close to a
/// threshold. It is rare, so it may be slow.
__device__ __attribute__((noinline)) inline unsigned corrections(const LddtTask& task, Index first,
                                                                 int count, const float* rows,
                                                                 const float* columns, Index i,
                                                                 Index j) {
    unsigned sum = 0;
    for (int n = 0; n < count; ++n) {
        const float p = rows[n * kLddtTile], q = columns[n * kLddtTile];
        const unsigned bits = difference_bits(p, q);
        if ((bits & kMantissa) >= 2 * kSlack) continue;
        const ListedPair pair = task.pairs[first + n];
        const double difference = fabs(task.rows.coordinates.distance(i, pair) -
                                       task.columns.coordinates.distance(j, pair));
        const unsigned missed = (difference < 0.5 ? 0 : 1) + (difference < 1.0 ? 0 : 1) +
                                (difference < 2.0 ? 0 : 1) + (difference < 4.0 ? 0 : 1);
        const unsigned units = nearness(p, task.is_reference ? 0 : 1) | nearness(q, 1u << 16);
        sum += (missed - (bits >> kMantissaBits)) * units;
    }
    return sum;
}

using LddtTileDistances = float[kLddtChunk][kLddtTile];

/// Starts copying the distances of some atom pairs for the frames of one side of the tile.
__device__ __forceinline__ void load_distances(const LddtDistances& distances, Index frame,
                                               Index first, int count, LddtTileDistances& to) {
    constexpr int kPieces = kLddtTile / 4;  // of 16 bytes
    for (int n = threadIdx.x; n < count * kPieces; n += kLddtThreads)
        copy_async(&to[n / kPieces][n % kPieces * 4],
                   distances.values + (first + n / kPieces) * distances.stride +
                       (frame - distances.first) + n % kPieces * 4);
}

struct alignas(16) FourDistances {
    float of[4];
};

/// One CTA per tile of frame pairs; consecutive tiles have the same columns.
static __global__ void __launch_bounds__(kLddtThreads)
    count_missed(const __grid_constant__ LddtTask task) {
    __shared__ __align__(16) LddtTileDistances rows[2], columns[2];
    const Index tile_row = task.rows.block.first / kLddtTile + blockIdx.x % task.row_tiles,
                tile_column = task.columns.block.first / kLddtTile + blockIdx.x / task.row_tiles;
    const Index row = tile_row * kLddtTile, column = tile_column * kLddtTile;
    const int own_row = threadIdx.x / kLddtTileThreads * kFramesOfThread,
              own_column = threadIdx.x % kLddtTileThreads * kFramesOfThread;
    unsigned missed[kFramesOfThread][kFramesOfThread] = {};  // by column and by row, 16 bits each
    const unsigned row_unit = task.is_reference ? 0 : 1;
    const auto load = [&](Index first, int stage) {
        const int count = static_cast<int>(min(task.count - first, Index{kLddtChunk}));
        load_distances(task.rows.distances, row, first, count, rows[stage]);
        load_distances(task.columns.distances, column, first, count, columns[stage]);
        end_copies();
    };
    load(0, 0);
    for (Index first = 0; first < task.count; first += kLddtChunk) {
        const int stage = first / kLddtChunk % 2;
        if (first + kLddtChunk < task.count)
            load(first + kLddtChunk, 1 - stage);
        else
            end_copies();
        wait_for_copies<1>();
        __syncthreads();
        const int count = static_cast<int>(min(task.count - first, Index{kLddtChunk}));
        unsigned nearest[kFramesOfThread][kFramesOfThread];
#pragma unroll
        for (int a = 0; a < kFramesOfThread; ++a)
#pragma unroll
            for (int b = 0; b < kFramesOfThread; ++b) nearest[a][b] = kMantissa;
#pragma unroll 4
        for (int n = 0; n < count; ++n) {
            const auto p = *reinterpret_cast<const FourDistances*>(&rows[stage][n][own_row]);
            const auto q = *reinterpret_cast<const FourDistances*>(&columns[stage][n][own_column]);
            unsigned of_column[kFramesOfThread];
#pragma unroll
            for (int b = 0; b < kFramesOfThread; ++b) of_column[b] = nearness(q.of[b], 1u << 16);
#pragma unroll
            for (int a = 0; a < kFramesOfThread; ++a) {
                const unsigned of_row = nearness(p.of[a], row_unit);
#pragma unroll
                for (int b = 0; b < kFramesOfThread; ++b) {
                    const unsigned bits = difference_bits(p.of[a], q.of[b]);
                    missed[a][b] += (bits >> kMantissaBits) * (of_row | of_column[b]);
                    nearest[a][b] = min(nearest[a][b], bits & kMantissa);
                }
            }
        }
#pragma unroll
        for (int a = 0; a < kFramesOfThread; ++a)
#pragma unroll
            for (int b = 0; b < kFramesOfThread; ++b) {
                const Index i = row + own_row + a, j = column + own_column + b;
                if (nearest[a][b] >= 2 * kSlack ||
                    i >= task.rows.block.first + task.rows.block.count ||
                    j >= task.columns.block.first + task.columns.block.count)
                    continue;
                missed[a][b] += corrections(task, first, count, &rows[stage][0][own_row + a],
                                            &columns[stage][0][own_column + b], i, j);
            }
        __syncthreads();  // none reads the stage that is loaded next
    }
    for (int a = 0; a < kFramesOfThread; ++a)
        for (int b = 0; b < kFramesOfThread; ++b) {
            const Index i = row + own_row + a, j = column + own_column + b;
            const Index down = i - task.rows.block.first, across = j - task.columns.block.first;
            if (down < 0 || down >= task.rows.block.count || across < 0 ||
                across >= task.columns.block.count)
                continue;
            const Index at = down * task.columns.block.count + across;
            MissedBoth all{missed[a][b] & 0xffffu, missed[a][b] >> 16};
            if (!task.is_first) {
                all.by_row += task.missed[at].by_row;
                all.by_column += task.missed[at].by_column;
            }
            if (task.is_last)
                task.values[at] = mean_of(task, all, i, j);
            else
                task.missed[at] = all;
        }
}

using pleat::cuda::Sides;

/// A measure for GpuComparison. Distances of listed pairs are kept for all frames if they fit;
/// otherwise they are recomputed for each block, some atom pairs at a time.
template <class Gpu>
class LddtOnGpu {
public:
    /// `kept_bytes`: of the GPU's memory for distances. Throws as make_lddt().
    LddtOnGpu(const LddtFrames& frames, Gpu gpu, std::int64_t kept_bytes)
        : gpu_(std::move(gpu)), is_reference_(frames.is_reference) {
        const bool has_one_side = frames.rows == frames.columns;
        add(*frames.rows);
        if (!has_one_side) add(*frames.columns);
        std::vector<unsigned> near(words(atoms_) * atoms_);
        for (std::size_t n = 0; n < sides_.size(); ++n)
            if (n + 1 == sides_.size() || !is_reference_) find_near(sides_[n], near);
        const std::vector<ListedPair> pairs = listed_pairs(near, atoms_, frames.residues);
        pair_count_ = std::ssize(pairs);
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
        Array<unsigned> found(std::ssize(near));
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
                const unsigned word = near[k * words(atoms) + l / 32];
                if ((word >> l % 32 & 1U) == 0 || !are_in_different_residues(residues, k, l))
                    continue;
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
            // Allocates memory for the distances of all pairs or, if too small, for some frames.
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

    /// Number of frames whose distances are computed together if they are not kept.
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
