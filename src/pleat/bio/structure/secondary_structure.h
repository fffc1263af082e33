// Secondary structure: helices and strands of a protein chain, by their hydrogen bonds.
#pragma once

#include <string>

#include "pleat/bio/structure/structure.h"

namespace pleat {

/// One letter per residue of the chain: 'H' in alpha helices, 'E' in strands of sheets, '-'
/// elsewhere, also in 3-10 helices, isolated bridges and turns. Empty if the chain is not a protein
/// or no residue has the backbone atoms N, CA, C and O; a residue without them is '-'.
///
/// The rules of DSSP (Kabsch and Sander, Biopolymers 22:2577, 1983) within one chain, so that
/// sheets between chains are not found: hydrogen atoms of the backbone are placed opposite to the
/// C=O before them, and a bond has an electrostatic energy below -0.5 kcal/mol.
std::string secondary_structure(const Chain& chain);

}  // namespace pleat
