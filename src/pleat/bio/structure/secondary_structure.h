// Secondary structure: helices and strands of a protein chain, by their hydrogen bonds.
#pragma once

#include <string>

#include "pleat/bio/structure/structure.h"

namespace pleat {

/// One letter per residue: 'H' in alpha helices, 'E' in strands of sheets, '-' elsewhere, including
/// 3-10 helices, isolated bridges, turns, and residues that lack backbone atoms. Empty if the chain
/// is not a protein or no residue has N, CA, C and O.
///
/// Uses the rules of DSSP (Kabsch and Sander, Biopolymers 22:2577, 1983) within one chain, so
/// sheets between chains are not found. Backbone hydrogens are placed opposite to the preceding
/// C=O; a hydrogen bond has an electrostatic energy below -0.5 kcal/mol.
std::string secondary_structure(const Chain& chain);

}  // namespace pleat
