// pleat rmsd against one structure: a file, a frame or the mean; fluctuations; superposed frames.
#pragma once

#include <optional>

#include "pleat/rmsd/rmsd.h"
#include "rmsd/rmsd_sets.h"

namespace pleat::program {

/// Compares, over all ranks; the leading one, which has `run`, writes reference.tsv and what else
/// is asked for, and returns the values' summary. With --relabel the chains of the frames change
/// places.
rmsd::Result run_reference(ComparedFrames& compared, const SetOptions& options,
                           const rmsd::Parameters& parameters, Ranks& ranks, const Context& context,
                           std::optional<RunDirectory>& run);

}  // namespace pleat::program
