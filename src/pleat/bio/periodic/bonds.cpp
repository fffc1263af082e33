// Bonds: names of heavy atoms first, then links of residues, distances, and what is left alone.
#include "pleat/bio/periodic/bonds.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>

#include "pleat/bio/selection/residue_kinds.h"
#include "pleat/bio/structure/topology_gemmi.h"

namespace pleat {

namespace {

using NamePair = std::array<std::string_view, 2>;

/// Bonds of amino acids. Some ring-closing bonds are left out because another residue has both atom
/// names without the bond (N and CD of proline). SE is in selenomethionine.
constexpr NamePair kAminoAcidBonds[] = {
    {"N", "CA"},    {"CA", "C"},    {"C", "O"},     {"C", "OXT"},   {"C", "OT1"},   {"C", "OT2"},
    {"C", "OC1"},   {"C", "OC2"},   {"C", "O1"},    {"C", "O2"},    {"CA", "CB"},   {"CB", "CG"},
    {"CB", "CG1"},  {"CB", "CG2"},  {"CB", "OG"},   {"CB", "OG1"},  {"CB", "SG"},   {"CG", "CD"},
    {"CG", "CD1"},  {"CG", "CD2"},  {"CG", "OD1"},  {"CG", "OD2"},  {"CG", "ND1"},  {"CG", "ND2"},
    {"CG", "SD"},   {"CG", "SE"},   {"SD", "CE"},   {"SE", "CE"},   {"CD", "CE"},   {"CD", "NE"},
    {"CD", "OE1"},  {"CD", "OE2"},  {"CD", "NE2"},  {"CE", "NZ"},   {"NE", "CZ"},   {"CZ", "NH1"},
    {"CZ", "NH2"},  {"CD1", "CE1"}, {"CD2", "CE2"}, {"CE1", "CZ"},  {"CE2", "CZ"},  {"CZ", "OH"},
    {"ND1", "CE1"}, {"CD2", "NE2"}, {"CE1", "NE2"}, {"CG1", "CD1"}, {"CG1", "CD"},  {"CD1", "NE1"},
    {"NE1", "CE2"}, {"CD2", "CE3"}, {"CE3", "CZ3"}, {"CZ3", "CH2"}, {"CH2", "CZ2"}, {"CZ2", "CE2"}};

/// Of nucleotides; "*" in names means "'". C1' is bonded to N9, or to N1 if there is no N9.
constexpr NamePair kNucleotideBonds[] = {
    {"P", "OP1"},   {"P", "OP2"},   {"P", "O1P"},   {"P", "O2P"},   {"P", "O5'"},   {"O5'", "C5'"},
    {"C5'", "C4'"}, {"C4'", "O4'"}, {"C4'", "C3'"}, {"C3'", "O3'"}, {"C3'", "C2'"}, {"C2'", "O2'"},
    {"C2'", "C1'"}, {"C1'", "O4'"}, {"C1'", "N9"},  {"N9", "C8"},   {"C8", "N7"},   {"N7", "C5"},
    {"C5", "C4"},   {"C5", "C6"},   {"C6", "N1"},   {"N1", "C2"},   {"C2", "N3"},   {"N3", "C4"},
    {"C4", "N9"},   {"C6", "O6"},   {"C6", "N6"},   {"C2", "N2"},   {"C2", "O2"},   {"C4", "O4"},
    {"C4", "N4"},   {"C5", "C7"},   {"C5", "C5M"}};

// Maximum bond in angstrom between linked residues; the cell may belong to another frame.
constexpr double kMaxBond = 3.2;
constexpr double kMaxNeighbour = 8;  // of atoms that stand for whole residues

/// Replaces * by ' as in nucleotide names since 2008.
std::string standard_name(const std::string& name) {
    std::string text = name;
    std::replace(text.begin(), text.end(), '*', '\'');
    return text;
}

/// Residues with more atoms are not coarse-grained residues of a few beads.
constexpr Index kMaxBeads = 5;

/// The atom that represents a polymer residue, or -1.
Index representative(const Topology& topology, const std::vector<Index>& starts, Index residue) {
    const Index first = starts[residue], last = starts[residue + 1];
    const bool is_beads = last - first <= kMaxBeads;
    for (const std::string_view name : {"CA", "C3'", "C3*", "BB", "P", "CB"}) {
        if (!is_beads && (name == "P" || name == "CB")) continue;  // lipids have a P, too
        for (Index i = first; i < last; ++i) {
            const Topology::Atom& atom = topology.atoms[i];
            if (atom.name == name && (name != "CA" || atom.element == "C")) return i;
        }
    }
    return -1;
}

class BondFinder {
public:
    BondFinder(const Topology& topology, const PeriodicCell& cell)
        : topology_(topology),
          starts_(residue_starts(topology)),
          bonds_(topology.bonds),
          cell_(cell),
          is_bonded_(topology.atoms.size()),
          is_known_(topology.residues.size()) {
        for (const Bond& bond : bonds_) mark(bond);
        // Coordinates that are all equal count as missing.
        const auto& all = topology.positions;
        has_positions_ =
            std::ranges::any_of(all, [&](const Point& point) { return point != all.front(); });
        if (cell_.exists()) lattice_.push_back(Lattice(cell_));
    }

    std::vector<Bond> find() {
        for (Index r = 0; r < residues(); ++r) add_names(r);
        for (Index r = 0; r + 1 < residues(); ++r) add_link(r);
        if (has_positions_) add_distances();
        for (Index r = 0; r < residues(); ++r) add_lonely(r);
        for (Bond& bond : bonds_) std::ranges::sort(bond);
        std::ranges::sort(bonds_);
        bonds_.erase(std::unique(bonds_.begin(), bonds_.end()), bonds_.end());
        return std::move(bonds_);
    }

private:
    Index residues() const { return std::ssize(topology_.residues); }
    Index first(Index r) const { return starts_[r]; }
    Index last(Index r) const { return starts_[r + 1]; }
    const Topology::Atom& atom(Index i) const { return topology_.atoms[i]; }
    bool is_water(Index r) const { return selection::is_water(topology_.residues[r].name); }

    void mark(const Bond& bond) {
        for (const Index i : bond) is_bonded_[i] = true;
    }
    void add(Index one, Index other) {
        bonds_.push_back({one, other});
        mark(bonds_.back());
    }

    double distance(Index one, Index other) const {
        if (!has_positions_) return 0;
        const Point difference = topology_.positions[other] - topology_.positions[one];
        if (!lattice_.empty()) return lattice_.front().images(difference).distance;
        return std::sqrt(dot(difference, difference));
    }

    using Names = std::unordered_map<std::string, Index>;
    Names names_of(Index r) const {
        Names names;
        for (Index i = first(r); i < last(r); ++i)
            names.try_emplace(standard_name(atom(i).name), i);
        return names;
    }

    template <std::size_t N>
    void add_pairs(const Names& names, const NamePair (&pairs)[N]) {
        for (const auto& [one, other] : pairs) {
            const auto a = names.find(std::string(one)), b = names.find(std::string(other));
            if (a != names.end() && b != names.end()) add(a->second, b->second);
        }
    }

    /// Adds the bonds within an amino acid or nucleotide by atom names.
    void add_names(Index r) {
        if (last(r) - first(r) < 3 || is_water(r)) return;
        const Names names = names_of(r);
        const auto has = [&](const char* name) { return names.count(name) > 0; };
        const bool amino_acid = has("N") && has("CA") && has("C");
        const bool nucleotide = has("C1'") && has("C3'") && has("C4'");
        is_known_[r] = amino_acid || nucleotide;
        if (amino_acid) add_pairs(names, kAminoAcidBonds);
        if (!nucleotide) return;
        add_pairs(names, kNucleotideBonds);
        if (!has("N9") && has("N1")) add(names.at("C1'"), names.at("N1"));
    }

    Index find(Index r, std::string_view name) const {
        for (Index i = first(r); i < last(r); ++i)
            if (standard_name(atom(i).name) == name) return i;
        return -1;
    }

    /// The bond between residue r and the next one, unless the chain has a break there.
    void add_link(Index r) {
        const Topology::Residue& one = topology_.residues[r];
        const Topology::Residue& next = topology_.residues[r + 1];
        if (one.chain != next.chain || is_water(r)) return;
        const int step = next.number - one.number;
        if (!has_positions_ && step != 0 && step != 1) return;
        const auto add_within = [&](const char* from, const char* to, double cutoff) {
            const Index a = find(r, from), b = find(r + 1, to);
            if (a < 0 || b < 0) return false;
            if (distance(a, b) < cutoff) add(a, b);
            return true;
        };
        if (add_within("C", "N", kMaxBond) || add_within("O3'", "P", kMaxBond)) return;
        const Index a = representative(topology_, starts_, r),
                    b = representative(topology_, starts_, r + 1);
        const bool has_all =
            last(r) - first(r) > kMaxBeads || last(r + 1) - first(r + 1) > kMaxBeads;
        if (!has_all && a >= 0 && b >= 0 && distance(a, b) < kMaxNeighbour) add(a, b);
    }

    /// Adds bonds by distance for residues with unknown names, including bonds to their neighbours.
    void add_distances() {
        std::vector<Index> unknown, all;
        std::vector<Point> points;  // of all, within one cell
        for (Index r = 0; r < residues(); ++r) {
            if (last(r) - first(r) < 2 || is_water(r)) continue;
            for (Index i = first(r); i < last(r); ++i) {
                all.push_back(i);
                points.push_back(within_cell(i));
                if (!is_known_[r]) unknown.push_back(i);
            }
        }
        if (unknown.empty()) return;
        const PointTree tree(points);
        constexpr double kMaxDistance = 3.3;
        const std::vector<Point> shifts = images_around();
        for (const Index one : unknown)
            for (const Point& shift : shifts)
                tree.for_each_near(within_cell(one) + shift, kMaxDistance, [&](Index n) {
                    const Index other = all[n];
                    const bool hydrogens =
                        selection::is_hydrogen(atom(one)) && selection::is_hydrogen(atom(other));
                    if (other != one && !hydrogens &&
                        distance(one, other) < 0.5 + covalent_radius(atom(one).element) +
                                                   covalent_radius(atom(other).element))
                        add(one, other);
                });
    }

    /// The atom's periodic image in the reduced cell; without a cell, its position.
    Point within_cell(Index i) const {
        Point point = topology_.positions[i];
        if (lattice_.empty()) return point;
        const Point fractions = lattice_.front().fractions(point);
        for (std::size_t k = 0; k < 3; ++k)
            point = point - std::floor(fractions[k]) * lattice_.front().vectors()[k];
        return point;
    }

    /// Translations to the neighbouring cells and 0; only 0 without a cell.
    std::vector<Point> images_around() const {
        if (lattice_.empty()) return {Point{}};
        std::vector<Point> shifts;
        for (std::int32_t x = -1; x <= 1; ++x)
            for (std::int32_t y = -1; y <= 1; ++y)
                for (std::int32_t z = -1; z <= 1; ++z)
                    shifts.push_back(lattice_.front().translation({x, y, z}));
        return shifts;
    }

    /// Bonds the unbonded atoms of a residue: first, one after another, the heavy atom that is
    /// nearest to the bonded atoms, then each hydrogen to the nearest heavy atom.
    void add_lonely(Index r) {
        std::vector<Index> bonded, lonely, hydrogens;
        for (Index i = first(r); i < last(r); ++i)
            (selection::is_hydrogen(atom(i)) ? hydrogens
             : is_bonded_[i]                 ? bonded
                                             : lonely)
                .push_back(i);
        if (bonded.empty() && lonely.empty()) return;
        if (bonded.empty()) {
            bonded.push_back(lonely.front());
            lonely.erase(lonely.begin());
        }
        add_nearest(bonded, lonely);
        for (const Index i : hydrogens)
            if (!is_bonded_[i]) add(nearest(i, bonded), i);
    }

    Index nearest(Index i, const std::vector<Index>& among) const {
        Index best = among.front();
        for (const Index other : among)
            if (distance(i, other) < distance(i, best)) best = other;
        return best;
    }

    /// Prim's algorithm: moves the `lonely` atoms one by one to the `bonded` ones.
    void add_nearest(std::vector<Index>& bonded, const std::vector<Index>& lonely) {
        struct Waiting {
            Index atom, nearest;
            double distance;
        };
        std::vector<Waiting> waiting;
        for (const Index i : lonely) {
            const Index near = nearest(i, bonded);
            waiting.push_back({i, near, distance(i, near)});
        }
        while (!waiting.empty()) {
            const auto next = std::ranges::min_element(
                waiting,
                [](const Waiting& a, const Waiting& b) { return a.distance < b.distance; });
            const Index joined = next->atom;
            add(next->nearest, joined);
            bonded.push_back(joined);
            waiting.erase(next);
            if (!has_positions_) continue;  // all hang on the first atom
            for (Waiting& one : waiting)
                if (const double d = distance(one.atom, joined); d < one.distance)
                    one = {one.atom, joined, d};
        }
    }

    const Topology& topology_;
    const std::vector<Index> starts_;
    std::vector<Bond> bonds_;
    PeriodicCell cell_;
    std::vector<Lattice> lattice_;  // of the cell, if there is one
    bool has_positions_ = false;
    std::vector<bool> is_bonded_;  // [atom]
    std::vector<bool> is_known_;   // [residue]: bonds are known by names
};

}  // namespace

double covalent_radius(std::string_view element) {
    struct Radius {
        std::string_view element;
        double radius;
    };
    constexpr Radius kRadii[] = {{"H", 0.31},  {"D", 0.31},  {"C", 0.76},  {"N", 0.71},
                                 {"O", 0.66},  {"F", 0.57},  {"P", 1.07},  {"S", 1.05},
                                 {"Cl", 1.02}, {"Br", 1.20}, {"I", 1.39},  {"Se", 1.20},
                                 {"Si", 1.11}, {"B", 0.84},  {"Fe", 1.32}, {"Mg", 1.41}};
    for (const Radius& one : kRadii)
        if (one.element == element) return one.radius;
    return 0.76;
}

std::vector<Index> residue_starts(const Topology& topology) {
    std::vector<Index> starts(topology.residues.size() + 1, topology.atom_count());
    for (Index i = topology.atom_count(); i-- > 0;) starts[topology.atoms[i].residue] = i;
    return starts;
}

std::vector<Bond> find_bonds(const Topology& topology, const PeriodicCell& cell) {
    if (!topology.has_all_bonds && !topology.named) return {};
    if (!topology.has_all_bonds) return BondFinder(topology, cell).find();
    std::vector<Bond> bonds = topology.bonds;
    for (Bond& bond : bonds) std::ranges::sort(bond);
    std::ranges::sort(bonds);
    bonds.erase(std::unique(bonds.begin(), bonds.end()), bonds.end());
    return bonds;
}

std::vector<Bond> chain_neighbours(const Topology& topology) {
    std::vector<Bond> pairs;
    if (!topology.named) return pairs;
    const std::vector<Index> starts = residue_starts(topology);
    for (Index r = 0; r + 1 < std::ssize(topology.residues); ++r) {
        const Topology::Residue& one = topology.residues[r];
        const Topology::Residue& next = topology.residues[r + 1];
        const int step = next.number - one.number;
        if (one.chain != next.chain || (step != 0 && step != 1)) continue;
        // Ligands may share a chain with a polymer; their residues are numbered after it.
        const auto is_linked = [](const std::string& name) {
            return is_amino_acid(name) || is_nucleotide(name) || selection::is_common_name(name);
        };
        if (!is_linked(one.name) || !is_linked(next.name)) continue;
        const Index a = representative(topology, starts, r),
                    b = representative(topology, starts, r + 1);
        if (a >= 0 && b >= 0) pairs.push_back({a, b});
    }
    return pairs;
}

}  // namespace pleat
