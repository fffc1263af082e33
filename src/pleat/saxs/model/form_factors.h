// Form factors: the amplitude of a scatterer of each type at each q, and the types of beads.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/view.h"
#include "pleat/saxs/debye/debye.h"
#include "pleat/saxs/model/scatterers.h"
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {

/// The names of a bead model's types, in the order of the published tables.
std::vector<std::string> bead_types(Resolution resolution);

/// [type]: net electrons at q = 0 (own electrons minus those of the displaced water) of a complete
/// bead in a chain at pH 7, with cysteine reduced. The backbone ("BB") is that of a residue with a
/// CH2 group as CB.
std::vector<double> complete_bead_electrons(Resolution resolution);

/// The number of heavy atoms of a complete residue within a chain: 5 for "ALA". The name must be
/// one of bead_types(Resolution::one_bead).
Index complete_residue_atoms(std::string_view residue_name);

/// pleat's own table for the one- or two-bead model (README.md describes its derivation and
/// accuracy).
const FormFactorTable& derived_form_factors(Resolution resolution);

/// Throws UsageError unless the option of the model names a bead model, so that form factors from a
/// file can be used.
void check_bead_model(Resolution resolution);

/// Channels of the amplitudes. All atoms: vacuum, excluded volume (of positive sign), hydration;
/// beads: net, hydration. Only hydration has scales.
inline constexpr Index kAtomChannels = 3, kBeadChannels = 2;

/// A model with scatterers of these types and `sites` sites of the hydration layer, whose type
/// follows the `type_count` others; sites scatter only in the last channel, which has scales. Form
/// factors are 0.
Model model_without_factors(const std::vector<std::int32_t>& types, Index type_count,
                            Index channels, std::span<const double> q, Index sites);

/// The types and factors of these scatterers on a grid of q. All atoms: the factors of the
/// International Tables for the heavy atom and its hydrogens; rho V exp(-V^(2/3) q^2 / 4 pi) for
/// the water that they displace (Fraser, MacRae and Suzuki, J. Appl. Cryst. 11:693, 1978), rho =
/// 0.334 electrons per cubic angstrom. Beads: `table` (null: pleat's own) by cubic splines, plus
/// each type's excess electrons times excess_factor(); throws InputError if the table lacks a type
/// or ends below q. After the scatterers come `sites` sites of the hydration layer, each a water
/// molecule minus the water that it displaces, spread about the site and scaled.
Model make_model(const Scatterers& scatterers, const FormFactorTable* table,
                 std::span<const double> q, Index sites = 0);

/// Normalised form factor of a hydration site's water distribution: 0.7 of the water is at the
/// site, 0.3 in a Gaussian around it with a standard deviation of 6 angstrom. 1 at q = 0.
double layer_spread(double q);

/// Amplitudes in electrons: of a united atom in vacuum, of the water that it displaces, and of a
/// hydration-layer molecule spread around its site.
double vacuum_factor(const UnitedAtom& atom, double q);
double excluded_factor(const UnitedAtom& atom, double q);
double hydration_factor(double q);

/// Electrons of a united atom minus those of the displaced water, at q = 0.
double net_electrons(const UnitedAtom& atom);

/// The normalised form factor, 1 at q = 0, of electrons that a bead has in excess of a complete
/// one: that of a CH group. A bead with d excess electrons has the form factor of its type plus d
/// excess_factor(q).
double excess_factor(double q);

}  // namespace pleat::saxs
