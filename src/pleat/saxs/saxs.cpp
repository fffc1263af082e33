// SAXS: scatterers, partial profiles of all frames, and what a curve says of them.
#include "pleat/saxs/saxs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/fit/set_fit.h"
#include "pleat/saxs/model/scatterer_positions.h"
#include "pleat/saxs/model/fixed_contrast.h"
#include "pleat/saxs/model/scatterers.h"
#include "pleat/saxs/memory_estimate.h"
#include "pleat/saxs/shared_rows.h"
#include "pleat/saxs/cancellable_parallel.h"

namespace pleat::saxs {

namespace {

/// What a device cannot do is refused.
void check_device(const Parameters& parameters, const Device& device) {
    if (device.kind == Device::Kind::cpu) return;
    const bool is_gpu = device.kind == Device::Kind::cuda;
    if (parameters.precision == (is_gpu ? "float64" : "float32"))
        throw UsageError(fmt::format("expected --precision {} or auto with --device {}, found {}",
                                     is_gpu ? "float32" : "float64", device.name(),
                                     parameters.precision));
    if (parameters.method == "multipole")
        throw UsageError(fmt::format(
            "expected --method debye or auto with --device {}, found multipole", device.name()));
}

void check_span(double diameter, const Parameters& parameters) {
    if (parameters.bin > 0 && diameter / parameters.bin > kMaxBins)
        throw InputError(
            fmt::format("expected a structure of at most a million --bin widths of {:g} "
                        "angstrom across, found {:.4g} angstrom; --bin 0 leaves out P(r)",
                        parameters.bin, diameter));
}

void check_input(std::span<const Ensemble> components, const Profile* curve,
                 Parameters parameters) {
    check(fields(parameters));
    if (parameters.c1_min > parameters.c1_max)
        throw UsageError(fmt::format("expected --c1-least of at most --c1-most ({:g}), found {:g}",
                                     parameters.c1_max, parameters.c1_min));
    if (parameters.c2_min > parameters.c2_max)
        throw UsageError(fmt::format("expected --c2-least of at most --c2-most ({:g}), found {:g}",
                                     parameters.c2_max, parameters.c2_min));
    if (parameters.bin > 0 && parameters.bin < 0.01)
        throw UsageError(
            fmt::format("expected --bin of 0 or at least 0.01, found {:g}", parameters.bin));
    for (const Ensemble& ensemble : components) check_structures(ensemble);
    if (components.empty()) throw InputError("expected at least 1 structure, found none");
    if (curve != nullptr && cut(*curve, parameters.q_max).size() < 8)
        throw InputError(
            fmt::format("expected a curve of 8 or more points up to --q-max {:g} "
                        "1/angstrom, found {} of {}",
                        parameters.q_max, cut(*curve, parameters.q_max).size(), curve->size()));
}

/// Net amplitudes at point k of q of each scatterer in a frame, in electrons.
std::vector<double> amplitudes_at(Index k, const Model& model, View<const float, 2> scales,
                                  const Contrast& contrast, double mean_radius) {
    std::vector<double> amplitudes(model.types.size());
    const bool is_atomic = model.channel_count() == kAtomChannels;
    const double volume =
        volume_factor(contrast.c1, mean_radius, model.q[static_cast<std::size_t>(k)]);
    for (std::size_t i = 0; i < amplitudes.size(); ++i) {
        const Index type = model.types[i];
        double net = model.factors(0, type, k);
        if (is_atomic) net -= volume * model.factors(1, type, k);
        net += contrast.c2 * static_cast<double>(scales(0, static_cast<Index>(i))) *
               model.factors(model.channel_count() - 1, type, k);
        amplitudes[i] = net;
    }
    return amplitudes;
}

/// Rg^2 of the profile, that of the centres and of the scatterers' own extent: -3 d ln I / d q^2 at
/// 0.
double gyration2_with_extent(double of_centres, std::span<const double> at_0,
                             std::span<const double> at_1, double q_1) {
    const double sum_0 = std::accumulate(at_0.begin(), at_0.end(), 0.0);
    const double sum_1 = std::accumulate(at_1.begin(), at_1.end(), 0.0);
    if (sum_0 == 0) return of_centres;
    const double slope = (sum_1 - sum_0) / (sum_0 * q_1 * q_1);
    return of_centres - 6 * slope;
}

/// Structures of the same atoms.
struct Component {
    Scatterers scatterers;
    ScattererPositions positions;
    Model model;
    Model near;                // the same at q = 0 and kNear, with all channels
    Array<double, 3> partial;  // [frame, channel pair, q]
};
constexpr double kNear = 0.005;  // 1/angstrom

Shape measure_frame(const Component& component, Index frame, const Parameters& parameters,
                    const Contrast& contrast, const Context& context) {
    const ScattererPositions& positions = component.positions;
    const double radius = component.scatterers.mean_radius;
    const std::vector<double> at_0 =
        amplitudes_at(0, component.near, positions.scales[frame], contrast, radius);
    Shape shape = measure_shape(positions.xyz[frame], at_0, positions.xyz.extent(2) - positions.sites,
                                parameters.bin, context);
    shape.gyration2 = gyration2_with_extent(
        shape.gyration2, at_0,
        amplitudes_at(1, component.near, positions.scales[frame], contrast, radius), kNear);
    shape.gyration = shape.gyration2 >= 0 ? std::sqrt(shape.gyration2) : NAN;
    return shape;
}

/// The shapes of a block of frames, of which ranks measure some in turn. Many frames take a thread
/// each, few share all threads in turn; the values are the same.
std::vector<Shape> measure_block(const Component& component, Index from, Index count,
                                 const Parameters& parameters, const Contrast& contrast,
                                 const Context& context) {
    const Turn turn(context);
    const Index own_count = turn.own_count(count);
    const int threads = resolve_threads(context);
    const bool one_by_one = own_count < threads;
    std::vector<Shape> shapes(static_cast<std::size_t>(count));
    parallel_for(one_by_one ? 1 : threads, own_count, [&](Index n, int thread) {
        Context own = context_of_thread(context, thread);
        if (!one_by_one) own.threads = 1;
        shapes[static_cast<std::size_t>(turn.own(n))] =
            measure_frame(component, from + turn.own(n), parameters, contrast, own);
    });
    if (turn.size == 1) return shapes;
    double bins = 0;
    for (const Shape& shape : shapes)
        bins = std::max(bins, static_cast<double>(shape.pairs.size()));
    context.comm->raise({&bins, 1});
    // A row each: three numbers, then P(r), whose last bins may be empty. Rg^2 is a number always.
    Array<double, 2> rows(count, static_cast<Index>(bins) + 3);
    for (Index n = 0; n < own_count; ++n) {
        const Shape& shape = shapes[static_cast<std::size_t>(turn.own(n))];
        double* const row = rows.view()[turn.own(n)].data;
        row[0] = shape.gyration2;
        row[1] = shape.forward;
        row[2] = shape.diameter;
        std::copy(shape.pairs.begin(), shape.pairs.end(), row + 3);
    }
    share_rows(context, rows.view());
    for (Index n = 0; n < count; ++n) {
        const View<const double, 1> row = rows.view()[n];
        shapes[static_cast<std::size_t>(n)] = {row.data[0],
                                               row.data[0] >= 0 ? std::sqrt(row.data[0]) : NAN,
                                               row.data[1],
                                               row.data[2],
                                               {row.begin() + 3, row.end()}};
    }
    return shapes;
}

void measure_shapes(const Component& component, const Parameters& parameters,
                    const Context& context, Index all_frames, Result& result) {
    const Index frames = component.positions.xyz.extent(0), ranks = Turn(context).size;
    const Index block = frames < resolve_threads(context) * ranks ? ranks : 64 * ranks;
    for (Index from = 0; from < frames; from += block) {
        context.update("shape", from, frames, "frames");
        std::vector<Shape> shapes = measure_block(component, from, std::min(block, frames - from),
                                                  parameters, result.contrast, context);
        for (Shape& shape : shapes) {
            if (shape.pairs.size() > result.pairs.size()) result.pairs.resize(shape.pairs.size());
            for (std::size_t n = 0; n < shape.pairs.size(); ++n)
                result.pairs[n] += shape.pairs[n] / static_cast<double>(all_frames);
            shape.pairs = {};
            result.shapes.push_back(std::move(shape));
        }
    }
    context.update("shape", frames, frames, "frames");
}

std::vector<double> grid(const Parameters& parameters, bool with_curve, double diameter) {
    return even_grid(parameters.q_max, grid_points(parameters, with_curve, diameter));
}

FitOptions fit_options(const Parameters& p) {
    FitOptions options{p.c1_min, p.c1_max, p.c2_min, p.c2_max, p.background};
    if (!std::isnan(p.c1)) options.c1_min = options.c1_max = p.c1;
    if (!std::isnan(p.c2)) options.c2_min = options.c2_max = p.c2;
    return options;
}

Array<double, 2> mean_of(View<const double, 3> partial) {
    Array<double, 2> mean(partial.extent(1), partial.extent(2));
    const auto frames = static_cast<double>(partial.extent(0));
    for (Index frame = 0; frame < partial.extent(0); ++frame) {
        const double* const one = partial[frame].data;
        for (Index n = 0; n < mean.size(); ++n) mean.data()[n] += one[n] / frames;
    }
    return mean;
}

/// Each frame for itself, with a contrast of its own.
void fit_frames(const EnsembleProblem& problem, Result& result) {
    const Index frames = problem.partial.extent(0);
    const int threads = resolve_threads(problem.context);
    problem.context.update("fit", 0, frames, "frames");
    std::vector<Members> singles;
    for (Index frame = 0; frame < frames; ++frame) singles.push_back({frame});
    const std::vector<FittedSet> fitted =
        fit_from_grid(ProductTable(problem, false, threads), singles, 0, threads);
    result.frame_fits.resize(fitted.size());
    cancellable_parallel_for(problem.context, threads, frames, [&](Index frame, int) {
        const auto at = static_cast<std::size_t>(frame);
        Fit& one = result.frame_fits[at];
        one = fit_at(fitted[at].contrast, *problem.curve, problem.partial[frame],
                     problem.mean_radius, problem.options);
        one.model = {};
    });
    problem.context.update("fit", frames, frames, "frames");
}

void fit_curve(const Profile& curve, View<const double, 3> partial, double mean_radius,
               const Parameters& parameters, const Context& context, Result& result) {
    result.has_fit = true;
    result.curve = cut(curve, parameters.q_max);
    if (result.curve.size() < curve.size())
        result.notes.push_back(fmt::format("{} points of the curve beyond q = {:g} left out",
                                           curve.size() - result.curve.size(), parameters.q_max));
    const Index frames = partial.extent(0);
    const auto points = static_cast<Index>(result.curve.size());
    Array<double, 3> at_curve(frames, partial.extent(1), points);
    cancellable_parallel_for(context, resolve_threads(context), frames, [&](Index frame, int) {
        const Array<double, 2> one = resample(partial[frame], result.q, result.curve.q);
        std::copy(one.begin(), one.end(), at_curve[frame].begin());
    });
    const FitOptions options = fit_options(parameters);
    result.fit = fit(result.curve, mean_of(at_curve), mean_radius, options, nullptr, context);
    result.contrast = result.fit.contrast;
    result.guinier = guinier(result.curve);
    if (frames < 2) return;
    const EnsembleProblem problem{&result.curve, at_curve, mean_radius, options, context};
    fit_frames(problem, result);
    if (parameters.members > 0) {
        result.ensemble.minimal = minimal_ensembles(problem, parameters.members, context);
        result.ensemble.minimal_chosen = choose(result.ensemble.minimal);
    }
    if (parameters.reweight) {
        result.ensemble.scan = maximum_entropy(problem, context);
        result.ensemble.scan_chosen = choose(result.ensemble.scan);
    }
    result.has_ensemble = parameters.members > 0 || parameters.reweight;
}

void combine_frames(View<const double, 3> partial, double mean_radius, Result& result) {
    const Index frames = partial.extent(0), points = partial.extent(2);
    result.intensity = Array<double, 2>(frames, points);
    result.mean.assign(static_cast<std::size_t>(points), 0);
    for (Index frame = 0; frame < frames; ++frame) {
        const std::vector<double> one =
            intensity(partial[frame], result.q, mean_radius, result.contrast);
        std::copy(one.begin(), one.end(), result.intensity[frame].begin());
        for (std::size_t k = 0; k < one.size(); ++k)
            result.mean[k] += one[k] / static_cast<double>(frames);
    }
}

/// Warns where the curve's Rg is about ten times or a tenth of the structures', as it is where the
/// unit of q is wrong.
void check_unit(Result& result) {
    const double model = root_mean_gyration(result.shapes), curve = result.guinier.gyration;
    if (!result.guinier.found || !(model > 0)) return;
    const double ratio = curve / model;
    if (!(ratio > 6 && ratio < 16) && !(ratio > 1.0 / 16 && ratio < 1.0 / 6)) return;
    result.warnings.push_back(
        fmt::format("Guinier's Rg of the curve is {:.1f} angstrom, that of the structure {:.1f}: "
                    "the unit of the "
                    "curve's q is probably wrong; --q-unit {} sets it",
                    curve, model, ratio > 1 ? "1/angstrom" : "1/nm"));
}

/// Scatterers and their places, and what is to be told of them.
std::vector<Component> prepare(std::span<const Ensemble> components, bool with_hydration,
                               const Parameters& parameters, const Context& context,
                               Result& result) {
    std::vector<Component> parts;
    for (const Ensemble& ensemble : components) {
        Component part;
        part.scatterers = make_scatterers(*ensemble.topology, ensemble.xyz[0],
                                          scatterer_options(ensemble, parameters));
        const std::string model(name_of(part.scatterers.bodies));
        if (!parts.empty() && model != result.model)
            throw InputError(
                ensemble.topology->source.string(), 0,
                fmt::format("expected structures for the {} model as before, found one "
                            "for the {} model",
                            result.model, model));
        result.model = model;
        result.scatterers = std::max(result.scatterers, part.scatterers.count());
        for (const std::string& note : part.scatterers.notes)
            result.notes.push_back(fmt::format("{}: {}", ensemble.topology->source.string(), note));
        part.positions = scatterer_positions(ensemble.xyz, part.scatterers, with_hydration, context);
        for (const FrameOrigin& origin : ensemble.origins) {
            result.files.push_back(ensemble.files[static_cast<std::size_t>(origin.file)]);
            result.frames_of_files.push_back(origin.frame);
        }
        parts.push_back(std::move(part));
    }
    return parts;
}

/// The partial profiles of all frames of all components.
Array<double, 3> joined(std::vector<Component>& parts) {
    if (parts.size() == 1) return std::move(parts.front().partial);
    Index frames = 0;
    for (const Component& part : parts) frames += part.partial.extent(0);
    auto all = Array<double, 3>::unset(frames, parts.front().partial.extent(1),
                                       parts.front().partial.extent(2));
    double* to = all.data();
    for (Component& part : parts) {
        to = std::copy(part.partial.begin(), part.partial.end(), to);
        part.partial = {};
    }
    return all;
}

}  // namespace

double root_mean_gyration(std::span<const Shape> shapes) {
    double gyration2 = 0, forward = 0;
    for (const Shape& shape : shapes) {
        gyration2 += shape.forward * shape.gyration2;
        forward += shape.forward;
    }
    return forward > 0 && gyration2 >= 0 ? std::sqrt(gyration2 / forward) : NAN;
}

Result run(std::span<const Ensemble> components, const Profile* curve,
           const FormFactorTable* form_factors, const Parameters& parameters,
           const Context& context) {
    check_device(parameters, context.device);
    check_input(components, curve, parameters);
    require_memory(memory_needed(components, curve, parameters, context),
                   fmt::format("profiles of {} frames", frame_count(components)),
                   "fewer frames (--frames), --points or a wider --bin would fit");
    Result result;
    if (!std::isnan(parameters.c1)) result.contrast.c1 = parameters.c1;
    if (!std::isnan(parameters.c2)) result.contrast.c2 = parameters.c2;
    const bool with_hydration =
        curve != nullptr ? !(parameters.c2 == 0) : !std::isnan(parameters.c2) && parameters.c2 != 0;
    std::vector<Component> parts = prepare(components, with_hydration, parameters, context, result);
    double radius = 0, diameter = 0;
    for (const Component& part : parts) {
        radius += part.scatterers.mean_radius / static_cast<double>(parts.size());
        diameter = std::max(diameter, max_diameter(part.positions.xyz));
    }
    check_span(diameter, parameters);
    result.q = grid(parameters, curve != nullptr, diameter);
    for (Component& part : parts) {
        part.scatterers.mean_radius = radius;  // one c1 for all components
        part.model = make_model(part.scatterers, form_factors, result.q, part.positions.sites);
        part.near = make_model(part.scatterers, form_factors, std::vector<double>{0, kNear},
                               part.positions.sites);
        if (curve == nullptr)
            part.model = fix_contrast(part.model, result.contrast, radius, with_hydration);
        const View<const float, 3> scales =
            part.model.scale_count() > 0 ? part.positions.scales.view() : View<const float, 3>();
        part.partial =
            profiles(part.model, part.positions.xyz, scales, debye_options(parameters), context);
    }
    const Array<double, 3> partial = joined(parts);
    if (curve != nullptr) fit_curve(*curve, partial, radius, parameters, context, result);
    combine_frames(partial, radius, result);
    for (const Component& part : parts)
        measure_shapes(part, parameters, context, partial.extent(0), result);
    if (curve != nullptr) check_unit(result);
    return result;
}

}  // namespace pleat::saxs
