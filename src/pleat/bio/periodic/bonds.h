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

/// The bonds of all atoms, each once, in the order of their indices: those of the file and, if it
/// does not list all, those of amino acids and nucleotides by the names of their heavy atoms, links
/// between residues, and bonds of other residues by distances (nearest periodic images; covalent
/// radii and 0.5 angstrom). An atom that has no bond then is bonded to the nearest heavy atom of
/// its residue. None for atoms without names.
///
/// `cell`: around the coordinates of the topology; it need not exist.
std::vector<Bond> find_bonds(const Topology& topology, const PeriodicCell& cell);

/// Pairs of atoms that represent consecutive residues of a chain, by their numbers: CA, C3' or BB;
/// of residues of a few beads also P or CB.
std::vector<Bond> chain_neighbours(const Topology& topology);

/// The first atom of each residue, and behind them the number of atoms. [residue + 1]
std::vector<Index> residue_starts(const Topology& topology);

}  // namespace pleat
