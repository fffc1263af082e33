// Permuted on a GPU: RMSDs of all superposed atoms, the least over permutations of some.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "pleat/core/cuda/grow.h"
#include "pleat/rmsd/cuda/permuted_fits.cuh"
#include "pleat/rmsd/measures/place_table.h"

namespace pleat::rmsd::cuda {

/// Bytes of the covariances of blocks that are on the GPU at a time.
constexpr Index kBlockSumBytes = Index{1} << 29;

template <class Gpu>
class PermutedOnGpu {
public:
    /// Rows are the frames from `first_row` on, columns those from 0 on; atoms of `table` are those
    /// of frames. `cutoff`: see Accuracy.
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
        choices_ = uploaded(table.choices);
        changed_ = uploaded(changes_of(table));
        products_ = packing.products;
        task_.rows = rows_.octets();
        task_.columns = columns_.octets();
        task_.blocks = blocks_.data();
        task_.block_count = blocks_.size();
        task_.depth = table.depth;
        task_.permutations = table.permutations();
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

    /// Starts the RMSDs of each row with each column, [row, column], in the memory of the GPU.
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

    /// About how long a pair takes, in nanoseconds.
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
                                  steps_of(static_cast<Index>(block.row.size()))});
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
            const auto step = static_cast<Index>(packed.size()) / kStepAtoms;
            known.emplace_back(&atoms, step);
            for (const Index atom : atoms) packed.push_back(static_cast<std::int32_t>(atom));
            packed.resize(static_cast<std::size_t>(
                              (step + steps_of(static_cast<Index>(atoms.size()))) * kStepAtoms),
                          -1);
            return step;
        }
        std::vector<std::int32_t> row, column;
        std::vector<BlockSteps> blocks;
        double products = 0.0;
    };

    template <class Values>
    static auto uploaded(const Values& values) {
        using T = std::remove_cvref_t<decltype(*values.begin())>;
        Array<T> array(static_cast<Index>(values.size()));
        if (array.size() > 0) array.upload(&*values.begin());
        return array;
    }

    static std::vector<std::int32_t> changes_of(const PlaceTable& table) {
        std::vector<std::int32_t> changes{0};
        const std::int32_t* choice = table.choices.data();
        for (Index n = 1; n < table.permutations(); ++n, choice += table.depth)
            changes.push_back(static_cast<std::int32_t>(
                std::mismatch(choice, choice + table.depth, choice + table.depth).first - choice));
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
