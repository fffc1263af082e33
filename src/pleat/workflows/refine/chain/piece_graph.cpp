// Piece graph: chains cut at rotatable bonds, and pieces joined by groups, bonds and contacts.
#include "pleat/workflows/refine/chain/piece_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "pleat/core/error.h"
#include "pleat/core/notes.h"

namespace pleat::refine {

namespace {

constexpr double kMaxDisulfide = 2.5;  // angstrom
constexpr double kContact = 5.0;       // angstrom

/// Whether a ring of the residue holds its phi.
bool is_proline(const std::string& residue_name) {
    return residue_name == "PRO" || residue_name == "HYP";
}

/// Sets of items that are joined step by step.
class Sets {
public:
    void grow(Index count) {
        while (static_cast<Index>(parent_.size()) < count)
            parent_.push_back(static_cast<Index>(parent_.size()));
    }
    Index find(Index item) const {
        while (parent_[static_cast<std::size_t>(item)] != item)
            item = parent_[static_cast<std::size_t>(item)];
        return item;
    }
    void join(Index a, Index b) {
        const Index low = std::min(find(a), find(b)), high = std::max(find(a), find(b));
        parent_[static_cast<std::size_t>(high)] = low;
    }

private:
    std::vector<Index> parent_;
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
        std::string text;
        for (const ResidueRange& range : group) text += (text.empty() ? "" : ",") + range.text();
        std::vector<Index> members;
        for (const ResidueRange& range : group) {
            const ResiduePosition at = locate(molecules_, topology_, range);
            for (std::size_t n = at.first; n <= at.last; ++n) {
                const PeptideResidue& residue = molecules_.chains[at.chain].residues[n];
                if (residue.linker >= 0)
                    fail(fmt::format(
                        "expected a group of rigid residues, found {} of linker {} "
                        "in {}",
                        label(residue), linkers_[static_cast<std::size_t>(residue.linker)].text(),
                        text));
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
        std::vector<Index> sulfurs;
        for (std::size_t atom = 0; atom < positions_.size(); ++atom)
            if (topology_.atoms[atom].name == "SG" && graph_.piece_of[atom] >= 0)
                sulfurs.push_back(static_cast<Index>(atom));
        for (std::size_t a = 0; a < sulfurs.size(); ++a)
            for (std::size_t b = a + 1; b < sulfurs.size(); ++b)
                if (are_of_one_unit(sulfurs[a], sulfurs[b]) &&
                    distance(at(sulfurs[a]), at(sulfurs[b])) <= kMaxDisulfide)
                    join(piece_of(sulfurs[a]), piece_of(sulfurs[b]),
                         fmt::format("the disulfide bond {}-{}",
                                     residue_label(topology_.residue_of(sulfurs[a])),
                                     residue_label(topology_.residue_of(sulfurs[b]))));
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

    /// The graph with joined pieces under one number.
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
    const Vector& at(Index atom) const { return positions_[static_cast<std::size_t>(atom)]; }
    Index piece_of(Index atom) const { return graph_.piece_of[static_cast<std::size_t>(atom)]; }
    void assign(Index atom, Index piece) {
        if (atom >= 0) graph_.piece_of[static_cast<std::size_t>(atom)] = piece;
    }
    Index new_piece() { return graph_.pieces++; }
    std::string label(const PeptideResidue& residue) const {
        return residue_label(topology_.residues[static_cast<std::size_t>(residue.residue)]);
    }
    std::string label_of(const HingeEdge& edge) const {
        const int linker = molecules_.chains[edge.chain].residues[edge.residue].linker;
        return "linker " + linkers_[static_cast<std::size_t>(linker)].text();
    }

    void cut_chain(std::size_t number) {
        const std::vector<PeptideResidue>& residues = molecules_.chains[number].residues;
        Index piece = new_piece();
        for (std::size_t n = 0; n < residues.size(); ++n) {
            const PeptideResidue& residue = residues[n];
            assign(residue.n, piece);
            const bool in_linker = residue.linker >= 0;
            const bool has_phi =
                in_linker && n > 0 &&
                !is_proline(topology_.residues[static_cast<std::size_t>(residue.residue)].name);
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
        const std::string& name = topology_.atoms[static_cast<std::size_t>(atom)].name;
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

    /// Whether the given structure says how atoms lie to one another: neither was built, and they
    /// were moved alike.
    bool are_of_one_unit(Index a, Index b) const {
        if (units_.empty()) return true;
        const Index unit = units_[static_cast<std::size_t>(a)];
        return unit >= 0 && unit == units_[static_cast<std::size_t>(b)];
    }

    /// A rigid domain that others touch, or that is near to them.
    struct Touched {
        Index piece = -1;  ///< none
        std::size_t contacts = 0;
    };

    /// `in_unit`: of the domains in the unit of these atoms alone; others were moved.
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

}  // namespace

PieceGraph make_pieces(const Molecules& molecules, const Topology& topology,
                       const std::vector<Vector>& positions, const ChainOptions& options) {
    Builder builder(molecules, topology, positions, options);
    builder.cut_chains();
    for (const std::vector<ResidueRange>& group : options.groups) builder.join_group(group);
    builder.join_disulfides();
    builder.join_by_contacts();
    return builder.finish();
}

}  // namespace pleat::refine
