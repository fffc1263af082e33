// Burial: finding the target's residues in a structure, and their surfaces.
#include "pleat/workflows/mutants/burial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "pleat/bio/structure/accessibility.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat::mutants {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// [target residue]: chain and residue of the structure, or -1.
struct Place {
    Index chain = -1, residue = -1;
};

std::vector<Place> places_of(const Target& target, const std::vector<Index>& starts,
                             const TargetStructure& known, Burial& burial, Notes& notes) {
    if (known.chains.size() != starts.size() || (starts.size() > 1 && known.chains[0].empty()))
        throw UsageError(
            fmt::format("--structure: expected a chain for each of {} part{} (FILE:A,B), found {}",
                        starts.size(), starts.size() == 1 ? "" : "s",
                        known.chains[0].empty() ? 0 : known.chains.size()));
    std::vector<Place> places(target.sequence.size());
    double identical = 0;
    for (std::size_t part = 0; part < starts.size(); ++part) {
        const auto first = static_cast<std::size_t>(starts[part]);
        const std::size_t last = part + 1 < starts.size()
                                     ? static_cast<std::size_t>(starts[part + 1])
                                     : target.sequence.size();
        const ResidueMap map = map_sequence(target.name.empty() ? "target" : target.name,
                                            target.sequence.substr(first, last - first),
                                            *target.alphabet, known.structure, known.chains[part]);
        for (std::size_t n = first; n < last; ++n)
            if (map.residues[n - first] >= 0) places[n] = {map.chain, map.residues[n - first]};
        burial.mapped += map.mapped;
        identical += map.identity * static_cast<double>(map.mapped);
        burial.chain += (part > 0 ? "," : "") + map.chain_name;
        const std::string doubt =
            doubt_about_family(known.structure.source.string(), map.chain_name, map.identity,
                               fmt::format("'{}'", printable(target.name)));
        if (!doubt.empty())
            notes.push_back({.kind = NoteKind::matching, .text = doubt, .is_warning = true});
    }
    burial.identity = identical / static_cast<double>(std::max<Index>(burial.mapped, 1));
    return places;
}

/// Both readings of a file have the same atoms, at equal positions in float.
using ResidueAt = std::map<std::array<float, 3>, Index>;
std::array<float, 3> key(double x, double y, double z) {
    return {static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)};
}

Index topology_residue(const ResidueAt& residue_at, const Residue& residue) {
    for (const Atom& atom : residue.atoms)
        if (const auto found = residue_at.find(key(atom.x, atom.y, atom.z));
            found != residue_at.end())
            return found->second;
    return -1;
}

/// The surfaces of the topology's residues, covered by what `surroundings` says.
Accessibility surfaces_of(const TargetStructure& known, const std::vector<Place>& places,
                          const ResidueAt& residue_at, Surroundings surroundings,
                          const Context& context) {
    const Topology& topology = known.topology;
    std::vector<char> is_near(topology.residues.size(), surroundings == Surroundings::all);
    std::vector<char> is_used(known.structure.chains.size());
    for (const Place& place : places)
        if (place.chain >= 0) is_used[place.chain] = 1;
    for (std::size_t chain = 0; chain < is_used.size(); ++chain)
        for (const Residue& residue : known.structure.chains[chain].residues)
            if (const Index at = topology_residue(residue_at, residue); at >= 0 && is_used[chain])
                is_near[at] = 1;
    std::vector<char> counted;
    Array<float, 2> centres(3, topology.atom_count());
    for (Index atom = 0; atom < topology.atom_count(); ++atom) {
        counted.push_back(is_near[topology.atoms[atom].residue]);
        for (Index axis = 0; axis < 3; ++axis)
            centres(axis, atom) = static_cast<float>(topology.positions[atom][axis]);
    }
    return accessibility(topology, centres, counted, context);
}

}  // namespace

std::span<const std::string_view> names_of(Surroundings) {
    static constexpr std::string_view kNames[] = {"chain", "all"};
    return kNames;
}

TargetStructure read_target_structure(std::string_view text) {
    const StructureChoice choice = parse_structure_choice(text);
    if (choice.file == "-") throw UsageError("--structure -: give a file, since it is read twice");
    TargetStructure known;
    known.structure = read_structure(choice.file, &known.notes);
    known.topology = read_topology(choice.file);
    for (const std::string_view name : split(choice.chain, ',')) known.chains.emplace_back(name);
    if (known.chains.size() > 1 && std::ranges::count(known.chains, "") > 0)
        throw UsageError(fmt::format(
            "--structure {}: expected the name of a chain on each side of a comma, found none",
            text));
    return known;
}

Burial measure_burial(const Target& target, const std::vector<Index>& starts,
                      const TargetStructure& known, Surroundings surroundings,
                      const Context& context, Notes& notes) {
    if (target.alphabet->kind() != Alphabet::Kind::protein)
        throw UsageError("give --structure for proteins alone: it weighs amino acids");
    Burial burial;
    const std::vector<Place> places = places_of(target, starts, known, burial, notes);
    ResidueAt residue_at;
    for (Index atom = 0; atom < known.topology.atom_count(); ++atom) {
        const auto& [x, y, z] = known.topology.positions[atom];
        residue_at.emplace(key(x, y, z), known.topology.atoms[atom].residue);
    }
    const Accessibility surfaces = surfaces_of(known, places, residue_at, surroundings, context);
    Index measured = 0;
    for (const Place& place : places) {
        const Index at =
            place.chain < 0
                ? -1
                : topology_residue(residue_at,
                                   known.structure.chains[place.chain].residues[place.residue]);
        burial.accessibility.push_back(at < 0 ? kNone : surfaces.relative[at]);
        measured += !std::isnan(burial.accessibility.back());
    }
    if (2 * measured < burial.mapped)
        throw InputError(known.structure.source.string(), 0,
                         fmt::format("expected all heavy atoms of the residues, whose surfaces are "
                                     "measured, found them in {} of {} residues",
                                     measured, burial.mapped));
    return burial;
}

}  // namespace pleat::mutants
