// Fixed contrast: divides structures, finds their positions, and combines factors at one contrast.
#include "pleat/saxs/model/fixed_contrast.h"

#include <fmt/format.h>

#include <utility>

#include "pleat/core/hardware/memory.h"
#include "pleat/saxs/fit/fit.h"
#include "pleat/saxs/input_checks.h"
#include "pleat/saxs/memory_estimate.h"
#include "pleat/saxs/model/neutrons.h"
#include "pleat/saxs/model/scatterer_positions.h"
#include "pleat/saxs/model/scatterers.h"

namespace pleat::saxs {

Model fix_contrast(const Model& full, const Contrast& contrast, double mean_radius,
                   bool with_hydration) {
    const Index channels = full.channel_count(), types = full.type_count();
    Model model;
    model.q = full.q;
    model.types = full.types;
    model.scaled = with_hydration ? std::vector<std::uint8_t>{0, 1} : std::vector<std::uint8_t>{0};
    model.factors = Array<double, 3>(with_hydration ? 2 : 1, types, full.q_count());
    for (Index t = 0; t < types; ++t) {
        for (Index k = 0; k < full.q_count(); ++k) {
            double net = full.factors(0, t, k);
            if (channels == kAtomChannels)
                net -= volume_factor(contrast.c1, mean_radius, full.q[k]) * full.factors(1, t, k);
            model.factors(0, t, k) = net;
            if (with_hydration) model.factors(1, t, k) = full.factors(channels - 1, t, k);
        }
    }
    return model;
}

namespace {

/// The model of all channels of X-rays, or of neutrons at the D2O fraction of the options. Sets the
/// names of its types.
Model full_model(const Ensemble& ensemble, const Scatterers& scatterers,
                 const FormFactorTable* form_factors, const Parameters& parameters,
                 std::span<const double> q, Index sites, std::vector<std::string>& type_names) {
    type_names = scatterers.type_names;
    if (!parameters.neutrons) return make_model(scatterers, form_factors, q, sites);
    const NeutronAtoms atoms =
        make_neutron_atoms(*ensemble.topology, ensemble.xyz[0], scatterers,
                           parse_deuteration(parameters.deuterate), parameters.backbone_exchange);
    type_names.clear();
    for (const NeutronAtom& type : atoms.types) type_names.push_back(type.atom.name());
    return at_d2o_fraction(make_neutron_model(atoms, q, sites), parameters.d2o.value_or(0));
}

}  // namespace

FixedContrastModel make_fixed_contrast_model(const Ensemble& ensemble,
                                             const FormFactorTable* form_factors,
                                             const Parameters& parameters,
                                             std::span<const double> q, const Context& context) {
    Parameters checked = parameters;
    check(fields(checked));
    check_structures(ensemble);
    check_neutrons(parameters, false);
    check_deuterated_chains({&ensemble, 1}, parameters.deuterate);
    const Contrast contrast{parameters.c1.value_or(1), parameters.c2.value_or(0)};
    const bool with_hydration = contrast.c2 != 0;
    require_memory(component_memory(ensemble.frame_count(), ensemble.atom_count(), std::ssize(q)),
                   fmt::format("scatterers of {} frames", ensemble.frame_count()),
                   "fewer frames would fit");
    Scatterers scatterers = make_scatterers(*ensemble.topology, ensemble.xyz[0],
                                            scatterer_options(ensemble, parameters));
    if (parameters.neutrons) require_atoms_for_neutrons(ensemble, scatterers.resolution);
    ScattererPositions positions =
        scatterer_positions(ensemble.xyz, scatterers, with_hydration, context);
    FixedContrastModel result;
    const Model full = full_model(ensemble, scatterers, form_factors, parameters, q,
                                  positions.sites, result.type_names);
    result.model = fix_contrast(full, contrast, scatterers.mean_radius, with_hydration);
    if (with_hydration)
        for (double& factor : result.model.factors[1]) factor *= contrast.c2;
    check(result.model);
    for (Index s = 0; s < scatterers.count(); ++s) {
        const Index first = scatterers.starts[s];
        result.atoms.push_back(scatterers.members[first]);
    }
    for (const Index scatterer : positions.scatterer_of_site)
        result.atoms.push_back(result.atoms[scatterer]);
    result.type_names.emplace_back("water");
    result.sites = positions.sites;
    result.xyz = std::move(positions.xyz);
    if (with_hydration) result.scales = std::move(positions.scales);
    result.name = name_of(scatterers.resolution);
    result.notes = scatterers.notes;
    return result;
}

}  // namespace pleat::saxs
