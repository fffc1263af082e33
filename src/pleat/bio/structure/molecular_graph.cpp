// Molecular graph: colours refined by neighbours, backtracking, and electrons that bonds share.
#include "pleat/bio/structure/molecular_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "pleat/bio/selection/residue_kinds.h"

namespace pleat {

namespace {

using Edge = MolecularGraph::Edge;

Edge& edge_between(MolecularGraph& graph, Index a, Index b) {
    auto& edges = graph.edges[a];
    return *std::ranges::find_if(edges, [&](const Edge& edge) { return edge.to == b; });
}

void mark(MolecularGraph& graph, Index a, Index b) {
    edge_between(graph, a, b).kind = MolecularGraph::kDelocalised;
    edge_between(graph, b, a).kind = MolecularGraph::kDelocalised;
}

/// Finds rings of bounded size by walks that start from their lowest vertex.
class Rings {
public:
    static constexpr std::size_t kMinSize = 5, kMaxSize = 7;

    explicit Rings(const MolecularGraph& graph) : graph_(graph) {
        is_on_path_.assign(graph.size(), 0);
        for (Index first = 0; first < graph.size(); ++first) walk(first, first);
    }

    const std::vector<std::vector<Index>>& all() const { return rings_; }
    bool have_bond(Index a, Index b) const {
        return std::ranges::any_of(rings_, [&](const std::vector<Index>& ring) {
            for (std::size_t n = 0; n < ring.size(); ++n) {
                const Index one = ring[n], other = ring[(n + 1) % ring.size()];
                if ((one == a && other == b) || (one == b && other == a)) return true;
            }
            return false;
        });
    }

private:
    void walk(Index first, Index vertex) {
        path_.push_back(vertex);
        is_on_path_[vertex] = 1;
        for (const Edge& edge : graph_.edges[vertex]) {
            // Each ring is found in both directions.
            if (edge.to == first && path_.size() >= kMinSize && path_[1] < path_.back())
                rings_.push_back(path_);
            else if (edge.to > first && is_on_path_[edge.to] == 0 && path_.size() < kMaxSize)
                walk(first, edge.to);
        }
        path_.pop_back();
        is_on_path_[vertex] = 0;
    }

    const MolecularGraph& graph_;
    std::vector<Index> path_;
    std::vector<std::uint8_t> is_on_path_;
    std::vector<std::vector<Index>> rings_;
};

bool is_one_of(const std::string& element, std::initializer_list<std::string_view> elements) {
    return std::ranges::find(elements, element) != elements.end();
}

/// Number of electrons that an atom contributes to an aromatic ring; -1 if it interrupts the ring.
int shared_electrons(const MolecularGraph& graph, const Rings& rings, Index vertex) {
    const std::string& element = graph.elements[vertex];
    int doubles = 0, electrons = 0;
    for (const Edge& edge : graph.edges[vertex]) {
        if (edge.kind == 1) continue;
        if (edge.kind != 2 || ++doubles > 1) return -1;
        const bool is_in_ring = rings.have_bond(vertex, edge.to);
        if (!is_in_ring && !is_one_of(graph.elements[edge.to], {"O", "N", "S"})) return -1;
        electrons = is_in_ring ? 1 : 0;
    }
    if (doubles == 1) return electrons;
    return is_one_of(element, {"N", "O", "S", "Se", "P"}) ? 2 : element == "B" ? 0 : -1;
}

void mark_rings(MolecularGraph& graph) {
    const Rings rings(graph);
    if (rings.all().empty()) return;
    std::vector<int> electrons;
    for (Index vertex = 0; vertex < graph.size(); ++vertex)
        electrons.push_back(shared_electrons(graph, rings, vertex));
    for (const std::vector<Index>& ring : rings.all()) {
        int sum = 0;
        bool is_shared = true;
        for (const Index vertex : ring) {
            is_shared = is_shared && electrons[vertex] >= 0;
            sum += electrons[vertex];
        }
        constexpr int kHueckel = 6;
        if (!is_shared || sum != kHueckel) continue;
        for (std::size_t n = 0; n < ring.size(); ++n)
            mark(graph, ring[n], ring[(n + 1) % ring.size()]);
    }
}

void mark_terminal(MolecularGraph& graph) {
    for (Index centre = 0; centre < graph.size(); ++centre)
        for (const std::string_view element : {"O", "N", "S"}) {
            std::vector<Index> terminal;
            bool has_double = false;
            for (const Edge& edge : graph.edges[centre])
                if (graph.elements[edge.to] == element && graph.edges[edge.to].size() == 1) {
                    terminal.push_back(edge.to);
                    has_double = has_double || edge.kind == 2;
                }
            if (terminal.size() < 2 || !has_double) continue;
            for (const Index vertex : terminal) mark(graph, centre, vertex);
        }
}

/// Marks as kDelocalised the bonds of rings of five to seven atoms with six shared electrons
/// (Hueckel), and bonds from one atom to terminal atoms of one element (O, N, S), some of them
/// double: carboxyl, nitro, phosphate, amidine. Protons are ignored.
void mark_shared_electrons(MolecularGraph& graph) {
    mark_rings(graph);
    mark_terminal(graph);
}

using Colours = std::vector<int>;  // [vertex]

int kind_of(const MolecularGraph::Edge& edge, BondKinds kinds) {
    return kinds == BondKinds::compared ? edge.kind : 0;
}

/// Colours the vertices of two graphs by elements, neighbours, and their neighbours.
std::array<Colours, 2> refined_colours(const MolecularGraph& a, const MolecularGraph& b,
                                       BondKinds kinds) {
    const std::array<const MolecularGraph*, 2> graphs{&a, &b};
    std::array<Colours, 2> colours;
    std::map<std::string, int> elements;
    for (std::size_t n = 0; n < 2; ++n)
        for (const std::string& element : graphs[n]->elements)
            colours[n].push_back(
                elements.try_emplace(element, static_cast<int>(elements.size())).first->second);
    using Surroundings = std::pair<int, std::vector<std::pair<int, int>>>;
    for (std::size_t before = 0, after = elements.size(); after > before;) {
        before = after;
        std::map<Surroundings, int> keys;
        std::array<Colours, 2> next;
        for (std::size_t n = 0; n < 2; ++n)
            for (std::size_t v = 0; v < colours[n].size(); ++v) {
                Surroundings key{colours[n][v], {}};
                for (const MolecularGraph::Edge& edge : graphs[n]->edges[v])
                    key.second.emplace_back(kind_of(edge, kinds), colours[n][edge.to]);
                std::ranges::sort(key.second);
                next[n].push_back(
                    keys.try_emplace(std::move(key), static_cast<int>(keys.size())).first->second);
            }
        colours = std::move(next);
        after = keys.size();
    }
    return colours;
}

/// Extends a map vertex by vertex; each vertex is, if possible, a neighbour of an earlier one.
class MapSearch {
public:
    MapSearch(const MolecularGraph& a, const MolecularGraph& b, BondKinds kinds,
              std::size_t max_maps)
        : a_(a), b_(b), kinds_(kinds), max_maps_(max_maps) {
        std::tie(colours_a_, colours_b_) = [&] {
            std::array<Colours, 2> both = refined_colours(a, b, kinds);
            return std::make_pair(std::move(both[0]), std::move(both[1]));
        }();
        Colours sorted_a = colours_a_, sorted_b = colours_b_;
        std::ranges::sort(sorted_a);
        std::ranges::sort(sorted_b);
        if (sorted_a != sorted_b) return;
        choose_order();
        map_.assign(a.size(), -1);
        is_used_.assign(b.size(), 0);
        extend(0);
    }

    std::vector<std::vector<Index>> maps() && { return std::move(maps_); }

private:
    void choose_order() {
        std::map<int, Index> sizes;
        for (const int colour : colours_a_) ++sizes[colour];
        std::vector<std::uint8_t> is_chosen(a_.size());
        const auto add = [&](Index vertex, Index earlier) {
            is_chosen[vertex] = 1;
            order_.push_back(vertex);
            earlier_.push_back(earlier);
        };
        for (std::size_t done = 0; std::ssize(order_) < a_.size();) {
            Index first = -1;  // of the rarest colour
            for (Index v = 0; v < a_.size(); ++v)
                if (is_chosen[v] == 0 &&
                    (first < 0 || sizes[colours_a_[v]] < sizes[colours_a_[first]]))
                    first = v;
            add(first, -1);
            for (; done < order_.size(); ++done) {
                const Index from = order_[done];
                for (const MolecularGraph::Edge& edge : a_.edges[from])
                    if (is_chosen[edge.to] == 0) add(edge.to, from);
            }
        }
    }

    bool fits(Index vertex, Index image) const {
        if (is_used_[image] != 0 || colours_a_[vertex] != colours_b_[image]) return false;
        for (const MolecularGraph::Edge& edge : a_.edges[vertex]) {
            const Index mapped = map_[edge.to];
            if (mapped < 0) continue;
            const auto& others = b_.edges[image];
            const bool is_there =
                std::ranges::any_of(others, [&](const MolecularGraph::Edge& other) {
                    return other.to == mapped && kind_of(other, kinds_) == kind_of(edge, kinds_);
                });
            if (!is_there) return false;
        }
        return true;
    }

    void extend(std::size_t depth) {
        if (depth == order_.size()) {
            maps_.push_back(map_);
            return;
        }
        const Index vertex = order_[depth], earlier = earlier_[depth];
        const auto take = [&](Index image) {
            if (maps_.size() >= max_maps_ || !fits(vertex, image)) return;
            map_[vertex] = image;
            is_used_[image] = 1;
            extend(depth + 1);
            map_[vertex] = -1;
            is_used_[image] = 0;
        };
        if (earlier < 0)
            for (Index image = 0; image < b_.size(); ++image) take(image);
        else
            for (const MolecularGraph::Edge& edge : b_.edges[map_[earlier]]) take(edge.to);
    }

    const MolecularGraph &a_, &b_;
    BondKinds kinds_;
    std::size_t max_maps_;
    Colours colours_a_, colours_b_;
    std::vector<Index> order_, earlier_;  // vertices, and a neighbour that comes before (-1: none)
    std::vector<Index> map_;
    std::vector<std::uint8_t> is_used_;
    std::vector<std::vector<Index>> maps_;
};

/// Programs list bonds, and the two atoms of a bond, in any order.
std::vector<std::array<Index, 2>> sorted_bonds(const Topology& topology) {
    std::vector<std::array<Index, 2>> bonds = topology.bonds;
    for (auto& bond : bonds) std::ranges::sort(bond);
    std::ranges::sort(bonds);
    return bonds;
}

}  // namespace

MolecularGraph heavy_graph(const Topology& topology, const std::vector<Index>& atoms) {
    MolecularGraph graph;
    std::vector<Index> vertex_of(topology.atoms.size(), -1);
    for (const Index atom : atoms) {
        if (selection::is_hydrogen(topology.atoms[atom])) continue;
        vertex_of[atom] = graph.size();
        graph.atoms.push_back(atom);
        graph.elements.push_back(topology.atoms[atom].element);
    }
    graph.edges.resize(graph.atoms.size());
    for (std::size_t n = 0; n < topology.bonds.size(); ++n) {
        const Index a = vertex_of[topology.bonds[n][0]], b = vertex_of[topology.bonds[n][1]];
        if (a < 0 || b < 0) continue;
        const auto& known = graph.edges[a];
        // CONECT lists each bond from both sides.
        if (std::ranges::any_of(known, [&](const auto& edge) { return edge.to == b; })) continue;
        const int kind = topology.bond_orders.empty() ? 0 : topology.bond_orders[n];
        graph.edges[a].push_back({b, kind});
        graph.edges[b].push_back({a, kind});
    }
    if (!topology.bond_orders.empty()) mark_shared_electrons(graph);
    return graph;
}

MolecularGraph heavy_graph(const Topology& topology) {
    std::vector<Index> all(topology.atoms.size());
    std::iota(all.begin(), all.end(), Index{0});
    return heavy_graph(topology, all);
}

std::vector<std::vector<Index>> connected_parts(const MolecularGraph& graph) {
    std::vector<std::vector<Index>> parts;
    std::vector<std::uint8_t> is_seen(graph.size());
    for (Index first = 0; first < graph.size(); ++first) {
        if (is_seen[first] != 0) continue;
        std::vector<Index>& part = parts.emplace_back(std::vector<Index>{first});
        is_seen[first] = 1;
        for (std::size_t n = 0; n < part.size(); ++n)
            for (const MolecularGraph::Edge& edge : graph.edges[part[n]])
                if (!std::exchange(is_seen[edge.to], std::uint8_t{1})) part.push_back(edge.to);
        std::ranges::sort(part);
    }
    return parts;
}

MolecularGraph part_of(const MolecularGraph& graph, const std::vector<Index>& vertices) {
    MolecularGraph part;
    std::vector<Index> vertex_of(graph.size(), -1);
    for (const Index vertex : vertices) {
        vertex_of[vertex] = part.size();
        part.atoms.push_back(graph.atoms[vertex]);
        part.elements.push_back(graph.elements[vertex]);
    }
    for (const Index vertex : vertices) {
        auto& edges = part.edges.emplace_back();
        for (const MolecularGraph::Edge& edge : graph.edges[vertex])
            if (vertex_of[edge.to] >= 0) edges.push_back({vertex_of[edge.to], edge.kind});
    }
    return part;
}

std::string heavy_formula(const Topology& topology) {
    std::map<std::string, int> counts;
    int heavy = 0;
    for (const Topology::Atom& atom : topology.atoms)
        if (!selection::is_hydrogen(atom)) ++counts[atom.element], ++heavy;
    std::vector<std::string> words;
    words.reserve(counts.size());
    for (const auto& [element, count] : counts)
        words.push_back(fmt::format("{}{}", element, count));
    return fmt::format("{}, {} heavy atoms", fmt::join(words, " "), heavy);
}

std::vector<std::vector<Index>> graph_isomorphisms(const MolecularGraph& a, const MolecularGraph& b,
                                                   BondKinds kinds, std::size_t max_maps) {
    if (a.size() != b.size()) return {};
    const auto bonds = [](const MolecularGraph& graph) {
        std::size_t count = 0;
        for (const auto& edges : graph.edges) count += edges.size();
        return count;
    };
    // With equal numbers of bonds, a map that keeps the bonds of one graph also keeps those of the
    // other.
    if (bonds(a) != bonds(b)) return {};
    return MapSearch(a, b, kinds, max_maps).maps();
}

MoleculeMatch match_molecules(const Topology& wanted, const Topology& found) {
    MoleculeMatch match;
    const auto same_element = [](const Topology::Atom& one, const Topology::Atom& other) {
        return one.element == other.element;
    };
    if (sorted_bonds(found) == sorted_bonds(wanted) &&
        std::equal(found.atoms.begin(), found.atoms.end(), wanted.atoms.begin(), wanted.atoms.end(),
                   same_element)) {
        match.atoms.resize(wanted.atoms.size());
        std::iota(match.atoms.begin(), match.atoms.end(), Index{0});
        return match;
    }
    match.is_by_bonds = true;
    const MolecularGraph from = heavy_graph(wanted), onto = heavy_graph(found);
    auto maps = graph_isomorphisms(from, onto, BondKinds::compared, 1);
    if (maps.empty()) {
        match.has_same_orders = false;
        maps = graph_isomorphisms(from, onto, BondKinds::ignored, 1);
    }
    if (maps.empty()) return match;
    match.atoms.assign(wanted.atoms.size(), -1);
    for (std::size_t n = 0; n < from.atoms.size(); ++n)
        match.atoms[from.atoms[n]] = onto.atoms[maps.front()[n]];
    return match;
}

}  // namespace pleat
