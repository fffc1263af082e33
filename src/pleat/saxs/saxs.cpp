// SAXS: scatterers, partial profiles of all frames, and what a curve says about them.
#include "pleat/saxs/saxs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/core/ranks/gather_rows.h"
#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/components.h"
#include "pleat/saxs/fit/fit.h"
#include "pleat/saxs/fit/resampling.h"
#include "pleat/saxs/fit/reweight.h"
#include "pleat/saxs/fit/set_fit.h"
#include "pleat/saxs/fit/shape.h"
#include "pleat/saxs/input_checks.h"
#include "pleat/saxs/memory_estimate.h"
#include "pleat/saxs/model/form_factors.h"

namespace pleat::saxs {

namespace {

/// With more frames, results that the fits do not need are computed only for some of them.
constexpr Index kManyFrames = 1000;

/// Net amplitudes in electrons of each scatterer of a frame at point k of q.
std::vector<double> amplitudes_at(Index k, const Model& model, View<const float, 2> scales,
                                  const Contrast& contrast, double mean_radius) {
    std::vector<double> amplitudes(model.types.size());
    const bool is_atomic = model.channel_count() == kAtomChannels;
    const double volume = volume_factor(contrast.c1, mean_radius, model.q[k]);
    for (std::size_t i = 0; i < amplitudes.size(); ++i) {
        const Index type = model.types[i];
        double net = model.factors(0, type, k);
        if (is_atomic) net -= volume * model.factors(1, type, k);
        if (scales.size() > 0)
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

Shape measure_frame(const Component& component, Index frame, double bin_width,
                    const Contrast& contrast, const Context& context) {
    const ScattererPositions& positions = component.positions;
    const double radius = component.scatterers.mean_radius;
    const auto amplitudes = [&](Index k) {
        const View<const float, 2> scales =
            positions.scales.size() > 0 ? positions.scales[frame] : View<const float, 2>();
        return amplitudes_at(k, component.near_zero, scales, contrast, radius);
    };
    const std::vector<double> at_0 = amplitudes(0);
    Shape shape = measure_shape(positions.xyz[frame], at_0,
                                positions.xyz.extent(2) - positions.sites, bin_width, context);
    shape.gyration_radius2 =
        gyration2_with_extent(shape.gyration_radius2, at_0, amplitudes(1), kNearZero);
    shape.gyration_radius = shape.gyration_radius2 >= 0 ? std::sqrt(shape.gyration_radius2) : NAN;
    return shape;
}

/// Gives every rank the shapes that the other ranks measured.
void gather_shapes(const Context& context, std::vector<Shape>& shapes) {
    if (context.ranks() == 1) return;
    double bins = 0;
    for (const Shape& shape : shapes)
        bins = std::max(bins, static_cast<double>(shape.pairs.size()));
    bins = max_over_ranks(context, bins);
    // A table with one row per frame: three numbers of its shape, then P(r), whose last bins may be
    // empty.
    constexpr Index kNumbers = 3;
    const auto count = std::ssize(shapes);
    Array<double, 2> rows(count, static_cast<Index>(bins) + kNumbers);
    for (Index n = 0; n < count; ++n) {
        const Shape& shape = shapes[n];
        double* const row = rows[n].data;
        row[0] = shape.gyration_radius2;
        row[1] = shape.forward_intensity;
        row[2] = shape.diameter;
        std::ranges::copy(shape.pairs, row + kNumbers);
    }
    all_gather_rows(context, rows.view());
    for (Index n = 0; n < count; ++n) {
        const View<const double, 1> row = rows[n];
        const double gyration_radius2 = row.data[0];
        shapes[n] = {gyration_radius2,
                     gyration_radius2 >= 0 ? std::sqrt(gyration_radius2) : NAN,
                     row.data[1],
                     row.data[2],
                     {row.begin() + kNumbers, row.end()}};
    }
}

/// Measures the frames of a component and adds their P(r); each rank measures its rows of a block.
/// P(r) uses at most about kManyFrames evenly spaced frames.
void measure_shapes(const Component& component, const Parameters& parameters,
                    const Context& context, Index all_frames, Result& result) {
    const RankRows rows(context);
    const Index frames = component.positions.xyz.extent(0);
    const Index step = (all_frames + kManyFrames - 1) / kManyFrames;
    // Blocks of 64 frames for P(r); smaller ones would leave threads idle.
    const Index block =
        frames < resolve_threads(context) * rows.ranks ? rows.ranks : 64 * step * rows.ranks;
    const Index measured = (frames + step - 1) / step;
    const double weight = static_cast<double>(frames) / static_cast<double>(all_frames) /
                          static_cast<double>(measured);
    const auto measure = [&](Index first, Index count) {
        std::vector<Shape> shapes(count);
        parallel_for_frames(context, rows.count_of(count), [&](Index n, const Context& of_frame) {
            const Index frame = first + rows.row(n);
            shapes[rows.row(n)] =
                measure_frame(component, frame, frame % step == 0 ? parameters.bin_width : 0,
                              result.contrast, of_frame);
        });
        gather_shapes(context, shapes);
        for (Shape& shape : shapes) {
            if (shape.pairs.size() > result.pairs.size()) result.pairs.resize(shape.pairs.size());
            for (std::size_t n = 0; n < shape.pairs.size(); ++n)
                result.pairs[n] += shape.pairs[n] * weight;
            shape.pairs = {};
            result.frame_shapes.push_back(std::move(shape));
        }
    };
    for_each_block(context, "shape", frames, block, measure, "frames");
}

/// Fits each frame separately, with its own c1 and c2.
void fit_frames(const EnsembleProblem& problem, Result& result) {
    const Index frames = problem.partial.extent(0);
    const int threads = resolve_threads(problem.context);
    StageProgress progress(problem.context, "fit", frames, "frames");
    progress.advance_to(0);
    std::vector<Members> singles;
    for (Index frame = 0; frame < frames; ++frame) singles.push_back({frame});
    const std::vector<FittedSet> fitted =
        fit_from_grid(ProductTable(problem, false, threads), singles, 0, threads);
    result.frame_fits.resize(fitted.size());
    cancellable_parallel_for(problem.context, threads, frames, [&](Index frame, int) {
        Fit& one = result.frame_fits[frame];
        one = fit_at(fitted[frame].contrast, *problem.curve, problem.partial[frame],
                     problem.mean_radius, problem.options);
        one.model = {};
    });
    progress.advance_to(frames);
}

/// The points of a curve to fit; adds a note on how many are left out. `name`: of a further curve.
Profile points_to_fit(const Profile& curve, const std::string& name, double q_max, Result& result) {
    Profile cut = cut_curve(curve, q_max);
    if (cut.size() < curve.size())
        result.notes.push_back(
            {NoteKind::points,
             fmt::format("{} points of the curve{} {} q = {:g} left out", curve.size() - cut.size(),
                         name, curve.dq.empty() ? "beyond" : "whose q + 3 dq is beyond", q_max)});
    return cut;
}

/// Fits the mean of the frames to all curves together.
void fit_series(std::span<const FurtherCurve> further, const ProbeProfiles& computed,
                double mean_radius, const Parameters& parameters, const Context& context,
                Result& result) {
    std::vector<Array<double, 2>> at_curves;
    std::vector<CurveProblem> problems;
    const auto add = [&](const Profile& curve, std::optional<double> d2o) {
        at_curves.push_back(profiles_at_curve(computed.mean(d2o), result.q, curve));
        FitOptions options = fit_options(parameters);
        options.background = parameters.background || d2o;
        problems.push_back({&curve, {}, options});
    };
    for (const FurtherCurve& one : further)
        result.further.push_back(
            {points_to_fit(one.curve, " " + one.curve.source, parameters.q_max, result),
             one.d2o,
             {}});
    add(result.curve, result.neutrons ? std::optional(result.d2o) : std::nullopt);
    for (const FurtherFit& one : result.further) add(one.curve, one.d2o);
    for (std::size_t n = 0; n < problems.size(); ++n) problems[n].partial = at_curves[n];
    std::vector<Fit> fits = fit_jointly(problems, mean_radius, context);
    FitOptions bounds = problems.front().options;
    if (result.model != Resolution::all_atom) bounds.c1_max = bounds.c1_min;
    result.joint = summarize(fits, bounds);
    result.fit = std::move(fits.front());
    for (std::size_t n = 0; n < result.further.size(); ++n)
        result.further[n].fit = std::move(fits[n + 1]);
    result.contrast = result.fit.contrast;
    if (computed.frames() > 1)
        result.notes.push_back(
            {NoteKind::assumption,
             "several curves: they are fitted to the mean of the frames; minimal ensembles and "
             "weights of frames need a single curve"});
}

void fit_curve(View<const double, 3> partial, double mean_radius, const Parameters& parameters,
               const Context& context, const Observables* observables, Result& result) {
    const Index frames = partial.extent(0);
    const auto points = std::ssize(result.curve);
    Array<double, 3> at_curve(frames, partial.extent(1), points);
    cancellable_parallel_for(context, resolve_threads(context), frames, [&](Index frame, int) {
        const Array<double, 2> one = profiles_at_curve(partial[frame], result.q, result.curve);
        std::ranges::copy(one, at_curve[frame].begin());
    });
    const FitOptions options = fit_options(parameters);
    result.fit = fit(result.curve, mean_of(at_curve), mean_radius, options, nullptr, context);
    result.contrast = result.fit.contrast;
    if (frames < 2) return;
    EnsembleProblem problem{&result.curve, at_curve, mean_radius, options, context};
    problem.warnings = &result.warnings;
    fit_frames(problem, result);
    if (parameters.max_members > 0) {
        result.ensemble.minimal = minimal_ensembles(problem, parameters.max_members, context);
        result.ensemble.minimal_chosen = choose_simplest(result.ensemble.minimal);
    }
    const bool is_reweighted = parameters.reweight || observables != nullptr;
    if (is_reweighted) {
        std::optional<ObservableAxes> axes;
        if (observables != nullptr)
            problem.observables = &axes.emplace(observables->list, observables->values);
        result.ensemble.scan = maximum_entropy(problem, context);
        result.ensemble.scan_chosen = choose_simplest(result.ensemble.scan);
        if (axes) {
            result.observables = fits_of(observables->list, *axes, result.ensemble.scan);
            const Weighted& chosen = result.ensemble.scan[result.ensemble.scan_chosen].result;
            for (std::string& text : warnings_of(chosen))
                result.warnings.push_back(std::move(text));
        }
    }
    result.has_ensemble = parameters.max_members > 0 || is_reweighted;
}

/// Weights of frames by observables without a curve.
void fit_observables(const Observables& observables, const Context& context, Result& result) {
    Reweighting found = reweight(observables.list, observables.values, {}, context);
    result.ensemble.scan = std::move(found.scan);
    result.ensemble.scan_chosen = found.chosen;
    result.observables = std::move(found.observables);
    result.notes.insert(result.notes.end(), found.notes.begin(), found.notes.end());
    result.warnings.insert(result.warnings.end(), found.warnings.begin(), found.warnings.end());
}

/// Throws UsageError or InputError if observables cannot weigh these frames.
void check_observables(const Observables& observables, Index frames,
                       std::span<const FurtherCurve> further) {
    if (!further.empty())
        throw UsageError("observables and a series: expected a single curve, found several");
    if (frames < 2)
        throw InputError(
            fmt::format("expected several frames to weigh by observables, found {}", frames));
    if (observables.values.extent(0) != frames)
        throw InputError(fmt::format("expected values of observables in {} frames, found {}",
                                     frames, observables.values.extent(0)));
    const ObservableAxes checked(observables.list, observables.values);  // before profiles
}

/// The last q of the profiles. For many frames with a single curve it is the end of the curve,
/// because profiles beyond it take most of the time.
double last_q(const Profile* curve, std::span<const FurtherCurve> further,
              const Parameters& parameters, Index frames, Result& result) {
    if (curve == nullptr || !further.empty() || frames <= kManyFrames) return parameters.q_max;
    const Profile fitted = cut_curve(*curve, parameters.q_max);
    double last = 0;
    for (std::size_t k = 0; k < fitted.size(); ++k)
        last =
            std::max(last, fitted.q[k] + (fitted.dq.empty() ? 0 : kSmearingReach * fitted.dq[k]));
    result.notes.push_back(
        {NoteKind::points,
         fmt::format("profiles of more than {} frames end with the curve, at q = {:g}", kManyFrames,
                     last)});
    return last;
}

void combine_frames(View<const double, 3> partial, double mean_radius, int threads,
                    Result& result) {
    constexpr Index kPoints = 16;  // of q that a thread averages at a time
    const Index frames = partial.extent(0), points = partial.extent(2);
    const Array<double, 2> factors =
        channel_pair_factors(partial.extent(1), result.q, mean_radius, result.contrast);
    result.intensity = Array<double, 2>::unset(frames, points);
    parallel_for(threads, frames, [&](Index frame, int) {
        std::ranges::copy(intensity(partial[frame], factors), result.intensity[frame].begin());
    });
    result.mean.assign(points, 0);
    parallel_for(threads, (points + kPoints - 1) / kPoints, [&](Index block, int) {
        for (Index frame = 0; frame < frames; ++frame)
            for (Index k = block * kPoints; k < std::min(points, (block + 1) * kPoints); ++k)
                result.mean[k] += result.intensity(frame, k) / static_cast<double>(frames);
    });
}

/// Warns of what is doubtful in the curve by itself, and if its Rg differs from the structure's by
/// about a factor of ten, as with a wrong unit of q. The Rg of the fitted scatterers would depend
/// on a contrast that a wrong unit distorts.
void check_curve(std::span<const Ensemble> ensembles, const Parameters& parameters,
                 Result& result) {
    if (result.alone)
        for (const std::string& finding : result.alone->findings)
            result.warnings.push_back("the curve by itself: " + finding);
    const Guinier& guinier = result.guinier;
    if (!guinier.is_valid) return;
    const double model = gyration_of_structure(ensembles.front(), parameters);
    const double ratio = guinier.gyration_radius / model;
    if (!(ratio > 6 && ratio < 16) && !(ratio > 1.0 / 16 && ratio < 1.0 / 6)) return;
    result.warnings.push_back(
        fmt::format("Guinier's Rg of the curve is {:.1f} angstrom, that of the structure {:.1f}: "
                    "the unit of the "
                    "curve's q is probably wrong; --q-unit {} sets it",
                    guinier.gyration_radius, model, ratio > 1 ? "1/angstrom" : "1/nm"));
}

}  // namespace

std::filesystem::path component_checkpoint(const std::filesystem::path& checkpoint,
                                           std::size_t component) {
    if (checkpoint.empty() || component == 0) return checkpoint;
    const std::string name = fmt::format("{}-{}{}", checkpoint.stem().string(), component,
                                         checkpoint.extension().string());
    return checkpoint.parent_path() / name;
}

double root_mean_gyration(std::span<const Shape> shapes) {
    double gyration_radius2 = 0, forward_intensity = 0;
    for (const Shape& shape : shapes) {
        gyration_radius2 += shape.forward_intensity * shape.gyration_radius2;
        forward_intensity += shape.forward_intensity;
    }
    return forward_intensity > 0 && gyration_radius2 >= 0
               ? std::sqrt(gyration_radius2 / forward_intensity)
               : NAN;
}

Result run(std::span<const Ensemble> ensembles, const Profile* curve,
           const FormFactorTable* form_factors, const Parameters& parameters, const Context& given,
           std::span<const FurtherCurve> further, const Observables* observables) {
    Context context = given;
    context.threads = resolve_threads(given);  // once: it reads files of the system
    check_input(ensembles, curve, parameters, context, further);
    if (observables != nullptr) check_observables(*observables, frame_count(ensembles), further);
    require_memory(memory_needed(ensembles, curve, parameters, context, further),
                   fmt::format("profiles of {} frames", frame_count(ensembles)),
                   "fewer frames (--frames), --q-points or a wider --bin-width would fit");
    const bool with_curve = curve != nullptr;
    const Probes probes(parameters, further);
    Result result;
    result.neutrons = parameters.neutrons;
    result.d2o = parameters.d2o.value_or(0);
    result.contrast = {parameters.c1.value_or(1), parameters.c2.value_or(0)};
    const bool with_hydration = parameters.c2.value_or(with_curve ? 1 : 0) != 0;
    std::vector<Component> components =
        make_components(ensembles, probes, with_hydration, parameters, context, result);
    double radius = 0, diameter = 0;
    for (const Component& component : components) {
        radius += component.scatterers.mean_radius / static_cast<double>(components.size());
        diameter =
            std::max(diameter, max_diameter(component.positions.xyz, resolve_threads(context)));
    }
    Parameters of_profiles = parameters;
    of_profiles.q_max = last_q(curve, further, parameters, frame_count(ensembles), result);
    result.q = even_grid(of_profiles.q_max, grid_points(of_profiles, with_curve, diameter));
    ProbeProfiles computed = compute_profiles(components, probes, form_factors, parameters, radius,
                                              !with_curve, with_hydration, context, result);
    if (with_curve) {
        result.has_fit = true;
        result.curve = points_to_fit(*curve, "", parameters.q_max, result);
        result.alone = analyse_alone(result.curve);
        result.guinier = result.alone ? result.alone->guinier : guinier(result.curve);
    }
    if (!further.empty()) fit_series(further, computed, radius, parameters, context, result);
    if (frame_count(ensembles) > kManyFrames && parameters.bin_width > 0)
        result.notes.push_back(
            {NoteKind::assumption,
             fmt::format("P(r) is that of about {} of the frames, evenly chosen", kManyFrames)});
    const Array<double, 3> partial =
        computed.all(result.neutrons ? std::optional(result.d2o) : std::nullopt);
    if (with_curve && further.empty())
        fit_curve(partial, radius, parameters, context, observables, result);
    if (!with_curve && observables != nullptr) fit_observables(*observables, context, result);
    combine_frames(partial, radius, resolve_threads(context), result);
    for (const Component& component : components)
        measure_shapes(component, parameters, context, partial.extent(0), result);
    if (probes.has_neutrons()) result.match_points = match_points(components, result.contrast);
    if (with_curve) check_curve(ensembles, parameters, result);
    return result;
}

}  // namespace pleat::saxs
