// Input checks: options, structures and curves.
#include "pleat/saxs/input_checks.h"

#include <fmt/format.h>

#include <cmath>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/kernel/kernel.h"
#include "pleat/saxs/model/scatterer_positions.h"

namespace pleat::saxs {

namespace {

void check_device(const Parameters& parameters, const Device& device) {
    if (device.kind == Device::Kind::cpu) return;
    if (device.kind == Device::Kind::reference && parameters.precision == Precision::float32)
        throw UsageError(fmt::format(
            "expected --precision float64 or auto with --device {}, found float32", device.name()));
    if (parameters.method == Method::multipole)
        throw UsageError(fmt::format(
            "expected --method debye or auto with --device {}, found multipole", device.name()));
}

/// Throws UsageError if a lower bound is above its upper bound.
void check_order(const char* name, double min, double max) {
    if (min > max)
        throw UsageError(fmt::format("expected --{0}-min of at most --{0}-max ({1:g}), found {2:g}",
                                     name, max, min));
}

/// Options of the all-atom model that the bead models do not have.
void check_bead_options(Resolution resolution, const Parameters& parameters) {
    if (resolution == Resolution::all_atom) return;
    const Parameters defaults;
    if (parameters.c1 || parameters.c1_min != defaults.c1_min ||
        parameters.c1_max != defaults.c1_max)
        throw UsageError(
            fmt::format("expected --c1 and its bounds for the all-atom model, found the "
                        "{} model, whose form factors have it built in",
                        name_of(resolution)));
    if (parameters.hydrogens == Hydrogens::listed)
        throw UsageError(
            fmt::format("expected --hydrogens explicit for the all-atom model, found "
                        "the {} model, whose form factors have them built in",
                        name_of(resolution)));
}

}  // namespace

void check_input(std::span<const Ensemble> components, const Profile* curve,
                 const Parameters& parameters, const Context& context) {
    check_device(parameters, context.device);
    Parameters checked = parameters;
    check(fields(checked));
    check_order("c1", parameters.c1_min, parameters.c1_max);
    check_order("c2", parameters.c2_min, parameters.c2_max);
    if (parameters.bin_width > 0 && parameters.bin_width < 0.01)
        throw UsageError(fmt::format("expected --bin-width of 0 or at least 0.01, found {:g}",
                                     parameters.bin_width));
    for (const Ensemble& ensemble : components)
        check_structures(ensemble, resolve_threads(context));
    if (components.empty()) throw UsageError("expected at least 1 structure, found none");
    if (curve == nullptr) return;
    const std::size_t points = cut_curve(*curve, parameters.q_max).size();
    if (points < 8)
        throw InputError(curve->source, 0,
                         fmt::format("expected a curve of 8 or more points up to --q-max {:g} "
                                     "1/angstrom, found {} of {}",
                                     parameters.q_max, points, curve->size()));
}

void check_structures(const Ensemble& ensemble, int threads) {
    const Index frames = ensemble.frame_count(), atoms = ensemble.atom_count();
    if (frames < 1 || atoms < 1)
        throw UsageError(
            fmt::format("expected at least 1 frame and 1 atom, found {} and {}", frames, atoms));
    if (ensemble.xyz.extent(1) != 3 || ensemble.topology->atom_count() != atoms)
        throw UsageError(fmt::format("expected coordinates of {} atoms, found [{}, {}, {}]",
                                     ensemble.topology->atom_count(), frames,
                                     ensemble.xyz.extent(1), atoms));
    if (const auto wrong = find_wrong_coordinate(ensemble.xyz, threads))
        throw InputError(ensemble.error_in(
            wrong->set,
            fmt::format("expected coordinates within 1e8 angstrom, found {}", wrong->value)));
}

void check_size(const Ensemble& ensemble, View<const float, 3> xyz, const Parameters& parameters) {
    if (parameters.bin_width == 0) return;
    for (Index frame = 0; frame < xyz.extent(0); ++frame) {
        const double diameter = box_diagonal(xyz[frame]);
        if (diameter / parameters.bin_width <= kMaxBins) continue;
        throw InputError(ensemble.error_in(
            frame, fmt::format("expected a structure of at most a million bins of --bin-width {:g} "
                               "angstrom, found {:.4g} angstrom; --bin-width 0 leaves out P(r)",
                               parameters.bin_width, diameter)));
    }
}

ScattererOptions scatterer_options(const Ensemble& ensemble, const Parameters& parameters) {
    ScattererOptions options;
    options.water = parameters.water;
    options.explicit_hydrogens = parameters.hydrogens == Hydrogens::listed;
    const bool is_trace = has_alpha_carbons_only(*ensemble.topology);
    if (parameters.model != Resolution::automatic)
        options.resolution = parameters.model;
    else if (is_trace)
        options.resolution = Resolution::one_bead;
    if (is_trace && options.resolution != Resolution::one_bead)
        throw InputError(ensemble.topology->source.string(), 0,
                         fmt::format("expected all atoms for the {} model, found only CA atoms; "
                                     "use --model one-bead",
                                     name_of(options.resolution)));
    check_bead_options(options.resolution, parameters);
    return options;
}

FitOptions fit_options(const Parameters& p) {
    return {p.c1.value_or(p.c1_min), p.c1.value_or(p.c1_max), p.c2.value_or(p.c2_min),
            p.c2.value_or(p.c2_max), p.background};
}

std::vector<double> even_grid(double q_max, std::size_t points) {
    std::vector<double> q(points);
    for (std::size_t k = 0; k < points; ++k)
        q[k] = q_max * static_cast<double>(k) / static_cast<double>(points - 1);
    return q;
}

}  // namespace pleat::saxs
