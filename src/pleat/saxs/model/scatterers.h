// Scatterers: the bodies that a structure is made of, their types, places, and the water they
// touch.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pleat/bio/structure/topology.h"
#include "pleat/core/array.h"
#include "pleat/core/context.h"

#pragma GCC visibility push(default)

namespace pleat::saxs {

/// How a structure is divided into scatterers.
enum class Bodies {
    all_atom,  ///< each heavy atom with the hydrogens it carries
    one_body,  ///< each residue, at its centre of mass: 20 types
    two_body   ///< side chain, and backbone with CB; alanine and glycine whole: 21 types
};
/// "all-atom", "one-body", "two-body"; UsageError for others.
Bodies parse_bodies(std::string_view name);
std::string_view name_of(Bodies bodies);

/// A heavy atom with its hydrogens.
struct UnitedAtom {
    std::string element;
    int hydrogens = 0;

    /// Volume that it takes from water, in cubic angstrom.
    double volume() const;
    double radius() const;     ///< of the sphere of this volume, angstrom
    std::string name() const;  ///< "CH3"
    bool operator==(const UnitedAtom&) const = default;
};

struct ScattererOptions {
    Bodies bodies = Bodies::all_atom;
    bool water = false;               ///< water molecules of the file are part of the structure
    bool explicit_hydrogens = false;  ///< those of the file scatter for themselves
};

/// What stays the same over the frames of an ensemble.
struct Scatterers {
    Bodies bodies = Bodies::all_atom;
    std::vector<UnitedAtom> atom_types;   ///< of all_atom: what the types are
    std::vector<std::string> type_names;  ///< "CH3"; "ALA"; "BB" for the backbone
    std::vector<std::int32_t> types;      ///< [scatterer]
    /// Atoms of the topology that scatterer s is made of: members[starts[s]], ...,
    /// members[starts[s + 1] - 1], with their masses (hydrogens included).
    std::vector<Index> starts, members;
    std::vector<double> masses;  ///< [member]
    std::vector<double> radii;   ///< [member], angstrom, for the accessible surface
    double mean_radius = 0;      ///< of the members, angstrom
    /// One atom a residue: places are those of CA, not centres of mass, and exposure is that of
    /// spheres of whole residues.
    bool alpha_carbons = false;
    std::vector<std::string> notes;  ///< what was left out or assumed, a line each

    Index count() const { return static_cast<Index>(types.size()); }
};

/// Divides a structure. `xyz` [axis, atom], angstrom, is any frame (it tells bonds). InputError for
/// atoms of unknown elements or elements without factors, residues that a coarse model does not
/// know, and where nothing is left.
Scatterers make_scatterers(const Topology& topology, View<const float, 2> xyz,
                           const ScattererOptions& options);

/// Whether the structure has a CA alone for (almost) every residue.
bool has_alpha_carbons_only(const Topology& topology);

/// Sets `positions` [axis, scatterer] to the centres of mass in a frame [axis, atom], angstrom.
void set_centres_of_mass(const Scatterers& scatterers, View<const float, 2> frame, View<float, 2> positions);

/// The water that scatterers touch: how much, and where it stands.
struct Hydration {
    std::vector<float> amounts;  ///< [scatterer]
    Array<float, 2> sites;  ///< [axis, scatterer], angstrom; its own place where it touches none
};

/// The hydration layer of a frame [axis, atom]. An atom touches as much as its sphere, enlarged by
/// a probe of 1.8 angstrom, is exposed (0 to 1; of an alpha carbon that stands for a residue: the
/// exposed area by that of an atom of radius 1.9 angstrom), and that water stands 3 angstrom beyond
/// its surface, on the mean of the exposed directions. Bodies touch what their atoms do, at the
/// mean of their places. Cancelled.
Hydration hydrate(const Scatterers& scatterers, View<const float, 2> frame, const Context& context);

}  // namespace pleat::saxs

#pragma GCC visibility pop
