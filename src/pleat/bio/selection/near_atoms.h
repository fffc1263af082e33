// Near atoms: the atoms of a topology that are within a distance of others.
#pragma once

#include "pleat/bio/selection/selection_terms.h"

namespace pleat::selection {

/// 1 for atoms at most `distance` angstrom from any atom of `others`, and for these. Positions are
/// those of the topology's file; periodic images do not count. Throws InputError if the topology
/// has no positions.
Flags near_flags(const Topology& topology, const Flags& others, double distance);

}  // namespace pleat::selection
