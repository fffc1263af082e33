// Common structure: one that all frames of an ensemble are near, and turning frames onto it.
#pragma once

#include <vector>

#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd {

/// The frames, of `count`, that common_structure() averages: up to 1000, spread evenly.
std::vector<Index> averaged_frames(Index count);

/// The mean, [axis, atom] in angstrom, of averaged_frames(), turned onto the first frame; or
/// `frames.common` if it is set.
std::vector<double> common_structure(const Frames& frames, int threads);

/// `frame` turned onto `target` by the best rotation; all are [axis, atom].
void turn_onto(const double* frame, const double* target, Index atoms, double* turned);

}  // namespace pleat::rmsd
