// Chain model: chains cut at rotatable bonds, pieces joined by groups, bonds and contacts, and
// their tree.
#include "pleat/workflows/refine/chain/chain_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "pleat/core/error.h"

namespace pleat::refine {

namespace {

constexpr double kContact = 5.0;  // angstrom

/// Whether a ring of the residue holds its phi.
bool is_proline(const std::string& residue_name) {
    return residue_name == "PRO" || residue_name == "HYP";
}

/// Disjoint sets of items that are joined step by step (union-find).
class Sets {
public:
    void grow(Index count) {
        while (static_cast<Index>(parent_.size()) < count)
            parent_.push_back(static_cast<Index>(parent_.size()));
    }
    Index find(Index item) const {
        while (parent_[item] != item) item = parent_[item];
        return item;
    }
    void join(Index a, Index b) {
        const Index low = std::min(find(a), find(b)), high = std::max(find(a), find(b));
        parent_[high] = low;
    }

private:
    std::vector<Index> parent_;
};

/// A hinge between two pieces, before the tree has a root. If the angle increases and `before`
/// rests, the piece `after` rotates by a positive angle about `axis`.
struct HingeEdge {
    HingeKind kind = HingeKind::phi;
    Index before = 0, after = 0;         ///< pieces, towards the N and the C terminus
    std::size_t chain = 0, residue = 0;  ///< of Molecules
    Vector origin, axis;                 ///< in the start structure
};

struct PieceGraph {
    std::vector<Index> piece_of;  ///< [atom]
    std::vector<HingeEdge> edges;
    Index pieces = 0;
    Notes notes;
};

class Builder {
public:
    Builder(const Molecules& molecules, const Topology& topology,
            const std::vector<Vector>& positions, const ChainOptions& options)
        : molecules_(molecules),
          topology_(topology),
          positions_(positions),
          linkers_(options.linkers),
          units_(options.units) {
        graph_.piece_of.assign(positions.size(), -1);
    }

    void cut_chains() {
        for (std::size_t chain = 0; chain < molecules_.chains.size(); ++chain) cut_chain(chain);
        if (graph_.edges.empty()) fail("expected a linker with a rotatable bond, found none");
        same_.grow(graph_.pieces);
        connected_.grow(graph_.pieces);
        for (const HingeEdge& edge : graph_.edges) connected_.join(edge.before, edge.after);
    }

    void join_group(const std::vector<ResidueRange>& group) {
        const std::string text = text_of(group);
        std::vector<Index> members;
        for (const ResidueRange& range : group) {
            const ResiduePosition at = locate_range(molecules_, topology_, range);
            for (std::size_t n = at.first; n <= at.last; ++n) {
                const PeptideResidue& residue = molecules_.chains[at.chain].residues[n];
                if (residue.linker >= 0)
                    fail(
                        fmt::format("expected a group of rigid residues, found {} of linker {} "
                                    "in {}",
                                    label(residue), linkers_[residue.linker].text(), text));
                members.push_back(piece_of(residue.ca));
            }
        }
        const auto is_first = [&](Index piece) {
            return same_.find(piece) == same_.find(members.front());
        };
        if (std::all_of(members.begin(), members.end(), is_first))
            fail(fmt::format(
                "expected a group of domains that can move apart, found {}, which move as "
                "one anyway; leave that group out",
                text));
        for (const Index piece : members)
            join(members.front(), piece, fmt::format("the group {}", text));
    }

    void join_disulfides() {
        for (const auto& [a, b] : disulfide_bonds(topology_, positions_))
            if (piece_of(a) >= 0 && piece_of(b) >= 0 && are_of_one_unit(a, b))
                join(piece_of(a), piece_of(b),
                     fmt::format("the disulfide bond {}-{}", residue_label(topology_.residue_of(a)),
                                 residue_label(topology_.residue_of(b))));
    }

    /// Chains and other molecules that nothing connects move with the rigid domain that they touch.
    void join_by_contacts() {
        const Index main = connected_.find(graph_.edges.front().before);
        for (const HingeEdge& edge : graph_.edges)
            if (connected_.find(edge.before) != main)
                fail(fmt::format(
                    "expected flexible chains that are connected, found nothing rigid between {} "
                    "and {}; join rigid residues of both by --group, which must be in one model "
                    "of one file",
                    label_of(graph_.edges.front()), label_of(edge)));
        std::map<Index, std::vector<Index>> loose;  // by set of pieces
        for (std::size_t atom = 0; atom < positions_.size(); ++atom) {
            const Index piece = graph_.piece_of[atom];
            if (piece >= 0 && connected_.find(piece) != main)
                loose[connected_.find(piece)].push_back(static_cast<Index>(atom));
        }
        for (const auto& [piece, atoms] : loose)
            join_to_nearest(piece, fmt::format("chain '{}'", topology_.residue_of(atoms[0]).chain),
                            atoms);
        for (const OtherMolecule& molecule : molecules_.others) {
            const Index piece = new_piece();
            same_.grow(graph_.pieces);
            connected_.grow(graph_.pieces);
            join_to_nearest(piece, molecule.name, molecule.atoms);
            for (const Index atom : molecule.atoms) assign(atom, piece);
        }
    }

    /// Returns the graph, with each set of joined pieces as one piece.
    PieceGraph finish() {
        std::map<Index, Index> number;
        const auto renumber = [&](Index& piece) {
            piece = number.try_emplace(same_.find(piece), static_cast<Index>(number.size()))
                        .first->second;
        };
        for (Index& piece : graph_.piece_of) renumber(piece);
        for (HingeEdge& edge : graph_.edges) {
            renumber(edge.before);
            renumber(edge.after);
        }
        graph_.pieces = static_cast<Index>(number.size());
        return std::move(graph_);
    }

private:
    [[noreturn]] void fail(const std::string& text) const {
        throw InputError(topology_.source.string(), 0, text);
    }
    const Vector& at(Index atom) const { return positions_[atom]; }
    Index piece_of(Index atom) const { return graph_.piece_of[atom]; }
    void assign(Index atom, Index piece) {
        if (atom >= 0) graph_.piece_of[atom] = piece;
    }
    Index new_piece() { return graph_.pieces++; }
    std::string label(const PeptideResidue& residue) const {
        return residue_label(topology_.residues[residue.residue]);
    }
    std::string label_of(const HingeEdge& edge) const {
        const int linker = molecules_.chains[edge.chain].residues[edge.residue].linker;
        return "linker " + linkers_[linker].text();
    }

    void cut_chain(std::size_t number) {
        const std::vector<PeptideResidue>& residues = molecules_.chains[number].residues;
        Index piece = new_piece();
        for (std::size_t n = 0; n < residues.size(); ++n) {
            const PeptideResidue& residue = residues[n];
            assign(residue.n, piece);
            const bool in_linker = residue.linker >= 0;
            const bool has_phi =
                in_linker && n > 0 && !is_proline(topology_.residues[residue.residue].name);
            const bool has_psi = in_linker && n + 1 < residues.size();
            const auto turn = [&](HingeKind kind, Vector origin, Vector axis) {
                const Index before = piece;
                piece = new_piece();
                graph_.edges.push_back({kind, before, piece, number, n, origin, axis});
            };
            if (has_phi) turn(HingeKind::phi, at(residue.ca), unit(at(residue.ca) - at(residue.n)));
            assign(residue.ca, piece);
            for (const Index atom : residue.others)
                if (!is_oxygen(atom)) assign(atom, piece);
            if (has_phi && has_psi)
                turn(HingeKind::bend, at(residue.ca),
                     unit(cross(at(residue.n) - at(residue.ca), at(residue.c) - at(residue.ca))));
            assign(residue.c, piece);
            if (has_psi) turn(HingeKind::psi, at(residue.c), unit(at(residue.c) - at(residue.ca)));
            for (const Index atom : residue.others)
                if (is_oxygen(atom)) assign(atom, piece);
        }
    }

    /// Whether this is an oxygen bonded to the C of a peptide bond.
    bool is_oxygen(Index atom) const {
        const std::string& name = topology_.atoms[atom].name;
        return name == "O" || name == "OXT" || name == "OT1" || name == "OT2";
    }

    void join(Index a, Index b, const std::string& reason) {
        if (same_.find(a) == same_.find(b)) return;
        if (connected_.find(a) == connected_.find(b))
            fail(
                fmt::format("expected linkers that are in no closed loop, found that {} closes "
                            "one through {}",
                            reason, linkers_between(a, b)));
        same_.join(a, b);
        connected_.join(a, b);
    }

    /// The linkers on the path between two connected pieces.
    std::string linkers_between(Index from, Index to) const {
        std::vector<Index> open = {same_.find(from)};
        std::map<Index, std::pair<Index, const HingeEdge*>> came_from = {{open[0], {-1, nullptr}}};
        for (std::size_t n = 0; n < open.size(); ++n)
            for (const HingeEdge& edge : graph_.edges) {
                const Index before = same_.find(edge.before), after = same_.find(edge.after);
                if (before != open[n] && after != open[n]) continue;
                const Index other = before == open[n] ? after : before;
                if (came_from.try_emplace(other, open[n], &edge).second) open.push_back(other);
            }
        std::vector<std::string> names;
        for (Index at = same_.find(to); came_from.at(at).second != nullptr;
             at = came_from.at(at).first) {
            const std::string name = label_of(*came_from.at(at).second);
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
        }
        return fmt::format("{}", fmt::join(names.rbegin(), names.rend(), " and "));
    }

    /// Whether two atoms have the same relative position as in the given structure: neither was
    /// built, and the same motion moved both.
    bool are_of_one_unit(Index a, Index b) const {
        if (units_.empty()) return true;
        const Index unit = units_[a];
        return unit >= 0 && unit == units_[b];
    }

    /// A rigid domain that some atoms touch, or that is nearest to them.
    struct Touched {
        Index piece = -1;  ///< none
        std::size_t contacts = 0;
    };

    /// `in_unit`: considers only domains in the unit of these atoms; others were moved.
    Touched find_nearest(const std::vector<Index>& atoms, bool in_unit) const {
        std::map<Index, std::size_t> contacts;
        Touched found;
        double shortest = std::numeric_limits<double>::infinity();
        const Index main = connected_.find(graph_.edges.front().before);
        for (const PeptideChain& chain : molecules_.chains)
            for (const PeptideResidue& residue : chain.residues) {
                const Index other = same_.find(piece_of(residue.ca));
                if (residue.linker >= 0 || connected_.find(other) != main) continue;
                if (in_unit && !are_of_one_unit(residue.ca, atoms.front())) continue;
                std::vector<Index> all = residue.others;
                all.insert(all.end(), {residue.n, residue.ca, residue.c});
                for (const Index a : all)
                    for (const Index b : atoms) {
                        const double apart = a < 0 ? kContact : distance(at(a), at(b));
                        if (apart < kContact) ++contacts[other];
                        if (a >= 0 && apart < shortest) {
                            shortest = apart;
                            found.piece = other;
                        }
                    }
            }
        for (const auto& [other, count] : contacts)
            if (count > found.contacts) found = {other, count};
        return found;
    }

    void join_to_nearest(Index piece, const std::string& name, const std::vector<Index>& atoms) {
        Touched found = find_nearest(atoms, true);
        // A unit of few residues may have no rigid one.
        if (found.piece < 0) found = find_nearest(atoms, false);
        if (found.piece < 0) fail("expected a rigid domain, found linkers alone");
        graph_.notes.push_back(
            {NoteKind::molecules, fmt::format("{} moves with the rigid domain that it {}: {}", name,
                                              found.contacts > 0 ? "touches most" : "is nearest to",
                                              name_of_piece(found.piece))});
        same_.join(piece, found.piece);
        connected_.join(piece, found.piece);
    }

    std::string name_of_piece(Index piece) const {
        for (const PeptideChain& chain : molecules_.chains)
            for (const PeptideResidue& residue : chain.residues)
                if (residue.linker < 0 && same_.find(piece_of(residue.ca)) == piece)
                    return fmt::format("that of {}", label(residue));
        return "none";
    }

    const Molecules& molecules_;
    const Topology& topology_;
    const std::vector<Vector>& positions_;
    const std::vector<ResidueRange>& linkers_;
    const std::vector<Index>& units_;
    PieceGraph graph_;
    Sets same_, connected_;
};

/// The tree of pieces: each piece's parent, and the pieces in the order of visits.
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
        all[edge.before].emplace_back(edge.after, static_cast<Index>(n));
        all[edge.after].emplace_back(edge.before, static_cast<Index>(n));
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
        tree.number[at.piece] = number;
        tree.order.push_back(at.piece);
        tree.parent.push_back(at.parent);
        tree.edge.push_back(at.edge);
        for (const auto& [piece, edge] : neighbours[at.piece])
            if (edge != at.edge) open.push_back({piece, number, edge});
    }
    tree.subtree_end.resize(tree.order.size());
    for (std::size_t n = tree.order.size(); n-- > 0;) {
        tree.subtree_end[n] = std::max(tree.subtree_end[n], static_cast<Index>(n) + 1);
        if (tree.parent[n] >= 0) {
            Index& end = tree.subtree_end[tree.parent[n]];
            end = std::max(end, tree.subtree_end[n]);
        }
    }
    return tree;
}

/// The piece whose subtrees all have at most half of the atoms.
Index centre_of(const PieceGraph& graph, const Neighbours& neighbours) {
    const Tree tree = visit(neighbours, 0);
    std::vector<Index> atoms(tree.order.size(), 0), largest(tree.order.size(), 0);
    for (const Index piece : graph.piece_of) ++atoms[tree.number[piece]];
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
        return topology.residues[chain.residues[at].residue].name;
    };
    return residue_class(name(n), name(n + 1));
}

void add_hinges(ChainModel& model, const PieceGraph& graph, const Tree& tree) {
    model.subtree_end = tree.subtree_end;
    for (std::size_t n = 1; n < tree.order.size(); ++n) {
        const HingeEdge& edge = graph.edges[tree.edge[n]];
        // The torsion also increases if the other side rotates in the opposite direction.
        const bool is_after = tree.order[n] == edge.after;
        model.hinges.push_back(
            {edge.kind, tree.parent[n], edge.origin, is_after ? edge.axis : -1.0 * edge.axis});
    }
}

void add_residues(ChainModel& model, const PieceGraph& graph, const Tree& tree,
                  const Molecules& molecules) {
    std::map<std::pair<std::size_t, std::size_t>, std::array<Index, 3>> hinges;
    for (std::size_t n = 1; n < tree.order.size(); ++n) {
        const HingeEdge& edge = graph.edges[tree.edge[n]];
        auto& found =
            hinges.try_emplace({edge.chain, edge.residue}, std::array<Index, 3>{-1, -1, -1})
                .first->second;
        found[static_cast<std::size_t>(edge.kind)] = static_cast<Index>(n) - 1;
    }
    const auto at = [&](Index atom) { return model.start[atom]; };
    for (std::size_t chain = 0; chain < molecules.chains.size(); ++chain) {
        const std::vector<PeptideResidue>& all = molecules.chains[chain].residues;
        for (std::size_t n = 0; n < all.size(); ++n) {
            if (all[n].linker < 0) continue;
            LinkerResidue one;
            one.linker = all[n].linker;
            one.residue_class = class_of(*model.topology, molecules.chains[chain], n);
            one.n = all[n].n;
            one.ca = all[n].ca;
            one.c = all[n].c;
            one.has_phi = n > 0;
            one.has_psi = n + 1 < all.size();
            if (one.has_phi) one.previous_c = all[n - 1].c;
            if (one.has_psi) one.n_behind = all[n + 1].n;
            if (one.has_phi)
                one.phi = dihedral_angle(at(one.previous_c), at(one.n), at(one.ca), at(one.c));
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

/// Hinges of the other copies have the angles of the first. Its residues come first, and those of
/// all copies are in the same order.
void repeat_angles(ChainModel& model, Index copies) {
    const std::size_t own = model.residues.size() / static_cast<std::size_t>(copies);
    model.copies = copies;
    model.own_residues = static_cast<Index>(own);
    if (copies == 1) return;
    model.source_hinge.resize(model.hinges.size());
    for (std::size_t n = 0; n < model.residues.size(); ++n)
        for (const auto hinge :
             {&LinkerResidue::phi_hinge, &LinkerResidue::bend_hinge, &LinkerResidue::psi_hinge})
            if (const Index copy = model.residues[n].*hinge; copy >= 0)
                model.source_hinge[copy] = model.residues[n % own].*hinge;
}

/// Names domains such as "A:1-288" by the rigid residues of a piece.
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
                Found& domain = found[model.piece_of[all[n].ca]];
                const ResidueRange range =
                    range_of(names[all[n].residue], names[all[end - 1].residue]);
                domain.name += (domain.name.empty() ? "" : ",") + range.text();
                for (std::size_t m = n; m < end; ++m) {
                    domain.sum = domain.sum + model.start[all[m].ca];
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
            const std::string& name = model.topology->atoms[atom].name;
            if (name == "P" || name == "C1'" || name == "C1*")
                model.points.push_back({atom, chains, 0});
        }
        ++chains;
    }
}

/// Divides a structure into pieces: a rigid domain, or the atoms between two rotatable bonds of a
/// linker. Groups, disulfide bonds within a unit, and contacts of chains and ligands without
/// linkers, each to a domain of its unit, join pieces. Throws InputError for a closed loop (named),
/// for a group whose residues are of one piece without it, for pieces that nothing connects, and if
/// no bond is rotatable.
PieceGraph make_pieces(const Molecules& molecules, const Topology& topology,
                       const std::vector<Vector>& positions, const ChainOptions& options) {
    Builder builder(molecules, topology, positions, options);
    builder.cut_chains();
    for (const std::vector<ResidueRange>& group : options.groups) builder.join_group(group);
    builder.join_disulfides();
    builder.join_by_contacts();
    return builder.finish();
}

}  // namespace

ChainModel make_chain_model(std::shared_ptr<const Topology> topology, View<const float, 2> xyz,
                            const ChainOptions& options) {
    ChainModel model;
    model.topology = std::move(topology);
    model.start = positions_of(xyz);
    Molecules molecules = find_molecules(*model.topology);
    mark_linkers(molecules, *model.topology, model.start, options.linkers);
    PieceGraph graph = make_pieces(molecules, *model.topology, model.start, options);
    const Neighbours neighbours = neighbours_of(graph);
    const Tree tree = visit(neighbours, centre_of(graph, neighbours));
    for (const Index piece : graph.piece_of) model.piece_of.push_back(tree.number[piece]);
    add_hinges(model, graph, tree);
    add_residues(model, graph, tree, molecules);
    repeat_angles(model, options.copies);
    add_domains(model, molecules);
    add_points(model, molecules);
    for (const ResidueRange& range : options.linkers) model.linkers.push_back(range.text());
    model.notes = std::move(graph.notes);
    return model;
}

Conformation::Conformation(const ChainModel& model)
    : model_(&model),
      hinge_rotations_(model.hinges.size()),
      pieces_(static_cast<std::size_t>(model.piece_count())) {
    set_angles(std::vector<double>(model.hinges.size(), 0.0));
}

void Conformation::set_angles(const std::vector<double>& angles) {
    const bool is_first = angles_.size() != angles.size();
    angles_.resize(angles.size());
    moved_.assign(pieces_.size(), 0);
    for (std::size_t n = 0; n < angles.size(); ++n) {
        const Hinge& hinge = model_->hinges[n];
        const auto parent = static_cast<std::size_t>(hinge.parent);
        const double angle = angles[model_->copies > 1 ? model_->source_hinge[n] : n];
        const bool turns = is_first || angle != angles_[n];
        angles_[n] = angle;
        if (turns) hinge_rotations_[n] = rotation_about(hinge.origin, hinge.axis, angle);
        if (!turns && moved_[parent] == 0) continue;
        moved_[n + 1] = 1;
        pieces_[n + 1] = pieces_[parent] * hinge_rotations_[n];
    }
}

Vector Conformation::atom(Index index) const {
    return piece(model_->piece_of[index])(model_->start[index]);
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
