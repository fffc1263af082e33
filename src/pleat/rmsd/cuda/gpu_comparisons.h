// GPU comparisons: the measures that GPUs compute, as make_drmsd() and others make them on CPUs.
#pragma once

#include <memory>
#include <vector>

#include "pleat/rmsd/measures/comparison.h"

namespace pleat::rmsd {

// Each on the GPU `context.device.index`, made and used by one thread. Throw DeviceError if it is
// missing or out of memory, and as what they are called after.

/// The frames are copied.
std::unique_ptr<Comparison> make_drmsd_on_cuda(const Frames& rows, const Frames& columns,
                                               const std::vector<double>& weights,
                                               Precision precision, const Context& context);
std::unique_ptr<Comparison> make_lddt_on_cuda(const LddtFrames& frames, const Context& context);

std::unique_ptr<Comparison> make_tm_on_cuda(const FrameSet& rows, const FrameSet& columns,
                                            Metric metric, const Context& context);

}  // namespace pleat::rmsd
