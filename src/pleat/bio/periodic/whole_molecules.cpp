// Whole molecules: a walk over bonds from the lowest selected atom of each molecule, the images in
// which several lie, and what is told of them.
#include "pleat/bio/periodic/whole_molecules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "pleat/bio/selection/residue_kinds.h"
#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/core/array.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

/// Smaller rings cannot close around a cell, so bonds that lead to no selected atom need no test
/// there.
constexpr Index kSmallRing = 24;

}  // namespace

/// Visits each molecule once.
class BondTree::Search {
public:
    Search(Index atoms, const std::vector<Bond>& bonds)
        : begin_(static_cast<std::size_t>(atoms) + 1),
          parent_(atoms, kUnseen),
          depth_(atoms),
          needed_(atoms) {
        for (const Bond& bond : bonds)
            for (const Index i : bond) ++begin_[i + 1];
        for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
        neighbours_.resize(2 * bonds.size());
        std::vector<std::size_t> at(begin_.begin(), begin_.end() - 1);
        // Bonds are sorted, so each atom's neighbours are in index order: those of lower index come
        // first, from bonds in which the atom is second.
        for (const Bond& bond : bonds) neighbours_[at[bond[1]]++] = to_int(bond[0]);
        for (const Bond& bond : bonds) neighbours_[at[bond[0]]++] = to_int(bond[1]);
    }

    void need(Index atom) { needed_[atom] = true; }
    bool is_seen(Index atom) const { return parent(atom) != kUnseen; }

    Molecule molecule_from(Index root) {
        Molecule molecule;
        molecule.root = root;
        std::vector<Edge> order, closing;  // of all atoms, and all bonds that close rings
        parent_[root] = kRoot;
        order.push_back({to_int(root), kRoot});
        for (std::size_t n = 0; n < order.size(); ++n) {
            const std::int32_t atom = order[n].atom;
            for (std::size_t k = begin_[atom]; k < begin_[atom + 1]; ++k) {
                const std::int32_t other = neighbours_[k];
                if (parent_[other] == kUnseen) {
                    parent_[other] = atom;
                    depth_[other] = depth_[atom] + 1;
                    order.push_back({other, atom});
                } else if (other != parent_[atom] && parent_[other] != atom && other < atom) {
                    closing.push_back({atom, other});
                }
            }
        }
        for (const Edge& bond : closing) {
            if (ring_size(bond) <= kSmallRing) continue;
            need(bond.atom);
            need(bond.parent);
        }
        for (std::size_t n = order.size(); n-- > 1;)
            if (is_needed(order[n].atom)) need(order[n].parent);
        for (std::size_t n = 1; n < order.size(); ++n)
            if (is_needed(order[n].atom)) molecule.edges.push_back(order[n]);
        for (const Edge& bond : closing)
            if (is_needed(bond.atom) && is_needed(bond.parent)) molecule.closing.push_back(bond);
        return molecule;
    }

private:
    static constexpr std::int32_t kUnseen = -2, kRoot = -1;
    static std::int32_t to_int(Index i) { return static_cast<std::int32_t>(i); }
    std::int32_t parent(Index i) const { return parent_[i]; }
    bool is_needed(Index i) const { return needed_[i]; }

    Index ring_size(const Edge& bond) const {
        std::int32_t a = bond.atom, b = bond.parent;
        Index size = 1;
        while (a != b) {
            std::int32_t& deeper = depth_[a] >= depth_[b] ? a : b;
            deeper = parent(deeper);
            if (++size > kSmallRing) break;
        }
        return size;
    }

    std::vector<std::size_t> begin_;        // of each atom's neighbours
    std::vector<std::int32_t> neighbours_;  // ascending
    std::vector<std::int32_t> parent_;
    std::vector<std::int32_t> depth_;
    std::vector<bool> needed_;
};

BondTree::BondTree(Index atoms, const std::vector<Bond>& bonds, const std::vector<Index>& first,
                   const std::vector<Index>& selected) {
    Search search(atoms, bonds);
    for (const Index i : first) search.need(i);
    for (const Index i : selected) search.need(i);
    std::vector<Index> molecule_of(atoms, -1);
    const auto visit = [&](const std::vector<Index>& roots, bool has_first_atoms) {
        for (const Index root : roots) {
            if (search.is_seen(root)) continue;
            molecules_.push_back(search.molecule_from(root));
            molecules_.back().has_first_atoms = has_first_atoms;
            const auto number = std::ssize(molecules_) - 1;
            molecule_of[root] = number;
            for (const Edge& edge : molecules_.back().edges) molecule_of[edge.atom] = number;
        }
        for (const Index i : roots) {
            Molecule& molecule = molecules_[molecule_of[i]];
            if (molecule.has_first_atoms == has_first_atoms) molecule.selected.push_back(i);
        }
    };
    visit(first, true);
    visit(selected, false);
}

namespace {

/// The mean of points; there must be one.
Point mean_of(const std::vector<Point>& points) {
    Point sum{};
    for (const Point& point : points) sum = sum + point;
    return (1.0 / static_cast<double>(points.size())) * sum;
}

/// Approximate number of atoms in the search for nearest contacts; at least one per molecule.
constexpr std::size_t kMaxContactAtoms = 2000;
/// Finding nearest contacts takes time that grows with the square of the number of molecules.
constexpr std::size_t kMaxMolecules = 2000;

std::vector<Point> positions_of(const std::vector<Index>& atoms, const AtomPosition& at) {
    std::vector<Point> points;
    points.reserve(atoms.size());
    for (const Index atom : atoms) points.push_back(at(atom));
    return points;
}

}  // namespace

MoleculeImages::MoleculeImages(const Topology& topology, const BondTree& tree) {
    for (std::size_t n = 0; n < tree.molecules().size(); ++n) {
        const BondTree::Molecule& one = tree.molecules()[n];
        const Index residue = topology.atoms[one.root].residue;
        if (selection::is_water(topology.residues[residue].name)) continue;
        placed_molecules_.push_back(
            {static_cast<Index>(n), one.selected, {}, one.has_first_atoms, one.edges.empty()});
    }
    keep_largest_molecules();
    if (has_several()) choose_contact_atoms(topology);
}

/// Keeps the molecules with the most selected atoms; molecules of the first selection come before
/// all others.
void MoleculeImages::keep_largest_molecules() {
    const auto comes_before = [](const Molecule& a, const Molecule& b) {
        if (a.has_first_atoms != b.has_first_atoms) return a.has_first_atoms;
        if (a.selected.size() != b.selected.size()) return a.selected.size() > b.selected.size();
        return a.number < b.number;
    };
    if (placed_molecules_.size() > kMaxMolecules) {
        left_out_ = static_cast<Index>(placed_molecules_.size() - kMaxMolecules);
        std::ranges::sort(placed_molecules_, comes_before);
        placed_molecules_.resize(kMaxMolecules);
        std::ranges::sort(placed_molecules_,
                          [](const Molecule& a, const Molecule& b) { return a.number < b.number; });
    }
    const auto largest = std::ranges::min_element(placed_molecules_, comes_before);
    if (largest != placed_molecules_.end())
        std::rotate(placed_molecules_.begin(), largest, largest + 1);
}

void MoleculeImages::choose_contact_atoms(const Topology& topology) {
    const auto is_heavy = [&](Index i) { return !selection::is_hydrogen(topology.atoms[i]); };
    // The contact atoms of the first selection are chosen independently of other molecules.
    for (const bool has_first_atoms : {true, false}) {
        std::size_t total = 0;
        for (Molecule& one : placed_molecules_) {
            if (one.has_first_atoms != has_first_atoms) continue;
            std::copy_if(one.selected.begin(), one.selected.end(), std::back_inserter(one.contacts),
                         is_heavy);
            if (one.contacts.empty()) one.contacts = one.selected;
            total += one.contacts.size();
        }
        const std::size_t step = (total + kMaxContactAtoms - 1) / kMaxContactAtoms;
        for (Molecule& one : placed_molecules_) {
            if (one.has_first_atoms != has_first_atoms) continue;
            std::vector<Index> some;
            for (std::size_t k = 0; k < one.contacts.size(); k += step)
                some.push_back(one.contacts[k]);
            one.contacts = std::move(some);
        }
    }
}

/// [placed molecule]: the shift of each. Joins the molecules one by one to those joined before, by
/// the nearest contact with any of them; molecules of the first selection come first.
std::vector<Lattice::Shift> MoleculeImages::nearest_contacts(const AtomPosition& at,
                                                             const Lattice& lattice) const {
    std::vector<Lattice::Shift> shifts(placed_molecules_.size());
    std::vector<double> distance(placed_molecules_.size(), std::numeric_limits<double>::max());
    std::vector<bool> is_joined(placed_molecules_.size());
    std::vector<std::vector<Point>> points;
    for (const Molecule& one : placed_molecules_) points.push_back(positions_of(one.contacts, at));
    std::size_t joined = 0;
    for (std::size_t count = 1; count < placed_molecules_.size(); ++count) {
        is_joined[joined] = true;
        for (Point& point : points[joined]) point = point + lattice.translation(shifts[joined]);
        for (std::size_t m = 0; m < placed_molecules_.size(); ++m) {
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
        for (std::size_t m = 1; m < placed_molecules_.size(); ++m) {
            if (is_joined[m]) continue;
            if (next == 0 ||
                (placed_molecules_[m].has_first_atoms &&
                 !placed_molecules_[next].has_first_atoms) ||
                (placed_molecules_[m].has_first_atoms == placed_molecules_[next].has_first_atoms &&
                 distance[m] < distance[next]))
                next = m;
        }
        joined = next;
    }
    return shifts;
}

void MoleculeImages::set_reference(const AtomPosition& at, const Lattice* lattice) {
    std::vector<Lattice::Shift> shifts(placed_molecules_.size());
    if (lattice != nullptr) shifts = nearest_contacts(at, *lattice);
    for (std::size_t m = 0; m < placed_molecules_.size(); ++m) {
        reference_.push_back(positions_of(placed_molecules_[m].selected, at));
        if (lattice == nullptr) continue;
        for (Point& point : reference_.back()) point = point + lattice->translation(shifts[m]);
    }
}

std::vector<MoleculeImages::Place> MoleculeImages::find(const AtomPosition& at,
                                                        const Lattice& lattice) const {
    constexpr double kAmbiguous = 1.2;
    const std::vector<Point> anchor = positions_of(placed_molecules_[0].selected, at);
    std::vector<Point> targets;
    for (const std::vector<Point>& molecule : reference_) targets.push_back(mean_of(molecule));
    targets = superposed_points(reference_[0], anchor, std::move(targets));
    std::vector<Place> places;
    for (std::size_t m = 1; m < placed_molecules_.size(); ++m) {
        const Point centre = mean_of(positions_of(placed_molecules_[m].selected, at));
        const Lattice::Images images = lattice.images(targets[m] - centre);
        const bool is_ambiguous =
            !placed_molecules_[m].is_ion && images.second_distance < kAmbiguous * images.distance;
        if (images.nearest != Lattice::Shift{} || is_ambiguous)
            places.push_back({placed_molecules_[m].number, images.nearest, is_ambiguous});
    }
    return places;
}

namespace {

constexpr const char* kLeave = "--pbc none leaves the coordinates as they are";

}  // namespace

/// A frame in progress.
struct WholeMolecules::Frame {
    View<float, 2> xyz;
    const std::string& file;
    Index number = 0, position = 0;
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
    for (const Index i : selected_) is_selected[all_->atoms[i].residue] = true;
    for (const Bond& pair : chain_neighbours(*all_)) {
        const auto is_chosen = [&](Index i) { return is_selected[all_->atoms[i].residue]; };
        if (is_chosen(pair[0]) && is_chosen(pair[1])) neighbours_.push_back(pair);
    }
}

std::string WholeMolecules::label(Index atom) const {
    return all_->named ? all_->atom_label(atom) : fmt::format("atom {}", atom);
}

/// The position of an atom after applying its shift.
Point WholeMolecules::whole(const Frame& frame, Index atom) const {
    return frame.stored(atom) + lattice_->translation(shifts_[atom]);
}

/// Finds bonds at the first frame with a cell, which also serves a topology without one.
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
    substitute_atoms_.resize(all_->atoms.size());
    if (!places_.has_several() || all_->positions.empty()) return;
    Array<float, 2> positions(Index{3}, all_->atom_count());
    for (Index i = 0; i < all_->atom_count(); ++i)
        for (Index axis = 0; axis < 3; ++axis)
            positions(axis, i) = static_cast<float>(all_->positions[i][axis]);
    set_reference(cell, has_cell, positions);
}

void WholeMolecules::set_reference(const PeriodicCell& cell, bool has_cell,
                                   View<const float, 2> positions) {
    lattice_.emplace(cell);
    cell_ = cell;
    Array<float, 2> copy(Index{3}, positions.extent(1));
    std::ranges::copy(positions, copy.begin());
    const std::string name = all_->source.string();
    Frame frame{copy, name};
    const Count endless = counts_.endless;  // of frames alone
    unwrap(frame);
    counts_.endless = endless;
    // If the topology is whole and has no cell, its molecules are already arranged.
    const bool is_arranged = !has_cell && !frame.is_split;
    places_.set_reference([&](Index atom) { return whole(frame, atom); },
                          is_arranged ? nullptr : &*lattice_);
}

void WholeMolecules::apply(const PeriodicCell& cell, View<float, 2> xyz, const std::string& file,
                           Index number, Index position) {
    ++counts_.frames;
    if (pbc_ == Pbc::none) return;
    Frame frame{xyz, file, number, position};
    if (!cell.exists()) {
        if (pbc_ == Pbc::whole)
            throw InputError(file, 0,
                             fmt::format("frame {}: expected a periodic cell for --pbc whole, "
                                         "found none",
                                         number));
        return check_chain_neighbours(frame);
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
    if (frame.is_split) counts_.split.add(position, {});
    if (frame.is_placed && !frame.is_split) counts_.placed.add(position, {});
    check_chain_neighbours(frame);
}

/// Sets the shift of each atom on the tree. Shifts are sums of integers, so coordinates do not
/// depend on the order of the atoms.
void WholeMolecules::unwrap(Frame& frame) {
    const double half = lattice_->height() / 2, limit = half * half;
    const float *x = frame.xyz[0].data, *y = frame.xyz[1].data, *z = frame.xyz[2].data;
    for (const BondTree::Molecule& molecule : tree_.molecules()) {
        shifts_[molecule.root] = {};
        bool crosses = false;
        const BondTree::Edge* too_long = nullptr;
        for (const BondTree::Edge& edge : molecule.edges) {
            const auto c = static_cast<std::size_t>(edge.atom),
                       p = static_cast<std::size_t>(edge.parent);
            const Point d = {double{x[c]} - double{x[p]}, double{y[c]} - double{y[p]},
                             double{z[c]} - double{z[p]}};
            shifts_[c] = shifts_[p];
            if (dot(d, d) <= limit) continue;
            // Atoms that the file lacks are NaN; the previous atom replaces them.
            const Point here = frame.stored(edge.atom);
            const std::int32_t source = frame.has(edge.parent) ? edge.parent : substitute_atoms_[p];
            if (!frame.has(edge.atom)) {
                substitute_atoms_[c] = source;
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
        if (too_long == nullptr && crosses) too_long = find_open_ring_bond(frame, molecule);
        if (too_long != nullptr)
            leave_split(frame, molecule, *too_long);
        else
            frame.is_split |= crosses;
    }
}

/// Returns the bond that closes a ring across the cell, as in an infinite molecule; null if there
/// is none.
const BondTree::Edge* WholeMolecules::find_open_ring_bond(
    const Frame& frame, const BondTree::Molecule& molecule) const {
    const double half = lattice_->height() / 2;
    for (const BondTree::Edge& bond : molecule.closing) {
        const Point d = whole(frame, bond.atom) - whole(frame, bond.parent);
        if (dot(d, d) > half * half) return &bond;
    }
    return nullptr;
}

/// Leaves a molecule that cannot be made whole unchanged, with a note; throws under Pbc::whole.
void WholeMolecules::leave_split(Frame& frame, const BondTree::Molecule& molecule,
                                 const BondTree::Edge& bond) {
    const Point d = whole(frame, bond.atom) - whole(frame, bond.parent);
    const std::string text = fmt::format(
        "frame {}: cannot make the molecule of {} whole: its bonded atoms {} and {} stay {:.1f} "
        "angstrom apart, as in a molecule without end or with another topology",
        frame.number, label(molecule.root), label(bond.parent), label(bond.atom),
        std::sqrt(dot(d, d)));
    if (pbc_ == Pbc::whole) throw InputError(frame.file, 0, text);
    counts_.endless.add(frame.position, frame.file + ": " + text);
    shifts_[molecule.root] = {};
    for (const BondTree::Edge& edge : molecule.edges) shifts_[edge.atom] = {};
}

void WholeMolecules::place(Frame& frame) {
    const auto at = [&](Index atom) { return whole(frame, atom); };
    for (const MoleculeImages::Place& place : places_.find(at, *lattice_)) {
        const BondTree::Molecule& molecule = tree_.molecules()[place.molecule];
        if (place.is_ambiguous)
            counts_.ambiguous.add(frame.position,
                                  fmt::format("{}: frame {}: two images of the molecule of {}",
                                              frame.file, frame.number, label(molecule.root)));
        if (place.shift == Lattice::Shift{}) continue;
        frame.is_placed = true;
        const auto add = [&](Index atom) {
            for (std::size_t k = 0; k < 3; ++k) shifts_[atom][k] += place.shift[k];
        };
        add(molecule.root);
        for (const BondTree::Edge& edge : molecule.edges) add(edge.atom);
    }
}

void WholeMolecules::move(Frame& frame) const {
    const auto move_atom = [&](Index atom) {
        if (shifts_[atom] == Lattice::Shift{}) return;
        const Point moved = whole(frame, atom);
        for (Index axis = 0; axis < 3; ++axis)
            frame.xyz(axis, atom) = static_cast<float>(moved[axis]);
    };
    for (const BondTree::Molecule& molecule : tree_.molecules()) {
        move_atom(molecule.root);
        for (const BondTree::Edge& edge : molecule.edges) move_atom(edge.atom);
    }
}

/// If chain neighbours are far apart, a molecule is still split.
void WholeMolecules::check_chain_neighbours(const Frame& frame) {
    constexpr double kFar = 15, kTimesMedian = 5;
    double largest = 0;
    const Bond* farthest = nullptr;
    const float *x = frame.xyz[0].data, *y = frame.xyz[1].data, *z = frame.xyz[2].data;
    const auto square = [&](const Bond& pair) {
        const Point d = {double{x[pair[1]]} - double{x[pair[0]]},
                         double{y[pair[1]]} - double{y[pair[0]]},
                         double{z[pair[1]]} - double{z[pair[0]]}};
        return dot(d, d);
    };
    for (const Bond& pair : neighbours_) {
        const double d = square(pair);
        if (!(d > largest)) continue;
        largest = d;
        farthest = &pair;
    }
    largest = std::sqrt(largest);
    if (largest <= kFar) return;
    std::vector<double> all;
    for (const Bond& pair : neighbours_)
        if (const double d = square(pair); std::isfinite(d)) all.push_back(std::sqrt(d));
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) / 2);
    std::nth_element(all.begin(), middle, all.end());
    if (largest <= kTimesMedian * *middle) return;
    counts_.apart.add(
        frame.position,
        fmt::format("{}: frame {}: {} and {} are {:.1f} angstrom apart", frame.file, frame.number,
                    label((*farthest)[0]), label((*farthest)[1]), largest));
}

void WholeMolecules::synchronise(WholeMolecules& original) {
    original.counts_.frames += counts_.frames;
    for (Count Counts::*const one :
         {&Counts::split, &Counts::placed, &Counts::ambiguous, &Counts::endless, &Counts::apart}) {
        const Count& own = counts_.*one;
        (original.counts_.*one).add(own.first, own.text, own.frames);
    }
    if (all_ != original.all_ || is_prepared_ != original.is_prepared_) *this = original;
    counts_ = {};
}

Notes WholeMolecules::notes() const {
    Notes all;
    const auto frames = [&](const Count& count) {
        return fmt::format("{} of {} frame{}", count.frames, counts_.frames,
                           counts_.frames == 1 ? "" : "s");
    };
    const auto cases = [](const Count& count) {
        return fmt::format("{} such case{}", count.frames, count.frames == 1 ? "" : "s");
    };
    if (counts_.split.frames > 0)
        all.push_back(
            {NoteKind::molecules,
             fmt::format("selection split over the box in {}: made whole", frames(counts_.split)),
             "--pbc none"});
    if (counts_.placed.frames > 0)
        all.push_back(
            {NoteKind::molecules,
             fmt::format(
                 "molecules of the selection in different images of the box in {}: placed as in {}",
                 frames(counts_.placed),
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
    if (counts_.ambiguous.frames > 0)
        all.push_back({NoteKind::molecules,
                       fmt::format("{} are about as near to its place among the others ({})",
                                   counts_.ambiguous.text, cases(counts_.ambiguous)),
                       {},
                       true});
    if (counts_.endless.frames > 0)
        all.push_back({NoteKind::molecules,
                       fmt::format("{} ({}); it is left as it is", counts_.endless.text,
                                   cases(counts_.endless)),
                       {},
                       true});
    if (counts_.apart.frames > 0)
        all.push_back(
            {NoteKind::molecules,
             fmt::format(
                 "{} (such neighbours in {}); the molecule may be split, and nothing tells its "
                 "images: give a file with a periodic cell (that of a crystal with a space group "
                 "other than P 1 is none), or make it whole first",
                 counts_.apart.text, frames(counts_.apart)),
             {},
             true});
    return all;
}

}  // namespace pleat
