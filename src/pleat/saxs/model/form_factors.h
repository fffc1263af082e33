// Form factors: the amplitude of a scatterer of each type at each q.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "pleat/saxs/debye/debye.h"
#include "pleat/saxs/model/bead_types.h"
#include "pleat/saxs/model/scatterers.h"
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {

/// pleat's own table of the one- or two-bead model (README.md says how it was derived, and how
/// accurate it is).
const FormFactorTable& derived_form_factors(Resolution resolution);

/// Throws UsageError unless form factors of a file can be used: the option of the model must name a
/// bead model.
void check_bead_model(Resolution resolution);

/// Channels of the amplitudes. All atoms: vacuum, excluded volume (of positive sign), hydration;
/// beads: net, hydration. Only hydration has scales.
inline constexpr Index kAtomChannels = 3, kBeadChannels = 2;

/// The types and factors of these scatterers on a grid of q. All atoms: the factors of the
/// International Tables for the heavy atom and its hydrogens; rho V exp(-V^(2/3) q^2 / 4 pi) for
/// the water that they displace (Fraser, MacRae and Suzuki, J. Appl. Cryst. 11:693, 1978), rho =
/// 0.334 electrons per cubic angstrom. Beads: `table` (null: pleat's own) by cubic splines, plus
/// each type's excess electrons times excess_factor(); throws InputError if the table lacks a type
/// or ends below q. After the scatterers come `sites` sites of the hydration layer, each a water
/// molecule minus the water that it displaces, spread about the site and scaled.
Model make_model(const Scatterers& scatterers, const FormFactorTable* table,
                 std::span<const double> q, Index sites = 0);

/// How the water of a site of the hydration layer is spread about it: 0.7 of it is at the site, 0.3
/// in a Gaussian with a standard deviation of 6 angstrom. 1 at q = 0.
double layer_spread(double q);

/// The amplitudes, in electrons, of a united atom in vacuum, of the water that it displaces, and of
/// a molecule of the hydration layer, spread about its site.
double vacuum_factor(const UnitedAtom& atom, double q);
double excluded_factor(const UnitedAtom& atom, double q);
double hydration_factor(double q);

/// Electrons of a united atom minus those of the water that it displaces, at q = 0.
double net_electrons(const UnitedAtom& atom);

/// How the electrons that a bead has beyond those of a complete one scatter: as a CH group, 1 at
/// q = 0. A bead with d electrons more has the factor of its type plus d excess_factor(q).
double excess_factor(double q);

}  // namespace pleat::saxs
