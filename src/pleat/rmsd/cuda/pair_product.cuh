// Pair product: covariances of a tile of pairs of frames in float64, by a CTA, on tensor cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/cuda/host_device.h"
#include "pleat/core/view.h"

namespace pleat::rmsd::cuda {

/// Frames come in octets, atoms in steps of eight, both padded with zeros. A CTA computes a tile of
/// eight octets of rows by two of columns, a warp 16 by 8 pairs of it: few enough sums that two
/// CTAs run on a processor, of which one multiplies while the other solves.
constexpr int kOctet = 8, kStepAtoms = 8;
constexpr int kRowOctets = 8, kColumnOctets = 2, kTileOctets = kRowOctets + kColumnOctets;
constexpr int kProductRows = kRowOctets * kOctet, kProductColumns = kColumnOctets * kOctet;
constexpr int kProductThreads = 256, kThreadPairs = 4, kCtasOfProcessor = 2;
/// Number of steps in shared memory: one is multiplied while others are copied.
constexpr int kProductStages = 3;

/// Numbers of one octet in one step: [half of the atoms][axis][lane 32], where lane 4 f + k has the
/// k-th atom of the half in the f-th frame, as multiply_doubles() takes both operands.
constexpr int kStepNumbers = 3 * kOctet * kStepAtoms;

struct alignas(16) DoublePair {
    double x, y;
};
constexpr int kStepPairs = kStepNumbers / 2;
constexpr Index kProductBytes = kProductStages * kTileOctets * kStepNumbers * 8;

/// The frames of one side, [octet][step][kStepNumbers].
struct FrameOctets {
    const double* numbers;
    Index steps;
};

/// Number of octets for `frames`, including a whole tile that begins at the last frame.
constexpr Index padded_octets(Index frames) {
    return (frames + kOctet - 1) / kOctet + kRowOctets - 1;
}
constexpr Index steps_of(Index atoms) { return (atoms + kStepAtoms - 1) / kStepAtoms; }

/// Packs frames [frame, axis, atom]; one thread per number. `sources` (may be null): of each padded
/// atom the index among the `atoms`, -1: none.
static __global__ void __launch_bounds__(kProductThreads)
    pack_octets(const double* xyz, Index frames, Index atoms, const std::int32_t* sources,
                Index steps, Index count, double* to) {
    const Index n = blockIdx.x * Index{kProductThreads} + threadIdx.x;
    if (n >= count) return;
    const Index step = n / kStepNumbers % steps;
    const int within = static_cast<int>(n % kStepNumbers), lane = within % 32;
    const int axis = within / 32 % 3;
    const Index frame = n / kStepNumbers / steps * kOctet + lane / 4;
    const Index padded = step * kStepAtoms + within / 96 * 4 + lane % 4;
    const Index atom = sources != nullptr ? sources[padded] : padded < atoms ? padded : -1;
    to[n] = frame < frames && atom >= 0 ? xyz[(frame * 3 + axis) * atoms + atom] : 0.0;
}

/// The operands of a tile: `steps` steps of atoms and the octets, with their first indices.
struct ProductOperands {
    FrameOctets rows, columns;
    Index row_octet, column_octet;
    Index row_step, column_step, steps;
};

/// A thread's sums: [3 row axis + column axis][pair]; with three entries only the diagonal,
/// [axis][pair].
template <int kEntries = 9>
using PairSums = double[kEntries][kThreadPairs];

/// The row and the column of a thread's pair in the tile.
struct ProductPosition {
    int row, column;
};
__device__ __forceinline__ ProductPosition product_position(int pair) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    return {warp % 4 * 16 + pair / 2 * kOctet + lane / 4,
            warp / 4 * kOctet + lane % 4 * 2 + pair % 2};
}

/// Begins to copy a step of all octets.
__device__ __forceinline__ void load_step(const ProductOperands& operands, Index step,
                                          DoublePair* to) {
    for (int n = threadIdx.x; n < kTileOctets * kStepPairs; n += kProductThreads) {
        const int octet = n / kStepPairs;
        const bool is_row = octet < kRowOctets;
        const FrameOctets& side = is_row ? operands.rows : operands.columns;
        const Index of =
            is_row ? operands.row_octet + octet : operands.column_octet + octet - kRowOctets;
        const Index at = (is_row ? operands.row_step : operands.column_step) + step;
        pleat::cuda::copy_async(
            to + n, side.numbers + (of * side.steps + at) * kStepNumbers + n % kStepPairs * 2);
    }
}

/// Adds the products of a step.
template <int kEntries>
__device__ __forceinline__ void multiply_step(const double* step, PairSums<kEntries>& sums) {
    constexpr int kColumnAxes = kEntries / 3;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const double* const rows = step + warp % 4 * 2 * kStepNumbers + lane;
    const double* const columns = step + (kRowOctets + warp / 4) * kStepNumbers + lane;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        double p[2][3], q[3];
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            const int at = (half * 3 + axis) * 32;
            p[0][axis] = rows[at];
            p[1][axis] = rows[kStepNumbers + at];
            q[axis] = columns[at];
        }
#pragma unroll
        for (int entry = 0; entry < kEntries; ++entry)
#pragma unroll
            for (int octet = 0; octet < 2; ++octet)
                pleat::cuda::multiply_doubles(&sums[entry][2 * octet],
                                              p[octet][entry / kColumnAxes],
                                              q[kEntries == 9 ? entry % 3 : entry]);
    }
}

/// Computes `sums`. Atoms are added in the same order wherever the pair is in a tile. `memory`:
/// kProductBytes, free for other use afterwards.
template <int kEntries>
__device__ __forceinline__ void multiply_octets(const ProductOperands& operands, DoublePair* memory,
                                                PairSums<kEntries>& sums) {
    constexpr int kStage = kTileOctets * kStepPairs;
#pragma unroll
    for (int entry = 0; entry < kEntries; ++entry)
#pragma unroll
        for (int pair = 0; pair < kThreadPairs; ++pair) sums[entry][pair] = 0.0;
    for (Index step = 0; step < kProductStages - 1; ++step) {
        if (step < operands.steps) load_step(operands, step, memory + step * kStage);
        pleat::cuda::end_copies();
    }
    for (Index step = 0; step < operands.steps; ++step) {
        pleat::cuda::wait_for_copies<kProductStages - 2>();
        __syncthreads();  // the step is there for all, and none reads the stage that is loaded next
        const Index next = step + kProductStages - 1;
        if (next < operands.steps)
            load_step(operands, next, memory + next % kProductStages * kStage);
        pleat::cuda::end_copies();
        multiply_step<kEntries>(&memory[step % kProductStages * kStage].x, sums);
    }
    __syncthreads();  // the stages are free
}

/// One side on a GPU: packed frames of some atoms.
template <class Gpu>
class PackedOctets {
public:
    PackedOctets() = default;
    /// `xyz`: on the GPU, [frame, axis, atom]. `sources`: of each padded atom (a whole number of
    /// steps) the index of its atom or -1; empty: all in order.
    PackedOctets(const double* xyz, Index frames, Index atoms,
                 const std::vector<std::int32_t>& sources, const Gpu& gpu)
        : steps_(steps_of(sources.empty() ? atoms : std::ssize(sources))),
          numbers_(padded_octets(frames) * steps_ * kStepNumbers) {
        typename Gpu::template Array<std::int32_t> list(std::max<Index>(1, std::ssize(sources)));
        if (!sources.empty()) list.upload(sources.data());
        const Index count = numbers_.size();
        gpu.launch("pack frames", &pack_octets,
                   pleat::cuda::Sides{(count + kProductThreads - 1) / kProductThreads},
                   pleat::cuda::Sides{kProductThreads}, 0, xyz, frames, atoms,
                   static_cast<const std::int32_t*>(sources.empty() ? nullptr : list.data()),
                   steps_, count, numbers_.data());
        gpu.wait();
    }

    FrameOctets octets() const { return {numbers_.data(), steps_}; }

private:
    Index steps_ = 0;
    typename Gpu::template Array<double> numbers_;
};

}  // namespace pleat::rmsd::cuda
