// Atom match: the atoms that two topologies share, and whether their residues agree.
#pragma once

#include <string>
#include <vector>

#include "pleat/bio/structure/topology.h"

namespace pleat {

struct AtomMatch {
    std::vector<Index> atoms;      ///< [wanted atom]: index in the other topology; -1: absent
    Index residues = 0;            ///< wanted residues of which an atom was found
    Index residues_of_name = 0;    ///< of these, how many are the same residue in both (HIS, HSD)
    std::string first_other = {};  ///< the first of the others: "ALA 26 in chain 'A' for GLY"

    /// Whether most residues have the same name, as they have unless two proteins are mixed up.
    bool is_plausible() const { return 2 * residues_of_name >= residues; }
};

/// Matches atoms by chain, residue number, insertion code and name. Chains do not count if both
/// topologies have one chain each. Of atoms that share all this the first one is matched.
AtomMatch match_atoms(const Topology& wanted, const Topology& other);

}  // namespace pleat
