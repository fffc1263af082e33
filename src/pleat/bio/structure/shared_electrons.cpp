// Shared electrons: rings of six electrons, and terminal atoms on one atom.
#include "pleat/bio/structure/shared_electrons.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace pleat {

namespace {

std::size_t at(Index n) { return static_cast<std::size_t>(n); }

using Edge = MolecularGraph::Edge;

Edge& edge_between(MolecularGraph& graph, Index a, Index b) {
    auto& edges = graph.edges[at(a)];
    return *std::find_if(edges.begin(), edges.end(),
                         [&](const Edge& edge) { return edge.to == b; });
}

void mark(MolecularGraph& graph, Index a, Index b) {
    edge_between(graph, a, b).kind = MolecularGraph::kDelocalised;
    edge_between(graph, b, a).kind = MolecularGraph::kDelocalised;
}

/// Finds rings by walks from their first vertex.
class Rings {
public:
    static constexpr std::size_t kMinSize = 5, kMaxSize = 7;

    explicit Rings(const MolecularGraph& graph) : graph_(graph) {
        is_on_path_.assign(at(graph.size()), 0);
        for (Index first = 0; first < graph.size(); ++first) walk(first, first);
    }

    const std::vector<std::vector<Index>>& all() const { return rings_; }
    bool have_bond(Index a, Index b) const {
        return std::any_of(rings_.begin(), rings_.end(), [&](const std::vector<Index>& ring) {
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
        is_on_path_[at(vertex)] = 1;
        for (const Edge& edge : graph_.edges[at(vertex)]) {
            // Each ring is found in both directions.
            if (edge.to == first && path_.size() >= kMinSize && path_[1] < path_.back())
                rings_.push_back(path_);
            else if (edge.to > first && is_on_path_[at(edge.to)] == 0 && path_.size() < kMaxSize)
                walk(first, edge.to);
        }
        path_.pop_back();
        is_on_path_[at(vertex)] = 0;
    }

    const MolecularGraph& graph_;
    std::vector<Index> path_;
    std::vector<std::uint8_t> is_on_path_;
    std::vector<std::vector<Index>> rings_;
};

bool is_one_of(const std::string& element, std::initializer_list<std::string_view> elements) {
    return std::find(elements.begin(), elements.end(), element) != elements.end();
}

/// How many electrons an atom shares in a ring; -1 if it shares none and interrupts the ring.
int shared_electrons(const MolecularGraph& graph, const Rings& rings, Index vertex) {
    const std::string& element = graph.elements[at(vertex)];
    int doubles = 0, electrons = 0;
    for (const Edge& edge : graph.edges[at(vertex)]) {
        if (edge.kind == 1) continue;
        if (edge.kind != 2 || ++doubles > 1) return -1;
        const bool is_in_ring = rings.have_bond(vertex, edge.to);
        if (!is_in_ring && !is_one_of(graph.elements[at(edge.to)], {"O", "N", "S"})) return -1;
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
            is_shared = is_shared && electrons[at(vertex)] >= 0;
            sum += electrons[at(vertex)];
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
            for (const Edge& edge : graph.edges[at(centre)])
                if (graph.elements[at(edge.to)] == element &&
                    graph.edges[at(edge.to)].size() == 1) {
                    terminal.push_back(edge.to);
                    has_double = has_double || edge.kind == 2;
                }
            if (terminal.size() < 2 || !has_double) continue;
            for (const Index vertex : terminal) mark(graph, centre, vertex);
        }
}

}  // namespace

void mark_shared_electrons(MolecularGraph& graph) {
    mark_rings(graph);
    mark_terminal(graph);
}

}  // namespace pleat
