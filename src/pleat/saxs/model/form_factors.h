// Form factors: what a scatterer of each type contributes at each q.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/saxs/debye/debye.h"
#include "pleat/saxs/model/scatterers.h"

#pragma GCC visibility push(default)

namespace pleat::saxs {

/// Factors of coarse bodies, less the water that they displace.
struct FormFactorTable {
    std::vector<double> q;           ///< 1/angstrom, rising
    std::vector<std::string> types;  ///< "BB", "ALA", ...
    Array<double, 2> factors;        ///< [q, type], electrons
    std::string source = {};         ///< its file, for messages; empty: pleat's own
};

/// The table of the one- or two-body model that pleat derived (README.md says how, and how well it
/// does).
const FormFactorTable& derived_form_factors(Bodies bodies);

/// Reads a table for a coarse model: lines of q and one column a type, with a line of names ("q BB
/// ALA ...") above, or without one in the order that `types_of` gives; or rows in brackets without
/// q, as Stovgaard et al. (2010) published them, at q = 0, 0.015, ..., 0.75. What was assumed goes
/// to `notes`. InputError.
FormFactorTable read_form_factors(const std::filesystem::path& path, Bodies bodies,
                                  std::vector<std::string>& notes);

/// The names of a coarse model's types, in the order of the published tables.
std::vector<std::string> types_of(Bodies bodies);

/// Channels of the amplitudes. All atoms: vacuum, excluded volume (of positive sign), hydration;
/// coarse bodies: net, hydration, which is the only one with scales.
inline constexpr Index kAtomChannels = 3, kBodyChannels = 2;

/// What the Debye sums need of these scatterers: types and factors on a grid of q. All atoms:
/// International Tables' factors of the heavy atom and its hydrogens; rho V exp(-V^(2/3) q^2 / 4
/// pi) of the water that they displace (Fraser, MacRae and Suzuki, J. Appl. Cryst. 11:693, 1978),
/// rho = 0.334 electrons per cubic angstrom. Bodies: `table` (which must have their types) by cubic
/// splines; InputError where q is beyond it. Behind the scatterers stand `sites` of the hydration
/// layer, each a water molecule less what it displaces, scaled.
Model make_model(const Scatterers& scatterers, const FormFactorTable* table,
                 std::span<const double> q, Index sites = 0);

/// The amplitudes of a united atom in vacuum, of the water that it displaces, and of a molecule of
/// the hydration layer, in electrons.
double vacuum_factor(const UnitedAtom& atom, double q);
double excluded_factor(const UnitedAtom& atom, double q);
double hydration_factor(double q);

}  // namespace pleat::saxs

#pragma GCC visibility pop
