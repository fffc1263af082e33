// Hydrogens: how many each heavy atom carries where a structure leaves them out.
#pragma once

#include <string_view>
#include <vector>

#include "pleat/bio/structure/topology.h"

namespace pleat::saxs {

/// Residue's name under which its atoms are known: "HSD" -> "HIS", "GUA" -> "G", "DG" stays;
/// the name itself where there is no other.
std::string_view common_residue_name(std::string_view name);

/// Whether a residue is water by its name.
bool is_water(std::string_view residue_name);

/// Hydrogens on each atom [atom] at pH 7, 0 for hydrogens themselves. Amino acids and nucleotides
/// by tables (N of a chain's start counts as any other); SG that bonds another SG has none. Of
/// other residues those that the file has, counted with the nearest heavy atom within 1.3 angstrom,
/// or where it has none, as many as the valences leave that bonds use, whose orders are told from
/// their lengths in `xyz` [axis, atom], angstrom.
std::vector<int> implicit_hydrogens(const Topology& topology, View<const float, 2> xyz);

}  // namespace pleat::saxs
