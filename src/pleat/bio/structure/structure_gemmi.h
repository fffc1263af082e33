// Structures by gemmi: from coordinate text to chains. For structure.cpp only.
#pragma once

#include <string>

#include "pleat/bio/structure/structure.h"

namespace pleat {

/// Chains of checked ATOM, HETATM and TER lines of one model. Throws InputError naming `file`.
std::vector<Chain> chains_from_pdb(const std::string& file, const std::string& lines);

/// Chains of the first model of an mmCIF text. Throws InputError naming `file` and line.
std::vector<Chain> chains_from_mmcif(const std::string& file, const std::string& text);

}  // namespace pleat
