// Chain model: the tree of pieces, its residues, domains and points.
#include "pleat/workflows/refine/chain/chain_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "pleat/core/error.h"

namespace pleat::refine {

namespace {

/// The pieces as a tree: a piece's parent, and pieces in the order in which they are visited.
struct Tree {
    std::vector<Index> order;        ///< [new number]: piece of the graph
    std::vector<Index> number;       ///< [piece of the graph]: new number
    std::vector<Index> parent;       ///< [new number]: new number
    std::vector<Index> edge;         ///< [new number]: edge to the parent
    std::vector<Index> subtree_end;  ///< [new number]
};

using Neighbours = std::vector<std::vector<std::pair<Index, Index>>>;  // [piece]: (piece, edge)

Neighbours neighbours_of(const PieceGraph& graph) {
    Neighbours all(static_cast<std::size_t>(graph.pieces));
    for (std::size_t n = 0; n < graph.edges.size(); ++n) {
        const HingeEdge& edge = graph.edges[n];
        all[static_cast<std::size_t>(edge.before)].emplace_back(edge.after, static_cast<Index>(n));
        all[static_cast<std::size_t>(edge.after)].emplace_back(edge.before, static_cast<Index>(n));
    }
    return all;
}

Tree visit(const Neighbours& neighbours, Index root) {
    Tree tree;
    tree.number.assign(neighbours.size(), -1);
    struct Open {
        Index piece, parent, edge;
    };
    std::vector<Open> open = {{root, -1, -1}};
    while (!open.empty()) {
        const Open at = open.back();
        open.pop_back();
        const auto number = static_cast<Index>(tree.order.size());
        tree.number[static_cast<std::size_t>(at.piece)] = number;
        tree.order.push_back(at.piece);
        tree.parent.push_back(at.parent);
        tree.edge.push_back(at.edge);
        for (const auto& [piece, edge] : neighbours[static_cast<std::size_t>(at.piece)])
            if (edge != at.edge) open.push_back({piece, number, edge});
    }
    tree.subtree_end.resize(tree.order.size());
    for (std::size_t n = tree.order.size(); n-- > 0;) {
        tree.subtree_end[n] = std::max(tree.subtree_end[n], static_cast<Index>(n) + 1);
        if (tree.parent[n] >= 0) {
            Index& end = tree.subtree_end[static_cast<std::size_t>(tree.parent[n])];
            end = std::max(end, tree.subtree_end[n]);
        }
    }
    return tree;
}

/// The piece from which no subtree has more than half of the atoms.
Index centre_of(const PieceGraph& graph, const Neighbours& neighbours) {
    const Tree tree = visit(neighbours, 0);
    std::vector<Index> atoms(tree.order.size(), 0), largest(tree.order.size(), 0);
    for (const Index piece : graph.piece_of)
        ++atoms[static_cast<std::size_t>(tree.number[static_cast<std::size_t>(piece)])];
    const auto total = static_cast<Index>(graph.piece_of.size());
    for (std::size_t n = tree.order.size(); n-- > 1;) {
        const auto parent = static_cast<std::size_t>(tree.parent[n]);
        atoms[parent] += atoms[n];
        largest[parent] = std::max(largest[parent], atoms[n]);
    }
    std::size_t best = 0;
    for (std::size_t n = 0; n < tree.order.size(); ++n) {
        const Index worst = std::max(largest[n], total - atoms[n]);
        if (worst < std::max(largest[best], total - atoms[best])) best = n;
    }
    return tree.order[best];
}

ResidueClass class_of(const Topology& topology, const PeptideChain& chain, std::size_t n) {
    const auto name = [&](std::size_t at) -> std::string_view {
        if (at >= chain.residues.size()) return {};
        return topology.residues[static_cast<std::size_t>(chain.residues[at].residue)].name;
    };
    return residue_class(name(n), name(n + 1));
}

void add_hinges(ChainModel& model, const PieceGraph& graph, const Tree& tree) {
    model.subtree_end = tree.subtree_end;
    for (std::size_t n = 1; n < tree.order.size(); ++n) {
        const HingeEdge& edge = graph.edges[static_cast<std::size_t>(tree.edge[n])];
        // The torsion also rises if the other side turns the other way.
        const bool is_after = tree.order[n] == edge.after;
        model.hinges.push_back(
            {edge.kind, tree.parent[n], edge.origin, is_after ? edge.axis : -1.0 * edge.axis});
    }
}

void add_residues(ChainModel& model, const PieceGraph& graph, const Tree& tree,
                  const Molecules& molecules) {
    std::map<std::pair<std::size_t, std::size_t>, std::array<Index, 3>> hinges;
    for (std::size_t n = 1; n < tree.order.size(); ++n) {
        const HingeEdge& edge = graph.edges[static_cast<std::size_t>(tree.edge[n])];
        auto& found =
            hinges.try_emplace({edge.chain, edge.residue}, std::array<Index, 3>{-1, -1, -1})
                .first->second;
        found[static_cast<std::size_t>(edge.kind)] = static_cast<Index>(n) - 1;
    }
    const auto at = [&](Index atom) { return model.start[static_cast<std::size_t>(atom)]; };
    for (std::size_t chain = 0; chain < molecules.chains.size(); ++chain) {
        const std::vector<PeptideResidue>& all = molecules.chains[chain].residues;
        for (std::size_t n = 0; n < all.size(); ++n) {
            if (all[n].linker < 0) continue;
            LinkerResidue one;
            one.label =
                residue_label(model.topology->residues[static_cast<std::size_t>(all[n].residue)]);
            one.linker = all[n].linker;
            one.residue_class = class_of(*model.topology, molecules.chains[chain], n);
            one.n = all[n].n;
            one.ca = all[n].ca;
            one.c = all[n].c;
            one.has_phi = n > 0;
            one.has_psi = n + 1 < all.size();
            if (one.has_phi) one.c_before = all[n - 1].c;
            if (one.has_psi) one.n_behind = all[n + 1].n;
            if (one.has_phi)
                one.phi = dihedral_angle(at(one.c_before), at(one.n), at(one.ca), at(one.c));
            if (one.has_psi)
                one.psi = dihedral_angle(at(one.n), at(one.ca), at(one.c), at(one.n_behind));
            one.bend = bond_angle(at(one.n), at(one.ca), at(one.c));
            if (const auto found = hinges.find({chain, n}); found != hinges.end()) {
                one.phi_hinge = found->second[0];
                one.bend_hinge = found->second[1];
                one.psi_hinge = found->second[2];
            }
            model.residues.push_back(one);
        }
    }
}

/// "A:1-288" of the rigid residues of a piece.
void add_domains(ChainModel& model, const Molecules& molecules) {
    struct Found {
        std::string name;
        Vector sum;
        Index residues = 0;
    };
    std::vector<Found> found(static_cast<std::size_t>(model.piece_count()));
    const auto& names = model.topology->residues;
    for (const PeptideChain& chain : molecules.chains) {
        const std::vector<PeptideResidue>& all = chain.residues;
        for (std::size_t n = 0; n < all.size();) {
            std::size_t end = n + 1;
            while (end < all.size() && (all[end].linker < 0) == (all[n].linker < 0)) ++end;
            if (all[n].linker < 0) {
                Found& domain = found[static_cast<std::size_t>(
                    model.piece_of[static_cast<std::size_t>(all[n].ca)])];
                const auto& first = names[static_cast<std::size_t>(all[n].residue)];
                const auto& last = names[static_cast<std::size_t>(all[end - 1].residue)];
                const ResidueRange range{first.chain, first.number, last.number, first.insertion,
                                         last.insertion};
                domain.name += (domain.name.empty() ? "" : ",") + range.text();
                for (std::size_t m = n; m < end; ++m) {
                    domain.sum = domain.sum + model.start[static_cast<std::size_t>(all[m].ca)];
                    ++domain.residues;
                }
            }
            n = end;
        }
    }
    for (std::size_t piece = 0; piece < found.size(); ++piece) {
        const Found& one = found[piece];
        if (one.residues >= kMinDomain)
            model.domains.push_back({one.name, static_cast<Index>(piece),
                                     (1.0 / static_cast<double>(one.residues)) * one.sum,
                                     one.residues});
    }
}

void add_points(ChainModel& model, const Molecules& molecules) {
    Index chains = 0;
    for (const PeptideChain& chain : molecules.chains) {
        for (std::size_t n = 0; n < chain.residues.size(); ++n)
            model.points.push_back({chain.residues[n].ca, chains, static_cast<Index>(n)});
        ++chains;
    }
    // Points of nucleotides have no neighbours here: their chains are rigid.
    for (const OtherMolecule& molecule : molecules.others) {
        for (const Index atom : molecule.atoms) {
            const std::string& name = model.topology->atoms[static_cast<std::size_t>(atom)].name;
            if (name == "P" || name == "C1'" || name == "C1*")
                model.points.push_back({atom, chains, 0});
        }
        ++chains;
    }
}

}  // namespace

ChainModel make_chain_model(std::shared_ptr<const Topology> topology, View<const float, 2> xyz,
                            const ChainOptions& options) {
    ChainModel model;
    model.topology = std::move(topology);
    for (Index atom = 0; atom < xyz.extent(1); ++atom)
        model.start.push_back({xyz(0, atom), xyz(1, atom), xyz(2, atom)});
    Molecules molecules = find_molecules(*model.topology);
    mark_linkers(molecules, *model.topology, model.start, options.linkers);
    PieceGraph graph = make_pieces(molecules, *model.topology, model.start, options);
    const Neighbours neighbours = neighbours_of(graph);
    const Tree tree = visit(neighbours, centre_of(graph, neighbours));
    for (const Index piece : graph.piece_of)
        model.piece_of.push_back(tree.number[static_cast<std::size_t>(piece)]);
    add_hinges(model, graph, tree);
    add_residues(model, graph, tree, molecules);
    add_domains(model, molecules);
    add_points(model, molecules);
    for (const ResidueRange& range : options.linkers) model.linkers.push_back(range.text());
    model.notes = std::move(graph.notes);
    return model;
}

std::vector<ResidueRange> linkers_between(const Topology& topology,
                                          const std::vector<ResidueRange>& rigid) {
    return linkers_between(find_molecules(topology), topology, rigid);
}

Conformation::Conformation(const ChainModel& model)
    : model_(&model),
      turns_(model.hinges.size()),
      pieces_(static_cast<std::size_t>(model.piece_count())) {
    set_angles(std::vector<double>(model.hinges.size(), 0.0));
}

void Conformation::set_angles(const std::vector<double>& angles) {
    const bool is_first = angles_.size() != angles.size();
    moved_.assign(pieces_.size(), 0);
    for (std::size_t n = 0; n < angles.size(); ++n) {
        const Hinge& hinge = model_->hinges[n];
        const auto parent = static_cast<std::size_t>(hinge.parent);
        const bool turns = is_first || angles[n] != angles_[n];
        if (turns) turns_[n] = rotation_about(hinge.origin, hinge.axis, angles[n]);
        if (!turns && moved_[parent] == 0) continue;
        moved_[n + 1] = 1;
        pieces_[n + 1] = pieces_[parent] * turns_[n];
    }
    angles_ = angles;
}

Vector Conformation::atom(Index index) const {
    const auto n = static_cast<std::size_t>(index);
    return piece(model_->piece_of[n])(model_->start[n]);
}

void Conformation::write(View<float, 2> xyz, Index resting_piece) const {
    const Transform back = inverse(piece(resting_piece));
    for (Index n = 0; n < model_->atom_count(); ++n) {
        const Vector at = back(atom(n));
        xyz(0, n) = static_cast<float>(at.x);
        xyz(1, n) = static_cast<float>(at.y);
        xyz(2, n) = static_cast<float>(at.z);
    }
}

double Conformation::phi(const LinkerResidue& residue) const {
    return wrapped(residue.phi + angle(residue.phi_hinge));
}

double Conformation::psi(const LinkerResidue& residue) const {
    return wrapped(residue.psi + angle(residue.psi_hinge));
}

double Conformation::bend(const LinkerResidue& residue) const {
    return residue.bend + angle(residue.bend_hinge);
}

}  // namespace pleat::refine
