// GPU comparisons: the measures that GPUs compute, as make_drmsd() and others make them on CPUs.
#pragma once

#include <memory>
#include <vector>

#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/measures/permutations.h"

namespace pleat::rmsd {

// Each runs on the GPU `context.device.index` and is made and used by one thread. Throws
// DeviceError if the GPU is missing or out of memory, and the errors of the CPU function of the
// same name.

/// dRMSD of frames; copies them and checks them like check_coordinates().
std::unique_ptr<Comparison> make_drmsd_on_cuda(const TwoSets& sides,
                                               const std::vector<double>& weights,
                                               FitPrecision precision, const Context& context);
/// RMSD of frames prepared by fit_frames(), which are copied; for a single set both sides are the
/// same object. RMSDs near `cutoff` (0: none) are computed from residuals.
std::unique_ptr<Comparison> make_fit_on_cuda(const FitFrames& rows, const FitFrames& columns,
                                             double cutoff, const Context& context);
std::unique_ptr<Comparison> make_lddt_on_cuda(const LddtFrames& frames, const Context& context);
/// RMSD of all fitted atoms, minimised over all permutations in `table`; frames are copied. Rows
/// are the frames from `first_row` on; columns are the frames before it, or all frames if it is 0.
std::unique_ptr<Comparison> make_permuted_on_cuda(const Frames& frames, Index first_row,
                                                  const PlaceTable& table, double cutoff,
                                                  const Context& context);

std::unique_ptr<Comparison> make_tm_on_cuda(const FrameSet& rows, const FrameSet& columns,
                                            Metric metric, const Context& context);

}  // namespace pleat::rmsd
