// Fit on a GPU: RMSDs of two sets, of all atoms, of some after superposing others, or in place.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "pleat/rmsd/cuda/fit_pairs.cuh"
#include "pleat/rmsd/measures/comparison.h"

namespace pleat::rmsd::cuda {

template <class Gpu>
class FitOnGpu {
public:
    /// One set if `rows` and `columns` are the same object. `cutoff`: see Accuracy.
    FitOnGpu(const FitFrames& rows, const FitFrames& columns, double cutoff, Gpu gpu)
        : gpu_(std::move(gpu)), rows_(rows, columns, gpu_) {
        if (&rows != &columns) columns_.emplace(columns, columns, gpu_);
        task_.rows = rows_.side();
        task_.columns = columns_ ? columns_->side() : task_.rows;
        task_.fitted = rows.is_in_place() ? 0 : rows.fit.atom_count();
        measures_others_ = rows.measures_others();
        task_.atoms = measures_others_ ? rows.measured.extent(2) : task_.fitted;
        task_.bounds = {rows.weight, octet_product_error(task_.atoms), kRotationError,
                        kFitTolerance, cutoff};
        const std::vector<Index> orders = order_numbers(rows.equal_orders);
        if (!orders.empty()) {
            orders_ = Array<Index>(static_cast<Index>(orders.size()));
            orders_.upload(orders.data());
        }
        task_.orders = {orders_.data(), static_cast<Index>(rows.equal_orders.size())};
        is_tiled_ = is_tiled(rows);
        mode_ = rows.is_in_place()       ? FitMode::in_place
                : rows.measures_others() ? FitMode::others
                                         : FitMode::superposed;
    }

    /// Starts the RMSDs of each row with each column, [row, column], in the memory of the GPU.
    void run(Block rows, Block columns, float* values) {
        if (rows.count == 0 || columns.count == 0) return;
        FitTask task = task_;
        task.row_block = rows;
        task.column_block = columns;
        task.values = values;
        const auto tiles = [](Block block, Index side) {
            return (block.first % kOctet + block.count + side - 1) / side;
        };
        task.row_tiles = tiles(rows, kProductRows);
        if (is_tiled_)
            gpu_.launch("superpose frames",
                        mode_ == FitMode::in_place ? &fit_tiles<FitMode::in_place>
                        : mode_ == FitMode::others ? &fit_tiles<FitMode::others>
                                                   : &fit_tiles<FitMode::superposed>,
                        pleat::cuda::Sides{task.row_tiles * tiles(columns, kProductColumns)},
                        pleat::cuda::Sides{kProductThreads}, fit_tile_bytes(mode_), task);
        gpu_.launch("superpose doubtful pairs", &recompute_fits,
                    pleat::cuda::Sides{(columns.count + kExactThreads - 1) / kExactThreads,
                                       std::min(rows.count, kMaxGridRows)},
                    pleat::cuda::Sides{kExactThreads}, 0, task, !is_tiled_);
    }

    /// About how long a pair takes, in nanoseconds.
    double cost() const {
        const double products =
            9.0 * static_cast<double>(task_.fitted + (measures_others_ ? task_.atoms : 0));
        return is_tiled_ ? 0.03 + 5e-5 * products : 0.5 + 2e-3 * products;
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;

    static constexpr double kRotationError = 1e-13;  // radians

    /// Pairs with atoms that may change places are computed one by a thread.
    static bool is_tiled(const FitFrames& frames) { return frames.equal_orders.empty(); }

    class Side {
    public:
        /// In place, frames are kept as deviations from the first of `columns`.
        Side(const FitFrames& frames, const FitFrames& columns, const Gpu& gpu)
            : fit_(frames.fit.xyz.size()), measured_(frames.measured.size()) {
            const bool has_others = frames.measures_others();
            if (fit_.size() > 0) fit_.upload(frames.fit.xyz.data());
            if (has_others) measured_.upload(frames.measured.data());
            if (!is_tiled(frames)) return;
            const Index count = frames.frame_count();
            const Index atoms = has_others ? frames.measured.extent(2) : 0;
            squares_ = Array<double>(count);
            if (frames.is_in_place()) {
                Array<double> common(3 * atoms);
                common.upload(columns.measured.data());
                gpu.launch("subtract a structure", &subtract_common,
                           pleat::cuda::Sides{(count + kExactThreads - 1) / kExactThreads},
                           pleat::cuda::Sides{kExactThreads}, 0, measured_.data(), count, 3 * atoms,
                           static_cast<const double*>(common.data()), squares_.data());
                fit_octets_ = {measured_.data(), count, atoms, {}, gpu};
                return;
            }
            squares_.upload(has_others ? frames.square_sum.data() : frames.fit.square_sum.data());
            fit_octets_ = {fit_.data(), count, frames.fit.atom_count(), {}, gpu};
            if (has_others) measured_octets_ = {measured_.data(), count, atoms, {}, gpu};
        }

        FitSide side() const {
            const bool has_others = measured_.size() > 0;
            return {fit_octets_.octets(), measured_octets_.octets(), squares_.data(), fit_.data(),
                    has_others ? measured_.data() : fit_.data()};
        }

    private:
        Array<double> fit_, measured_, squares_;
        PackedOctets<Gpu> fit_octets_, measured_octets_;
    };

    Gpu gpu_;
    Side rows_;
    std::optional<Side> columns_;
    Array<Index> orders_;
    FitTask task_{};
    FitMode mode_ = FitMode::superposed;
    bool measures_others_ = false, is_tiled_ = false;
};

}  // namespace pleat::rmsd::cuda
