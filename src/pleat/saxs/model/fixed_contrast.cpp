// Prepared: structures divided, placed, and their factors brought to one contrast.
#include "pleat/saxs/model/fixed_contrast.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/saxs/model/scatterer_positions.h"
#include "pleat/saxs/model/scatterers.h"

namespace pleat::saxs {

namespace {

/// Options that bodies know nothing of.
void check_bodies(Bodies bodies, const Parameters& parameters) {
    if (bodies == Bodies::all_atom) return;
    const Parameters usual;
    if (!std::isnan(parameters.c1) || parameters.c1_min != usual.c1_min ||
        parameters.c1_max != usual.c1_max)
        throw UsageError(
            fmt::format("expected --c1 and its bounds for the all-atom model, found the "
                        "{} model, whose form factors have it built in",
                        name_of(bodies)));
    if (parameters.hydrogens == "explicit")
        throw UsageError(
            fmt::format("expected --hydrogens explicit for the all-atom model, found "
                        "the {} model, whose form factors have them built in",
                        name_of(bodies)));
}

}  // namespace

void check_structures(const Ensemble& ensemble) {
    constexpr float kFarthest = 1e8f;
    const Index frames = ensemble.frame_count(), atoms = ensemble.atom_count();
    if (frames < 1 || atoms < 1)
        throw InputError(
            fmt::format("expected at least 1 frame and 1 atom, found {} and {}", frames, atoms));
    if (ensemble.xyz.extent(1) != 3 || ensemble.topology->atom_count() != atoms)
        throw InputError(fmt::format("expected coordinates of {} atoms, found [{}, {}, {}]",
                                     ensemble.topology->atom_count(), frames,
                                     ensemble.xyz.extent(1), atoms));
    for (Index frame = 0; frame < frames; ++frame)
        for (const float x : ensemble.xyz[frame])
            if (!(std::fabs(x) <= kFarthest))
                throw ensemble.error_in(
                    frame, fmt::format("expected coordinates within 1e8 angstrom, found {}", x));
}

ScattererOptions scatterer_options(const Ensemble& ensemble, const Parameters& parameters) {
    ScattererOptions options;
    options.water = parameters.water;
    options.explicit_hydrogens = parameters.hydrogens == "explicit";
    const bool is_trace = has_alpha_carbons_only(*ensemble.topology);
    if (parameters.model != "auto")
        options.bodies = parse_bodies(parameters.model);
    else if (is_trace)
        options.bodies = Bodies::one_body;
    if (is_trace && options.bodies != Bodies::one_body)
        throw InputError(ensemble.topology->source.string(), 0,
                         fmt::format("expected all atoms for the {} model, found CA alone; --model "
                                     "one-body takes these",
                                     name_of(options.bodies)));
    check_bodies(options.bodies, parameters);
    return options;
}

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
                net -=
                    volume_factor(contrast.c1, mean_radius, full.q[static_cast<std::size_t>(k)]) *
                    full.factors(1, t, k);
            model.factors(0, t, k) = net;
            if (with_hydration) model.factors(1, t, k) = full.factors(channels - 1, t, k);
        }
    }
    return model;
}

Options debye_options(const Parameters& parameters) {
    Options options;
    options.precision = parameters.precision == "float64" ? Precision::float64 : Precision::float32;
    if (parameters.method == "debye") options.method = Method::debye;
    if (parameters.method == "multipole") options.method = Method::multipole;
    return options;
}

std::vector<double> even_grid(double q_max, std::size_t points) {
    std::vector<double> q(points);
    for (std::size_t k = 0; k < points; ++k)
        q[k] = q_max * static_cast<double>(k) / static_cast<double>(points - 1);
    return q;
}

FixedContrastModel prepare(const Ensemble& ensemble, const FormFactorTable* form_factors,
                 const Parameters& parameters, std::span<const double> q, const Context& context) {
    Parameters checked = parameters;
    check(fields(checked));
    check_structures(ensemble);
    const Contrast contrast{std::isnan(parameters.c1) ? 1 : parameters.c1,
                            std::isnan(parameters.c2) ? 0 : parameters.c2};
    const bool with_hydration = contrast.c2 != 0;
    require_memory(memory_needed(ensemble.frame_count(), ensemble.atom_count(), parameters),
                   fmt::format("scatterers of {} frames", ensemble.frame_count()),
                   "fewer frames would fit");
    Scatterers scatterers = make_scatterers(*ensemble.topology, ensemble.xyz[0],
                                            scatterer_options(ensemble, parameters));
    ScattererPositions positions = scatterer_positions(ensemble.xyz, scatterers, with_hydration, context);
    const Model full = make_model(scatterers, form_factors, q, positions.sites);
    FixedContrastModel made;
    made.model = fix_contrast(full, contrast, scatterers.mean_radius, with_hydration);
    if (with_hydration)
        for (double& factor : made.model.factors[1]) factor *= contrast.c2;
    check(made.model);
    for (Index s = 0; s < scatterers.count(); ++s) {
        const Index first = scatterers.starts[static_cast<std::size_t>(s)];
        made.atoms.push_back(scatterers.members[static_cast<std::size_t>(first)]);
    }
    for (const Index scatterer : positions.scatterer_of_site)
        made.atoms.push_back(made.atoms[static_cast<std::size_t>(scatterer)]);
    made.type_names = scatterers.type_names;
    made.type_names.emplace_back("water");
    made.sites = positions.sites;
    made.xyz = std::move(positions.xyz);
    if (with_hydration) made.scales = std::move(positions.scales);
    made.name = name_of(scatterers.bodies);
    made.notes = scatterers.notes;
    return made;
}

}  // namespace pleat::saxs
