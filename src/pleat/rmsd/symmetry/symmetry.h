// Symmetry: which chains and atoms of a structure may take each other's places.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/structure/topology.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::rmsd {

/// Which parts of a structure are treated as interchangeable.
enum class Symmetry { none, chains, atoms, ligand };
std::span<const std::string_view> names_of(Symmetry);

struct FoundSymmetry {
    std::vector<std::vector<std::vector<Index>>> equal_chains, equal_orders;  ///< as in AtomSets
    std::string message;  ///< what was found, for the user; empty without symmetry
};
/// Finds equal chains, equivalent atoms or ligands among the compared atoms `read`, ascending
/// indices of `all`; indices of `sets` and of the result refer to `read`. If other atoms are
/// measured, superposed groups of equivalent atoms are not permuted, and a message says so. Throws
/// InputError if there are no equal chains or equivalent atoms, and as ligand_orders().
FoundSymmetry find_symmetry(Symmetry symmetry, const Topology& all, const std::vector<Index>& read,
                            const AtomSets& sets);

/// "exact, 24 permutations", for summaries; empty without symmetry. `sets`: with its equal chains
/// or orders; `unproven`: how many of `count` values are not proven to be the least.
std::string symmetry_text(Symmetry symmetry, const AtomSets& sets, bool is_relabelled,
                          Index unproven, Index count);

}  // namespace pleat::rmsd
