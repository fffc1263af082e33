// Sterics: the energy of close points, and the pairs that do not count.
#include "pleat/workflows/refine/sterics/sterics.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace pleat::refine {

namespace {

constexpr Index kNeighbours = 3;  // residues of a chain less than this apart may be close

std::vector<Index> atoms_of(const std::vector<ClashPoint>& points) {
    std::vector<Index> atoms;
    atoms.reserve(points.size());
    for (const ClashPoint& point : points) atoms.push_back(point.atom);
    return atoms;
}

}  // namespace

Sterics::Sterics(const ChainModel& model, StericOptions options)
    : options_(options), points_(model, atoms_of(model.points)) {
    excuse_neighbours(model);
    excuse_fixed_pairs(model);
    std::sort(excused_.begin(), excused_.end());
    excused_.erase(std::unique(excused_.begin(), excused_.end()), excused_.end());
}

void Sterics::excuse_neighbours(const ChainModel& model) {
    std::map<Index, Index> point_of;  // by atom
    for (Index point = 0; point < points_.size(); ++point) point_of[points_.atom(point)] = point;
    std::map<std::pair<Index, Index>, Index> atom_at;  // by chain and residue
    for (const ClashPoint& one : model.points) atom_at[{one.chain, one.residue}] = one.atom;
    for (const ClashPoint& one : model.points)
        for (Index apart = 1; apart < kNeighbours; ++apart) {
            const auto other = atom_at.find({one.chain, one.residue + apart});
            if (other != atom_at.end() &&
                model.piece_of[static_cast<std::size_t>(one.atom)] !=
                    model.piece_of[static_cast<std::size_t>(other->second)])
                excused_.push_back(std::minmax(point_of[one.atom], point_of[other->second]));
        }
}

// CA of a linker's residue is on the axes of its hinges: it keeps its distance from all points of
// the pieces that these connect.
void Sterics::excuse_fixed_pairs(const ChainModel& model) {
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
            const double reach = options_.distance + 0.1;
            if (piece != own && std::find(pieces.begin(), pieces.end(), piece) != pieces.end() &&
                points_.square_distance(ca, point) < reach * reach)
                excused_.push_back(std::minmax(ca, point));
        }
    }
}

void Sterics::add(double square, int sign, Overlap& sum) const {
    if (square >= options_.distance * options_.distance) return;
    const double depth = options_.distance - std::sqrt(square);
    sum.energy += sign * options_.strength * depth * depth;
    if (square < options_.hard * options_.hard) sum.hard_pairs += sign;
}

Overlap Sterics::overlap(const Conformation& conformation) {
    points_.place(conformation);
    Overlap sum;
    points_.for_each_close_pair(options_.distance,
                                [&](Index, Index, double square) { add(square, 1, sum); });
    for (const auto& [a, b] : excused_) add(points_.square_distance(a, b), -1, sum);
    sum.energy = std::max(sum.energy, 0.0);
    return sum;
}

}  // namespace pleat::refine
