// Whole molecules: the walk over bonds, the checks behind it, and what is told of them.
#include "pleat/bio/periodic/whole_molecules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "pleat/core/array.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

constexpr const char* kLeave = "--pbc none leaves the coordinates as they are";

}  // namespace

/// A frame in progress.
struct WholeMolecules::Frame {
    View<float, 2> xyz;
    const std::string& file;
    Index number = 0;
    bool is_split = false;   // a bond crosses the cell
    bool is_placed = false;  // a molecule lies in another image

    Point stored(Index atom) const {
        return {double{xyz(0, atom)}, double{xyz(1, atom)}, double{xyz(2, atom)}};
    }
    bool has(Index atom) const {
        const Point point = stored(atom);
        return std::isfinite(dot(point, point));
    }
};

WholeMolecules::WholeMolecules(std::shared_ptr<const Topology> all, std::vector<Index> first,
                               std::vector<Index> selected, Pbc pbc)
    : all_(std::move(all)), first_(std::move(first)), selected_(std::move(selected)), pbc_(pbc) {
    std::vector<bool> is_selected(all_->residues.size());
    for (const Index i : selected_)
        is_selected[static_cast<std::size_t>(all_->atoms[static_cast<std::size_t>(i)].residue)] =
            true;
    for (const Bond& pair : chain_neighbours(*all_)) {
        const auto is_chosen = [&](Index i) {
            return is_selected[static_cast<std::size_t>(
                all_->atoms[static_cast<std::size_t>(i)].residue)];
        };
        if (is_chosen(pair[0]) && is_chosen(pair[1])) neighbours_.push_back(pair);
    }
}

std::string WholeMolecules::label(Index atom) const {
    return all_->named ? all_->label(atom) : fmt::format("atom {}", atom);
}

/// An atom with the shift that was found for it.
Point WholeMolecules::whole(const Frame& frame, Index atom) const {
    return frame.stored(atom) + lattice_->translation(shifts_[static_cast<std::size_t>(atom)]);
}

/// Bonds are sought when a frame has a cell, which is also that of a topology without one.
void WholeMolecules::prepare(const PeriodicCell& of_frame) {
    is_prepared_ = true;
    const PeriodicCell own{all_->cell};
    const bool has_cell = own.exists() && own.volume() > 0;
    const PeriodicCell cell = has_cell ? own : of_frame;
    const std::vector<Bond> bonds = find_bonds(*all_, cell);
    if (bonds.empty() && pbc_ == Pbc::whole)
        throw InputError(all_->source.string(), 0,
                         "cannot make molecules whole: the topology has no bonds and no names of "
                         "residues that tell them");
    tree_ = BondTree(all_->atom_count(), bonds, first_, selected_);
    places_ = MoleculeImages(*all_, tree_);
    shifts_.resize(all_->atoms.size());
    stand_ins_.resize(all_->atoms.size());
    if (!places_.has_several() || all_->positions.empty()) return;
    Array<float, 2> positions(Index{3}, all_->atom_count());
    for (Index i = 0; i < all_->atom_count(); ++i)
        for (Index axis = 0; axis < 3; ++axis)
            positions(axis, i) = static_cast<float>(
                all_->positions[static_cast<std::size_t>(i)][static_cast<std::size_t>(axis)]);
    set_reference(cell, has_cell, positions);
}

void WholeMolecules::set_reference(const PeriodicCell& cell, bool has_cell,
                                   View<const float, 2> positions) {
    lattice_.emplace(cell);
    cell_ = cell;
    Array<float, 2> copy(Index{3}, positions.extent(1));
    std::copy(positions.begin(), positions.end(), copy.begin());
    const std::string name = all_->source.string();
    Frame frame{copy, name};
    const Count endless = endless_;  // of frames alone
    unwrap(frame);
    endless_ = endless;
    // A topology that is whole and has no cell already has its molecules in place.
    const bool is_arranged = !has_cell && !frame.is_split;
    places_.set_reference([&](Index atom) { return whole(frame, atom); },
                          is_arranged ? nullptr : &*lattice_);
}

void WholeMolecules::apply(const PeriodicCell& cell, View<float, 2> xyz, const std::string& file,
                           Index number) {
    ++frames_;
    if (pbc_ == Pbc::none) return;
    Frame frame{xyz, file, number};
    if (!cell.exists()) {
        if (pbc_ == Pbc::whole)
            throw InputError(file, 0,
                             fmt::format("frame {}: expected a periodic cell for --pbc whole, "
                                         "found none",
                                         number));
        return look_at_neighbours(frame);
    }
    if (cell.volume() == 0)
        throw InputError(file, 0,
                         fmt::format("frame {}: expected a periodic cell with a volume, found "
                                     "one without; {}",
                                     number, kLeave));
    if (!is_prepared_) prepare(cell);
    if (!lattice_ || !(cell == cell_)) {
        lattice_.emplace(cell);
        cell_ = cell;
    }
    unwrap(frame);
    if (places_.has_several()) {
        if (!places_.has_reference()) set_reference(cell, true, xyz);
        place(frame);
    }
    if (frame.is_split || frame.is_placed) move(frame);
    if (frame.is_split) split_.add({});
    if (frame.is_placed && !frame.is_split) placed_.add({});
    look_at_neighbours(frame);
}

/// Sets the shift of each atom on the way. Sums of whole numbers: no order of the atoms gives other
/// coordinates.
void WholeMolecules::unwrap(Frame& frame) {
    const double half = lattice_->height() / 2, limit = half * half;
    const float *x = frame.xyz[0].data, *y = frame.xyz[1].data, *z = frame.xyz[2].data;
    for (const BondTree::Molecule& molecule : tree_.molecules()) {
        shifts_[static_cast<std::size_t>(molecule.root)] = {};
        bool crosses = false;
        const BondTree::Edge* too_long = nullptr;
        for (const BondTree::Edge& edge : molecule.edges) {
            const auto c = static_cast<std::size_t>(edge.atom),
                       p = static_cast<std::size_t>(edge.parent);
            const Point d = {double{x[c]} - double{x[p]}, double{y[c]} - double{y[p]},
                             double{z[c]} - double{z[p]}};
            shifts_[c] = shifts_[p];
            if (dot(d, d) <= limit) continue;
            // Atoms that a file lacks are NaN: the previous atom is used for them.
            const Point here = frame.stored(edge.atom);
            const std::int32_t source = frame.has(edge.parent) ? edge.parent : stand_ins_[p];
            if (!frame.has(edge.atom)) {
                stand_ins_[c] = source;
                continue;
            }
            const Point before = frame.stored(source);
            const Lattice::Images images = lattice_->images(before - here);
            if (images.distance > half && too_long == nullptr) too_long = &edge;
            for (std::size_t k = 0; k < 3; ++k) {
                shifts_[c][k] += images.nearest[k];
                crosses |= images.nearest[k] != 0;
            }
        }
        if (too_long == nullptr && crosses) too_long = open_ring(frame, molecule);
        if (too_long != nullptr)
            give_up(frame, molecule, *too_long);
        else
            frame.is_split |= crosses;
    }
}

/// The bond that closes a ring and crosses the cell, as in a molecule without end; null if there is
/// none.
const BondTree::Edge* WholeMolecules::open_ring(const Frame& frame,
                                                const BondTree::Molecule& molecule) const {
    const double half = lattice_->height() / 2;
    for (const BondTree::Edge& bond : molecule.closing) {
        const Point d = whole(frame, bond.atom) - whole(frame, bond.parent);
        if (dot(d, d) > half * half) return &bond;
    }
    return nullptr;
}

/// Leaves a molecule that cannot be made whole as it is.
void WholeMolecules::give_up(Frame& frame, const BondTree::Molecule& molecule,
                             const BondTree::Edge& bond) {
    const Point d = whole(frame, bond.atom) - whole(frame, bond.parent);
    const std::string text = fmt::format(
        "frame {}: cannot make the molecule of {} whole: its bonded atoms {} and {} stay {:.1f} "
        "angstrom apart, as in a molecule without end or with another topology",
        frame.number, label(molecule.root), label(bond.parent), label(bond.atom),
        std::sqrt(dot(d, d)));
    if (pbc_ == Pbc::whole) throw InputError(frame.file, 0, text);
    endless_.add(frame.file + ": " + text);
    shifts_[static_cast<std::size_t>(molecule.root)] = {};
    for (const BondTree::Edge& edge : molecule.edges)
        shifts_[static_cast<std::size_t>(edge.atom)] = {};
}

void WholeMolecules::place(Frame& frame) {
    const auto at = [&](Index atom) { return whole(frame, atom); };
    for (const MoleculeImages::Place& place : places_.find(at, *lattice_)) {
        const BondTree::Molecule& molecule =
            tree_.molecules()[static_cast<std::size_t>(place.molecule)];
        if (place.is_ambiguous)
            ambiguous_.add(fmt::format("{}: frame {}: two images of the molecule of {}", frame.file,
                                       frame.number, label(molecule.root)));
        if (place.shift == Lattice::Shift{}) continue;
        frame.is_placed = true;
        const auto add = [&](Index atom) {
            for (std::size_t k = 0; k < 3; ++k)
                shifts_[static_cast<std::size_t>(atom)][k] += place.shift[k];
        };
        add(molecule.root);
        for (const BondTree::Edge& edge : molecule.edges) add(edge.atom);
    }
}

void WholeMolecules::move(Frame& frame) const {
    const auto move_atom = [&](Index atom) {
        if (shifts_[static_cast<std::size_t>(atom)] == Lattice::Shift{}) return;
        const Point moved = whole(frame, atom);
        for (Index axis = 0; axis < 3; ++axis)
            frame.xyz(axis, atom) = static_cast<float>(moved[static_cast<std::size_t>(axis)]);
    };
    for (const BondTree::Molecule& molecule : tree_.molecules()) {
        move_atom(molecule.root);
        for (const BondTree::Edge& edge : molecule.edges) move_atom(edge.atom);
    }
}

/// Neighbours in a chain that are far apart mean that a molecule is still split.
void WholeMolecules::look_at_neighbours(const Frame& frame) {
    constexpr double kFar = 15, kTimesMedian = 5;
    double largest = 0;
    const Bond* farthest = nullptr;
    const auto distance = [&](const Bond& pair) {
        const Point d = frame.stored(pair[1]) - frame.stored(pair[0]);
        return std::sqrt(dot(d, d));
    };
    for (const Bond& pair : neighbours_) {
        const double d = distance(pair);
        if (!(d > largest)) continue;
        largest = d;
        farthest = &pair;
    }
    if (largest <= kFar) return;
    std::vector<double> all;
    for (const Bond& pair : neighbours_)
        if (const double d = distance(pair); std::isfinite(d)) all.push_back(d);
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) / 2);
    std::nth_element(all.begin(), middle, all.end());
    if (largest <= kTimesMedian * *middle) return;
    apart_.add(fmt::format("{}: frame {}: {} and {} are {:.1f} angstrom apart", frame.file,
                           frame.number, label((*farthest)[0]), label((*farthest)[1]), largest));
}

Notes WholeMolecules::notes() const {
    Notes all;
    const auto frames = [&](const Count& count) {
        return fmt::format("{} of {} frame{}", count.frames, frames_, frames_ == 1 ? "" : "s");
    };
    const auto cases = [](const Count& count) {
        return fmt::format("{} such case{}", count.frames, count.frames == 1 ? "" : "s");
    };
    if (split_.frames > 0)
        all.push_back(
            {NoteKind::molecules,
             fmt::format("selection split over the box in {}: made whole", frames(split_)),
             "--pbc none"});
    if (placed_.frames > 0)
        all.push_back(
            {NoteKind::molecules,
             fmt::format(
                 "molecules of the selection in different images of the box in {}: placed as in {}",
                 frames(placed_),
                 all_->positions.empty() ? "the first frame" : all_->source.string()),
             "--pbc none"});
    if (places_.left_out() > 0)
        all.push_back(
            {NoteKind::molecules,
             fmt::format(
                 "{} molecules beyond the 2000 largest stay in the image of the box in which "
                 "they are: select fewer",
                 places_.left_out()),
             {},
             true});
    if (ambiguous_.frames > 0)
        all.push_back({NoteKind::molecules,
                       fmt::format("{} are about as near to its place among the others ({})",
                                   ambiguous_.text, cases(ambiguous_)),
                       {},
                       true});
    if (endless_.frames > 0)
        all.push_back({NoteKind::molecules,
                       fmt::format("{} ({}); it is left as it is", endless_.text, cases(endless_)),
                       {},
                       true});
    if (apart_.frames > 0)
        all.push_back(
            {NoteKind::molecules,
             fmt::format(
                 "{} (such neighbours in {}); the molecule may be split, and nothing tells its "
                 "images: give a file with a periodic cell (that of a crystal with a space group "
                 "other than P 1 is none), or make it whole first",
                 apart_.text, frames(apart_)),
             {},
             true});
    return all;
}

}  // namespace pleat
