// Bonds: which atoms of a topology are bonded, from its file, by names, or by distances.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "pleat/bio/periodic/periodic_cell.h"
#include "pleat/bio/structure/topology.h"

namespace pleat {

/// Of an element, in angstrom: Cordero et al. 2008, Dalton Trans. 2832.
double covalent_radius(std::string_view element);

/// Two bonded atoms, the one with the smaller index first.
using Bond = std::array<Index, 2>;

/// Returns all bonds, each once, sorted by atom indices: those in the file and, unless it lists
/// all, bonds of amino acids and nucleotides by heavy atom names, links between residues, and bonds
/// of other residues by distance (nearest periodic images; sum of covalent radii plus 0.5
/// angstrom). An atom that is still unbonded gets a bond to the nearest heavy atom of its residue.
/// Returns none for atoms without names.
///
/// `cell`: the periodic cell of the topology's coordinates; may be absent.
std::vector<Bond> find_bonds(const Topology& topology, const PeriodicCell& cell);

/// Pairs of representative atoms of consecutive residues (by number) of a chain: CA, C3' or BB; for
/// residues of a few beads also P or CB.
std::vector<Bond> chain_neighbours(const Topology& topology);

/// [residue + 1]: the first atom of each residue, then the number of atoms.
std::vector<Index> residue_starts(const Topology& topology);

}  // namespace pleat
