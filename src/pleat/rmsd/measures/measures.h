// Measures: pairs by any metric, fitted on some atoms and measured on others; sets against sets and
// against one structure.
#pragma once

#include <string_view>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/view.h"
#include "pleat/rmsd/pairs/atom_sets.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::rmsd {

/// All pairs of `xyz` [frame, atom, axis], angstrom, as rmsd.h says, by `parameters.metric`. For
/// RMSD the atoms `sets.fit` are superposed and `sets.measured` are measured; other metrics look at
/// the measured ones alone, and TM-score and GDT_TS know no weights (UsageError). What is not plain
/// RMSD runs on reference and cpu only (DeviceError).
Result run(View<const float, 3> xyz, const AtomSets& sets, const Parameters& parameters,
           const Context& context, const MatrixPlace& matrix);

/// Every frame with every one of `others`, which have the same atoms. `matrix` becomes float32
/// (a file, or memory) [frame, other] unless `parameters.matrix` is "none"; neighbours and best are
/// others of each frame. Goes on from kept tiles as run() does. Works on one rank. Memory: `others`
/// are prepared whole (rmsd/README.md), the frames of `xyz` some at a time.
Result run_against(View<const float, 3> xyz, View<const float, 3> others, const AtomSets& sets,
                   const Parameters& parameters, const Context& context, const MatrixPlace& matrix);

/// UsageError that `what` goes with pairs of frames, not with one structure.
[[noreturn]] void refuse_with_reference(std::string_view what);
/// What run_reference() refuses of the options: a cut-off, a number of best frames, a full matrix.
void check_with_reference(const Parameters& parameters);

/// Every frame with one structure [atom, axis]. UsageError as check_with_reference() says. Memory
/// does not grow with the frames, but for 8 bytes of each.
struct ReferenceResult {
    std::vector<float> values;  ///< of each frame
    Result summary;             ///< histogram, least, mean, most
};
ReferenceResult run_reference(View<const float, 3> xyz, View<const float, 2> reference,
                              const AtomSets& sets, const Parameters& parameters,
                              const Context& context);

}  // namespace pleat::rmsd
