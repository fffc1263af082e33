// Permuted on a GPU: RMSDs of all superposed atoms, the least over permutations of some, from
// covariances of blocks of atoms.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "pleat/core/cuda/grow.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/rmsd/cuda/fit_on_gpu.cuh"
#include "pleat/rmsd/measures/permutations.h"

namespace pleat::rmsd::cuda {

/// Largest number of interchangeable blocks (chains, or groups of atoms) besides the block that
/// never moves: for example 24 chains in 12 pairs of equal ones.
constexpr int kMaxDepth = 24;

/// Positions of a block's atoms among the packed atoms.
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

/// Calls visit(permutation, covariance) for each permutation of a pair.
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

/// Whether a bound proves that no rotation gives this covariance a trace of `limit` or more.
__device__ __forceinline__ bool is_below(const double (&r)[9], double limit) {
    double square = 0.0;
    for (const double entry : r) square += entry * entry;
    return limit > 0 && 3.0 * square < limit * limit;
}

/// Sums of products that are nearer to the best one than this times all squares may be the best
/// (permutations.h).
constexpr double kChoiceMargin = 0.5e-6;

constexpr int kPermutedThreads = 128;

/// One thread per pair. Uncertain values are set to NaN.
static __global__ void __launch_bounds__(kPermutedThreads) permute_blocks(PermutedTask task) {
    const Index pair = blockIdx.x * Index{kPermutedThreads} + threadIdx.x;
    if (pair >= task.pairs()) return;
    const double p = task.row_square[task.row_block.first + pair / task.column_block.count];
    const double q = task.column_square[task.column_block.first + pair % task.column_block.count];
    const double margin = kChoiceMargin * (p + q), size = std::sqrt(p * q);
    // The best sum, to 1e-7 and exactly, and the best one whose exact value is not known.
    double best = 0.0, unknown = -1.0;
    SumWithError reached{0.0, 0.0};
    for_each_permutation(task, pair, [&](Index, const double(&r)[9]) {
        const double limit = best - margin;
        if (is_below(r, limit)) return;
        const double root = Quartic(r).root_above(limit);
        if (root < limit) return;
        best = root > best ? root : best;
        const SumWithError exact = sum_with_error(r, size);
        if (!(exact.error < INFINITY)) unknown = root > unknown ? root : unknown;
        if (exact.sum > reached.sum) reached = exact;
    });
    const bool is_known = unknown < best - margin;
    task.value(pair) = is_known ? certain_rmsd(p, q, reached, size, task.bounds) : NAN;
}

/// The residual of a permutation with its optimal rotation.
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

/// Maximum bytes of block covariances on the GPU at a time.
constexpr Index kBlockSumBytes = Index{1} << 29;

template <class Gpu>
class PermutedOnGpu {
public:
    /// Rows are the frames from `first_row` on, columns the frames from 0 on; `table` refers to
    /// atoms of the frames. `cutoff`: see Accuracy.
    PermutedOnGpu(const Frames& frames, Index first_row, const PlaceTable& table, double cutoff,
                  Gpu gpu, Index sum_bytes = kBlockSumBytes)
        : gpu_(std::move(gpu)), sum_bytes_(sum_bytes) {
        if (table.depth > kMaxDepth) throw std::logic_error("too many groups of permuted atoms");
        const Index atoms = frames.atom_count(), count = frames.frame_count();
        xyz_ = uploaded(frames.xyz);
        squares_ = uploaded(frames.square_sum);
        const Packing packing(table);
        const double* const row_xyz = xyz_.data() + first_row * 3 * atoms;
        rows_ = {row_xyz, count - first_row, atoms, packing.row, gpu_};
        columns_ = {xyz_.data(), first_row > 0 ? first_row : count, atoms, packing.column, gpu_};
        row_atoms_ = uploaded(packing.row);
        column_atoms_ = uploaded(packing.column);
        blocks_ = uploaded(packing.blocks);
        const std::vector<PlaceChoice> choices = table.choices();
        std::vector<std::int32_t> all;
        for (const PlaceChoice& choice : choices)
            all.insert(all.end(), choice.begin(), choice.end());
        choices_ = uploaded(all);
        changed_ = uploaded(changes_of(choices));
        products_ = packing.products;
        task_.rows = rows_.octets();
        task_.columns = columns_.octets();
        task_.blocks = blocks_.data();
        task_.block_count = blocks_.size();
        task_.depth = table.depth;
        task_.permutations = std::ssize(choices);
        task_.choices = choices_.data();
        task_.changed = changed_.data();
        task_.row_atoms = row_atoms_.data();
        task_.column_atoms = column_atoms_.data();
        task_.row_xyz = row_xyz;
        task_.column_xyz = xyz_.data();
        task_.row_square = squares_.data() + first_row;
        task_.column_square = squares_.data();
        task_.atoms = atoms;
        task_.bounds = {frames.weight, octet_product_error(atoms), 0.0, kFitTolerance, cutoff};
    }

    /// Starts computing the RMSDs of each row with each column, [row, column], in GPU memory.
    void run(Block rows, Block columns, float* values) {
        const Index fitting = std::max<Index>(1, sum_bytes_ / (72 * task_.block_count));
        const Index width = std::min(columns.count, fitting);
        const Index height = fitting / std::max<Index>(width, 1);
        for (Index row = 0; row < rows.count; row += height)
            for (Index column = 0; column < columns.count; column += width)
                run_some({rows.first + row, std::min(height, rows.count - row)},
                         {columns.first + column, std::min(width, columns.count - column)},
                         values + row * columns.count + column, columns.count);
    }

    /// Approximate nanoseconds per pair.
    double cost() const {
        return 0.1 + 5e-5 * 9.0 * products_ +
               2e-3 * static_cast<double>(task_.block_count + task_.permutations);
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;

    /// The atoms of all blocks one after another, each block's from a step on. Blocks of the same
    /// atoms share them.
    struct Packing {
        explicit Packing(const PlaceTable& table) {
            std::vector<std::pair<const std::vector<Index>*, Index>> known[2];
            for (const PlaceTable::Atoms& block : table.blocks) {
                blocks.push_back({step_of(block.row, known[0], row),
                                  step_of(block.column, known[1], column),
                                  steps_of(std::ssize(block.row))});
                products += static_cast<double>(block.row.size());
            }
            for (auto* side : {&row, &column})
                if (side->empty()) side->assign(kStepAtoms, -1);
        }
        static Index step_of(const std::vector<Index>& atoms,
                             std::vector<std::pair<const std::vector<Index>*, Index>>& known,
                             std::vector<std::int32_t>& packed) {
            for (const auto& [same, step] : known)
                if (*same == atoms) return step;
            const auto step = std::ssize(packed) / kStepAtoms;
            known.emplace_back(&atoms, step);
            for (const Index atom : atoms) packed.push_back(static_cast<std::int32_t>(atom));
            packed.resize((step + steps_of(std::ssize(atoms))) * kStepAtoms, -1);
            return step;
        }
        std::vector<std::int32_t> row, column;
        std::vector<BlockSteps> blocks;
        double products = 0.0;
    };

    template <class Values>
    static auto uploaded(const Values& values) {
        using T = std::remove_cvref_t<decltype(*values.begin())>;
        Array<T> array(std::ssize(values));
        if (array.size() > 0) array.upload(&*values.begin());
        return array;
    }

    static std::vector<std::int32_t> changes_of(const std::vector<PlaceChoice>& choices) {
        std::vector<std::int32_t> changes{0};
        for (std::size_t n = 1; n < choices.size(); ++n)
            changes.push_back(static_cast<std::int32_t>(
                std::ranges::mismatch(choices[n - 1], choices[n]).in1 - choices[n - 1].begin()));
        return changes;
    }

    void run_some(Block rows, Block columns, float* values, Index stride) {
        PermutedTask task = task_;
        task.row_block = rows;
        task.column_block = columns;
        task.values = values;
        task.stride = stride;
        const Index pairs = rows.count * columns.count;
        pleat::cuda::grow(sums_, 9 * task.block_count * pairs);
        task.sums = sums_.data();
        const auto tiles = [](Block block, Index side) {
            return (block.first % kOctet + block.count + side - 1) / side;
        };
        task.row_tiles = tiles(rows, kProductRows);
        gpu_.launch(
            "multiply blocks of atoms", &multiply_blocks,
            pleat::cuda::Sides{task.row_tiles * tiles(columns, kProductColumns), task.block_count},
            pleat::cuda::Sides{kProductThreads}, kProductBytes, task);
        const pleat::cuda::Sides grid{(pairs + kPermutedThreads - 1) / kPermutedThreads},
            threads{kPermutedThreads};
        gpu_.launch("permute blocks of atoms", &permute_blocks, grid, threads, 0, task);
        gpu_.launch("superpose doubtful permutations", &recompute_permuted, grid, threads, 0, task);
    }

    Gpu gpu_;
    Index sum_bytes_;
    double products_ = 0.0;
    Array<double> xyz_, squares_, sums_;
    PackedOctets<Gpu> rows_, columns_;
    Array<std::int32_t> row_atoms_, column_atoms_, choices_, changed_;
    Array<BlockSteps> blocks_;
    PermutedTask task_{};
};

}  // namespace pleat::rmsd::cuda
