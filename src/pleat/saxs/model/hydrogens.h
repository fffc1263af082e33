// Hydrogens: how many each heavy atom carries if a structure does not list them.
#pragma once

#include <string_view>
#include <vector>

#include "pleat/bio/structure/topology.h"

namespace pleat::saxs {

/// The common name of a residue: "HSD" -> "HIS", "GUA" -> "G"; other names, such as "DG", are
/// returned unchanged.
std::string_view common_residue_name(std::string_view name);

/// The number of hydrogens on each atom [atom] at pH 7, 0 for hydrogens themselves. For amino acids
/// and nucleotides from tables (an SG that bonds another SG has none; a nucleotide without O2' is
/// DNA, whatever its name; the ends of chains have NH3+, or NH2+ of proline, and OH at O5' and O3',
/// unless the file lists hydrogens there, or `with_chain_ends` is false). For other residues the
/// hydrogens in the file, each with the nearest heavy atom within 1.3 angstrom; if it has none, as
/// many as the valences that bonds leave free. Bond orders follow from bond lengths in `xyz` [axis,
/// atom], angstrom.
std::vector<int> implicit_hydrogens(const Topology& topology, View<const float, 2> xyz,
                                    bool with_chain_ends = true);

/// The heavy atom of [first, last) that is nearest to a hydrogen, within 1.3 angstrom; -1 if there
/// is none.
Index nearest_heavy_atom(const Topology& topology, View<const float, 2> xyz, Index hydrogen,
                         Index first, Index last);

}  // namespace pleat::saxs
