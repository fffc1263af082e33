// Equivalent atoms: atoms of a residue whose names are arbitrary, such as the two sides of a ring.
#pragma once

#include <vector>

#include "pleat/bio/structure/topology.h"

namespace pleat {

/// Groups of equivalent sides: [group][side][atom], each side with the corresponding atoms in one
/// order. Rings of PHE and TYR (CD1 CE1 with CD2 CE2), the oxygens of ASP and GLU, the nitrogens of
/// ARG, and O with OXT, each with its hydrogens; and the hydrogens of CH3 and NH3. Not the
/// prochiral groups of VAL and LEU, and neither ASN, GLN nor HIS, whose sides are different atoms.
/// A group that lacks atoms is left out, of hydrogens if only one side has them.
std::vector<std::vector<std::vector<Index>>> equivalent_atoms(const Topology& topology);

}  // namespace pleat
