// Daura steps: the largest neighbourhood, its removal, and the counts that are left, on a GPU.
#pragma once

#include "pleat/rmsd/cuda/tile_bits.h"

namespace pleat::rmsd::cuda {

/// Where the clustering stands.
struct DauraState {
    unsigned long long
        best;          ///< neighbours + 1 of the best frame, and its index from behind; 0 none
    unsigned members;  ///< of the newest cluster
    int clusters;
    int done;  ///< no frame has a neighbour left
};

/// The clustering's arrays: `active` has a bit a frame; counts are -1 once a frame is in a cluster.
struct DauraTask {
    BitTiles bits;
    Index frames;
    int* counts;               ///< [frame]: active neighbours
    unsigned* active;          ///< [square]
    std::int32_t* assignment;  ///< [frame]
    std::int32_t* middles;     ///< [cluster]
    std::uint32_t* members;    ///< [frame]: of the newest cluster, in any order
    DauraState* state;
};

constexpr int kDauraThreads = 256;
constexpr Index kStride = 32;  // squares that a warp visits at a time

/// A count and a frame as one number: larger counts are larger, and of equal ones lower frames.
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

/// First of three: the frame with the most active neighbours, the lowest of several.
static __global__ void __launch_bounds__(kDauraThreads) find_largest(DauraTask task) {
    const Index all = static_cast<Index>(gridDim.x) * kDauraThreads;
    unsigned long long best = 0;
    for (Index i = blockIdx.x * Index{kDauraThreads} + threadIdx.x; i < task.frames; i += all) {
        const unsigned long long key = choice_key(task.counts[i], i);
        if (task.counts[i] >= 0 && key > best) best = key;
    }
    for (int apart = 16; apart > 0; apart /= 2) {
        const unsigned long long other = __shfl_xor_sync(~0u, best, apart);
        best = other > best ? other : best;
    }
    if (threadIdx.x % 32 == 0 && best != 0) atomicMax(&task.state->best, best);
    if (blockIdx.x == 0 && threadIdx.x == 0) task.state->members = 0;
}

/// Calls visit(square, mask) for the squares from `first` on, up to kStride of them, by a warp; bit
/// l of the mask, the same on all lanes, is set where frame 32 square + l is a neighbour.
template <class Visit>
__device__ __forceinline__ void visit_neighbours(const BitTiles& bits, Index frame, Index first,
                                                 const Visit& visit) {
    const Index own = frame / kBitSide;
    const int lane = threadIdx.x % 32, place = static_cast<int>(frame % kBitSide);
    const Index later = first + lane;
    const unsigned row = later >= own && later < bits.side ? bits.word(frame, later) : 0;
    constexpr int kAhead = 8;
    for (int from = 0; from < kStride; from += kAhead) {
        unsigned column[kAhead];
#pragma unroll
        for (int n = 0; n < kAhead; ++n) {
            const Index square = first + from + n;
            column[n] = square <= own ? bits.words[bits.line(square, own) + lane] : 0;
        }
#pragma unroll
        for (int n = 0; n < kAhead; ++n) {
            const Index square = first + from + n;
            const unsigned mask = __shfl_sync(~0u, row, from + n) |
                                  __ballot_sync(~0u, static_cast<int>(column[n] >> place & 1));
            if (square < bits.side && mask != 0) visit(square, mask);
        }
    }
}

/// Second: the best frame and its active neighbours become a cluster. Each square is one warp's.
static __global__ void __launch_bounds__(kDauraThreads) take_cluster(DauraTask task) {
    const DauraState state = *task.state;
    const int lane = threadIdx.x % 32;
    const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
    if (count_of(state.best) <= 0) {
        if (is_first) task.state->done = 1;
        return;
    }
    const Index middle = frame_of(state.best);
    if (is_first) task.middles[state.clusters] = static_cast<std::int32_t>(middle);
    const Index warp = (blockIdx.x * Index{kDauraThreads} + threadIdx.x) / 32;
    const Index warps = static_cast<Index>(gridDim.x) * (kDauraThreads / 32);
    const auto take = [&](Index square, unsigned mask) {
        mask &= task.active[square];
        __syncwarp();  // before a lane writes what the others read
        if (mask >> lane & 1) {
            const Index i = square * kBitSide + lane;
            task.assignment[i] = state.clusters;
            task.counts[i] = -1;
            task.members[atomicAdd(&task.state->members, 1u)] = static_cast<std::uint32_t>(i);
        }
        if (lane == 0) task.active[square] &= ~mask;
        __syncwarp();
    };
    for (Index first = warp * kStride; first < task.bits.side; first += warps * kStride) {
        visit_neighbours(task.bits, middle, first, take);
        const Index own = middle / kBitSide;
        if (own >= first && own < first + kStride) take(own, 1u << middle % kBitSide);
    }
}

/// Third: what lost neighbours counts fewer; then the state is ready for the next cluster.
static __global__ void __launch_bounds__(kDauraThreads) discount_members(DauraTask task) {
    const int lane = threadIdx.x % 32;
    const Index warp = (blockIdx.x * Index{kDauraThreads} + threadIdx.x) / 32;
    const Index warps = static_cast<Index>(gridDim.x) * (kDauraThreads / 32);
    const Index strides = (task.bits.side + kStride - 1) / kStride;
    const Index members = task.state->members;
    for (Index n = warp; n < members * strides; n += warps) {
        visit_neighbours(task.bits, task.members[n / strides], n % strides * kStride,
                         [&](Index square, unsigned mask) {
                             if ((mask & task.active[square]) >> lane & 1)
                                 atomicAdd(task.counts + square * kBitSide + lane, -1);
                         });
    }
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    task.state->best = 0;
    if (members > 0) ++task.state->clusters;
}

}  // namespace pleat::rmsd::cuda
