// Permuted fits: RMSDs over permutations of chains or atoms, from covariances of blocks of atoms.
#pragma once

#include "pleat/core/loops/sweep.h"
#include "pleat/rmsd/cuda/fit_pairs.cuh"

namespace pleat::rmsd::cuda {

/// So many chains or groups change places at most: 12 groups of two equal chains.
constexpr int kMaxDepth = 24;

/// Where the atoms of a block are among the packed ones.
struct BlockSteps {
    Index row_step, column_step, steps;
};

struct PermutedTask {
    FrameOctets rows, columns;
    const BlockSteps* blocks;
    Index block_count, depth, permutations;
    const std::int32_t* choices;  ///< [permutation][depth]: blocks
    const std::int32_t*
        changed;  ///< [permutation]: how many blocks it begins with as the one before
    /// [padded atom]: the atom of a frame, or -1
    const std::int32_t *row_atoms, *column_atoms;
    const double *row_xyz, *column_xyz;        ///< [frame, axis, atom]
    const double *row_square, *column_square;  ///< [frame]
    Index atoms;
    FitBounds bounds;
    Block row_block, column_block;
    Index row_tiles;
    double* sums;   ///< [block][entry][pair], of the pairs of both blocks of frames
    float* values;  ///< [row, column]
    Index stride;   ///< of rows of values

    __device__ Index pairs() const { return row_block.count * column_block.count; }
    __device__ float& value(Index pair) const {
        return values[pair / column_block.count * stride + pair % column_block.count];
    }
};

/// One CTA per tile and block of atoms.
static __global__ void __launch_bounds__(kProductThreads, kCtasOfProcessor)
    multiply_blocks(PermutedTask task) {
    PLEAT_DYNAMIC_SHARED(DoublePair, memory);
    const BlockTile tile(task.row_block, task.column_block, task.row_tiles);
    const BlockSteps steps = task.blocks[blockIdx.y];
    PairSums<> sums;
    multiply_octets<9>({task.rows, task.columns, tile.row_octet, tile.column_octet, steps.row_step,
                        steps.column_step, steps.steps},
                       memory, sums);
    double* const to = task.sums + blockIdx.y * 9 * task.pairs();
#pragma unroll
    for (int pair = 0; pair < kThreadPairs; ++pair) {
        const auto [row, column] = tile.position(pair);
        if (row < 0) continue;
#pragma unroll
        for (int entry = 0; entry < 9; ++entry)
            to[entry * task.pairs() + row * task.column_block.count + column] = sums[entry][pair];
    }
}

/// Visits all permutations of a pair with their covariances: visit(permutation, covariance).
template <class Visit>
__device__ __forceinline__ void for_each_permutation(const PermutedTask& task, Index pair,
                                                     const Visit& visit) {
    double sums[kMaxDepth + 1][9];
    const auto entry_of = [&](Index block, int entry) {
        return task.sums[(block * 9 + entry) * task.pairs() + pair];
    };
    for (int entry = 0; entry < 9; ++entry) sums[0][entry] = entry_of(0, entry);
    for (Index n = 0; n < task.permutations; ++n) {
        const std::int32_t* const choice = task.choices + n * task.depth;
        for (Index level = task.changed[n]; level < task.depth; ++level)
            for (int entry = 0; entry < 9; ++entry)
                sums[level + 1][entry] = sums[level][entry] + entry_of(choice[level], entry);
        visit(n, sums[task.depth]);
    }
}

/// Whether no root of a covariance reaches `limit`, which is above 0.
__device__ __forceinline__ bool is_below(const double (&r)[9], double limit) {
    double square = 0.0;
    for (const double entry : r) square += entry * entry;
    return limit > 0 && 3.0 * square < limit * limit;
}

/// Sums of products that are nearer to the best one than this times all squares may be the best
/// (chain_search.h).
constexpr double kChoiceMargin = 0.5e-6;

constexpr int kPermutedThreads = 128;

/// A thread per pair. Values that are not certain are NaN.
static __global__ void __launch_bounds__(kPermutedThreads) permute_blocks(PermutedTask task) {
    const Index pair = blockIdx.x * Index{kPermutedThreads} + threadIdx.x;
    if (pair >= task.pairs()) return;
    const double p = task.row_square[task.row_block.first + pair / task.column_block.count];
    const double q = task.column_square[task.column_block.first + pair % task.column_block.count];
    const double margin = kChoiceMargin * (p + q), size = std::sqrt(p * q);
    // The best sum, to 1e-7 and exactly, and the best one whose exact value is not known.
    double best = 0.0, unknown = -1.0;
    ReachedSum reached{0.0, 0.0};
    for_each_permutation(task, pair, [&](Index, const double(&r)[9]) {
        const double limit = best - margin;
        if (is_below(r, limit)) return;
        const double root = Quartic(r).root_above(limit);
        if (root < limit) return;
        best = root > best ? root : best;
        const ReachedSum exact = reached_sum(r, size);
        if (!(exact.error < INFINITY)) unknown = root > unknown ? root : unknown;
        if (exact.sum > reached.sum) reached = exact;
    });
    const bool is_known = unknown < best - margin;
    task.value(pair) = is_known ? certain_rmsd(p, q, reached, size, task.bounds) : NAN;
}

/// The residual of a permutation with the rotation that is best for it.
__device__ __attribute__((noinline)) inline double permuted_residual(const PermutedTask& task,
                                                                     Index row, Index column,
                                                                     Index permutation,
                                                                     const double (&r)[9]) {
    double m[9], sum = 0.0;
    rotation_by_jacobi(r, m);
    const double* const p = task.row_xyz + row * 3 * task.atoms;
    const double* const q = task.column_xyz + column * 3 * task.atoms;
    for (Index level = -1; level < task.depth; ++level) {
        const Index block = level < 0 ? 0 : task.choices[permutation * task.depth + level];
        const BlockSteps steps = task.blocks[block];
        const std::int32_t* const from = task.row_atoms + steps.row_step * kStepAtoms;
        const std::int32_t* const to = task.column_atoms + steps.column_step * kStepAtoms;
        for (Index n = 0; n < steps.steps * kStepAtoms; ++n)
            if (from[n] >= 0) sum += square_between(p, from[n], q, to[n], task.atoms, m);
    }
    return sum;
}

/// Recomputes values that are NaN, from the residuals of all permutations that may be the best.
static __global__ void __launch_bounds__(kPermutedThreads) recompute_permuted(PermutedTask task) {
    const Index pair = blockIdx.x * Index{kPermutedThreads} + threadIdx.x;
    if (pair >= task.pairs() || task.value(pair) >= 0) return;
    const Index row = task.row_block.first + pair / task.column_block.count;
    const Index column = task.column_block.first + pair % task.column_block.count;
    const double margin = kChoiceMargin * (task.row_square[row] + task.column_square[column]);
    double best = 0.0, min_sum = -1.0;
    for_each_permutation(task, pair, [&](Index, const double(&r)[9]) {
        if (is_below(r, best)) return;
        const double root = Quartic(r).root_above(best);
        best = root > best ? root : best;
    });
    for_each_permutation(task, pair, [&](Index permutation, const double(&r)[9]) {
        const double limit = best - margin;
        if (is_below(r, limit) || Quartic(r).root_above(limit) < limit) return;
        const double sum = permuted_residual(task, row, column, permutation, r);
        if (!(min_sum >= 0) || sum < min_sum) min_sum = sum;
    });
    task.value(pair) = static_cast<float>(std::sqrt(min_sum / task.bounds.weight));
}

}  // namespace pleat::rmsd::cuda
