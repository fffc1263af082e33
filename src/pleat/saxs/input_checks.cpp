// Input checks: options, structures and curves.
#include "pleat/saxs/input_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/kernel/kernel.h"
#include "pleat/saxs/model/neutrons.h"
#include "pleat/saxs/model/scatterer_positions.h"

namespace pleat::saxs {

namespace {

void check_device(const Parameters& parameters, const Device& device) {
    if (device.kind == Device::Kind::cpu) return;
    if (device.kind == Device::Kind::reference && parameters.precision == Precision::float32)
        throw UsageError(fmt::format(
            "expected --precision float64 or auto with --device {}, found float32", device.name()));
    if (parameters.method == Method::multipole &&
        (device.kind == Device::Kind::reference || parameters.precision == Precision::float64))
        throw UsageError(fmt::format(
            "expected --method debye or auto with --device {}{}, found multipole", device.name(),
            device.kind == Device::Kind::cuda ? " and --precision float64" : ""));
}

/// Throws UsageError if a lower bound is above its upper bound.
void check_order(const char* name, double min, double max) {
    if (min > max)
        throw UsageError(fmt::format("expected --{0}-min of at most --{0}-max ({1:g}), found {2:g}",
                                     name, max, min));
}

/// Throws UsageError for options of the all-atom model that bead models do not have.
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

void check_neutrons(const Parameters& parameters, bool has_neutron_curves) {
    if (parameters.d2o && !parameters.neutrons)
        throw UsageError(
            "give --d2o with --neutrons; --series names the D2O fractions of its curves");
    if (!parameters.neutrons && !has_neutron_curves) {
        if (!parameters.deuterate.empty())
            throw UsageError("give --deuterate with --neutrons or a --series with D2O fractions");
        return;
    }
    parse_deuteration(parameters.deuterate);
    if (parameters.model != Resolution::automatic && parameters.model != Resolution::all_atom)
        throw UsageError(
            fmt::format("expected the all-atom model of neutrons, found {}, whose "
                        "form factors are of X-rays",
                        name_of(parameters.model)));
}

void require_atoms_for_neutrons(const Ensemble& ensemble, Resolution resolution) {
    if (resolution != Resolution::all_atom)
        throw InputError(ensemble.topology->source.string(), 0,
                         "expected all atoms for neutrons, found only CA atoms");
}

namespace {

/// Throws InputError if a curve has fewer than 8 points up to --q-max.
void check_curve(const Profile& curve, const Parameters& parameters) {
    const std::size_t points = cut_curve(curve, parameters.q_max).size();
    if (points < 8)
        throw InputError(curve.source, 0,
                         fmt::format("expected a curve of 8 or more points up to --q-max {:g} "
                                     "1/angstrom, found {} of {}",
                                     parameters.q_max, points, curve.size()));
}

}  // namespace

void check_deuterated_chains(std::span<const Ensemble> components, const std::string& deuterate) {
    std::vector<std::string> chains;
    for (const Ensemble& ensemble : components)
        for (const std::string& chain : ensemble.topology->chains()) chains.push_back(chain);
    for (const auto& [chain, fraction] : parse_deuteration(deuterate))
        if (std::ranges::find(chains, chain) == chains.end())
            throw InputError(components[0].topology->source.string(), 0,
                             fmt::format("expected a chain of the structure for --deuterate "
                                         "({}), found '{}'",
                                         fmt::join(chains, ", "), chain));
}

void check_input(std::span<const Ensemble> components, const Profile* curve,
                 const Parameters& parameters, const Context& context,
                 std::span<const FurtherCurve> further) {
    check_device(parameters, context.device);
    Parameters checked = parameters;
    check(fields(checked));
    const bool has_neutron_curves =
        std::ranges::any_of(further, [](const FurtherCurve& one) { return one.d2o.has_value(); });
    check_neutrons(parameters, has_neutron_curves);
    for (const FurtherCurve& one : further)
        if (one.d2o && !(*one.d2o >= 0 && *one.d2o <= 1))
            throw UsageError(fmt::format(
                "expected a D2O fraction from 0 to 1 in --series, found {:g}", *one.d2o));
    check_order("c1", parameters.c1_min, parameters.c1_max);
    check_order("c2", parameters.c2_min, parameters.c2_max);
    if (parameters.bin_width > 0 && parameters.bin_width < 0.01)
        throw UsageError(fmt::format("expected --bin-width of 0 or at least 0.01, found {:g}",
                                     parameters.bin_width));
    for (const Ensemble& ensemble : components)
        check_structures(ensemble, resolve_threads(context));
    if (components.empty()) throw UsageError("expected at least 1 structure, found none");
    check_deuterated_chains(components, parameters.deuterate);
    if (curve == nullptr && !further.empty())
        throw UsageError("give --data, the first curve, with --series");
    if (curve != nullptr) check_curve(*curve, parameters);
    for (const FurtherCurve& one : further) check_curve(one.curve, parameters);
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
    options.includes_water = parameters.includes_water;
    options.ions = parameters.ions;
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
            p.c2.value_or(p.c2_max), p.background || p.neutrons};
}

std::vector<double> even_grid(double q_max, std::size_t points) {
    std::vector<double> q(points);
    for (std::size_t k = 0; k < points; ++k)
        q[k] = q_max * static_cast<double>(k) / static_cast<double>(points - 1);
    return q;
}

}  // namespace pleat::saxs
