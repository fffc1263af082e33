// Molecule images: nearest contacts in the reference, and images nearest to it in frames.
#include "pleat/bio/periodic/molecule_images.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "pleat/bio/periodic/fit_rotation.h"
#include "pleat/bio/selection/residue_kinds.h"

namespace pleat {

namespace {

/// Nearest contacts are sought between so many atoms, at least one of each molecule.
constexpr std::size_t kMaxContactAtoms = 2000;
/// The time that nearest contacts take grows with the square of the number of molecules.
constexpr std::size_t kMaxMolecules = 2000;

std::vector<Point> positions_of(const std::vector<Index>& atoms, const AtomPosition& at) {
    std::vector<Point> points;
    points.reserve(atoms.size());
    for (const Index atom : atoms) points.push_back(at(atom));
    return points;
}

Point turned(const Rotation& rotation, const Point& p) {
    return {dot(rotation[0], p), dot(rotation[1], p), dot(rotation[2], p)};
}

}  // namespace

MoleculeImages::MoleculeImages(const Topology& topology, const BondTree& tree) {
    for (std::size_t n = 0; n < tree.molecules().size(); ++n) {
        const BondTree::Molecule& one = tree.molecules()[n];
        const Index residue = topology.atoms[static_cast<std::size_t>(one.root)].residue;
        if (selection::is_water(topology.residues[static_cast<std::size_t>(residue)].name))
            continue;
        placed_.push_back(
            {static_cast<Index>(n), one.selected, {}, one.in_first, one.edges.empty()});
    }
    keep_largest();
    if (has_several()) choose_contacts(topology);
}

/// Keeps the molecules with most selected atoms, the first of these in front of the others.
void MoleculeImages::keep_largest() {
    const auto comes_before = [](const Molecule& a, const Molecule& b) {
        if (a.in_first != b.in_first) return a.in_first;
        if (a.selected.size() != b.selected.size()) return a.selected.size() > b.selected.size();
        return a.number < b.number;
    };
    if (placed_.size() > kMaxMolecules) {
        left_out_ = static_cast<Index>(placed_.size() - kMaxMolecules);
        std::sort(placed_.begin(), placed_.end(), comes_before);
        placed_.resize(kMaxMolecules);
        std::sort(placed_.begin(), placed_.end(),
                  [](const Molecule& a, const Molecule& b) { return a.number < b.number; });
    }
    const auto largest = std::min_element(placed_.begin(), placed_.end(), comes_before);
    if (largest != placed_.end()) std::rotate(placed_.begin(), largest, largest + 1);
}

void MoleculeImages::choose_contacts(const Topology& topology) {
    const auto is_heavy = [&](Index i) {
        const std::string& element = topology.atoms[static_cast<std::size_t>(i)].element;
        return element != "H" && element != "D";
    };
    // The atoms of the first selection do not depend on others.
    for (const bool in_first : {true, false}) {
        std::size_t total = 0;
        for (Molecule& one : placed_) {
            if (one.in_first != in_first) continue;
            std::copy_if(one.selected.begin(), one.selected.end(), std::back_inserter(one.contacts),
                         is_heavy);
            if (one.contacts.empty()) one.contacts = one.selected;
            total += one.contacts.size();
        }
        const std::size_t step = (total + kMaxContactAtoms - 1) / kMaxContactAtoms;
        for (Molecule& one : placed_) {
            if (one.in_first != in_first) continue;
            std::vector<Index> some;
            for (std::size_t k = 0; k < one.contacts.size(); k += step)
                some.push_back(one.contacts[k]);
            one.contacts = std::move(some);
        }
    }
}

/// [placed molecule]: joins one molecule after another to those before, each by its nearest contact
/// with any of them; those of the first selection before others.
std::vector<Lattice::Shift> MoleculeImages::nearest_contacts(const AtomPosition& at,
                                                             const Lattice& lattice) const {
    std::vector<Lattice::Shift> shifts(placed_.size());
    std::vector<double> distance(placed_.size(), std::numeric_limits<double>::max());
    std::vector<bool> is_joined(placed_.size());
    std::vector<std::vector<Point>> points;
    for (const Molecule& one : placed_) points.push_back(positions_of(one.contacts, at));
    std::size_t joined = 0;
    for (std::size_t count = 1; count < placed_.size(); ++count) {
        is_joined[joined] = true;
        for (Point& point : points[joined]) point = point + lattice.translation(shifts[joined]);
        for (std::size_t m = 0; m < placed_.size(); ++m) {
            if (is_joined[m]) continue;
            for (const Point& a : points[joined])
                for (const Point& b : points[m]) {
                    const Lattice::Images images = lattice.images(a - b);
                    if (images.distance >= distance[m]) continue;
                    distance[m] = images.distance;
                    shifts[m] = images.nearest;
                }
        }
        std::size_t next = 0;
        for (std::size_t m = 1; m < placed_.size(); ++m) {
            if (is_joined[m]) continue;
            if (next == 0 || (placed_[m].in_first && !placed_[next].in_first) ||
                (placed_[m].in_first == placed_[next].in_first && distance[m] < distance[next]))
                next = m;
        }
        joined = next;
    }
    return shifts;
}

void MoleculeImages::set_reference(const AtomPosition& at, const Lattice* lattice) {
    std::vector<Lattice::Shift> shifts(placed_.size());
    if (lattice != nullptr) shifts = nearest_contacts(at, *lattice);
    for (std::size_t m = 0; m < placed_.size(); ++m) {
        reference_.push_back(positions_of(placed_[m].selected, at));
        if (lattice == nullptr) continue;
        for (Point& point : reference_.back()) point = point + lattice->translation(shifts[m]);
    }
}

std::vector<MoleculeImages::Place> MoleculeImages::find(const AtomPosition& at,
                                                        const Lattice& lattice) const {
    constexpr double kAmbiguous = 1.2;
    const std::vector<Point> anchor = positions_of(placed_[0].selected, at);
    const Point here = mean_of(anchor), there = mean_of(reference_[0]);
    const Rotation rotation = fit_rotation(reference_[0], anchor);
    std::vector<Place> places;
    for (std::size_t m = 1; m < placed_.size(); ++m) {
        const Point target = here + turned(rotation, mean_of(reference_[m]) - there);
        const Point centre = mean_of(positions_of(placed_[m].selected, at));
        const Lattice::Images images = lattice.images(target - centre);
        const bool is_ambiguous =
            !placed_[m].is_ion && images.second_distance < kAmbiguous * images.distance;
        if (images.nearest != Lattice::Shift{} || is_ambiguous)
            places.push_back({placed_[m].number, images.nearest, is_ambiguous});
    }
    return places;
}

}  // namespace pleat
