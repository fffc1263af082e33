// Ligand orders: automorphisms of each molecule that has measured atoms.
#include "pleat/bio/structure/ligand_orders.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "pleat/bio/periodic/bonds.h"
#include "pleat/bio/selection/residue_kinds.h"
#include "pleat/bio/structure/molecular_graph.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

std::size_t at(Index n) { return static_cast<std::size_t>(n); }

std::string name_of(const Topology& topology, Index atom) {
    const Topology::Residue& residue = topology.residue_of(atom);
    const std::string chain =
        residue.chain.empty() ? "" : fmt::format(" in chain '{}'", residue.chain);
    return fmt::format("{} {}{}", residue.name, residue.number, chain);
}

/// The heavy atoms of all residues that have measured atoms.
std::vector<Index> atoms_of_residues(const Topology& topology, const std::vector<Index>& measured) {
    std::vector<std::uint8_t> is_wanted(topology.residues.size());
    for (const Index atom : measured) {
        const Topology::Atom& one = topology.atoms[at(atom)];
        if (selection::is_hydrogen(one))
            throw InputError(topology.source.string(), 0,
                             fmt::format("expected heavy atoms for --symmetry ligand, found {}: "
                                         "add 'and heavy' to the selection",
                                         topology.label(atom)));
        is_wanted[at(one.residue)] = 1;
    }
    std::vector<Index> atoms;
    for (Index atom = 0; atom < topology.atom_count(); ++atom)
        if (is_wanted[at(topology.atoms[at(atom)].residue)] != 0) atoms.push_back(atom);
    return atoms;
}

/// Adds bonds by distances within the residues of which none is listed, as in mmCIF files of
/// predicted complexes, and marks these. [residue]
std::vector<std::uint8_t> add_bonds(const Topology& topology, MolecularGraph& graph) {
    constexpr double kTolerance = 0.45;
    std::vector<std::uint8_t> is_bonded(topology.residues.size()), is_added = is_bonded;
    const auto residue = [&](Index vertex) {
        return topology.atoms[at(graph.atoms[at(vertex)])].residue;
    };
    for (Index a = 0; a < graph.size(); ++a)
        for (const MolecularGraph::Edge& edge : graph.edges[at(a)])
            if (residue(edge.to) == residue(a)) is_bonded[at(residue(a))] = 1;
    if (topology.positions.empty() || topology.has_all_bonds) return is_added;
    for (Index a = 0; a < graph.size(); ++a)
        for (Index b = a + 1; b < graph.size() && residue(b) == residue(a); ++b) {
            const auto &p = topology.positions[at(graph.atoms[at(a)])],
                       &q = topology.positions[at(graph.atoms[at(b)])];
            const double cutoff = kTolerance + covalent_radius(graph.elements[at(a)]) +
                                  covalent_radius(graph.elements[at(b)]);
            if (is_bonded[at(residue(a))] != 0 ||
                std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]) > cutoff)
                continue;
            graph.edges[at(a)].push_back({b, 0});
            graph.edges[at(b)].push_back({a, 0});
            is_added[at(residue(a))] = 1;
        }
    return is_added;
}

/// A residue is one molecule, or part of one.
void check_connected(const Topology& topology, const MolecularGraph& graph,
                     const std::vector<std::vector<Index>>& parts) {
    if (topology.has_all_bonds) return;
    std::vector<Index> part_of_residue(topology.residues.size(), -1);
    for (std::size_t n = 0; n < parts.size(); ++n)
        for (const Index vertex : parts[n]) {
            const Index atom = graph.atoms[at(vertex)];
            Index& part = part_of_residue[at(topology.atoms[at(atom)].residue)];
            if (part >= 0 && part != static_cast<Index>(n))
                throw InputError(
                    topology.source.string(), 0,
                    fmt::format("expected bonds (CONECT) between all atoms of {} for --symmetry "
                                "ligand, found none to {}: give the ligand as SDF, or select it "
                                "alone, as with 'ligand and heavy'",
                                name_of(topology, atom), topology.label(atom)));
            part = static_cast<Index>(n);
        }
}

/// The orders in which maps of the molecule onto itself put its measured atoms.
std::vector<std::vector<Index>> orders_of(const std::vector<Index>& atoms,
                                          const std::vector<std::vector<Index>>& maps,
                                          const std::vector<std::uint8_t>& is_measured) {
    std::vector<Index> places;
    for (std::size_t n = 0; n < atoms.size(); ++n)
        if (is_measured[at(atoms[n])] != 0) places.push_back(static_cast<Index>(n));
    std::set<std::vector<Index>> found;
    std::vector<Index> own;
    own.reserve(places.size());
    for (const Index place : places) own.push_back(atoms[at(place)]);
    for (const std::vector<Index>& map : maps) {
        std::vector<Index> order;
        bool stays_measured = true;
        for (const Index place : places) {
            order.push_back(atoms[at(map[at(place)])]);
            stays_measured = stays_measured && is_measured[at(order.back())] != 0;
        }
        if (stays_measured && order != own) found.insert(std::move(order));
    }
    std::vector<std::vector<Index>> orders{std::move(own)};
    orders.insert(orders.end(), found.begin(), found.end());
    return orders;
}

}  // namespace

std::vector<LigandOrders> ligand_orders(const Topology& topology,
                                        const std::vector<Index>& measured) {
    MolecularGraph graph = heavy_graph(topology, atoms_of_residues(topology, measured));
    const std::vector<std::uint8_t> is_added = add_bonds(topology, graph);
    const std::vector<std::vector<Index>> parts = connected_parts(graph);
    check_connected(topology, graph, parts);
    std::vector<std::uint8_t> is_measured(topology.atoms.size());
    for (const Index atom : measured) is_measured[at(atom)] = 1;
    std::vector<LigandOrders> ligands;
    for (const std::vector<Index>& vertices : parts) {
        const MolecularGraph part = part_of(graph, vertices);
        if (std::none_of(part.atoms.begin(), part.atoms.end(),
                         [&](Index atom) { return is_measured[at(atom)] != 0; }))
            continue;
        const auto maps = graph_maps(part, part, BondKinds::compared, kMaxAutomorphisms + 1);
        const std::string name = name_of(topology, part.atoms.front());
        if (maps.size() > kMaxAutomorphisms)
            throw InputError(topology.source.string(), 0,
                             fmt::format("expected at most {} automorphisms of ligand {}, which "
                                         "are tried one by one, found more: select fewer residues",
                                         kMaxAutomorphisms, name));
        const Index residue = topology.atoms[at(part.atoms.front())].residue;
        ligands.push_back(
            {name, is_added[at(residue)] != 0, orders_of(part.atoms, maps, is_measured)});
    }
    return ligands;
}

}  // namespace pleat
