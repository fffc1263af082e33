// Structures by gemmi: from coordinate text to chains, and letters of residues.
#pragma once

#include <string>

#include "pleat/bio/structure/structure.h"

namespace pleat {

/// Chains of checked ATOM, HETATM and TER lines of one model. Throws InputError naming `file`.
std::vector<Chain> chains_from_pdb(const std::string& file, const std::string& lines);

/// Chains of the first model of an mmCIF text. Throws InputError naming `file` and line.
std::vector<Chain> chains_from_mmcif(const std::string& file, const std::string& text);

/// The one-letter code of a residue's name, also of a modified residue (its parent's) and of names
/// of force fields; 'X' if it is not known.
char residue_letter(const std::string& name);

}  // namespace pleat
