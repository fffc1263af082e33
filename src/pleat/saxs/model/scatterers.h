// Scatterers: the atoms or beads that a structure is made of, and their types.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pleat/bio/structure/topology.h"
#include "pleat/core/array.h"
#include "pleat/core/notes.h"
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {

inline bool is_hydrogen(const std::string& element) { return element == "H" || element == "D"; }

/// The distance of two atoms of `xyz` [axis, atom].
double distance(View<const float, 2> xyz, Index i, Index j);

/// A heavy atom with its hydrogens.
struct UnitedAtom {
    std::string element;
    int hydrogens = 0;

    double volume() const;     ///< excluded volume, cubic angstrom
    double radius() const;     ///< of the sphere of this volume, angstrom
    std::string name() const;  ///< "CH3"
    bool operator==(const UnitedAtom&) const = default;
};

struct ScattererOptions {
    Resolution resolution = Resolution::all_atom;  ///< not automatic
    bool includes_water = false;      ///< water molecules in the file are part of the structure
    Ions ions = Ions::near;           ///< which ions are, unless water is
    bool chain_ends = true;           ///< NH3+ at the start of chains, and OH at 5' and 3'
    bool explicit_hydrogens = false;  ///< hydrogens in the file scatter for themselves
};

/// The scatterers of all frames of an ensemble, without their positions.
struct Scatterers {
    Resolution resolution = Resolution::all_atom;
    std::vector<UnitedAtom> atom_types;  ///< [type], of all_atom
    /// [type]: "CH3"; "ALA"; "BB" for the backbone. Beads whose electrons differ from a complete
    /// bead have a separate type with the same name.
    std::vector<std::string> type_names;
    /// [type], of beads: net electrons at q = 0 beyond those of a complete bead.
    std::vector<double> excess_electrons;
    std::vector<std::int32_t> types;  ///< [scatterer]
    /// The atoms of scatterer s are members[starts[s]], ..., members[starts[s + 1] - 1], indices
    /// into the topology.
    std::vector<Index> starts, members;
    std::vector<double> masses;  ///< [member], hydrogens included
    std::vector<double> radii;   ///< [member], angstrom, for the accessible surface
    double mean_radius = 0;      ///< of the members, angstrom
    /// True if the structure has one atom (CA) per residue: positions are then those of CA instead
    /// of centres of mass, and each residue is a sphere for the accessible surface.
    bool alpha_carbons = false;
    Notes notes;  ///< what was left out or assumed, one line each

    Index count() const { return std::ssize(types); }
};

/// Divides a structure into scatterers. A bead has the electrons of the listed atoms and their
/// hydrogens; if only CA atoms are listed, those of complete residues. `xyz` [axis, atom],
/// angstrom: any frame, from which bonds are derived. Throws InputError for atoms of unknown
/// elements or elements without form factors, for residues that a bead model does not know, if no
/// scatterer is left, and for dummy atom models (DAMMIF). Leaves out dummy atoms and, depending on
/// ScattererOptions::ions, ions farther than 4 angstrom from the solute.
Scatterers make_scatterers(const Topology& topology, View<const float, 2> xyz,
                           const ScattererOptions& options);

/// Whether (almost) every residue has only a CA atom.
bool has_alpha_carbons_only(const Topology& topology);

/// Sets the first columns of `positions` [axis, scatterer] to the scatterers' centres of mass in a
/// frame [axis, atom].
void set_centres_of_mass(const Scatterers& scatterers, View<const float, 2> frame,
                         View<float, 2> positions);

}  // namespace pleat::saxs
