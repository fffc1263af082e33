// Structures by gemmi: from coordinate text to chains, and letters of residues.
#pragma once

#include <string>
#include <vector>

#include "pleat/bio/structure/structure.h"
#include "pleat/bio/structure/topology_gemmi.h"

namespace pleat {

/// The atoms of one model of a PDB file in the order of its lines.
struct PdbModel {
    std::vector<AtomRecord> atoms;
    std::vector<PdbFields> fields;  ///< [atom]
    std::vector<std::size_t> ends;  ///< atoms in front of each TER, ascending
};
/// Chains of a model.
std::vector<Chain> chains_from_pdb(const std::string& file, const PdbModel& model);

/// Chains of the first model of an mmCIF text. Throws InputError naming `file` and line.
std::vector<Chain> chains_from_mmcif(const std::string& file, const std::string& text);

/// The one-letter code of a residue's name, also of a modified residue (its parent's) and of names
/// of force fields; 'X' if it is not known.
char residue_letter(const std::string& name);

}  // namespace pleat
