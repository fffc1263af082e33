// Comparison: any measure of pairs of structures, a block of pairs at a time.
#pragma once

#include <memory>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/core/view.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/measures/metric.h"
#include "pleat/rmsd/pairs/atom_sets.h"
#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd {

/// What is compared with what: [frame, atom, axis], the same atoms on both sides. Where both sides
/// are the same data they are prepared once.
struct Sides {
    View<const float, 3> rows, columns;
    bool are_one() const {
        return rows.data == columns.data && rows.extent(0) == columns.extent(0);
    }
};

/// Frames of one side with those of the other. Each value depends on its two frames alone (in
/// `Precision::mixed` to the bounds in README.md), whatever block asks for it.
class Comparison {
public:
    virtual ~Comparison() = default;
    /// The value of each row with each column, [row, column]. Called from several threads at a
    /// time.
    virtual void block(Block rows, Block columns, float* values) const = 0;
    /// Rows and columns that blocks should have.
    virtual Index block_rows() const { return 16; }
    virtual Index block_columns() const { return 16; }
    /// About how long a pair takes, in nanoseconds: what tiles are cut by.
    virtual double cost() const = 0;
};

/// How exact values are to be. Plain RMSDs near `cutoff` (0: none) are on its side that float64 has
/// them on, whatever the precision.
struct Exactness {
    Precision precision = Precision::mixed;
    double cutoff = 0.0;
};

/// The measure that `metric` names, by the device of `context`: reference or cpu. DeviceError for
/// another; InputError as centre() says.
std::unique_ptr<Comparison> make_comparison(const Sides& sides, const AtomSets& atoms,
                                            const Metric& metric, const Exactness& exactness,
                                            const Context& context);

/// Bytes that a comparison of these atoms and frames (of both sides) needs, beside its lists.
std::int64_t comparison_memory(Index frames, Index atoms, const Metric& metric, bool has_fit);

/// All pairs of two blocks spread over threads, [row, column].
void compare(const Comparison& comparison, Block rows, Block columns, int threads, float* values);

/// A comparison of one set with itself as a kernel of its pairs; `comparison` must outlive it.
std::unique_ptr<Kernel> make_pair_kernel(const Comparison& comparison, Index frames, int threads);

// The measures. `frames` are the rows, `others` the columns; null: the same.

/// Plain RMSD; `all` holds the columns and then the rows.
std::unique_ptr<Comparison> make_rmsd(Frames all, Index columns, Precision precision, double cutoff,
                                      const Context& context);

/// Structures of one side for make_fit_rmsd(): both parts have their origin at the mean of the
/// fitted atoms.
struct FitFrames {
    Frames fit;
    Array<double, 3> measured;  ///< [frame, axis, atom], each atom times the root of its weight
    double weight = 0.0;        ///< of all measured atoms
};
/// RMSD of some atoms after superposing others.
std::unique_ptr<Comparison> make_fit_rmsd(FitFrames rows, std::unique_ptr<FitFrames> columns,
                                          const Context& context);

/// dRMSD: root mean square difference of the distances between atoms. `frames` are not weighted;
/// `weights` of atoms, empty: 1.
std::unique_ptr<Comparison> make_drmsd(Frames rows, std::unique_ptr<Frames> columns,
                                       const std::vector<double>& weights, Precision precision,
                                       const Context& context);

/// TM-score or GDT_TS; frames are not weighted.
std::unique_ptr<Comparison> make_tm(Frames rows, std::unique_ptr<Frames> columns,
                                    const Metric& metric, const Context& context);

}  // namespace pleat::rmsd
