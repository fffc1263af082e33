// Symmetry: chains of an oligomer as copies of one chain, turned about an axis.
#pragma once

#include <string_view>
#include <vector>

#include "pleat/bio/structure/topology.h"
#include "pleat/core/notes.h"
#include "pleat/workflows/refine/chain/chain_model.h"
#include "pleat/workflows/refine/chain/missing_residues.h"
#include "pleat/workflows/refine/chain/peptide_chains.h"

namespace pleat::refine {

/// The number of chains of "c3", or "p3" as the programs of ATSAS say, from 2 to 12; 1 for an empty
/// text. Throws UsageError for other texts.
Index symmetry_order(std::string_view text);

/// In a group that names residues of one chain, adds these residues of its copies. Throws
/// InputError if there are not `order` copies.
void complete_groups(const Topology& topology, Index order,
                     std::vector<std::vector<ResidueRange>>& groups);

/// Makes the structure symmetric: a residue in a linker of one copy is in linkers of all, and each
/// copy has the atoms of the first, turned about the axis that maps the rigid core onto itself.
/// Sets `options.copies`. Returns a note with the RMSD by which the core was not symmetric. Throws
/// InputError for other numbers of copies, copies with other residues, linkers elsewhere, a core
/// that does not move as one, and one that is not symmetric.
Note make_symmetric(Index order, HeavyAtoms& heavy, ChainOptions& options);

}  // namespace pleat::refine
