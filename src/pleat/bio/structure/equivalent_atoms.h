// Equivalent atoms: chains, sides of residues and orders of ligands that may change places when
// structures are compared.
#pragma once

#include <string>
#include <vector>

#include "pleat/bio/structure/topology.h"

namespace pleat {

/// Chains that have the same residues and the same atoms, by their names in the order of the file;
/// their numbers may differ.
struct EqualChains {
    std::vector<std::string> names;
    std::vector<std::vector<Index>> atoms;  ///< [chain][atom]: those that correspond in one order
};

/// Groups of at least two chains, by their first chain. Other chains are in no group.
std::vector<EqualChains> equal_chains(const Topology& topology);

/// What messages say of a structure without equal chains: "none that are equal among 'A', 'B'".
std::string describe_unequal_chains(const Topology& topology);

/// The only group of equal chains. Throws InputError if there is none or are several, or if atoms
/// have no names.
EqualChains only_equal_chains(const Topology& topology);

/// Groups of equivalent sides: [group][side][atom], each side with the corresponding atoms in one
/// order. Rings of PHE and TYR (CD1 CE1 with CD2 CE2), the oxygens of ASP and GLU, the nitrogens of
/// ARG, and O with OXT, each with its hydrogens; and the hydrogens of CH3 and NH3. Not the
/// prochiral groups of VAL and LEU, and neither ASN, GLN nor HIS, whose sides are different atoms.
/// A group that lacks atoms is left out, of hydrogens if only one side has them.
std::vector<std::vector<std::vector<Index>>> equivalent_atoms(const Topology& topology);

/// Maximum number of automorphisms of a ligand that are listed.
inline constexpr std::size_t kMaxAutomorphisms = 20'000;

/// A molecule whose atoms can be listed in several orders, each as good as the others.
struct LigandOrders {
    std::string name;              ///< for messages: "LIG 1 in chain 'B'"
    bool has_found_bonds = false;  ///< its bonds are those of distances
    /// [order][position]: index of the atom in the topology; the first order ascends. Atom
    /// orders[n][k] may take the place of atom orders[0][k].
    std::vector<std::vector<Index>> orders;
};

/// The molecules with some of the atoms `measured` (ascending, heavy), by the automorphisms of
/// their heavy atoms and bonds: elements and orders of bonds are kept, chirality is not compared.
/// Bonds are those of the file; within residues of which it lists none, pairs that are nearer than
/// the sum of their covalent radii and 0.45 angstrom, all of one kind. A molecule is its atoms in
/// residues of measured ones. Molecules of one order are listed too. Throws InputError for
/// hydrogens, for residues whose atoms are not connected, unless the file lists all bonds, and for
/// more than kMaxAutomorphisms of one.
std::vector<LigandOrders> ligand_orders(const Topology& topology,
                                        const std::vector<Index>& measured);

}  // namespace pleat
