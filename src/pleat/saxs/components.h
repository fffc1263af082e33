// Components: the structures of a sample as scatterers, and their partial profiles of X-rays and
// neutrons.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "pleat/saxs/model/neutrons.h"
#include "pleat/saxs/model/scatterer_positions.h"
#include "pleat/saxs/model/scatterers.h"
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {

/// One component of the sample: an ensemble of structures with the same atoms.
struct Component {
    const Ensemble* ensemble;
    Scatterers scatterers;
    NeutronAtoms neutrons;  ///< empty if nothing is of neutrons
    ScattererPositions positions;
    /// The same scatterers at q = 0 and q = kNearZero, as seen by the probe of the first curve or
    /// of the profile, with all channels.
    Model near_zero;
};
inline constexpr double kNearZero = 0.005;  // 1/angstrom

/// What a run computes profiles of.
struct Probes {
    bool xrays = false;
    std::vector<double> d2o;  ///< D2O fractions of neutrons, each once

    /// The probes of the options and of further curves.
    Probes(const Parameters& parameters, std::span<const FurtherCurve> further);
    bool has_neutrons() const { return !d2o.empty(); }
};

/// Divides the structures into scatterers, and adds information about them to the result.
std::vector<Component> make_components(std::span<const Ensemble> ensembles, const Probes& probes,
                                       bool with_hydration, const Parameters& parameters,
                                       const Context& context, Result& result);

/// The mean [channel pair, q] of partial profiles over the frames.
Array<double, 2> mean_of(View<const double, 3> partial);

/// Partial profiles of all frames of all components, [frame, channel pair, q].
struct ProbeProfiles {
    Array<double, 3> xrays;  ///< empty unless wanted
    Array<double, 3>
        neutrons;  ///< the same; of kNeutronChannels channels for several D2O fractions

    /// Mean partial profiles over the frames, [channel pair, q], for X-rays or for neutrons at a
    /// D2O fraction.
    Array<double, 2> mean(std::optional<double> d2o) const;
    Index frames() const { return std::max(xrays.extent(0), neutrons.extent(0)); }
    /// Partial profiles of all frames; those of this probe are moved or converted.
    Array<double, 3> all(std::optional<double> d2o);
};

/// Computes the profiles on the grid of the result, with one c1 for all components, and sets their
/// near_zero. `fixes_contrast`: the result's contrast is applied, and there is one probe.
ProbeProfiles compute_profiles(std::vector<Component>& components, const Probes& probes,
                               const FormFactorTable* form_factors, const Parameters& parameters,
                               double mean_radius, bool fixes_contrast, bool with_hydration,
                               const Context& context, const Result& result);

/// The match points of the components and, if they have several, of their chains.
std::vector<MatchPoint> match_points(const std::vector<Component>& components,
                                     const Contrast& contrast);

}  // namespace pleat::saxs
