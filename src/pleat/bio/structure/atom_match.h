// Atom match: the atoms that two topologies share, by names and numbers or by sequences.
#pragma once

#include <string>
#include <vector>

#include "pleat/bio/structure/topology.h"

namespace pleat {

/// Atoms matched between two topologies, regardless of chain names and residue numbers.
struct SequenceMatch {
    std::vector<Index> atoms;  ///< [atom of `other`]: index in `wanted`; -1: absent
    std::string pairs = {};    ///< the paired chains, "A = H, B = L"
    Index residues = 0;        ///< paired residues of polymers
    Index identical = 0;       ///< of these, how many have the same letter
    Index residues_of_wanted = 0, of_other = 0;  ///< all their residues of polymers
    /// Chains with the same sequence were paired in order, because their names differ.
    bool chains_paired_by_order = false;
    bool is_plain = false;  ///< all residues have the same names and numbers in the same order

    double identity() const {
        return residues > 0 ? static_cast<double>(identical) / static_cast<double>(residues) : 0;
    }
};

/// Pairs protein and nucleic acid chains by alignment score (pairwise.h), highest first, preferring
/// equal names; aligns each pair; matches atoms of aligned residues by name, or only backbone and
/// CB atoms if the residues differ. Residues other than polymer and water are matched if their name
/// occurs once in each topology, or once in a chain and its partner (chains without polymers: the
/// chain with the same name). Chains with an identity below 0.3 (nucleic acids 0.6) are not paired.
/// Throws InputError if no chains are paired.
SequenceMatch match_by_sequence(const Topology& wanted, const Topology& other);

/// Whether two names are those of one amino acid or nucleotide: HIS and HSD, MET and MSE.
bool are_same_residue(const std::string& one, const std::string& other);

struct AtomMatch {
    std::vector<Index> atoms;    ///< [wanted atom]: index in the other topology; -1: absent
    Index residues = 0;          ///< wanted residues of which an atom was found
    Index residues_of_name = 0;  ///< of these, how many are the same residue in both (HIS, HSD)
    std::string first_other_residue =
        {};  ///< the first of the others: "ALA 26 in chain 'A' for GLY"

    /// Whether most residues have the same name; otherwise two proteins were probably mixed up.
    bool is_plausible() const { return 2 * residues_of_name >= residues; }
};

/// Matches atoms by chain, residue number, insertion code and atom name. Chain names are ignored if
/// both topologies have one chain. If several atoms share all of these, the first is matched.
AtomMatch match_atoms(const Topology& wanted, const Topology& other);

}  // namespace pleat
