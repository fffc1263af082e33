// Comparison: any measure of pairs of structures, one rectangle of pairs at a time.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/core/view.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/measures/metric.h"
#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd {

/// The two sets of frames that are compared, each [frame, atom, axis] with the same atoms.
struct TwoSets {
    View<const float, 3> rows, columns;
    /// Whether columns are the reference of measures that have one (lDDT): else both directions
    /// count.
    bool is_reference = false;
    /// Whether both sides are the same data.
    bool are_one() const {
        return rows.data == columns.data && rows.extent(0) == columns.extent(0);
    }
};

/// Frames of one side with those of the other. Each value depends on its two frames only (with
/// FitPrecision::mixed to the error stated in README.md), whatever block asks for it.
class Comparison {
public:
    virtual ~Comparison() = default;
    /// Computes the value of each row with each column, [row, column]. Thread-safe unless
    /// is_on_gpu().
    virtual void block(Block rows, Block columns, float* values) const = 0;
    /// The best numbers of rows and columns for block().
    virtual Index block_rows() const { return 16; }
    virtual Index block_columns() const { return 16; }
    /// Approximate nanoseconds per pair, for dividing the work into tiles.
    virtual double cost() const = 0;
    /// Whether a GPU computes blocks, one at a time, for the thread that made the comparison: the
    /// larger a block, the better.
    virtual bool is_on_gpu() const { return false; }
    /// The object that counts the pairs of one set on a GPU; null if values are only computed.
    virtual PairCounter* counter() const { return nullptr; }
    /// Number of values so far that are not proven to be the minimum; see Accuracy.
    virtual Index unproven() const { return 0; }
};

/// A comparison that computes pairs one by one: `measure(row, column)` returns a value, or
/// `measure()` returns such a function with its own memory for one block.
template <class Measure>
std::unique_ptr<Comparison> one_by_one(double cost, Measure measure, Index block_rows = 16,
                                       Index block_columns = 16) {
    struct OneByOne final : Comparison {
        OneByOne(double of_pair, Measure values, Index rows, Index columns)
            : cost_(of_pair), measure_(std::move(values)), rows_(rows), columns_(columns) {}
        void block(Block rows, Block columns, float* values) const override {
            const auto fill = [&](auto&& value) {
                for (Index i = rows.first; i < rows.first + rows.count; ++i)
                    for (Index j = columns.first; j < columns.first + columns.count; ++j)
                        *values++ = static_cast<float>(value(i, j));
            };
            if constexpr (std::is_invocable_v<const Measure&, Index, Index>)
                fill(measure_);
            else
                fill(measure_());
        }
        Index block_rows() const override { return rows_; }
        Index block_columns() const override { return columns_; }
        double cost() const override { return cost_; }

        double cost_;
        Measure measure_;
        Index rows_, columns_;
    };
    return std::make_unique<OneByOne>(cost, std::move(measure), block_rows, block_columns);
}

/// How exact values are. RMSDs of all fitted atoms that are near `cutoff` (0: none) are recomputed
/// in float64 so that they fall on its correct side.
struct Accuracy {
    FitPrecision precision = FitPrecision::mixed;
    double cutoff = 0.0;
    /// RMSDs that are not proven minimal over all permutations are counted instead of throwing.
    bool allows_unproven = false;
};

/// The comparison by `metric` on the context's device. Throws DeviceError for a measure that GPUs
/// do not compute, InputError as centre().
std::unique_ptr<Comparison> make_comparison(const TwoSets& sides, const AtomSets& atoms,
                                            Metric metric, const Accuracy& accuracy,
                                            const Context& context);

/// Bytes that a comparison of these atoms and frames (of both sides) needs, besides its lists.
std::int64_t comparison_memory(Index frames, Index atoms, Metric metric, bool has_fit);

/// Minimum bytes of GPU memory of a comparison; with more it keeps more data there.
std::int64_t comparison_gpu_memory(Index frames, Index atoms);

/// Computes a rectangle of pairs on several threads, [row, column]; rows of `values` begin every
/// `stride` numbers (0: the number of columns).
void compare(const Comparison& comparison, Block rows, Block columns, int threads, float* values,
             Index stride = 0);

/// Makes a kernel of all pairs from a comparison of one set with itself.
std::unique_ptr<Kernel> make_pair_kernel(std::unique_ptr<const Comparison> comparison, Index frames,
                                         int threads);

// The comparisons. For one set `columns` is the same pointer as `rows`.

/// RMSD of all atoms: `frames` holds the columns first, and the rows from `first_row` on.
std::unique_ptr<Comparison> make_packed_rmsd(FrameSet frames, Index first_row,
                                             FitPrecision precision, double cutoff, int threads);
std::unique_ptr<Comparison> make_reference_rmsd(FrameSet frames, Index first_row);

/// The structures of one side for make_fit_rmsd(); the origin of fitted and measured atoms is the
/// mean of the fitted atoms.
struct FitFrames {
    Frames fit;
    Array<double, 3> measured;  ///< [frame, axis, atom], each atom times the root of its weight
    std::vector<double> square_sum;  ///< [frame]: sum of squares of the measured atoms
    double weight = 0.0;             ///< of all measured atoms
    /// [group][order][position]: positions among the measured atoms; see AtomSets
    std::vector<std::vector<std::vector<Index>>> equal_orders = {};

    bool is_in_place() const { return fit.xyz.size() == 0; }
    /// Whether the measured atoms differ from the fitted atoms.
    bool measures_other_atoms() const { return measured.size() > 0; }
    Index frame_count() const {
        return measures_other_atoms() ? measured.extent(0) : fit.frame_count();
    }
};
/// Prepares the fitted atoms of a side, and the measured atoms shifted with them, or unshifted if
/// frames are not superposed. If both are the same atoms, the measured ones are left out.
FitFrames fit_frames(View<const float, 3> side, const AtomSets& sets, int threads);
/// RMSD of some atoms after superposing others, or without superposition if no atoms are fitted.
std::unique_ptr<Comparison> make_fit_rmsd(std::shared_ptr<const FitFrames> rows,
                                          std::shared_ptr<const FitFrames> columns,
                                          const Context& context);

/// dRMSD on the CPU: root mean square difference of interatomic distances. `weights` [atom], empty:
/// 1; the frames themselves are not weighted.
std::unique_ptr<Comparison> make_drmsd(FrameSet rows, FrameSet columns,
                                       const std::vector<double>& weights, FitPrecision precision,
                                       const Context& context);

/// Both sides of lDDT, [frame, atom, axis]; the same pointer for a single set.
struct LddtFrames {
    std::shared_ptr<const Array<float, 3>> rows, columns;
    std::vector<std::int32_t> residues;  ///< of each atom; empty: each its own
    bool is_reference = false;           ///< whether only the columns' distances count
};
/// lDDT: the fraction of distances below 15 angstrom, between atoms of different residues, that the
/// other frame preserves within 0.5, 1, 2 and 4 angstrom, averaged over these; counts are exact.
/// Throws InputError for more than 2^30 - 1 pairs of atoms, DeviceError if memory is too small.
std::unique_ptr<Comparison> make_lddt(LddtFrames frames, const Context& context);

/// TM-score or GDT_TS; coordinates are not multiplied by weights.
std::unique_ptr<Comparison> make_tm(FrameSet rows, FrameSet columns, Metric metric,
                                    const Context& context);

}  // namespace pleat::rmsd
