// Scatterers: groups the atoms of a structure into united atoms or beads.
#include "pleat/saxs/model/scatterers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "pleat/bio/periodic/periodic_cell.h"
#include "pleat/bio/scattering/scattering_factors.h"
#include "pleat/bio/selection/residue_kinds.h"
#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/core/error.h"
#include "pleat/saxs/model/form_factors.h"
#include "pleat/saxs/model/hydrogens.h"

namespace pleat::saxs {

double distance(View<const float, 2> xyz, Index i, Index j) {
    double sum = 0;
    for (Index axis = 0; axis < 3; ++axis) {
        const double d = static_cast<double>(xyz(axis, i)) - static_cast<double>(xyz(axis, j));
        sum += d * d;
    }
    return std::sqrt(sum);
}

namespace {

constexpr double kHydrogenVolume = 5.15;

double heavy_volume(const std::string& element) {
    // Fraser, MacRae and Suzuki, J. Appl. Cryst. 11:693 (1978), table 1; metals, phosphorus and
    // calcium as in Svergun, Barberato and Koch, J. Appl. Cryst. 28:768 (1995).
    static const std::map<std::string, double, std::less<>> kVolumes = {
        {"H", 5.15},  {"D", 5.15},  {"C", 16.44},  {"N", 2.49},   {"O", 9.13},
        {"S", 19.86}, {"P", 5.73},  {"Mg", 17.16}, {"Ca", 31.89}, {"Mn", 9.20},
        {"Fe", 7.99}, {"Cu", 8.78}, {"Zn", 9.85},  {"Se", 28.73}};
    const auto found = kVolumes.find(element);
    if (found != kVolumes.end()) return found->second;
    const double radius = van_der_waals_radius(element);
    return 4 * std::numbers::pi / 3 * radius * radius * radius;
}

}  // namespace

double UnitedAtom::volume() const { return heavy_volume(element) + hydrogens * kHydrogenVolume; }

double UnitedAtom::radius() const { return std::cbrt(3 * volume() / (4 * std::numbers::pi)); }

std::string UnitedAtom::name() const {
    if (hydrogens == 0) return element;
    return hydrogens == 1 ? element + "H" : fmt::format("{}H{}", element, hydrogens);
}

namespace {

constexpr const char* kBackboneType = "BB";

/// Throws InputError for a model of dummy atoms, as DAMMIF writes: beads on a lattice, all called
/// CA of one residue. An alpha carbon has about two neighbours at the smallest distance, a bead
/// many.
void refuse_dummy_atom_model(const Topology& topology, View<const float, 2> xyz) {
    constexpr Index kFewest = 20;
    constexpr double kLattice = 1.1, kNeighbours = 4;
    if (topology.atom_count() < kFewest || !has_alpha_carbons_only(topology)) return;
    const std::string& name = topology.residues.front().name;
    if (!std::ranges::all_of(topology.residues, [&](const auto& one) { return one.name == name; }))
        return;
    std::vector<Point> points;
    for (Index i = 0; i < topology.atom_count(); ++i)
        points.push_back({static_cast<double>(xyz(0, i)), static_cast<double>(xyz(1, i)),
                          static_cast<double>(xyz(2, i))});
    double shortest = INFINITY;
    for (std::size_t n = 1; n < points.size(); ++n)
        shortest =
            std::min(shortest, std::hypot(points[n][0] - points[0][0], points[n][1] - points[0][1],
                                          points[n][2] - points[0][2]));
    const PointTree tree(points);
    double neighbours = 0;
    for (const Point& point : points)
        tree.for_each_near(point, kLattice * shortest, [&](Index) { ++neighbours; });
    if (neighbours / static_cast<double>(points.size()) - 1 > kNeighbours)
        throw InputError(topology.source.string(), 0,
                         fmt::format("expected a structure of atoms or residues, found {} beads of "
                                     "a dummy-atom model (DAMMIF and others call each CA of {}), "
                                     "which stand for a shape",
                                     topology.atom_count(), name));
}

/// [atom]: whether it is an ion farther than 4 angstrom from every atom other than water, ions and
/// dummies; false for all if there are no such atoms.
std::vector<std::uint8_t> bulk_ions(const Topology& topology, View<const float, 2> xyz,
                                    const std::vector<selection::ResidueKind>& kinds) {
    using selection::ResidueKind;
    constexpr double kNear = 4;
    std::vector<std::uint8_t> bulk(topology.atoms.size());
    const auto at = [&](Index i) {
        return Point{static_cast<double>(xyz(0, i)), static_cast<double>(xyz(1, i)),
                     static_cast<double>(xyz(2, i))};
    };
    std::vector<Point> solute;
    std::vector<Index> ions;
    for (Index i = 0; i < topology.atom_count(); ++i) {
        const Topology::Atom& atom = topology.atoms[i];
        const ResidueKind kind = kinds[atom.residue];
        if (kind == ResidueKind::ion)
            ions.push_back(i);
        else if (kind != ResidueKind::water && !selection::is_dummy(atom, kind))
            solute.push_back(at(i));
    }
    if (solute.empty() || ions.empty()) return bulk;
    const PointTree tree(solute);
    for (const Index i : ions) bulk[i] = !tree.has_near(at(i), kNear);
    return bulk;
}

/// Collects scatterers one by one from the atoms of a topology.
class Builder {
public:
    Builder(const Topology& topology, View<const float, 2> xyz, const ScattererOptions& options)
        : topology_(topology),
          options_(options),
          kinds_(selection::residue_kinds(topology)),
          is_bulk_ion_(options.includes_water || options.ions == Ions::keep
                           ? std::vector<std::uint8_t>(topology.atoms.size())
                           : bulk_ions(topology, xyz, kinds_)),
          hydrogens_(options.explicit_hydrogens
                         ? std::vector<int>(topology.atom_count(), 0)
                         : implicit_hydrogens(topology, xyz, options.chain_ends)) {
        result_.resolution = options.resolution;
        result_.starts.push_back(0);
    }

    Scatterers build() {
        check_elements();
        const bool has_alpha_carbons = has_alpha_carbons_only(topology_);
        if (has_alpha_carbons && options_.resolution == Resolution::two_bead)
            throw InputError(topology_.source.string(), 0,
                             "expected backbones and side chains for the two-bead model, found CA "
                             "atoms alone; use --model one-bead");
        result_.alpha_carbons = has_alpha_carbons && options_.resolution == Resolution::one_bead;
        if (options_.resolution == Resolution::all_atom) {
            for (Index i = 0; i < topology_.atom_count(); ++i) {
                if (takes(i)) add_atom(i);
            }
            note_missing_atoms();
        } else {
            name_bead_types();
            add_beads();
        }
        finish();
        return std::move(result_);
    }

private:
    const Topology::Atom& atom(Index i) const { return topology_.atoms[i]; }
    std::string_view residue_name(Index i) const {
        return common_residue_name(topology_.residue_of(i).name);
    }
    int hydrogens(Index i) const { return hydrogens_[i]; }

    selection::ResidueKind kind(Index i) const { return kinds_[atom(i).residue]; }
    bool is_water_left_out(Index i) const {
        return !options_.includes_water && kind(i) == selection::ResidueKind::water;
    }

    bool takes(Index i) {
        if (is_water_left_out(i)) {
            waters_ += atom(i).element == "O";
            return false;
        }
        if (selection::is_dummy(atom(i), kind(i))) {
            ++dummies_;
            return false;
        }
        ions_ += kind(i) == selection::ResidueKind::ion;
        if (is_bulk_ion_[i] != 0) {
            ++left_out_ions_;
            return false;
        }
        if (is_hydrogen(atom(i).element) && !options_.explicit_hydrogens) {
            ++dropped_hydrogens_;
            return false;
        }
        return true;
    }

    void check_elements() const {
        Complaints complaints(topology_.source.string());
        std::set<std::string> reported;
        for (Index i = 0; i < topology_.atom_count(); ++i) {
            const std::string& element = atom(i).element;
            ScatteringFactor factor;
            // Four-site water has a site without an element.
            if (is_water_left_out(i) || selection::is_dummy(atom(i), kind(i)) ||
                find_scattering_factor(element, factor))
                continue;
            const bool is_unknown = element == "X" || element.empty();
            if (!reported.insert(is_unknown ? atom(i).name : element).second) continue;
            complaints.add(
                0, is_unknown ? fmt::format("expected atoms of known elements, found {}; "
                                            "--select 'not ({})' leaves it out",
                                            topology_.atom_label(i), topology_.residue_of(i).name)
                              : fmt::format("expected elements up to californium, found {} ({})",
                                            element, topology_.atom_label(i)));
        }
        complaints.throw_if_any();
    }

    void add_atom(Index i) {
        const UnitedAtom united{atom(i).element, hydrogens(i)};
        auto match = std::ranges::find(result_.atom_types, united);
        if (match == result_.atom_types.end()) {
            result_.atom_types.push_back(united);
            result_.type_names.push_back(united.name());
            match = std::prev(result_.atom_types.end());
        }
        result_.types.push_back(static_cast<std::int32_t>(match - result_.atom_types.begin()));
        add_member(i);
        result_.starts.push_back(std::ssize(result_.members));
    }

    void add_member(Index i) {
        const UnitedAtom united{atom(i).element, hydrogens(i)};
        result_.members.push_back(i);
        result_.masses.push_back(atom(i).mass + united.hydrogens * element_mass("H"));
        result_.radii.push_back(united.radius());
    }

    /// Warns if more than a tenth of the amino acids lack heavy atoms, as in backbone models.
    void note_missing_atoms() {
        std::map<Index, Index> counts;  // [residue]
        for (const Index i : result_.members)
            counts[atom(i).residue] += !is_hydrogen(atom(i).element);
        const std::vector<std::string> names = bead_types(Resolution::one_bead);
        Index residues = 0, incomplete = 0;
        for (const auto& [residue, count] : counts) {
            const std::string& name = topology_.residues[residue].name;
            if (std::ranges::find(names, name) == names.end()) continue;
            ++residues;
            incomplete += count < complete_residue_atoms(name);
        }
        if (10 * incomplete > residues)
            result_.notes.push_back({NoteKind::residues,
                                     fmt::format("{} of {} amino acids lack heavy atoms: what is "
                                                 "not listed does not scatter",
                                                 incomplete, residues),
                                     {},
                                     true});
    }

    void name_bead_types() {
        result_.type_names = bead_types(options_.resolution);
        result_.excess_electrons.assign(result_.type_names.size(), 0);
        complete_electrons_ = complete_bead_electrons(options_.resolution);
        for (std::size_t t = 0; t < result_.type_names.size(); ++t)
            type_of_[result_.type_names[t]] = static_cast<std::int32_t>(t);
    }

    void add_beads() {
        std::map<std::string, Index> unknown;
        Index first = 0;
        while (first < topology_.atom_count()) {
            Index last = first;
            while (last < topology_.atom_count() && atom(last).residue == atom(first).residue)
                ++last;
            std::vector<Index> atoms;
            for (Index i = first; i < last; ++i) {
                // In bead models hydrogens belong to their heavy atoms, even if the file lists
                // them.
                if (takes(i) && !is_hydrogen(atom(i).element)) atoms.push_back(i);
            }
            const std::string name =
                residue_name(first) == "MSE" ? "MET" : std::string(residue_name(first));
            if (!atoms.empty() && type_of_.count(name) == 0) ++unknown[name];
            if (!atoms.empty() && type_of_.count(name) > 0) add_residue(name, atoms);
            first = last;
        }
        refuse_unknown(unknown);
    }

    void refuse_unknown(const std::map<std::string, Index>& unknown) const {
        Complaints complaints(topology_.source.string());
        for (const auto& [name, count] : unknown)
            complaints.add(0,
                           fmt::format("expected the 20 amino acids for the {} model, found {} of "
                                       "{}; leave them out with --select, or use --model all-atom",
                                       name_of(options_.resolution), count, name));
        complaints.throw_if_any();
    }

    void add_residue(const std::string& name, const std::vector<Index>& atoms) {
        incomplete_ += std::ssize(atoms) < complete_residue_atoms(name);
        const bool is_whole =
            options_.resolution == Resolution::one_bead || name == "ALA" || name == "GLY";
        if (is_whole) {
            add_bead(name, atoms);
            return;
        }
        std::vector<Index> backbone, side;
        static constexpr std::array<std::string_view, 10> kBackbone = {
            "N", "CA", "C", "O", "CB", "OXT", "OT1", "OT2", "OC1", "OC2"};
        for (const Index i : atoms) {
            const bool is_backbone = std::ranges::find(kBackbone, atom(i).name) != kBackbone.end();
            (is_backbone ? backbone : side).push_back(i);
        }
        if (!backbone.empty()) add_bead(kBackboneType, backbone);
        if (!side.empty()) add_bead(name, side);
    }

    void add_bead(const std::string& type, const std::vector<Index>& atoms) {
        double electrons = 0;
        for (const Index i : atoms) {
            add_member(i);
            electrons += net_electrons({atom(i).element, hydrogens(i)});
        }
        const std::int32_t complete = type_of_.at(type);
        const double excess = electrons - complete_electrons_[complete];
        result_.types.push_back(result_.alpha_carbons ? complete
                                                      : type_with_excess(complete, excess));
        if (result_.alpha_carbons) result_.radii.back() = residue_radius(type);
        result_.starts.push_back(std::ssize(result_.members));
    }

    /// The type of a bead with this many more electrons than a complete one of type `complete`.
    std::int32_t type_with_excess(std::int32_t complete, double excess) {
        constexpr double kSame = 1e-6;
        if (std::abs(excess) < kSame) return complete;
        const auto [type, is_new] =
            types_with_excess_.try_emplace({complete, std::llround(excess / kSame)},
                                           static_cast<std::int32_t>(result_.type_names.size()));
        if (is_new) {
            result_.type_names.push_back(result_.type_names[complete]);
            result_.excess_electrons.push_back(excess);
        }
        return type->second;
    }

    /// Radius of a sphere of a residue's volume, from 60 (GLY) to 228 (TRP) cubic angstrom
    /// (Zamyatnin, Prog. Biophys. Mol. Biol. 24:107, 1972).
    static double residue_radius(const std::string& type) {
        static const std::map<std::string, double> kVolumes = {
            {"ALA", 88.6},  {"ARG", 173.4}, {"ASN", 114.1}, {"ASP", 111.1}, {"CYS", 108.5},
            {"GLN", 143.8}, {"GLU", 138.4}, {"GLY", 60.1},  {"HIS", 153.2}, {"ILE", 166.7},
            {"LEU", 166.7}, {"LYS", 168.6}, {"MET", 162.9}, {"PHE", 189.9}, {"PRO", 112.7},
            {"SER", 89.0},  {"THR", 116.1}, {"TRP", 227.8}, {"TYR", 193.6}, {"VAL", 140.0}};
        return std::cbrt(3 * kVolumes.at(type) / (4 * std::numbers::pi));
    }

    void finish() {
        if (result_.types.empty())
            throw InputError(
                topology_.source.string(), 0,
                "expected atoms that scatter, found none but water and hydrogen or dummies");
        double sum = 0;
        for (const double radius : result_.radii) sum += radius;
        result_.mean_radius = sum / static_cast<double>(result_.radii.size());
        if (waters_ > 0)
            result_.notes.push_back(
                {NoteKind::atoms,
                 fmt::format("{} water molecules left out (--water keeps them)", waters_)});
        if (dummies_ > 0)
            result_.notes.push_back(
                {NoteKind::dummies,
                 fmt::format("{} dummy atoms, which stand for no matter, left out", dummies_)});
        if (left_out_ions_ > 0)
            result_.notes.push_back(
                {NoteKind::ions,
                 fmt::format("{} of {} ions left out with the water: farther than 4 angstrom from "
                             "any other atom",
                             left_out_ions_, ions_),
                 fmt::format("--{} keep", "ions")});
        if (dropped_hydrogens_ > 0)
            result_.notes.push_back(
                {NoteKind::hydrogens, fmt::format("{} hydrogens in the file left out: each heavy "
                                                  "atom scatters with those that it "
                                                  "carries (--hydrogens explicit uses the file's)",
                                                  dropped_hydrogens_)});
        if (incomplete_ > 0 && !result_.alpha_carbons)
            result_.notes.push_back(
                {NoteKind::residues,
                 fmt::format("{} residues lack heavy atoms: their beads scatter with the atoms "
                             "that are listed",
                             incomplete_)});
        if (result_.alpha_carbons)
            result_.notes.push_back(
                {NoteKind::residues,
                 "only CA atoms: a whole residue scatters from each, which is approximate beyond "
                 "q = 0.15 1/angstrom"});
    }

    const Topology& topology_;
    const ScattererOptions& options_;
    const std::vector<selection::ResidueKind> kinds_;
    const std::vector<std::uint8_t> is_bulk_ion_;
    const std::vector<int> hydrogens_;
    std::map<std::string, std::int32_t, std::less<>> type_of_;
    std::vector<double> complete_electrons_;  ///< [complete type]
    /// By the complete type, and the excess in millionths of an electron.
    std::map<std::pair<std::int32_t, long long>, std::int32_t> types_with_excess_;
    Scatterers result_;
    Index waters_ = 0, dummies_ = 0, ions_ = 0, left_out_ions_ = 0, dropped_hydrogens_ = 0,
          incomplete_ = 0;
};

}  // namespace

bool has_alpha_carbons_only(const Topology& topology) {
    Index alpha = 0, others = 0;
    const std::vector<selection::ResidueKind> kinds = selection::residue_kinds(topology);
    for (const Topology::Atom& atom : topology.atoms) {
        const selection::ResidueKind kind = kinds[atom.residue];
        if (kind == selection::ResidueKind::water || selection::is_dummy(atom, kind)) continue;
        (atom.name == "CA" && atom.element == "C" ? alpha : others) += 1;
    }
    // A few ions do not count.
    return alpha > 0 && others * 20 <= alpha;
}

Scatterers make_scatterers(const Topology& topology, View<const float, 2> xyz,
                           const ScattererOptions& options) {
    if (!topology.named)
        throw InputError(topology.source.string(), 0,
                         "expected atoms with names and elements, found coordinates alone; "
                         "--topology names them");
    refuse_dummy_atom_model(topology, xyz);
    return Builder(topology, xyz, options).build();
}

void set_centres_of_mass(const Scatterers& scatterers, View<const float, 2> frame,
                         View<float, 2> positions) {
    for (Index s = 0; s < scatterers.count(); ++s) {
        double sum[3] = {}, mass = 0;
        for (Index m = scatterers.starts[s]; m < scatterers.starts[s + 1]; ++m) {
            for (Index axis = 0; axis < 3; ++axis)
                sum[axis] +=
                    scatterers.masses[m] * static_cast<double>(frame(axis, scatterers.members[m]));
            mass += scatterers.masses[m];
        }
        for (Index axis = 0; axis < 3; ++axis)
            positions(axis, s) = static_cast<float>(sum[axis] / mass);
    }
}

}  // namespace pleat::saxs
