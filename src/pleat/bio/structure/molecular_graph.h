// Molecular graph: heavy atoms and their bonds, and the maps of one such graph onto another.
#pragma once

#include <string>
#include <vector>

#include "pleat/bio/structure/topology.h"

namespace pleat {

/// A graph of a topology's heavy atoms (vertices) and bonds (edges).
struct MolecularGraph {
    struct Edge {
        Index to = 0;  ///< vertex
        /// Bond order, or kDelocalised for rings with six shared electrons and for terminal atoms
        /// of one element that share a double bond, such as carboxyl oxygens. 0: unknown.
        int kind = 0;
    };
    static constexpr int kDelocalised = 4;

    std::vector<Index> atoms;              ///< [vertex]: index in the topology
    std::vector<std::string> elements;     ///< [vertex]
    std::vector<std::vector<Edge>> edges;  ///< [vertex]

    Index size() const { return std::ssize(atoms); }
};

/// The graph of all heavy atoms, or of these.
MolecularGraph heavy_graph(const Topology& topology);
MolecularGraph heavy_graph(const Topology& topology, const std::vector<Index>& atoms);

/// The vertices of each connected component, sorted by first vertex.
std::vector<std::vector<Index>> connected_parts(const MolecularGraph& graph);
MolecularGraph part_of(const MolecularGraph& graph, const std::vector<Index>& vertices);

/// The numbers of heavy atoms by element: "C20 N2 O5, 27 heavy atoms".
std::string heavy_formula(const Topology& topology);

enum class BondKinds { compared, ignored };

/// Returns the maps of graph `a` onto `b` that keep elements and bonds, [map][vertex of a]: vertex
/// of b; the automorphisms if `a` is `b`. Returns at most `max_maps`; chirality is ignored.
/// Backtracks over vertices of equal colour; colours are refined by those of neighbours.
std::vector<std::vector<Index>> graph_isomorphisms(const MolecularGraph& a, const MolecularGraph& b,
                                                   BondKinds kinds, std::size_t max_maps);

/// How the atoms of a molecule correspond to those of another file.
struct MoleculeMatch {
    /// [atom of `wanted`]: index in `found`, -1 for unknown hydrogens; empty if heavy atoms or
    /// bonds of the molecules differ.
    std::vector<Index> atoms;
    bool is_by_bonds = false;     ///< not in their order, but by a map of the bonds
    bool has_same_orders = true;  ///< the orders of bonds were compared, and agree
};
/// Matches atoms in their order if elements and bonds agree so; else heavy atoms by their bonds, by
/// the first map that is found.
MoleculeMatch match_molecules(const Topology& wanted, const Topology& found);

}  // namespace pleat
