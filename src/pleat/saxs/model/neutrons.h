// Neutrons: scattering lengths of united atoms in any mixture of H2O and D2O, and match points.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "pleat/bio/structure/topology.h"
#include "pleat/core/array.h"
#include "pleat/saxs/debye/debye.h"
#include "pleat/saxs/model/scatterers.h"

namespace pleat::saxs {

/// Parses CHAIN[:FRACTION],... into the fractions of D among non-exchanging hydrogens, by chain;
/// fractions are from 0 to 1 (default 1). Throws UsageError for other text.
std::map<std::string, double> parse_deuteration(const std::string& text);

/// A united atom as neutrons see it.
struct NeutronAtom {
    UnitedAtom atom;  ///< its hydrogens and its volume; H or D if the file's hydrogens scatter
    bool is_labile = false;  ///< whether its hydrogens exchange with the solvent: those on N, O, S
    double exchange = 1;     ///< the fraction of labile hydrogens that does
    double deuteration = 0;  ///< the fraction of D among hydrogens that are not labile

    double length() const;         ///< in H2O, fm
    double exchange_gain() const;  ///< how much more it is in D2O, fm
    bool operator==(const NeutronAtom&) const = default;
};

struct NeutronAtoms {
    std::vector<NeutronAtom> types;
    std::vector<std::int32_t> type_of;  ///< [scatterer]
};

/// Neutron scattering properties of the scatterers of an all-atom model. `xyz` [axis, atom],
/// angstrom: any frame, in which the heavy atom of each hydrogen in the file is found. The fraction
/// `backbone_exchange` of hydrogens on backbone N exchanges, and all hydrogens on other N, O and S.
/// Throws InputError for elements without a scattering length.
NeutronAtoms make_neutron_atoms(const Topology& topology, View<const float, 2> xyz,
                                const Scatterers& scatterers,
                                const std::map<std::string, double>& deuteration,
                                double backbone_exchange);

/// Scattering length density of a mixture of H2O and D2O, both 29.9 angstrom^3 a molecule, in
/// fm / angstrom^3 (1e-5 / angstrom^2).
double solvent_density(double d2o);

/// Volume of solvent, angstrom^3, equivalent to the scattering that a hydration site adds at q = 0:
/// the volume of a molecule minus the volume that it displaces.
double layer_volume();

/// The D2O fraction at which a molecule scatters as the solvent that it displaces,
/// length + f gain = solvent_density(f) volume (fm, fm, angstrom^3); NaN if there is none.
double match_point(double length, double gain, double volume);

/// Channels of neutron amplitudes: length in H2O, gain in D2O, displaced volume (of positive sign),
/// hydration. Only hydration has scales. Their weights at D2O fraction f are 1, f,
/// -solvent_density(f) and c2 solvent_density(f).
inline constexpr Index kNeutronChannels = 4;

/// The types and factors of these scatterers, with lengths in fm and volumes in angstrom^3:
/// V exp(-V^(2/3) q^2 / 4 pi) as for X-rays. After them come `sites` sites of the hydration layer,
/// each a molecule of the solvent minus the solvent that it displaces.
Model make_neutron_model(const NeutronAtoms& atoms, std::span<const double> q, Index sites = 0);

/// A model of neutron channels at one D2O fraction, with the channels of the all-atom X-ray model:
/// length, displaced solvent (of positive sign), hydration.
Model at_d2o_fraction(const Model& neutron_model, double d2o);
/// The same for partial profiles [channel pair, q].
Array<double, 2> at_d2o_fraction(View<const double, 2> neutron_partial, double d2o);

}  // namespace pleat::saxs
