// Sterics: the energy of close points, and the pairs that do not count.
#include "pleat/workflows/refine/sterics/sterics.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace pleat::refine {

namespace {

constexpr Index kNeighbours = 3;  // residues of a chain less than this apart may be close

bool is_backbone(const std::string& name) {
    return name == "N" || name == "CA" || name == "C" || name == "O" || name == "OXT";
}

/// [residue of the topology]: the heavy atom of the side chain that is nearest to its centre, -1
/// for none.
std::vector<Index> side_chain_atoms(const ChainModel& model) {
    const Topology& topology = *model.topology;
    std::vector<std::vector<Index>> atoms(topology.residues.size());
    for (Index atom = 0; atom < model.atom_count(); ++atom) {
        const Topology::Atom& one = topology.atoms[static_cast<std::size_t>(atom)];
        if (one.element != "H" && !is_backbone(one.name))
            atoms[static_cast<std::size_t>(one.residue)].push_back(atom);
    }
    std::vector<Index> nearest;
    for (const std::vector<Index>& side : atoms) {
        const auto at = [&](Index atom) { return model.start[static_cast<std::size_t>(atom)]; };
        Vector centre;
        for (const Index atom : side)
            centre = centre + (1.0 / static_cast<double>(side.size())) * at(atom);
        const auto found = std::min_element(side.begin(), side.end(), [&](Index a, Index b) {
            return distance(at(a), centre) < distance(at(b), centre);
        });
        nearest.push_back(found == side.end() ? -1 : *found);
    }
    return nearest;
}

/// CA, P, C1' and the side chains of residues with CA.
std::vector<StericPoint> steric_points(const ChainModel& model) {
    const std::vector<Index> side_chains = side_chain_atoms(model);
    std::vector<StericPoint> points;
    for (const ClashPoint& point : model.points) {
        points.push_back({point.atom, point.chain, point.residue, false});
        const Topology::Atom& atom = model.topology->atoms[static_cast<std::size_t>(point.atom)];
        const Index side = side_chains[static_cast<std::size_t>(atom.residue)];
        if (atom.name == "CA" && side >= 0)
            points.push_back({side, point.chain, point.residue, true});
    }
    return points;
}

std::vector<Index> atoms_of(const std::vector<StericPoint>& points) {
    std::vector<Index> atoms;
    atoms.reserve(points.size());
    for (const StericPoint& point : points) atoms.push_back(point.atom);
    return atoms;
}

}  // namespace

Sterics::Sterics(const ChainModel& model, StericOptions options)
    : options_(options),
      reach_(std::max({options.distance, options.side_to_main, options.side_to_side})),
      list_(steric_points(model)),
      points_(model, atoms_of(list_)) {
    // In the order of `points_`, which sorts by piece.
    std::map<Index, StericPoint> of_atom;
    for (const StericPoint& point : list_) of_atom[point.atom] = point;
    for (Index n = 0; n < points_.size(); ++n)
        list_[static_cast<std::size_t>(n)] = of_atom[points_.atom(n)];
    Pairs excused;
    excuse_neighbours(model, excused);
    excuse_fixed_pairs(model, excused);
    std::sort(excused.begin(), excused.end());
    excused.erase(std::unique(excused.begin(), excused.end()), excused.end());
    first_excused_.push_back(0);
    for (std::size_t n = 0, point = 0; point < list_.size(); ++point) {
        for (; n < excused.size() && excused[n].first == static_cast<Index>(point); ++n)
            excused_.push_back(excused[n].second);
        first_excused_.push_back(excused_.size());
    }
}

void Sterics::excuse_neighbours(const ChainModel& model, Pairs& excused) const {
    std::map<std::pair<Index, Index>, std::vector<Index>> points_at;  // by chain and residue
    for (std::size_t n = 0; n < list_.size(); ++n)
        points_at[{list_[n].chain, list_[n].residue}].push_back(static_cast<Index>(n));
    const auto piece = [&](Index point) {
        return model.piece_of[static_cast<std::size_t>(points_.atom(point))];
    };
    for (std::size_t n = 0; n < list_.size(); ++n)
        for (Index apart = 0; apart < kNeighbours; ++apart) {
            const auto others = points_at.find({list_[n].chain, list_[n].residue + apart});
            if (others == points_at.end()) continue;
            const auto one = static_cast<Index>(n);
            for (const Index other : others->second)
                if (piece(one) != piece(other)) excused.push_back(std::minmax(one, other));
        }
}

// CA of a linker's residue is on the axes of its hinges: it keeps its distance from all points of
// the pieces that these connect.
void Sterics::excuse_fixed_pairs(const ChainModel& model, Pairs& excused) const {
    for (const LinkerResidue& residue : model.residues) {
        const Index own = model.piece_of[static_cast<std::size_t>(residue.ca)];
        std::vector<Index> pieces;
        for (const Index hinge : {residue.phi_hinge, residue.bend_hinge, residue.psi_hinge}) {
            if (hinge < 0) continue;
            pieces.push_back(hinge + 1);
            pieces.push_back(model.hinges[static_cast<std::size_t>(hinge)].parent);
        }
        Index ca = 0;
        while (points_.atom(ca) != residue.ca) ++ca;
        for (Index point = 0; point < points_.size(); ++point) {
            const Index piece = model.piece_of[static_cast<std::size_t>(points_.atom(point))];
            const double reach = reach_ + 0.1;
            if (piece != own && std::find(pieces.begin(), pieces.end(), piece) != pieces.end() &&
                points_.square_distance(ca, point) < reach * reach)
                excused.push_back(std::minmax(ca, point));
        }
    }
}

bool Sterics::is_excused(Index a, Index b) const {
    const auto point = static_cast<std::size_t>(a);
    const Index *const first = excused_.data() + first_excused_[point],
                       *const last = excused_.data() + first_excused_[point + 1];
    return std::find(first, last, b) != last;
}

void Sterics::add(Index a, Index b, double square, Overlap& sum) const {
    const int side_chains = (list_[static_cast<std::size_t>(a)].is_side_chain ? 1 : 0) +
                            (list_[static_cast<std::size_t>(b)].is_side_chain ? 1 : 0);
    const double reach = side_chains == 0   ? options_.distance
                         : side_chains == 1 ? options_.side_to_main
                                            : options_.side_to_side;
    if (square >= reach * reach) return;
    const double depth = reach - std::sqrt(square);
    sum.energy += options_.strength * depth * depth;
    if (side_chains == 0 && square < options_.hard * options_.hard) ++sum.hard_pairs;
}

Overlap Sterics::overlap(const Conformation& conformation) {
    points_.place(conformation);
    Overlap sum;
    points_.for_each_close_pair(
        reach_, [&](Index a, Index b) { return !is_excused(a, b); },
        [&](Index a, Index b, double square) { add(a, b, square, sum); });
    return sum;
}

}  // namespace pleat::refine
