// GROMOS steps: the largest neighbourhood, its removal, and the remaining counts, on one GPU or
// several.
#pragma once

#include "pleat/rmsd/cuda/tile_bits.h"

namespace pleat::rmsd::cuda {

/// The state of the clustering on one part. Clusters alternate between two places, so that a part
/// prepares one while others still read the other.
struct GromosState {
    unsigned long long
        best[2];          ///< neighbours + 1 of the best frame, and its index from behind; 0 none
    unsigned members[2];  ///< of a cluster
    int clusters;
    int done;  ///< no frame has a neighbour left
};

/// The arrays of one part. Each part keeps the bits of some rows and counts with these; the counts
/// of a frame are the sum of those of all parts. Which frames are left, every part knows: `active`
/// has one bit per frame, and counts are -1 once a frame is in a cluster.
struct GromosTask {
    BitTiles own, all;  ///< the bits of this part; those of all parts
    Index frames;
    int* counts;                   ///< [frame]: active neighbours
    const int* const* all_counts;  ///< [part]: `counts` of each
    int parts;
    unsigned* active;          ///< [square]
    std::int32_t* assignment;  ///< [frame]
    std::int32_t* centres;     ///< [cluster]
    std::uint32_t* members;    ///< [frame]: of the newest cluster, in any order
    GromosState* state;
    const GromosState* first_state;  ///< of the first part, which chooses the centres
};

constexpr int kGromosThreads = 256;
constexpr Index kStride = 32;  // squares that a warp visits at a time

/// A count and a frame as one number, which is larger for larger counts, and for equal counts for
/// lower frames.
__device__ __forceinline__ unsigned long long choice_key(int count, Index frame) {
    return static_cast<unsigned long long>(count + 1) << 32 |
           (0xffffffffu - static_cast<unsigned>(frame));
}
__device__ __forceinline__ Index frame_of(unsigned long long key) {
    return 0xffffffffu - static_cast<unsigned>(key);
}
__device__ __forceinline__ int count_of(unsigned long long key) {
    return static_cast<int>(key >> 32) - 1;
}

/// First of three kernels, on the first part alone: the frame with the most active neighbours, the
/// lowest of several.
static __global__ void __launch_bounds__(kGromosThreads) find_largest(GromosTask task, int step) {
    const Index all = static_cast<Index>(gridDim.x) * kGromosThreads;
    unsigned long long best = 0;
    for (Index i = blockIdx.x * Index{kGromosThreads} + threadIdx.x; i < task.frames; i += all) {
        const int own = task.counts[i];
        int count = own;
        for (int part = 1; part < task.parts; ++part) count += task.all_counts[part][i];
        const unsigned long long key = choice_key(count, i);
        if (own >= 0 && key > best) best = key;
    }
    for (int apart = 16; apart > 0; apart /= 2) {
        const unsigned long long other = __shfl_xor_sync(~0u, best, apart);
        best = other > best ? other : best;
    }
    if (threadIdx.x % 32 == 0 && best != 0) atomicMax(&task.state->best[step % 2], best);
}

/// Calls visit(square, mask) for the squares from `first` on, up to kStride of them, by a warp; bit
/// l of the mask, the same on all lanes, is set where frame 32 square + l is a neighbour by these
/// bits.
template <class Visit>
__device__ __forceinline__ void visit_neighbours(const BitTiles& bits, Index frame, Index first,
                                                 const Visit& visit) {
    const Index own = frame / kBitSide;
    const int lane = threadIdx.x % 32, position = static_cast<int>(frame % kBitSide);
    const Index later = first + lane;
    const unsigned row =
        later >= own && later < bits.side && bits.has(own) ? bits.word(frame, later) : 0;
    constexpr int kAhead = 8;
    for (int from = 0; from < kStride; from += kAhead) {
        unsigned column[kAhead];
#pragma unroll
        for (int n = 0; n < kAhead; ++n) {
            const Index square = first + from + n;
            column[n] = square <= own && bits.has(square) ? bits.square(square, own)[lane] : 0;
        }
#pragma unroll
        for (int n = 0; n < kAhead; ++n) {
            const Index square = first + from + n;
            const unsigned mask = __shfl_sync(~0u, row, from + n) |
                                  __ballot_sync(~0u, static_cast<int>(column[n] >> position & 1));
            if (square < bits.side && mask != 0) visit(square, mask);
        }
    }
}

/// Second kernel, on every part: the best frame and its active neighbours become cluster `step`.
/// Each square is handled by one warp.
static __global__ void __launch_bounds__(kGromosThreads) assign_cluster(GromosTask task, int step) {
    const unsigned long long best = task.first_state->best[step % 2];
    const int lane = threadIdx.x % 32;
    const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
    if (count_of(best) <= 0) {
        if (is_first) task.state->done = 1;
        return;
    }
    const Index centre = frame_of(best);
    if (is_first) {
        task.centres[step] = static_cast<std::int32_t>(centre);
        task.state->clusters = step + 1;
    }
    const Index warp = (blockIdx.x * Index{kGromosThreads} + threadIdx.x) / 32;
    const Index warps = static_cast<Index>(gridDim.x) * (kGromosThreads / 32);
    const auto take = [&](Index square, unsigned mask) {
        mask &= task.active[square];
        __syncwarp();  // wait until the other lanes have read what this lane overwrites
        if (mask >> lane & 1) {
            const Index i = square * kBitSide + lane;
            task.assignment[i] = step;
            task.counts[i] = -1;
            task.members[atomicAdd(&task.state->members[step % 2], 1u)] =
                static_cast<std::uint32_t>(i);
        }
        if (lane == 0) task.active[square] &= ~mask;
        __syncwarp();
    };
    for (Index first = warp * kStride; first < task.all.side; first += warps * kStride) {
        visit_neighbours(task.all, centre, first, take);
        const Index own = centre / kBitSide;
        if (own >= first && own < first + kStride) take(own, 1u << centre % kBitSide);
    }
}

/// Third kernel, on every part: subtracts the members from the counts of their neighbours by the
/// part's own bits, and prepares the state for the next cluster.
static __global__ void __launch_bounds__(kGromosThreads)
    subtract_members(GromosTask task, int step) {
    const int lane = threadIdx.x % 32;
    const Index warp = (blockIdx.x * Index{kGromosThreads} + threadIdx.x) / 32;
    const Index warps = static_cast<Index>(gridDim.x) * (kGromosThreads / 32);
    const Index strides = (task.own.side + kStride - 1) / kStride;
    const Index members = task.state->members[step % 2];
    for (Index n = warp; n < members * strides; n += warps) {
        visit_neighbours(task.own, task.members[n / strides], n % strides * kStride,
                         [&](Index square, unsigned mask) {
                             if ((mask & task.active[square]) >> lane & 1)
                                 atomicAdd(task.counts + square * kBitSide + lane, -1);
                         });
    }
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    task.state->best[(step + 1) % 2] = 0;
    task.state->members[(step + 1) % 2] = 0;
}

}  // namespace pleat::rmsd::cuda
