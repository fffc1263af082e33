// Periodic cell: lengths and angles to vectors, nearest images, and pairs of atoms to look at.
#include "pleat/bio/structure/periodic_cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <string_view>
#include <utility>

namespace pleat {

namespace {

/// A periodic image nearer than this, in angstrom, belongs to the same molecule: neighbours within
/// a residue and in successive residues are at most so far apart.
constexpr double kMaxBonded = 12.0;
constexpr double kMinEdge = 2.0;

double length(const std::array<double, 3>& v) { return std::hypot(v[0], v[1], v[2]); }

/// The residues of a topology that are selected, with their selected atoms.
struct SelectedResidues {
    SelectedResidues(const Topology& all, const std::vector<Index>& selected)
        : topology(all), atoms(all.residues.size()), chosen(selected) {
        for (std::size_t k = 0; k < selected.size(); ++k) {
            const Topology::Atom& atom = all.atoms[static_cast<std::size_t>(selected[k])];
            atoms[static_cast<std::size_t>(atom.residue)].push_back(static_cast<Index>(k));
        }
        is_polymer.resize(all.residues.size());
        ends_chain.resize(all.residues.size());
        for (const Topology::Atom& atom : all.atoms) {
            const auto residue = static_cast<std::size_t>(atom.residue);
            const bool is_ca = atom.name == "CA" && atom.element == "C";
            for (const std::string_view name : {"P", "C3'", "C3*", "BB"})
                if (is_ca || atom.name == name) is_polymer[residue] = true;
            for (const std::string_view name : {"OXT", "OT1", "OT2", "OC1", "OC2"})
                if (atom.name == name) ends_chain[residue] = true;
        }
    }

    /// Whether residue r + 1 follows residue r in its chain.
    bool follows(std::size_t r) const {
        const Topology::Residue &one = topology.residues[r], &next = topology.residues[r + 1];
        const int step = next.number - one.number;
        return is_polymer[r] && is_polymer[r + 1] && !ends_chain[r] && one.chain == next.chain &&
               (step == 0 || step == 1);
    }

    /// The selected atom of that name, or -1.
    Index find(std::size_t residue, std::string_view name) const {
        for (const Index k : atoms[residue])
            if (topology.atoms[static_cast<std::size_t>(chosen[static_cast<std::size_t>(k)])]
                    .name == name)
                return k;
        return -1;
    }

    /// The pair of atoms that are bonded, else two that represent their residues.
    std::pair<Index, Index> link(std::size_t r) const {
        using Names = std::pair<std::string_view, std::string_view>;
        for (const auto& [first, second] :
             {Names{"C", "N"}, Names{"O3'", "P"}, Names{"CA", "CA"}, Names{"P", "P"},
              Names{"C3'", "C3'"}, Names{"BB", "BB"}, Names{"CB", "CB"}}) {
            const Index a = find(r, first), b = find(r + 1, second);
            if (a >= 0 && b >= 0) return {a, b};
        }
        return {atoms[r].front(), atoms[r + 1].front()};
    }

    const Topology& topology;
    std::vector<std::vector<Index>> atoms;  // of each residue, indices into `chosen`
    const std::vector<Index>& chosen;
    std::vector<bool> is_polymer, ends_chain;
};

}  // namespace

double PeriodicCell::shortest_edge() const {
    double shortest = length(vectors[0]);
    for (const auto& vector : vectors) shortest = std::min(shortest, length(vector));
    return shortest >= kMinEdge && std::isfinite(shortest) ? shortest : 0.0;
}

double PeriodicCell::nearest_image(const std::array<double, 3>& difference) const {
    // Cells of simulations have vectors a = (x, 0, 0), b = (x, y, 0), c, so that whole vectors can
    // be taken off from the last axis to the first; neighbours of the result are tried as well.
    std::array<double, 3> d = difference;
    for (std::size_t v = 3; v-- > 0;) {
        const double diagonal = vectors[v][v];
        const double count = diagonal != 0 ? std::round(d[v] / diagonal) : 0.0;
        for (std::size_t axis = 0; axis < 3; ++axis) d[axis] -= count * vectors[v][axis];
    }
    double nearest = length(d);
    for (int i = -1; i <= 1; ++i)
        for (int j = -1; j <= 1; ++j)
            for (int k = -1; k <= 1; ++k) {
                std::array<double, 3> image = d;
                for (std::size_t axis = 0; axis < 3; ++axis)
                    image[axis] +=
                        i * vectors[0][axis] + j * vectors[1][axis] + k * vectors[2][axis];
                nearest = std::min(nearest, length(image));
            }
    return nearest;
}

PeriodicCell make_cell(const std::array<double, 3>& lengths, const std::array<double, 3>& angles) {
    constexpr double kRadian = std::numbers::pi / 180;
    const double cos_alpha = std::cos(angles[0] * kRadian),
                 cos_beta = std::cos(angles[1] * kRadian),
                 cos_gamma = std::cos(angles[2] * kRadian),
                 sin_gamma = std::sin(angles[2] * kRadian);
    PeriodicCell cell;
    const double y = (cos_alpha - cos_beta * cos_gamma) / sin_gamma;
    const double z2 = 1 - cos_beta * cos_beta - y * y;
    if (!(sin_gamma > 0) || !(z2 > 0)) return cell;
    cell.vectors[0] = {lengths[0], 0, 0};
    cell.vectors[1] = {lengths[1] * cos_gamma, lengths[1] * sin_gamma, 0};
    cell.vectors[2] = {lengths[2] * cos_beta, lengths[2] * y, lengths[2] * std::sqrt(z2)};
    return cell;
}

BrokenMolecules::BrokenMolecules(std::shared_ptr<const Topology> all,
                                 const std::vector<Index>& selected)
    : all_(std::move(all)), selected_(selected) {
    if (!all_->named) return;
    const SelectedResidues residues(*all_, selected_);
    for (std::size_t r = 0; r < residues.atoms.size(); ++r) {
        const std::vector<Index>& atoms = residues.atoms[r];
        for (std::size_t k = 1; k < atoms.size(); ++k) pairs_.push_back({atoms[k - 1], atoms[k]});
        if (atoms.empty() || r + 1 == residues.atoms.size() || residues.atoms[r + 1].empty() ||
            !residues.follows(r))
            continue;
        const auto [first, second] = residues.link(r);
        pairs_.push_back({first, second});
    }
}

void BrokenMolecules::look(const PeriodicCell& cell, View<const float, 2> frame,
                           const std::string& file, Index number) {
    const double edge = cell.shortest_edge();
    if (edge == 0) return;
    const double half = edge / 2;
    for (const Pair& pair : pairs_) {
        std::array<double, 3> difference;
        for (Index axis = 0; axis < 3; ++axis)
            difference[static_cast<std::size_t>(axis)] =
                double{frame(axis, pair.second)} - double{frame(axis, pair.first)};
        const double distance = length(difference);
        // Written so that coordinates that are not finite are left to others.
        if (!(distance > half) ||
            !(cell.nearest_image(difference) < std::min(kMaxBonded, distance / 2)))
            continue;
        if (++found_.frames == 1)
            found_.text = fmt::format(
                "{}: frame {}: {} and {} are {:.1f} angstrom apart in a periodic cell whose "
                "shortest "
                "edge is {:.1f}",
                file, number, all_->label(selected_[static_cast<std::size_t>(pair.first)]),
                all_->label(selected_[static_cast<std::size_t>(pair.second)]), distance, edge);
        return;
    }
}

std::string BrokenMolecules::warning() const {
    if (found_.frames == 0) return {};
    return fmt::format(
        "warning: {}: molecules are broken across the cell in {} frame{}, and are compared as they "
        "are; make them whole first (gmx trjconv -pbc whole, cpptraj autoimage)",
        found_.text, found_.frames, found_.frames == 1 ? "" : "s");
}

}  // namespace pleat
