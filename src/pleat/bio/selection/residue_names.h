// Residue names: those that are known in the PDB and in force fields; also for C++17.
#pragma once

#include <string_view>

namespace pleat::selection {

/// Whether amino acids, nucleotides or water have this name in the PDB or in force fields.
bool is_common_name(std::string_view residue_name);
/// Whether a residue is water by its name: HOH, SOL, TIP3, WAT and others.
bool is_water(std::string_view residue_name);

}  // namespace pleat::selection
