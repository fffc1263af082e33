// Equivalent atoms: chains by what they consist of, a table of residues, automorphisms of ligands.
#include "pleat/bio/structure/equivalent_atoms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "pleat/bio/periodic/bonds.h"
#include "pleat/bio/selection/residue_kinds.h"
#include "pleat/bio/structure/molecular_graph.h"
#include "pleat/core/error.h"

namespace pleat {

std::vector<EqualChains> equal_chains(const Topology& topology) {
    struct NamedChain {
        std::string name, content;  // names of residues and atoms
        std::vector<Index> atoms;
        Index residue = -1;
    };
    std::vector<NamedChain> chains;
    std::map<std::string, std::size_t> by_name;
    for (Index atom = 0; atom < topology.atom_count(); ++atom) {
        const Topology::Residue& residue = topology.residue_of(atom);
        const auto [at, is_new] = by_name.try_emplace(residue.chain, chains.size());
        if (is_new) chains.push_back({.name = residue.chain, .content = {}, .atoms = {}});
        NamedChain& chain = chains[at->second];
        const Topology::Atom& one = topology.atoms[atom];
        if (one.residue != chain.residue) (chain.content += '\n') += residue.name;
        (chain.content += '\t') += one.name;
        chain.residue = one.residue;
        chain.atoms.push_back(atom);
    }
    std::vector<EqualChains> groups;
    std::map<std::string, std::size_t> by_content;
    for (NamedChain& chain : chains) {
        const auto [at, is_new] = by_content.try_emplace(chain.content, groups.size());
        if (is_new) groups.emplace_back();
        groups[at->second].names.push_back(std::move(chain.name));
        groups[at->second].atoms.push_back(std::move(chain.atoms));
    }
    std::erase_if(groups, [](const EqualChains& group) { return group.names.size() < 2; });
    return groups;
}

std::string describe_unequal_chains(const Topology& topology) {
    const std::vector<std::string> names = topology.chains();
    if (!topology.named) return "atoms without names";
    if (names.size() == 1) return fmt::format("one chain, '{}'", names.front());
    return fmt::format("none that are equal among '{}'", fmt::join(names, "', '"));
}

EqualChains only_equal_chains(const Topology& topology) {
    std::vector<EqualChains> groups =
        topology.named ? equal_chains(topology) : std::vector<EqualChains>();
    if (groups.size() == 1) return std::move(groups.front());
    std::vector<std::string> names;
    names.reserve(groups.size());
    for (const EqualChains& group : groups)
        names.push_back(fmt::format("{}", fmt::join(group.names, " = ")));
    if (groups.empty())
        throw InputError(
            topology.source.string(), 0,
            fmt::format("expected chains of the same residues and atoms, found {}; --select can "
                        "leave out what some of them lack",
                        describe_unequal_chains(topology)));
    throw InputError(
        topology.source.string(), 0,
        fmt::format("expected one group of equal chains, found {}; select one, such as "
                    "'chain {} and name CA'",
                    fmt::join(names, "; "), fmt::join(groups.front().names, " ")));
}

namespace {

using Side = std::vector<std::string_view>;

/// The equivalent sides of a residue: heavy atoms, and hydrogens, which some files lack.
struct Rule {
    std::vector<std::string_view> residues;  // empty: any amino acid
    std::vector<Side> heavy;
    std::vector<Side> hydrogens;
};

const std::vector<Rule>& rules() {
    static const std::vector<Rule> kRules = {
        {{"PHE", "TYR"}, {{"CD1", "CE1"}, {"CD2", "CE2"}}, {{"HD1", "HE1"}, {"HD2", "HE2"}}},
        {{"ASP"}, {{"OD1"}, {"OD2"}}, {}},
        {{"GLU"}, {{"OE1"}, {"OE2"}}, {}},
        {{"ARG"}, {{"NH1"}, {"NH2"}}, {{"HH11", "HH12"}, {"HH21", "HH22"}}},
        {{}, {{"O"}, {"OXT"}}, {}},
        {{}, {{"OT1"}, {"OT2"}}, {}},
        {{"ALA"}, {}, {{"HB1"}, {"HB2"}, {"HB3"}}},
        {{"VAL"}, {}, {{"HG11"}, {"HG12"}, {"HG13"}}},
        {{"VAL", "ILE", "THR"}, {}, {{"HG21"}, {"HG22"}, {"HG23"}}},
        {{"LEU", "ILE"}, {}, {{"HD11"}, {"HD12"}, {"HD13"}}},
        {{"LEU"}, {}, {{"HD21"}, {"HD22"}, {"HD23"}}},
        {{"MET"}, {}, {{"HE1"}, {"HE2"}, {"HE3"}}},
        {{"LYS"}, {}, {{"HZ1"}, {"HZ2"}, {"HZ3"}}},
        {{}, {}, {{"H1"}, {"H2"}, {"H3"}}},
        {{}, {}, {{"HT1"}, {"HT2"}, {"HT3"}}}};
    return kRules;
}

using AtomsByName = std::map<std::string_view, Index>;

/// The atoms of each side; false if the residue lacks one.
bool add_sides(const AtomsByName& atoms, const std::vector<Side>& names,
               std::vector<std::vector<Index>>& sides) {
    for (const Side& side : names)
        for (const std::string_view name : side)
            if (!atoms.contains(name)) return false;
    sides.resize(names.size());
    for (std::size_t n = 0; n < names.size(); ++n)
        for (const std::string_view name : names[n]) sides[n].push_back(atoms.at(name));
    return true;
}

bool has_backbone(const AtomsByName& atoms) {
    return atoms.contains("N") && atoms.contains("CA") && atoms.contains("C");
}

/// Whether any of these atoms is there.
bool has_some(const AtomsByName& atoms, const std::vector<Side>& names) {
    for (const Side& side : names)
        for (const std::string_view name : side)
            if (atoms.contains(name)) return true;
    return false;
}

}  // namespace

std::vector<std::vector<std::vector<Index>>> equivalent_atoms(const Topology& topology) {
    std::vector<AtomsByName> residues(topology.residues.size());
    for (Index atom = 0; atom < topology.atom_count(); ++atom) {
        const Topology::Atom& one = topology.atoms[atom];
        residues[one.residue].emplace(one.name, atom);
    }
    std::vector<std::vector<std::vector<Index>>> groups;
    for (std::size_t n = 0; n < residues.size(); ++n) {
        const std::string_view name = topology.residues[n].name;
        for (const Rule& rule : rules()) {
            const bool is_meant = rule.residues.empty()
                                      ? has_backbone(residues[n])
                                      : std::ranges::count(rule.residues, name) > 0;
            if (!is_meant) continue;
            std::vector<std::vector<Index>> sides;
            if (!add_sides(residues[n], rule.heavy, sides)) continue;
            // Hydrogens are left out unless both sides have them: swapping the sides would leave
            // them behind.
            if (has_some(residues[n], rule.hydrogens) &&
                !add_sides(residues[n], rule.hydrogens, sides))
                continue;
            if (!sides.empty()) groups.push_back(std::move(sides));
        }
    }
    return groups;
}

namespace {

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
        const Topology::Atom& one = topology.atoms[atom];
        if (selection::is_hydrogen(one))
            throw InputError(topology.source.string(), 0,
                             fmt::format("expected heavy atoms for --symmetry ligand, found {}: "
                                         "add 'and heavy' to the selection",
                                         topology.atom_label(atom)));
        is_wanted[one.residue] = 1;
    }
    std::vector<Index> atoms;
    for (Index atom = 0; atom < topology.atom_count(); ++atom)
        if (is_wanted[topology.atoms[atom].residue] != 0) atoms.push_back(atom);
    return atoms;
}

/// Adds bonds by distance within residues for which none is listed, as in mmCIF files of predicted
/// complexes. Returns which residues got bonds [residue].
std::vector<std::uint8_t> add_bonds(const Topology& topology, MolecularGraph& graph) {
    constexpr double kTolerance = 0.45;
    std::vector<std::uint8_t> is_bonded(topology.residues.size()), is_added = is_bonded;
    const auto residue = [&](Index vertex) { return topology.atoms[graph.atoms[vertex]].residue; };
    for (Index a = 0; a < graph.size(); ++a)
        for (const MolecularGraph::Edge& edge : graph.edges[a])
            if (residue(edge.to) == residue(a)) is_bonded[residue(a)] = 1;
    if (topology.positions.empty() || topology.has_all_bonds) return is_added;
    for (Index a = 0; a < graph.size(); ++a)
        for (Index b = a + 1; b < graph.size() && residue(b) == residue(a); ++b) {
            const auto &p = topology.positions[graph.atoms[a]],
                       &q = topology.positions[graph.atoms[b]];
            const double cutoff = kTolerance + covalent_radius(graph.elements[a]) +
                                  covalent_radius(graph.elements[b]);
            if (is_bonded[residue(a)] != 0 ||
                std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]) > cutoff)
                continue;
            graph.edges[a].push_back({b, 0});
            graph.edges[b].push_back({a, 0});
            is_added[residue(a)] = 1;
        }
    return is_added;
}

/// Throws if a residue is not one connected molecule or part of one.
void check_connected(const Topology& topology, const MolecularGraph& graph,
                     const std::vector<std::vector<Index>>& parts) {
    if (topology.has_all_bonds) return;
    std::vector<Index> part_of_residue(topology.residues.size(), -1);
    for (std::size_t n = 0; n < parts.size(); ++n)
        for (const Index vertex : parts[n]) {
            const Index atom = graph.atoms[vertex];
            Index& part = part_of_residue[topology.atoms[atom].residue];
            if (part >= 0 && part != static_cast<Index>(n))
                throw InputError(
                    topology.source.string(), 0,
                    fmt::format("expected bonds (CONECT) between all atoms of {} for --symmetry "
                                "ligand, found none to {}: give the ligand as SDF, or select it "
                                "alone, as with 'ligand and heavy'",
                                name_of(topology, atom), topology.atom_label(atom)));
            part = static_cast<Index>(n);
        }
}

/// Returns the orders of the measured atoms under the molecule's automorphisms.
std::vector<std::vector<Index>> orders_of(const std::vector<Index>& atoms,
                                          const std::vector<std::vector<Index>>& maps,
                                          const std::vector<std::uint8_t>& is_measured) {
    std::vector<Index> places;
    for (std::size_t n = 0; n < atoms.size(); ++n)
        if (is_measured[atoms[n]] != 0) places.push_back(static_cast<Index>(n));
    std::set<std::vector<Index>> found;
    std::vector<Index> own;
    own.reserve(places.size());
    for (const Index place : places) own.push_back(atoms[place]);
    for (const std::vector<Index>& map : maps) {
        std::vector<Index> order;
        bool stays_measured = true;
        for (const Index place : places) {
            order.push_back(atoms[map[place]]);
            stays_measured = stays_measured && is_measured[order.back()] != 0;
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
    for (const Index atom : measured) is_measured[atom] = 1;
    std::vector<LigandOrders> ligands;
    for (const std::vector<Index>& vertices : parts) {
        const MolecularGraph part = part_of(graph, vertices);
        if (std::ranges::none_of(part.atoms, [&](Index atom) { return is_measured[atom] != 0; }))
            continue;
        const auto maps =
            graph_isomorphisms(part, part, BondKinds::compared, kMaxAutomorphisms + 1);
        const std::string name = name_of(topology, part.atoms.front());
        if (maps.size() > kMaxAutomorphisms)
            throw InputError(topology.source.string(), 0,
                             fmt::format("expected at most {} automorphisms of ligand {}, which "
                                         "are tried one by one, found more: select fewer residues",
                                         kMaxAutomorphisms, name));
        const Index residue = topology.atoms[part.atoms.front()].residue;
        ligands.push_back({name, is_added[residue] != 0, orders_of(part.atoms, maps, is_measured)});
    }
    return ligands;
}

}  // namespace pleat
