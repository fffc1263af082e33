// Scatterers: from atoms to united atoms or bodies at centres of mass.
#include "pleat/saxs/model/scatterers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "pleat/bio/scattering/scattering_factors.h"
#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/core/error.h"
#include "pleat/saxs/model/form_factors.h"
#include "pleat/saxs/model/hydrogens.h"

namespace pleat::saxs {

namespace {

constexpr const char* kBackboneType = "BB";

bool is_hydrogen(const std::string& element) { return element == "H" || element == "D"; }

/// Collects scatterers one by one from the atoms of a topology.
class Builder {
public:
    Builder(const Topology& topology, View<const float, 2> xyz, const ScattererOptions& options)
        : topology_(topology),
          options_(options),
          hydrogens_(options.explicit_hydrogens
                         ? std::vector<int>(static_cast<std::size_t>(topology.atom_count()), 0)
                         : implicit_hydrogens(topology, xyz)) {
        made_.bodies = options.bodies;
        made_.starts.push_back(0);
    }

    Scatterers build() {
        check_elements();
        made_.alpha_carbons =
            options_.bodies == Bodies::one_body && has_alpha_carbons_only(topology_);
        if (options_.bodies == Bodies::all_atom) {
            for (Index i = 0; i < topology_.atom_count(); ++i) {
                if (takes(i)) add_atom(i);
            }
        } else {
            name_body_types();
            add_bodies();
        }
        finish();
        return std::move(made_);
    }

private:
    const Topology::Atom& atom(Index i) const {
        return topology_.atoms[static_cast<std::size_t>(i)];
    }
    std::string_view residue_name(Index i) const {
        return common_residue_name(topology_.residue_of(i).name);
    }
    int hydrogens(Index i) const { return hydrogens_[static_cast<std::size_t>(i)]; }

    bool takes(Index i) {
        if (is_water(topology_.residue_of(i).name) && !options_.water) {
            waters_ += !is_hydrogen(atom(i).element);
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
        std::set<std::string> told;
        for (Index i = 0; i < topology_.atom_count(); ++i) {
            const std::string& element = atom(i).element;
            ScatteringFactor factor;
            if (find_scattering_factor(element, factor)) continue;
            const bool is_unknown = element == "X" || element.empty();
            if (!told.insert(is_unknown ? atom(i).name : element).second) continue;
            complaints.add(
                0, is_unknown ? fmt::format("expected atoms of known elements, found {}; "
                                            "--select 'not ({})' leaves it out",
                                            topology_.label(i), topology_.residue_of(i).name)
                              : fmt::format("expected elements up to californium, found {} ({})",
                                            element, topology_.label(i)));
        }
        complaints.throw_if_any();
    }

    void add_atom(Index i) {
        const UnitedAtom united{atom(i).element, hydrogens(i)};
        auto found = std::find(made_.atom_types.begin(), made_.atom_types.end(), united);
        if (found == made_.atom_types.end()) {
            made_.atom_types.push_back(united);
            made_.type_names.push_back(united.name());
            found = std::prev(made_.atom_types.end());
        }
        made_.types.push_back(static_cast<std::int32_t>(found - made_.atom_types.begin()));
        add_member(i);
        made_.starts.push_back(static_cast<Index>(made_.members.size()));
    }

    void add_member(Index i) {
        const UnitedAtom united{atom(i).element, hydrogens(i)};
        made_.members.push_back(i);
        made_.masses.push_back(atom(i).mass + united.hydrogens * element_mass("H"));
        made_.radii.push_back(united.radius());
    }

    void name_body_types() {
        made_.type_names = types_of(options_.bodies);
        for (std::size_t t = 0; t < made_.type_names.size(); ++t)
            type_of_[made_.type_names[t]] = static_cast<std::int32_t>(t);
    }

    void add_bodies() {
        std::map<std::string, Index> unknown;
        Index first = 0;
        while (first < topology_.atom_count()) {
            Index last = first;
            while (last < topology_.atom_count() && atom(last).residue == atom(first).residue)
                ++last;
            std::vector<Index> atoms;
            for (Index i = first; i < last; ++i) {
                // Hydrogens count with the heavy atoms in bodies, however they are given.
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
                                       "{}; --select leaves them out, --model all-atom knows them",
                                       name_of(options_.bodies), count, name));
        complaints.throw_if_any();
    }

    void add_residue(const std::string& name, const std::vector<Index>& atoms) {
        const bool is_whole = options_.bodies == Bodies::one_body || name == "ALA" || name == "GLY";
        if (is_whole) {
            add_body(name, atoms);
            return;
        }
        std::vector<Index> backbone, side;
        static constexpr std::array<std::string_view, 9> kBackbone = {
            "N", "CA", "C", "O", "CB", "OXT", "OT1", "OT2", "OC1"};
        for (const Index i : atoms) {
            const bool is_backbone =
                std::find(kBackbone.begin(), kBackbone.end(), atom(i).name) != kBackbone.end();
            (is_backbone ? backbone : side).push_back(i);
        }
        if (!backbone.empty()) add_body(kBackboneType, backbone);
        if (!side.empty()) add_body(name, side);
        incomplete_ += backbone.empty() || side.empty();
    }

    void add_body(const std::string& type, const std::vector<Index>& atoms) {
        made_.types.push_back(type_of_.at(type));
        for (const Index i : atoms) add_member(i);
        if (made_.alpha_carbons) made_.radii.back() = residue_radius(type);
        made_.starts.push_back(static_cast<Index>(made_.members.size()));
    }

    /// Of a sphere of a residue's volume, from 60 (GLY) to 228 (TRP) cubic angstrom
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
        if (made_.types.empty())
            throw InputError(topology_.source.string(), 0,
                             "expected atoms that scatter, found none but water and hydrogen");
        double sum = 0;
        for (const double radius : made_.radii) sum += radius;
        made_.mean_radius = sum / static_cast<double>(made_.radii.size());
        if (waters_ > 0)
            made_.notes.push_back(
                fmt::format("{} water molecules left out (--water keeps them)", waters_));
        if (dropped_hydrogens_ > 0)
            made_.notes.push_back(fmt::format(
                "{} hydrogens of the file left out: each heavy atom scatters with its own "
                "(--hydrogens explicit takes the file's)",
                dropped_hydrogens_));
        if (incomplete_ > 0)
            made_.notes.push_back(
                fmt::format("{} residues without side chain or backbone", incomplete_));
        if (made_.alpha_carbons)
            made_.notes.push_back(
                "CA alone: a whole residue scatters from each, which is approximate beyond q = "
                "0.15 "
                "1/angstrom");
    }

    const Topology& topology_;
    const ScattererOptions& options_;
    const std::vector<int> hydrogens_;
    std::map<std::string, std::int32_t, std::less<>> type_of_;
    Scatterers made_;
    Index waters_ = 0, dropped_hydrogens_ = 0, incomplete_ = 0;
};

}  // namespace

Bodies parse_bodies(std::string_view name) {
    for (const Bodies bodies : {Bodies::all_atom, Bodies::one_body, Bodies::two_body}) {
        if (name_of(bodies) == name) return bodies;
    }
    throw UsageError(
        fmt::format("expected a model all-atom, one-body or two-body, found '{}'", name));
}

std::string_view name_of(Bodies bodies) {
    if (bodies == Bodies::all_atom) return "all-atom";
    return bodies == Bodies::one_body ? "one-body" : "two-body";
}

bool has_alpha_carbons_only(const Topology& topology) {
    Index alpha = 0, others = 0;
    for (Index i = 0; i < topology.atom_count(); ++i) {
        const auto& atom = topology.atoms[static_cast<std::size_t>(i)];
        if (is_water(topology.residue_of(i).name)) continue;
        (atom.name == "CA" && atom.element == "C" ? alpha : others) += 1;
    }
    // A CA trace may hold an ion or two.
    return alpha > 0 && others * 20 <= alpha;
}

Scatterers make_scatterers(const Topology& topology, View<const float, 2> xyz,
                           const ScattererOptions& options) {
    if (!topology.named)
        throw InputError(topology.source.string(), 0,
                         "expected atoms with names and elements, found coordinates alone; "
                         "--topology names them");
    return Builder(topology, xyz, options).build();
}

void set_centres_of_mass(const Scatterers& scatterers, View<const float, 2> frame, View<float, 2> positions) {
    for (Index s = 0; s < scatterers.count(); ++s) {
        double sum[3] = {}, mass = 0;
        for (Index m = scatterers.starts[static_cast<std::size_t>(s)];
             m < scatterers.starts[static_cast<std::size_t>(s) + 1]; ++m) {
            const auto member = static_cast<std::size_t>(m);
            for (Index axis = 0; axis < 3; ++axis)
                sum[axis] += scatterers.masses[member] *
                             static_cast<double>(frame(axis, scatterers.members[member]));
            mass += scatterers.masses[member];
        }
        for (Index axis = 0; axis < 3; ++axis)
            positions(axis, s) = static_cast<float>(sum[axis] / mass);
    }
}

}  // namespace pleat::saxs
