// Atom match: the atoms that two topologies share, by names and numbers or by sequences.
#pragma once

#include <string>
#include <vector>

#include "pleat/bio/structure/topology.h"

namespace pleat {

/// The atoms of one topology in another one, whatever its chains and numbers are called.
struct SequenceMatch {
    std::vector<Index> atoms;           ///< [atom of `other`]: index in `wanted`; -1: absent
    std::string pairs = {};             ///< the paired chains, "A = H, B = L"
    Index residues = 0;                 ///< paired residues of polymers
    Index identical = 0;                ///< of these, how many have the same letter
    Index of_wanted = 0, of_other = 0;  ///< all their residues of polymers
    /// Chains of one sequence were paired in their order, as they have other names.
    bool is_by_order = false;
    bool is_plain = false;  ///< all residues have the same names and numbers in the same order

    double identity() const {
        return residues > 0 ? static_cast<double>(identical) / static_cast<double>(residues) : 0;
    }
};

/// Pairs chains of proteins and of nucleic acids by the score of their alignment (pairwise.h), the
/// highest first, of equals those of one name; aligns each pair; matches atoms of aligned residues
/// by name, where letters differ those of the backbone and CB alone. Residues that are no polymer
/// and no water are matched if their name occurs once in each, or once in a chain and its partner
/// (of chains without a polymer the one of this name). Chains of an identity below 0.3
/// (nucleic acids 0.6) are not paired. Throws InputError if none is.
SequenceMatch match_by_sequence(const Topology& wanted, const Topology& other);

/// Whether two names are those of one amino acid or nucleotide: HIS and HSD, MET and MSE.
bool are_same_residue(const std::string& one, const std::string& other);

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
