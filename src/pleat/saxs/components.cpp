// Components: scatterers, Debye sums of each kind of radiation, and match points.
#include "pleat/saxs/components.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/saxs/input_checks.h"
#include "pleat/saxs/model/fixed_contrast.h"
#include "pleat/saxs/model/form_factors.h"

namespace pleat::saxs {

Probes::Probes(const Parameters& parameters, std::span<const FurtherCurve> further) {
    const auto add = [&](double fraction) {
        if (std::ranges::find(d2o, fraction) == d2o.end()) d2o.push_back(fraction);
    };
    xrays = !parameters.neutrons;
    if (parameters.neutrons) add(parameters.d2o.value_or(0));
    for (const FurtherCurve& one : further) {
        xrays = xrays || !one.d2o;
        if (one.d2o) add(*one.d2o);
    }
}

std::vector<Component> make_components(std::span<const Ensemble> ensembles, const Probes& probes,
                                       bool with_hydration, const Parameters& parameters,
                                       const Context& context, Result& result) {
    const auto deuteration = parse_deuteration(parameters.deuterate);
    std::vector<Component> components;
    for (const Ensemble& ensemble : ensembles) {
        Component component;
        component.ensemble = &ensemble;
        component.scatterers = make_scatterers(*ensemble.topology, ensemble.xyz[0],
                                               scatterer_options(ensemble, parameters));
        const Scatterers& scatterers = component.scatterers;
        const std::string source = ensemble.topology->source.string();
        if (!components.empty() && scatterers.resolution != result.model)
            throw InputError(source, 0,
                             fmt::format("expected structures for the {} model as before, found "
                                         "one for the {} model",
                                         name_of(result.model), name_of(scatterers.resolution)));
        result.model = scatterers.resolution;
        result.scatterers = std::max(result.scatterers, scatterers.count());
        for (Note& note : with_source(scatterers.notes, source))
            result.notes.push_back(std::move(note));
        if (probes.has_neutrons()) {
            require_atoms_for_neutrons(ensemble, scatterers.resolution);
            component.neutrons = make_neutron_atoms(*ensemble.topology, ensemble.xyz[0], scatterers,
                                                    deuteration, parameters.backbone_exchange);
        }
        component.positions =
            scatterer_positions(ensemble.xyz, scatterers, with_hydration, context);
        check_size(ensemble, component.positions.xyz, parameters);
        for (const FrameOrigin& origin : ensemble.origins) {
            result.files.push_back(ensemble.files[origin.file]);
            result.frames_of_files.push_back(origin.frame);
        }
        if (ensembles.size() == 1) {
            result.numbers = ensemble.numbers;
            result.scores = ensemble.scores;
        }
        components.push_back(std::move(component));
    }
    return components;
}

namespace {

/// The scattering model of a component for X-rays, or for neutrons at the `d2o` fractions: with
/// X-ray channels for one fraction, with all neutron channels for several.
Model model_of(const Component& component, bool is_xray, std::span<const double> d2o,
               const FormFactorTable* form_factors, std::span<const double> q) {
    const Index sites = component.positions.sites;
    if (is_xray) return make_model(component.scatterers, form_factors, q, sites);
    Model model = make_neutron_model(component.neutrons, q, sites);
    return d2o.size() == 1 ? at_d2o_fraction(model, d2o[0]) : model;
}

/// Concatenates the partial profiles of all frames of all components, emptying `of_components`.
Array<double, 3> concatenated(std::vector<Array<double, 3>>& of_components) {
    if (of_components.size() == 1) return std::move(of_components.front());
    Index frames = 0;
    for (const Array<double, 3>& partial : of_components) frames += partial.extent(0);
    auto all = Array<double, 3>::unset(frames, of_components.front().extent(1),
                                       of_components.front().extent(2));
    double* to = all.data();
    for (Array<double, 3>& partial : of_components) {
        to = std::copy(partial.begin(), partial.end(), to);
        partial = {};
    }
    return all;
}

bool has_neutron_channels(const Array<double, 3>& partial) {
    return partial.extent(1) == kNeutronChannels * (kNeutronChannels + 1) / 2;
}

}  // namespace

Array<double, 2> mean_of(View<const double, 3> partial) {
    Array<double, 2> mean(partial.extent(1), partial.extent(2));
    const auto frames = static_cast<double>(partial.extent(0));
    for (Index frame = 0; frame < partial.extent(0); ++frame) {
        const double* const one = partial[frame].data;
        for (Index n = 0; n < mean.size(); ++n) mean.data()[n] += one[n] / frames;
    }
    return mean;
}

Array<double, 2> ProbeProfiles::mean(std::optional<double> d2o) const {
    if (!d2o) return mean_of(xrays);
    const Array<double, 2> mean = mean_of(neutrons);
    return has_neutron_channels(neutrons) ? at_d2o_fraction(mean, *d2o) : mean;
}

Array<double, 3> ProbeProfiles::all(std::optional<double> d2o) {
    if (!d2o) return std::move(xrays);
    if (!has_neutron_channels(neutrons)) return std::move(neutrons);
    auto converted = Array<double, 3>::unset(
        neutrons.extent(0), kAtomChannels * (kAtomChannels + 1) / 2, neutrons.extent(2));
    double* to = converted.data();
    for (Index frame = 0; frame < neutrons.extent(0); ++frame) {
        const Array<double, 2> one = at_d2o_fraction(neutrons[frame], *d2o);
        to = std::copy(one.begin(), one.end(), to);
    }
    return converted;
}

ProbeProfiles compute_profiles(std::vector<Component>& components, const Probes& probes,
                               const FormFactorTable* form_factors, const Parameters& parameters,
                               double mean_radius, bool fixes_contrast, bool with_hydration,
                               const Context& context, const Result& result) {
    const std::vector<double> first = {parameters.d2o.value_or(0)};
    std::size_t count = 0;
    const auto compute = [&](bool is_xray) {
        std::vector<Array<double, 3>> partial;
        for (Component& component : components) {
            Model model = model_of(component, is_xray, probes.d2o, form_factors, result.q);
            if (fixes_contrast)
                model = fix_contrast(model, result.contrast, mean_radius, with_hydration);
            if (model.scale_count() > 0 && component.positions.scales.size() == 0)
                component.positions.scales = Array<float, 3>(component.positions.xyz.extent(0), 1,
                                                             component.positions.xyz.extent(2));
            const View<const float, 3> scales = model.scale_count() > 0
                                                    ? component.positions.scales.view()
                                                    : View<const float, 3>();
            Context of_component = context;
            of_component.checkpoint = component_checkpoint(context.checkpoint, count++);
            partial.push_back(profiles(model, component.positions.xyz, scales,
                                       {parameters.precision, parameters.method}, of_component));
        }
        return concatenated(partial);
    };
    for (Component& component : components) {
        component.scatterers.mean_radius = mean_radius;
        component.near_zero = model_of(component, !parameters.neutrons, first, form_factors,
                                       std::vector<double>{0, kNearZero});
    }
    ProbeProfiles computed;
    if (probes.xrays) computed.xrays = compute(true);
    if (probes.has_neutrons()) computed.neutrons = compute(false);
    return computed;
}

namespace {

/// Sums over scatterers of one chain (null: of all).
MatchPoint match_point_of(const Component& component, const std::string* chain, double c1) {
    MatchPoint sum;
    const Scatterers& scatterers = component.scatterers;
    for (Index s = 0; s < scatterers.count(); ++s) {
        const Index atom = scatterers.members[scatterers.starts[s]];
        if (chain != nullptr && component.ensemble->topology->residue_of(atom).chain != *chain)
            continue;
        const NeutronAtom& type = component.neutrons.types[component.neutrons.type_of[s]];
        sum.length += type.length();
        sum.gain += type.exchange_gain();
        sum.volume += c1 * c1 * c1 * type.atom.volume();
    }
    sum.d2o = match_point(sum.length, sum.gain, sum.volume);
    sum.with_layer = NAN;
    return sum;
}

}  // namespace

std::vector<MatchPoint> match_points(const std::vector<Component>& components,
                                     const Contrast& contrast) {
    std::vector<MatchPoint> all;
    for (std::size_t n = 0; n < components.size(); ++n) {
        const Component& component = components[n];
        const std::string name =
            components.size() == 1 ? "molecule" : fmt::format("component {}", n + 1);
        MatchPoint whole = match_point_of(component, nullptr, contrast.c1);
        whole.name = name;
        double water = 0;
        for (const float amount : component.positions.scales) water += static_cast<double>(amount);
        water /= static_cast<double>(component.positions.xyz.extent(0));
        whole.with_layer = match_point(whole.length, whole.gain,
                                       whole.volume - contrast.c2 * water * layer_volume());
        all.push_back(std::move(whole));
        const std::vector<std::string> chains = component.ensemble->topology->chains();
        if (chains.size() < 2) continue;
        for (const std::string& chain : chains) {
            MatchPoint one = match_point_of(component, &chain, contrast.c1);
            if (one.volume == 0) continue;  // water that was left out
            one.name = components.size() == 1 ? fmt::format("chain {}", chain)
                                              : fmt::format("{} chain {}", name, chain);
            all.push_back(std::move(one));
        }
    }
    return all;
}

}  // namespace pleat::saxs
