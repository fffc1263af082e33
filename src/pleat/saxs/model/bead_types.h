// Bead types: the beads of the coarse models, and the electrons of complete ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/view.h"
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {

/// The names of a bead model's types, in the order of the published tables.
std::vector<std::string> bead_types(Resolution resolution);

/// Net electrons at q = 0 (its own minus those of the water that it displaces) of a complete bead
/// of each type [type]: of a residue within a chain at pH 7, with cysteine reduced. The backbone
/// ("BB") is that of a residue with a CH2 group at CB.
std::vector<double> complete_bead_electrons(Resolution resolution);

/// The number of heavy atoms of a complete residue within a chain: 5 for "ALA". The name must be
/// one of bead_types(Resolution::one_bead).
Index complete_residue_atoms(std::string_view residue_name);

}  // namespace pleat::saxs
