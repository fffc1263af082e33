// Fit on a GPU: RMSDs of two sets in float64, of all atoms, of some after superposing others, or in
// place.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "pleat/core/loops/sweep.h"
#include "pleat/rmsd/cuda/pair_product.cuh"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/measures/fit_pair.h"
#include "pleat/rmsd/superposition/superpose.h"

namespace pleat::rmsd::cuda {

/// The required accuracy of a value, and when it is recomputed.
struct FitBounds {
    double weight;          ///< the divisor of a sum of squares
    double product_error;   ///< of a sum of products, in units of the frames' norms
    double rotation_error;  ///< of the rotation, in radians
    double tolerance;       ///< of values, angstrom
    double cutoff;          ///< values nearer to it than 1e-6 are recomputed; 0: none
};

/// Smaller than the documented error, since values are afterwards rounded to float32.
constexpr double kFitTolerance = 5e-7;

/// The error of a sum of products in units of both norms, as product_error() of pair_block.cpp.
inline double octet_product_error(Index atoms) {
    constexpr double kUnit = 1.1e-16;
    return 2 * kUnit * (0.5 * static_cast<double>(atoms) + 1) /
           std::sqrt(static_cast<double>(std::max<Index>(atoms, 1)));
}

/// The RMSD of frames with these sums of squares, if superposition reaches the sum of products
/// `reached`; NaN if its error may exceed the tolerance.
__device__ __forceinline__ float certain_rmsd(double p_square, double q_square,
                                              const SumWithError& reached, double size,
                                              const FitBounds& bounds) {
    const double sum = p_square + q_square, left = sum - 2 * reached.sum;
    const double rmsd = std::sqrt((left > 0 ? left : 0.0) / bounds.weight);
    // Half of the error of the mean square.
    const double error =
        (reached.error + bounds.product_error * size + 4.4e-16 * sum) / bounds.weight;
    const bool is_certain = error < bounds.tolerance * rmsd;
    const bool is_near =
        bounds.cutoff > 0 && std::fabs(rmsd - bounds.cutoff) < 1e-6 + 1.2e-7 * bounds.cutoff;
    return is_certain && !is_near ? static_cast<float>(rmsd) : NAN;
}

/// One side: packed frames with their sums of squares, and the frames [frame, axis, atom]. Both
/// have the same atoms if all measured atoms are fitted.
struct FitSide {
    FrameOctets fit, measured;
    const double* square;  ///< [frame]: of the measured atoms
    const double *fit_xyz, *measured_xyz;
};

struct FitTask {
    FitSide rows, columns;
    Index fitted, atoms;  ///< fitted 0: in place
    Block row_block, column_block;
    Index row_tiles;
    FitBounds bounds;
    OrderTable orders;
    float* values;  ///< [row, column]
};

/// The tile of a CTA, in two blocks of frames with `row_tiles` tiles of rows.
struct BlockTile {
    Block rows, columns;
    Index row_octet, column_octet;

    __device__ BlockTile(const Block& row_block, const Block& column_block, Index row_tiles)
        : rows(row_block),
          columns(column_block),
          row_octet(rows.first / kOctet + blockIdx.x % row_tiles * kRowOctets),
          column_octet(columns.first / kOctet + blockIdx.x / row_tiles * kColumnOctets) {}

    /// The position of a thread's pair in the blocks; row -1 means outside.
    struct Position {
        Index row, column;
    };
    __device__ __forceinline__ Position position(int pair) const {
        const ProductPosition found = product_position(pair);
        const Index row = row_octet * kOctet + found.row - rows.first;
        const Index column = column_octet * kOctet + found.column - columns.first;
        const bool is_inside =
            row >= 0 && row < rows.count && column >= 0 && column < columns.count;
        return {is_inside ? row : -1, column};
    }
};

/// What a tile computes: RMSD of the superposed atoms, of other atoms, or without superposition.
enum class FitMode { superposed, others, in_place };

/// Bytes of shared memory of fit_tiles(), including quaternions kept during the second product.
constexpr Index fit_tile_bytes(FitMode mode) {
    return kProductBytes + (mode == FitMode::others ? 4 * kThreadPairs * kProductThreads * 8 : 0);
}

/// tr(U R) for the rotation U of a unit quaternion.
__device__ __forceinline__ double turned_trace(const double (&r)[9],
                                               const double (&quaternion)[4]) {
    double n[4][4], sum = 0.0;
    key_matrix(r, n);
    for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b) sum += quaternion[a] * n[a][b] * quaternion[b];
    return sum;
}

/// The unit quaternion of the superposition; NaN if it is uncertain.
__device__ __forceinline__ void unit_quaternion(const double (&r)[9], double (&quaternion)[4]) {
    const bool is_certain = quaternion_by_adjugate(r, Quartic(r).largest_root(), quaternion);
    double square = 0.0;
    for (const double entry : quaternion) square += entry * entry;
    const double scale = is_certain ? 1.0 / std::sqrt(square) : NAN;
    for (double& entry : quaternion) entry *= scale;
}

/// One CTA per tile. Uncertain values are set to NaN.
template <FitMode kMode>
__global__ void __launch_bounds__(kProductThreads, kCtasOfProcessor) fit_tiles(FitTask task) {
    PLEAT_DYNAMIC_SHARED(DoublePair, memory);
    const BlockTile tile(task.row_block, task.column_block, task.row_tiles);
    constexpr int kEntries = kMode == FitMode::in_place ? 3 : 9;
    PairSums<kEntries> sums;
    multiply_octets<kEntries>({task.rows.fit, task.columns.fit, tile.row_octet, tile.column_octet,
                               0, 0, task.rows.fit.steps},
                              memory, sums);
    if constexpr (kMode == FitMode::others) {
        // [part][pair][thread], each only used by its thread
        double* const kept = &memory[kProductBytes / 16].x + threadIdx.x;
#pragma unroll
        for (int pair = 0; pair < kThreadPairs; ++pair) {
            double r[9], quaternion[4];
#pragma unroll
            for (int entry = 0; entry < 9; ++entry) r[entry] = sums[entry][pair];
            unit_quaternion(r, quaternion);
#pragma unroll
            for (int part = 0; part < 4; ++part)
                kept[(part * kThreadPairs + pair) * kProductThreads] = quaternion[part];
        }
        multiply_octets<9>({task.rows.measured, task.columns.measured, tile.row_octet,
                            tile.column_octet, 0, 0, task.rows.measured.steps},
                           memory, sums);
    }
#pragma unroll
    for (int pair = 0; pair < kThreadPairs; ++pair) {
        const auto [row, column] = tile.position(pair);
        if (row < 0) continue;
        const double p = task.rows.square[row + task.row_block.first];
        const double q = task.columns.square[column + task.column_block.first];
        const double size = std::sqrt(p * q);
        double r[kEntries];
#pragma unroll
        for (int entry = 0; entry < kEntries; ++entry) r[entry] = sums[entry][pair];
        SumWithError reached;
        if constexpr (kMode == FitMode::others) {
            const double* const kept = &memory[kProductBytes / 16].x + threadIdx.x;
            double quaternion[4];
#pragma unroll
            for (int part = 0; part < 4; ++part)
                quaternion[part] = kept[(part * kThreadPairs + pair) * kProductThreads];
            reached = {turned_trace(r, quaternion), task.bounds.rotation_error * size};
        } else if constexpr (kMode == FitMode::in_place) {
            reached = {r[0] + r[1] + r[2], 0.0};
        } else {
            reached = sum_with_error(r, size);
        }
        task.values[row * task.column_block.count + column] =
            certain_rmsd(p, q, reached, size, task.bounds);
    }
}

/// One pair from the residuals of rotated coordinates, by one thread.
__device__ __attribute__((noinline)) inline float exact_fit(const FitTask& task, Index row,
                                                            Index column) {
    double m[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    if (task.fitted > 0) {
        double r[9];
        covariance_of(task.rows.fit_xyz + row * 3 * task.fitted,
                      task.columns.fit_xyz + column * 3 * task.fitted, task.fitted, r);
        rotation_of_covariance(r, m);
    }
    const double sum = best_residual(task.rows.measured_xyz + row * 3 * task.atoms,
                                     task.columns.measured_xyz + column * 3 * task.atoms,
                                     task.atoms, m, task.orders);
    return static_cast<float>(std::sqrt(sum / task.bounds.weight));
}

constexpr int kExactThreads = 128;

/// Subtracts `common` from frames [frame, axis, atom], which keeps distances between frames and
/// reduces cancellation, and sums their squares. One thread per frame.
static __global__ void __launch_bounds__(kExactThreads)
    subtract_common(double* xyz, Index frames, Index numbers, const double* common,
                    double* square) {
    const Index frame = blockIdx.x * Index{kExactThreads} + threadIdx.x;
    if (frame >= frames) return;
    double sum = 0.0;
    for (Index n = 0; n < numbers; ++n) {
        double& x = xyz[frame * numbers + n];
        x -= common[n];
        sum += x * x;
    }
    square[frame] = sum;
}

constexpr Index kMaxGridRows = 65535;

/// Recomputes values that are NaN, or all; a thread per value.
static __global__ void __launch_bounds__(kExactThreads)
    recompute_fits(FitTask task, bool recomputes_all) {
    const Index column = blockIdx.x * Index{kExactThreads} + threadIdx.x;
    if (column >= task.column_block.count) return;
    for (Index row = blockIdx.y; row < task.row_block.count; row += gridDim.y) {
        float& value = task.values[row * task.column_block.count + column];
        if (recomputes_all || !(value >= 0))
            value = exact_fit(task, row + task.row_block.first, column + task.column_block.first);
    }
}

template <class Gpu>
class FitOnGpu {
public:
    /// `rows` and `columns` are the same object if there is one set. `cutoff`: see Accuracy.
    FitOnGpu(const FitFrames& rows, const FitFrames& columns, double cutoff, Gpu gpu)
        : gpu_(std::move(gpu)), rows_(rows, columns, gpu_) {
        if (&rows != &columns) columns_.emplace(columns, columns, gpu_);
        task_.rows = rows_.side();
        task_.columns = columns_ ? columns_->side() : task_.rows;
        task_.fitted = rows.is_in_place() ? 0 : rows.fit.atom_count();
        measures_others_ = rows.measures_other_atoms();
        task_.atoms = measures_others_ ? rows.measured.extent(2) : task_.fitted;
        task_.bounds = {rows.weight, octet_product_error(task_.atoms), kRotationError,
                        kFitTolerance, cutoff};
        const std::vector<Index> orders = order_numbers(rows.equal_orders);
        if (!orders.empty()) {
            orders_ = Array<Index>(std::ssize(orders));
            orders_.upload(orders.data());
        }
        task_.orders = {orders_.data(), std::ssize(rows.equal_orders)};
        is_tiled_ = is_tiled(rows);
        mode_ = rows.is_in_place()            ? FitMode::in_place
                : rows.measures_other_atoms() ? FitMode::others
                                              : FitMode::superposed;
    }

    /// Starts computing the RMSDs of each row with each column, [row, column], in GPU memory.
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

    /// Approximate nanoseconds per pair.
    double cost() const {
        const double products =
            9.0 * static_cast<double>(task_.fitted + (measures_others_ ? task_.atoms : 0));
        return is_tiled_ ? 0.03 + 5e-5 * products : 0.5 + 2e-3 * products;
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;

    static constexpr double kRotationError = 1e-13;  // radians

    /// Pairs with interchangeable atoms are computed one per thread.
    static bool is_tiled(const FitFrames& frames) { return frames.equal_orders.empty(); }

    class Side {
    public:
        /// Without superposition, frames are stored as deviations from the first frame of
        /// `columns`.
        Side(const FitFrames& frames, const FitFrames& columns, const Gpu& gpu)
            : fit_(frames.fit.xyz.size()), measured_(frames.measured.size()) {
            const bool has_others = frames.measures_other_atoms();
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
