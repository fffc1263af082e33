// Ligand orders: the orders of a molecule's atoms that its bonds cannot tell apart.
#pragma once

#include <string>
#include <vector>

#include "pleat/bio/structure/topology.h"

namespace pleat {

/// So many automorphisms of a ligand are listed.
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
