// Equivalent atoms: chains, sides of residues and orders of ligands that may change places when
// structures are compared.
#pragma once

#include <string>
#include <vector>

#include "pleat/bio/structure/topology.h"

namespace pleat {

/// Chains with the same residues and atoms, in the order of the file; residue numbers may differ.
struct EqualChains {
    std::vector<std::string> names;
    std::vector<std::vector<Index>> atoms;  ///< [chain][atom]: those that correspond in one order
};

/// Groups of at least two equal chains, sorted by first chain. Unique chains are in no group.
std::vector<EqualChains> equal_chains(const Topology& topology);

/// Describes a structure without equal chains for messages: "none that are equal among 'A', 'B'".
std::string describe_unequal_chains(const Topology& topology);

/// The only group of equal chains. Throws InputError if there is none or are several, or if atoms
/// have no names.
EqualChains only_equal_chains(const Topology& topology);

/// [group][side][atom]: groups of equivalent sides of residues, with corresponding atoms in the
/// same order: rings of PHE and TYR (CD1 CE1 with CD2 CE2), oxygens of ASP and GLU, nitrogens of
/// ARG, O with OXT, each with its hydrogens, and the hydrogens of CH3 and NH3. Prochiral groups of
/// VAL and LEU, and ASN, GLN and HIS, whose sides have different atoms, are not included. Groups
/// with missing atoms are left out; hydrogens also if only one side has them.
std::vector<std::vector<std::vector<Index>>> equivalent_atoms(const Topology& topology);

/// Maximum number of automorphisms listed for a ligand.
inline constexpr std::size_t kMaxAutomorphisms = 20'000;

/// A molecule whose atoms can be listed in several equivalent orders.
struct LigandOrders {
    std::string name;              ///< for messages: "LIG 1 in chain 'B'"
    bool has_found_bonds = false;  ///< its bonds are those of distances
    /// [order][position]: index of the atom in the topology; the first order ascends. Atom
    /// orders[n][k] may take the place of atom orders[0][k].
    std::vector<std::vector<Index>> orders;
};

/// Finds the molecules of the atoms `measured` (ascending, heavy) and the automorphisms of their
/// heavy-atom graphs; elements and bond orders are kept, chirality is ignored. Bonds come from the
/// file; in residues for which it lists none, atoms closer than the sum of covalent radii plus 0.45
/// angstrom are bonded, all with one kind of bond. A molecule includes only residues with measured
/// atoms. Molecules with one order are listed too. Throws InputError for hydrogens, for residues
/// with unconnected atoms unless the file lists all bonds, and for molecules with more than
/// kMaxAutomorphisms automorphisms.
std::vector<LigandOrders> ligand_orders(const Topology& topology,
                                        const std::vector<Index>& measured);

}  // namespace pleat
