// Accessibility: the surface of each residue that water can touch, in area and relative to that of
// an extended peptide.
#pragma once

#include <span>
#include <vector>

#include "pleat/bio/structure/topology.h"
#include "pleat/core/context.h"
#include "pleat/core/view.h"

#pragma GCC visibility push(default)

namespace pleat {

/// Solvent-accessible surfaces of the residues of a topology.
struct Accessibility {
    std::vector<double> area;  ///< [residue], angstrom^2; 0 if none of its atoms was counted
    /// [residue]: area divided by the largest of its amino acid (Tien et al., PLoS ONE 8:e80635,
    /// 2013); at the ends of a chain it may exceed 1. NaN: no amino acid, or not all of its heavy
    /// atoms were counted.
    std::vector<double> relative;
};

/// The surface of the counted atoms at `centres` [axis, atom], angstrom, that a probe of radius 1.4
/// can touch, by kFinePoints points per atom (Shrake and Rupley, J. Mol. Biol. 79:351, 1973).
/// Radii: C 1.70, N 1.55, O 1.52, others 1.80. `counted` [atom]: 0 for atoms to leave out;
/// hydrogens, water and dummy atoms always are. Throws InputError if the atoms have no names or
/// coordinates that are not finite (with the atom from 1), Cancelled.
Accessibility accessibility(const Topology& topology, View<const float, 2> centres,
                            std::span<const char> counted, const Context& context);

}  // namespace pleat

#pragma GCC visibility pop
