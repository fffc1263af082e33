// Common structure: one that all frames of an ensemble are near, and turning frames onto it.
#pragma once

#include <vector>

#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd {

/// The mean, [axis, atom] in angstrom, of up to 1000 frames spread evenly over the ensemble, turned
/// onto the first frame.
std::vector<double> common_structure(const Frames& frames, int threads);

/// `frame` turned onto `target` by the best rotation; all are [axis, atom].
void turn_onto(const double* frame, const double* target, Index atoms, double* turned);

}  // namespace pleat::rmsd
