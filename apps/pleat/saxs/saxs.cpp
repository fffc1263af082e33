// pleat saxs: scattering profiles of structures and ensembles, fitted to measured curves.
#include "saxs/saxs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "commands.h"
#include "help/help.h"
#include "jobs/job_list.h"
#include "options/options.h"
#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/bio/ensemble/ensemble_reader.h"
#include "pleat/bio/ensemble/write_frames.h"
#include "pleat/bio/selection/selection_terms.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/notes.h"
#include "pleat/saxs/fit/ensemble_fit.h"
#include "pleat/saxs/fit/fit.h"
#include "pleat/saxs/memory_estimate.h"
#include "pleat/saxs/model/form_factors.h"
#include "pleat/saxs/model/model_joining.h"
#include "pleat/saxs/model/scatterer_positions.h"
#include "pleat/saxs/observable_files.h"
#include "pleat/saxs/output.h"
#include "process/process.h"
#include "saxs/analyse.h"

namespace pleat::program {

namespace {

/// Maximum number of models that are kept to check, as interpret_models() does, whether they are
/// parts of one structure. More models count as a trajectory.
constexpr Index kMaxParts = 202;

constexpr const char* kDescription =
    "Compute SAXS and SANS profiles of structures and fit them to curves, or analyse curves alone.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat saxs protein.pdb -o run --data curve.dat\n"
    "  pleat saxs protein.cif.gz -o run --q-points 501 --q-max 0.5 --c2 1\n"
    "  pleat saxs run.xtc --topology protein.pdb -o run --data curve.dat --frames 100::10\n"
    "  pleat saxs models/ -o run --model two-bead --data curve.dat --max-members 4\n"
    "  pleat saxs complex.pdb -o run --neutrons --d2o 0.42 --deuterate B:0.75\n"
    "  pleat saxs protein.pdb -o run --data xray.dat --series h2o.dat:0,d2o.dat:0.99\n"
    "  pleat saxs --data curve.dat -o run\n"
    "  pleat saxs --data low.dat high.dat --concentration 1,5 -o run\n\n"
    "Several files, folders, and lists (@FILE, one path per line) are one ensemble, which must\n"
    "have the same atoms. Frames count from 0. Selections: protein, heavy, name CA CB, resid 10 "
    "to\n"
    "50, chain A, within 5 of resname HEM, A:10-50, joined by and, or, not and parentheses\n"
    "(docs/selections.md).\n\n"
    "A curve has columns q, intensity and error, with any titles and footers. If there are "
    "several\n"
    "frames, their mean is fitted, then the smallest ensembles that suffice, and the weights of\n"
    "all frames. Without a structure, --data and curves behind it are analysed: Rg and I(0) by\n"
    "Guinier's law, P(r) with Dmax, masses, and whether several curves of a sample agree. They "
    "are\n"
    "files, folders (.dat, .txt, .csv, .xml, ...) or @LIST. A --list with the first line 'data'\n"
    "analyses one curve per line.\n\n"
    "The same command resumes a run that was stopped or killed: finished profiles are kept.";

/// A file of --series and its D2O fraction; not set: X-rays.
struct SeriesFile {
    std::string path;
    std::optional<double> d2o;
};

/// Parses CURVE:D2O,...; each D2O is from 0 to 1 or "xray". Throws UsageError for other text.
std::vector<SeriesFile> parse_series(const std::string& text) {
    std::vector<SeriesFile> files;
    if (text.empty()) return files;
    for (const std::string_view one : split(text, ',')) {
        const std::size_t colon = one.rfind(':');
        const std::string_view number =
            colon == std::string_view::npos ? "" : one.substr(colon + 1);
        double fraction = -1;
        const bool is_number = parse_number(number, fraction) && fraction >= 0 && fraction <= 1;
        if (colon == 0 || (!is_number && number != "xray"))
            throw UsageError(
                fmt::format("give --series CURVE:D2O,... with D2O fractions from 0 to 1, or xray, "
                            "behind each curve; found '{}'",
                            one));
        files.push_back({std::string(one.substr(0, colon)),
                         is_number ? std::optional(fraction) : std::nullopt});
    }
    return files;
}

std::vector<Field> input_fields(SaxsOptions& options) {
    std::vector<Field> all = frame_fields(options.ensemble);
    for (Field& field : all)
        if (field.name == "select") field.help = "Atoms to use";
    const std::vector<Field> fields = {
        saxs::models_are_field(options.models_are),
        {.name = "mixture",
         .target = &options.mixture,
         .help =
             "Each file is a component of a mixture with its own atoms, such as a monomer and a "
             "dimer"},
        {.name = "form-factors",
         .target = &options.form_factors,
         .help = "File of form factors for a bead model, used instead of pleat's: q and one column "
                 "per type, or rows as in the published tables",
         .value_name = "FILE"}};
    all.insert(all.end(), fields.begin(), fields.end());
    return all;
}

std::string shape_lines(const saxs::Result& result) {
    const auto& shapes = result.frame_shapes;
    const auto rg = [](const saxs::Shape& shape) {
        return shape.gyration_radius2 >= 0 ? fmt::format("{:.2f}", shape.gyration_radius) : "NA";
    };
    std::string note;
    if (std::any_of(shapes.begin(), shapes.end(),
                    [](const saxs::Shape& shape) { return shape.gyration_radius2 < 0; }))
        note = "Rg NA: Rg^2 is negative at this contrast\n";
    if (shapes.size() == 1)
        return fmt::format("Rg {} angstrom, I(0) {:.4g} {}^2, Dmax {:.1f} angstrom\n{}",
                           rg(shapes[0]), shapes[0].forward_intensity,
                           result.neutrons ? "fm" : "electrons", shapes[0].diameter, note);
    const auto by_gyration = [](const saxs::Shape& a, const saxs::Shape& b) {
        return a.gyration_radius2 < b.gyration_radius2;
    };
    const auto [smallest, largest] = std::minmax_element(shapes.begin(), shapes.end(), by_gyration);
    const auto longest = std::max_element(
        shapes.begin(), shapes.end(),
        [](const saxs::Shape& a, const saxs::Shape& b) { return a.diameter < b.diameter; });
    return fmt::format("Rg {} to {} angstrom, Dmax up to {:.1f} angstrom\n{}", rg(*smallest),
                       rg(*largest), longest->diameter, note);
}

std::string fit_line(const std::string& name, const saxs::Fit& fit, bool is_atomic) {
    std::string text = fmt::format("{}: chi^2 {:.3f} per point, {:.3f} reduced ({} points)", name,
                                   fit.chi2, fit.chi2_reduced, fit.points);
    if (is_atomic)
        text += fmt::format(", c1 {:.3f}{}", fit.contrast.c1, fit.c1_at_bound ? " (bound)" : "");
    text += fmt::format(", c2 {:.3f}{}, scale {:.4g}", fit.contrast.c2,
                        fit.c2_at_bound ? " (bound)" : "", fit.scale);
    if (fit.background != 0) text += fmt::format(", background {:.4g}", fit.background);
    return text + "\n";
}

/// Rg and I(0) of the curve, with the range of points and how well the line fits them.
std::string guinier_line(const saxs::Result& result) {
    const saxs::Guinier& guinier = result.guinier;
    if (!guinier.is_valid) return "Guinier of the curve: no range of 5 points with q Rg <= 1.3\n";
    const double from = result.curve.q[guinier.first], to = result.curve.q[guinier.last];
    return fmt::format(
        "Guinier of the curve: Rg {:.2f} +- {:.2f} angstrom, I(0) {:.4g}; {} points "
        "from q = {:.4f} to {:.4f} (q Rg {:.2f} to {:.2f}), chi^2 of the line {:.2f}\n",
        guinier.gyration_radius, guinier.gyration_radius_error, guinier.forward_intensity,
        guinier.last - guinier.first + 1, from, to, from * guinier.gyration_radius,
        to * guinier.gyration_radius, guinier.chi2);
}

/// Rg and Dmax of the curve by P(r), beside those of a model of one frame.
std::string curve_sizes(const saxs::Result& result) {
    if (!result.alone || !result.alone->pairs.is_valid) return {};
    const saxs::PairDistances& pairs = result.alone->pairs;
    std::string text = fmt::format(
        "P(r) of the curve: Rg {:.2f} +- {:.2f}, Dmax {:.0f} ({:.0f} to {:.0f}) angstrom",
        pairs.gyration_radius, pairs.gyration_radius_error, pairs.diameter, pairs.diameter_low,
        pairs.diameter_high);
    if (result.frame_shapes.size() == 1)
        text += fmt::format("; of the model: Rg {:.2f}, Dmax {:.0f}",
                            saxs::root_mean_gyration(result.frame_shapes),
                            result.frame_shapes[0].diameter);
    return text + "\n";
}

std::string probe_name(std::optional<double> d2o) {
    return d2o ? fmt::format("neutrons, {:g} % D2O", 100 * *d2o) : "X-rays";
}

/// The fits of the curves of --series, and chi^2 over all curves.
std::string series_lines(const saxs::Result& result, bool is_atomic) {
    if (result.further.empty()) return {};
    std::string text;
    for (const saxs::FurtherFit& one : result.further)
        text += fit_line(
            fmt::format("Fit of {} ({})", printable(one.curve.source), probe_name(one.d2o)),
            one.fit, is_atomic);
    return text + fmt::format("All {} curves: chi^2 {:.3f} per point, {:.3f} reduced ({} points)\n",
                              result.further.size() + 1, result.joint.chi2,
                              result.joint.chi2_reduced, result.joint.points);
}

/// At most 12 match points; match_points.tsv has all.
std::string match_lines(const saxs::Result& result) {
    constexpr std::size_t kMaxLines = 12;
    const auto percent = [](double d2o) {
        return std::isfinite(d2o) ? fmt::format("{:.2f} % D2O", 100 * d2o) : "none";
    };
    std::string text;
    for (std::size_t n = 0; n < std::min(result.match_points.size(), kMaxLines); ++n) {
        const saxs::MatchPoint& one = result.match_points[n];
        text += fmt::format("Match point of the {}: {}", printable(one.name), percent(one.d2o));
        if (std::isfinite(one.with_layer) && result.contrast.c2 != 0)
            text += fmt::format(", with the hydration layer {}", percent(one.with_layer));
        text += fmt::format(" (volume {:.5g} angstrom^3)\n", one.volume);
    }
    if (result.match_points.size() > kMaxLines)
        text += fmt::format("{} more match points are in match_points.tsv\n",
                            result.match_points.size() - kMaxLines);
    if (!text.empty() && result.fit.c1_at_bound)
        text += fmt::format(
            "These volumes and match points are those of c1 {:.3f}, a bound of the fit; with c1 "
            "fixed at 1 they are those of the atoms' own volumes.\n",
            result.contrast.c1);
    return text;
}

/// Says that a fit's residuals are not random noise; empty if they may be.
std::string residual_line(const Profile& curve, const saxs::Fit& fit) {
    // Residuals far below the errors: the curve was computed without noise.
    constexpr double kTooFew = 1e-3, kMinChi2 = 0.01;
    constexpr std::size_t kMinPoints = 20;
    if (curve.size() < kMinPoints || fit.chi2 < kMinChi2) return "";
    std::vector<double> residuals = curve.intensity;
    for (std::size_t k = 0; k < residuals.size(); ++k) residuals[k] -= fit.model[k];
    const double probability = saxs::few_runs_probability(residuals);
    if (probability >= kTooFew) return "";
    return fmt::format(
        "Residuals keep one sign for too long (probability {:.1g} in noise): a misfit whatever the "
        "errors, unless neighbouring points of the curve depend on one another.\n",
        probability);
}

/// Explains a fitted c1 or c2 at the limit of its range; empty if neither is.
std::string bound_lines(const saxs::Result& result) {
    const bool has_background = result.fit.background != 0;
    const auto explain = [&](const std::string& name, const std::string& meaning) {
        return fmt::format(
            "{0} (bound): the best {0} lies beyond the values searched. {1} {2}--{0}-min and "
            "--{0}-max, or a structure with all parts and states that scatter (pleat refine "
            "samples domains on flexible linkers).\n",
            name, meaning, has_background ? "Try " : "Try --background, ");
    };
    std::string text;
    if (result.fit.c1_at_bound)
        text +=
            explain("c1", has_background
                              ? "The structure is not that of the sample (a missing part, another "
                                "conformation), or a background and c1 do the same here."
                              : "Either the volume of the structure is not that of the sample (a "
                                "missing part, another conformation), or the buffer was not "
                                "subtracted well.");
    if (result.fit.c2_at_bound)
        text += explain("c2",
                        "A hydration layer cannot replace what the structure lacks (a loop, a "
                        "glycan, a second conformation).");
    return text;
}

/// Fit and validation for each size of minimal ensembles, and the sizes that the curve cannot
/// distinguish.
std::string size_lines(const std::vector<saxs::Weighted>& sizes) {
    if (sizes.size() < 2) return {};
    const std::vector<bool> is_near_best = saxs::are_within_error_of_best(sizes);
    std::string text = "  frames    chi^2  chi^2 on points left out\n", alike;
    for (std::size_t n = 0; n < sizes.size(); ++n) {
        text += fmt::format("  {:>6}  {:>7.3f}  {:.3f} +- {:.3f}\n", sizes[n].frames.size(),
                            sizes[n].fit.chi2, sizes[n].validation, sizes[n].validation_error);
        if (is_near_best[n])
            alike += fmt::format("{}{}", alike.empty() ? "" : ", ", sizes[n].frames.size());
    }
    if (std::count(is_near_best.begin(), is_near_best.end(), true) > 1)
        text += fmt::format(
            "  The curve does not tell ensembles of {} frames apart (points left out: within a "
            "standard error of the best); the smallest of these is chosen.\n",
            alike);
    return text;
}

/// How the weights change the agreement with observables; empty without them.
std::string observable_lines(const saxs::Result& result) {
    if (result.observables.list.empty()) return {};
    const saxs::Reweighted& chosen = result.ensemble.scan[result.ensemble.scan_chosen];
    std::string text = fmt::format(
        "{} observables: chi^2 {:.3f} per observable with equal weights, {:.3f} reweighted\n",
        result.observables.list.size(), result.observables.before.chi2,
        result.observables.fits[result.ensemble.scan_chosen].chi2);
    if (!result.has_fit)
        text +=
            fmt::format("  {:.1f} of {} frames remain effective (theta {:g})\n",
                        chosen.result.effective_frames, chosen.result.frames.size(), chosen.theta);
    return text;
}

std::string ensemble_lines(const saxs::Result& result, bool is_atomic) {
    std::string text;
    const saxs::EnsembleResult& ensemble = result.ensemble;
    if (!ensemble.minimal.empty()) {
        const saxs::Weighted& chosen = ensemble.minimal[ensemble.minimal_chosen];
        text += fit_line(fmt::format("Minimal ensemble of {} ({})", chosen.frames.size(),
                                     chosen.is_exhaustive ? "all sets fitted" : "heuristic search"),
                         chosen.fit, is_atomic);
        text += residual_line(result.curve, chosen.fit);
        for (std::size_t m = 0; m < chosen.frames.size(); ++m)
            text += fmt::format("  {:.3f} of frame {} ({}, {})\n", chosen.weights[m],
                                chosen.frames[m], result.files[chosen.frames[m]],
                                result.frames_of_files[chosen.frames[m]]);
        text += size_lines(ensemble.minimal);
    }
    if (!ensemble.scan.empty()) {
        const saxs::Weighted& chosen = ensemble.scan[ensemble.scan_chosen].result;
        text += fit_line("Reweighted by maximum entropy", chosen.fit, is_atomic);
        text += fmt::format("  {:.1f} of {} frames remain effective (theta {:g})\n",
                            chosen.effective_frames, chosen.frames.size(),
                            ensemble.scan[ensemble.scan_chosen].theta);
    }
    return text;
}

std::string summary(const SaxsOptions& options, const saxs::Result& result,
                    const std::string& folder) {
    const std::vector<std::string>& sources = options.ensemble.sources;
    const bool is_atomic = result.model == saxs::Resolution::all_atom;
    std::string text =
        fmt::format("{}{}: {} frame{}, {} scatterers ({}), {} points to q = {:g} 1/angstrom\n",
                    printable(sources.front()), sources.size() > 1 ? " and more" : "",
                    result.frame_shapes.size(), result.frame_shapes.size() == 1 ? "" : "s",
                    result.scatterers, name_of(result.model), result.q.size(), result.q.back());
    if (result.neutrons)
        text += fmt::format("Neutrons, {:g} % D2O in the solvent\n", 100 * result.d2o);
    text += shape_lines(result);
    text += match_lines(result);
    if (result.has_fit) {
        text += fit_line(result.frame_shapes.size() == 1 ? "Fit" : "Fit of the mean", result.fit,
                         is_atomic);
        text += series_lines(result, is_atomic);
        if (result.frame_shapes.size() == 1) text += residual_line(result.curve, result.fit);
        text += bound_lines(result);
        text += guinier_line(result) + curve_sizes(result);
        text += ensemble_lines(result, is_atomic);
    } else {
        text += is_atomic
                    ? fmt::format("c1 {:g}, c2 {:g}\n", result.contrast.c1, result.contrast.c2)
                    : fmt::format("c2 {:g}\n", result.contrast.c2);
    }
    text += observable_lines(result);
    for (const std::string& warning : result.warnings) text += "WARNING: " + warning + "\n";
    return text + fmt::format("\nThe run is in {}: profile.tsv, {}manifest.json and more\n",
                              printable(folder), result.has_fit ? "fit.json, fit.tsv, " : "");
}

/// The components of a mixture or a single ensemble, and the notes from reading them.
struct Components {
    std::vector<Ensemble> ensembles;
    Notes notes;
};

struct Input {
    std::shared_ptr<const Components> read;
    std::span<const Ensemble> components;  ///< of `read`, or read before
    std::optional<ProfileFile> curve;
    std::vector<saxs::FurtherCurve> further;
    std::optional<saxs::FormFactorTable> form_factors;
    std::optional<saxs::Observables> observables;
};

/// Throws InputError if one of these files is a curve.
void refuse_curves(const std::vector<std::string>& sources) {
    for (const std::string& file : sources)
        if (is_curve(file))
            throw InputError(
                file, 0,
                "expected a structure, found a curve; --data takes curves, and so does a --list "
                "with the first line 'data'");
}

void read_component(const SaxsOptions& options, const std::vector<std::string>& sources,
                    Components& components) {
    Ensemble ensemble;
    try {
        EnsembleOptions reading = reading_options(options.ensemble);
        reading.centre_each_frame = false;
        ensemble = read_ensemble(sources, std::move(reading));
    } catch (const MissingAtoms& error) {
        if (sources.size() == 1) throw;
        throw InputError(
            fmt::format("expected files of the same atoms, found others (--mixture takes them): {}",
                        error.what()));
    } catch (const InputError&) {
        refuse_curves(sources);
        throw;
    }
    for (const Note& note : ensemble.notes) {
        // If all atoms are selected, the summary shows their number.
        if (options.ensemble.select == "all" && note.kind == NoteKind::selection) continue;
        components.notes.push_back(note);
        if (sources.size() > 1 && note.kind == NoteKind::atoms)
            components.notes.back().option = "--mixture, which takes each file with its own atoms";
    }
    const std::string remark = saxs::interpret_models(options.models_are, ensemble);
    if (!options.ensemble.scores.empty() && ensemble.scores.empty())
        throw InputError(sources.front(), 0,
                         "expected models that are states for --scores, found parts of one "
                         "structure");
    if (!remark.empty()) components.notes.push_back({NoteKind::several, remark});
    components.ensembles.push_back(std::move(ensemble));
}

Components read_components(const SaxsOptions& options) {
    Components components;
    if (!options.mixture) {
        read_component(options, options.ensemble.sources, components);
        return components;
    }
    for (const std::string& file : files_of(options.ensemble))
        read_component(options, {file}, components);
    return components;
}

/// All curves, the form factors and the topology.
std::vector<std::string> other_files(const SaxsOptions& options) {
    std::vector<std::string> files = {options.ensemble.topology, options.data, options.form_factors,
                                      options.observables, options.observable_values};
    for (const SeriesFile& one : parse_series(options.series)) files.push_back(one.path);
    return files;
}

/// Checks that all input files can be read before frames are read, which may take long.
/// `refused_pipes`: the reason why pipes are not accepted; null if they are.
void check_files(const SaxsOptions& options, const char* refused_pipes) {
    refuse_options_of(options, false);
    if (!options.form_factors.empty()) saxs::check_bead_model(options.parameters.model);
    if (options.observables.empty() && !options.observable_values.empty())
        throw UsageError("--observable-values needs --observables");
    if (!options.observables.empty() && !options.parameters.reweight)
        throw UsageError("give either --observables or --no-reweight");
    if (!options.observables.empty() && (options.mixture || !options.series.empty()))
        throw UsageError(
            "--observables weigh frames of one molecule with at most one curve: leave "
            "out --mixture and --series");
    if (options.data.starts_with('@') || is_folder(options.data))
        throw InputError(options.data, 0,
                         "expected one curve for a structure, found several: give a --list with a "
                         "column 'data', or leave the structure out");
    const std::vector<std::string> others = other_files(options);
    check_ensemble_files(options.ensemble.sources);
    check_readable(others);
    if (refused_pipes == nullptr) return;
    refuse_ensemble_pipes(options.ensemble.sources, refused_pipes);
    refuse_pipes(others, refused_pipes);
}

Input read_input(const SaxsOptions& options, const SaxsInputRead& read, const Context& context) {
    Input input;
    if (!read.components.empty()) {
        input.components = read.components;
        input.curve = *read.curve;
        return input;
    }
    if (options.mixture && !options.ensemble.topology.empty())
        throw UsageError("expected --mixture of files that name their atoms, found --topology");
    if (options.mixture && !options.ensemble.scores.empty())
        throw UsageError(
            "give either --mixture or --scores: its files are no frames to choose from");
    input.read = shared_input<Components>(
        options.ensemble.inputs,
        fmt::format("models {} {}\n{}", static_cast<int>(options.models_are), options.mixture,
                    input_key(options.ensemble)),
        [&] { return read_components(options); });
    context.notes(input.read->notes);
    ProfileOptions reading = options.curve;
    reading.structure_gyration =
        saxs::gyration_of_structure(input.read->ensembles.front(), options.parameters);
    if (!options.data.empty()) {
        input.curve = read_profile(options.data, reading);
        context.notes(with_source(input.curve->notes, options.data));
    }
    for (const SeriesFile& one : parse_series(options.series)) {
        ProfileFile curve = read_profile(one.path, reading);
        context.notes(with_source(curve.notes, one.path));
        input.further.push_back({std::move(curve.profile), one.d2o});
    }
    if (!options.form_factors.empty()) {
        Notes notes;
        input.form_factors =
            saxs::read_form_factors(options.form_factors, options.parameters.model, notes);
        context.notes(notes);
    }
    input.components = input.read->ensembles;
    if (!options.observables.empty())
        input.observables =
            saxs::observables_of(saxs::read_observables(options.observables),
                                 options.observable_values, input.components.front());
    return input;
}

/// Lists the inputs, and the checkpoint of each component.
void prepare_run(const SaxsOptions& options, const Input& input,
                 const std::filesystem::path& checkpoint, RunDirectory& run) {
    const std::size_t kinds = input.further.empty() ? 1 : 2;  // X-rays and neutrons
    for (std::size_t n = 1; n < kinds * input.components.size(); ++n)
        run.checkpoint(saxs::component_checkpoint(checkpoint, n).filename().string());
    record_lists(options.ensemble.sources, run);
    for (const Ensemble& ensemble : input.components)
        for (const std::string& file : ensemble.files) record_input(file, run);
    for (const std::string& file : other_files(options))
        if (!file.empty()) record_input(file, run);
    for (const std::string& file : score_files(options.ensemble)) record_input(file, run);
    for (const std::string& file : selection::index_files(options.ensemble.select))
        record_input(file, run);
}

saxs::Result compute(const SaxsOptions& options, const Input& input, const Context& context) {
    return saxs::run(input.components, input.curve ? &input.curve->profile : nullptr,
                     input.form_factors ? &*input.form_factors : nullptr, options.parameters,
                     context, input.further, input.observables ? &*input.observables : nullptr);
}

/// If the user named no device, chooses a GPU when the CPU would need much longer than a GPU's
/// start-up of a third of a second. Returns the reason.
std::string choose_saxs_device(const SaxsOptions& options, const JobTask& task, const Input& input,
                               Ranks& ranks, Context& context) {
    constexpr double kMinSeconds = 1.0;
    if (options.run.names_device() && !task.choose_device)
        return choose_device(options.run, {}, ranks, context);
    const Profile* const curve = input.curve ? &input.curve->profile : nullptr;
    const saxs::Effort effort =
        saxs::effort(input.components, curve, options.parameters, input.further);
    const auto estimate = [&](const Context& chosen) {
        return saxs::estimate(saxs::sizes_of(input.components, 1),
                              curve != nullptr ? static_cast<Index>(curve->size()) : 0,
                              options.parameters, chosen, input.further);
    };
    // Jobs use the other threads.
    const double seconds =
        effort.cpu_seconds / (task.choose_device ? 1 : resolve_threads(context) * ranks.size());
    std::optional<GpuDemand> demand;
    if (effort.gpu_bytes && seconds >= kMinSeconds)
        demand = {*effort.gpu_bytes, effort.gpu_seconds()};
    const std::string without =
        effort.gpu_bytes
            ? fmt::format("using the CPU: it needs about {:.2g} s, too little for a GPU", seconds)
            : "using the CPU: GPUs have --method multipole in float32, for small enough frames";
    return choose_device(options.run, task, demand, estimate, without, ranks, context);
}

void check_job(const SaxsOptions& options) {
    if (is_analysis(options)) return check_analysis(options);
    check_files(options, "a job may be run again");
}

/// Measures a component; sets `gyration`, if unset, to the Rg of the (first) structure.
saxs::ComponentSize measure(const SaxsOptions& options, const std::vector<std::string>& sources,
                            std::optional<double>& gyration) {
    EnsembleSource source = options.ensemble;
    source.sources = sources;
    const std::size_t files = files_of(source).size();
    saxs::ComponentSize size;
    Array<float, 2> corners(3, 2);  // of the box of all frames
    std::vector<float> parts;
    std::shared_ptr<const Topology> topology;
    const EnsembleSize counted =
        measure_ensemble(source, [&](const EnsembleReader& reader, View<const float, 2> frame) {
            topology = reader.topology();
            for (Index axis = 0; axis < 3; ++axis) {
                const auto [min, max] = std::ranges::minmax(frame[axis]);
                float &low = corners(axis, 0), &high = corners(axis, 1);
                low = size.frames == 0 ? min : std::min(low, min);
                high = size.frames == 0 ? max : std::max(high, max);
            }
            size.diameter = std::max(size.diameter, saxs::box_diagonal(frame));
            if (++size.frames == 1 || (size.frames <= kMaxParts && files == 1))
                parts.insert(parts.end(), frame.begin(), frame.end());
        });
    size.atoms = counted.atoms;
    const bool is_detected =
        files == 1 && size.frames > 1 && size.frames <= kMaxParts &&
        options.models_are == saxs::ModelsAre::automatic &&
        saxs::are_copies(View<const float, 3>(parts.data(), size.frames, 3, size.atoms));
    const bool is_parts = is_detected || options.models_are == saxs::ModelsAre::parts;
    if (is_parts) {
        const auto structures = static_cast<Index>(files);
        size.atoms *= size.frames / structures;
        size.frames = structures;
        size.diameter = saxs::box_diagonal(corners);
    }
    const Index kept = is_parts ? static_cast<Index>(parts.size()) / (3 * counted.atoms) : 1;
    if (!gyration && !options.data.empty())
        gyration = saxs::gyration_of_structure(
            *topology, View<const float, 3>(parts.data(), kept, 3, counted.atoms),
            options.parameters);
    return size;
}

/// Writes the structures of the chosen minimal ensemble, in the order of its table.
void write_members(RunDirectory& run, const Input& input, const saxs::Result& result) {
    if (result.ensemble.minimal.empty() || input.components.size() != 1) return;
    const Ensemble& frames = input.components.front();
    const std::vector<Index>& members =
        result.ensemble.minimal[result.ensemble.minimal_chosen].frames;
    const bool is_near = std::ranges::all_of(members, [&](Index frame) {
        const View<const float, 2> xyz = frames.xyz.view()[frame];
        return std::all_of(xyz.begin(), xyz.end(), [](float x) { return x > -999 && x < 9999; });
    });
    const char* const name = is_near && fits_pdb(*frames.topology) ? "members.pdb" : "members.cif";
    StructureWriter writer(run.output(name), *frames.topology);
    for (const Index frame : members) writer.add(frames.xyz.view()[frame]);
    writer.close();
}

}  // namespace

SaxsOutcome make_profiles(SaxsOptions& options, const JobTask& task, Ranks& ranks,
                          const SaxsInputRead& read) {
    OpenRun opened("saxs", options.run, result_fields(options), task, &ranks, "checkpoint.tiles");
    auto& [context, run] = opened;
    std::jthread device_start;
    if (options.run.names_device() && !task.choose_device)
        device_start = start_device(options.run, context, true);
    options.ensemble.inputs = task.inputs;
    run.stage("read");
    check_files(options, ranks.size() > 1 ? "several ranks read it" : nullptr);
    const Input input = read_input(options, read, context);
    if (ranks.is_leader()) prepare_run(options, input, context.checkpoint, run);
    const std::string remark = choose_saxs_device(options, task, input, ranks, context);
    run.context(context);
    run.require_space(saxs::disk_needed(saxs::frame_count(input.components), options.parameters));
    run.stage("scatterers");
    if (options.run.verbose) context.message(remark);
    saxs::Result result = compute(options, input, context);
    context.notes(result.notes);
    for (const std::string& text : result.warnings) context.message("WARNING: " + text);
    if (task.computed) task.computed();
    if (!ranks.is_leader()) return {std::move(result), {}};
    run.stage("write");
    saxs::write_results(run, result, options.parameters);
    write_members(run, input, result);
    saxs::record_facts(run, result);
    run.cite(saxs::citations(result));
    run.finish();
    std::string text = summary(options, result, run.path().string());
    return {std::move(result), std::move(text)};
}

std::vector<Field> curve_fields(SaxsOptions& options) {
    std::vector<Field> all = {{.name = "data",
                               .target = &options.data,
                               .help = "Measured curve to fit to: q, intensity, error",
                               .value_name = "CURVE"},
                              {.name = "series",
                               .target = &options.series,
                               .help = "Further curves of the same sample, fitted together "
                                       "with --data, with the same c1 and c2: curves of neutrons "
                                       "with their fraction of D2O, or of X-rays (CURVE:xray)",
                               .value_name = "CURVE:D2O,..."}};
    for (const Field& field : fields(options.curve)) all.push_back(field);
    const std::vector<Field> observables = {
        {.name = "observables",
         .target = &options.observables,
         .help = "Table of measured means, with --data or alone, by which frames are weighed: "
                 "columns name, value, error, kind (gaussian, upper, lower), average (mean, r^-3, "
                 "r^-6), computed (A:10:CA-A:55:CA, a distance; rg)",
         .value_name = "FILE"},
        {.name = "observable-values",
         .target = &options.observable_values,
         .help = "Values of the observables that are not computed: a table with their names and "
                 "a row for each frame",
         .value_name = "FILE"}};
    all.insert(all.end(), observables.begin(), observables.end());
    return all;
}

std::vector<Field> result_fields(SaxsOptions& options) {
    return concatenated({saxs::fields(options.parameters), input_fields(options),
                         curve_fields(options), saxs::fields(options.analysis)});
}

RunEstimate estimate_profiles(SaxsOptions& options) {
    check_job(options);
    if (is_analysis(options)) return estimate_analysis(options);
    std::vector<saxs::ComponentSize> sizes;
    ProfileOptions reading = options.curve;
    if (!options.mixture)
        sizes.push_back(measure(options, options.ensemble.sources, reading.structure_gyration));
    else
        for (const std::string& file : files_of(options.ensemble))
            sizes.push_back(measure(options, {file}, reading.structure_gyration));
    Index points = 0, frames = 0, atoms = 0;
    if (!options.data.empty())
        points = static_cast<Index>(read_profile(options.data, reading).profile.size());
    for (const saxs::ComponentSize& size : sizes) {
        frames += size.frames;
        atoms = std::max(atoms, size.atoms);
    }
    std::string input = fmt::format("{} frames, {} atoms", frames, atoms);
    if (points > 0) input += fmt::format(", a curve of {} points", points);
    std::vector<saxs::FurtherCurve> further;
    for (const SeriesFile& one : parse_series(options.series))
        further.push_back({read_profile(one.path, reading).profile, one.d2o});
    const bool is_for_gpus = options.parameters.method != saxs::Method::multipole ||
                             options.parameters.precision != saxs::Precision::float64;
    return {.input = input,
            .may_use_gpu = is_for_gpus,
            .on = [=, parameters = options.parameters](const Context& context) {
                return saxs::estimate(sizes, points, parameters, context, further);
            }};
}

Command saxs_command(CLI::App& program, Ranks& ranks) {
    static const JobFunctions<SaxsOptions> functions{
        .command = "saxs",
        .description = kDescription,
        .examples = kExamples,
        .wanted = "a STRUCTURE, --data CURVE alone, or a --list of either",
        .input_column = "structure",
        .input_option = "data",
        .joins_files = true,
        .numbers = {"frames", "rg", "rg_error", "i0", "dmax", "dmax_low", "dmax_high", "guinier_rg",
                    "guinier_rg_error", "error_scale", "mass_vp", "mass_vc", "c1", "c2", "chi2",
                    "chi2_reduced", "curve_rg", "curve_dmax", "match_point"},
        .add_options =
            [](CLI::App& parser, SaxsOptions& options) {
                add_texts(parser, "STRUCTURE", options.ensemble.sources,
                          "PDB, mmCIF, GRO, MOL2 or XYZ of one or many models, DCD, XTC, "
                          "TRR, AMBER NetCDF; folders; @LIST; or with --data, further curves of "
                          "that sample");
                add_fields(parser, "Input", input_fields(options));
                add_fields(parser, "Curve", curve_fields(options));
                add_fields(parser, "Curve", saxs::fields(options.analysis));
                add_job_options(parser, options.run, options.jobs, false, true);
                add_fields(parser, "Profile", saxs::fields(options.parameters));
            },
        .fields = result_fields,
        .is_one_sample = &is_analysis,
        .check = check_job,
        .input_files =
            [](const SaxsOptions& options) {
                return is_analysis(options) ? curve_files(options) : files_of(options.ensemble);
            },
        .run =
            [](SaxsOptions& options, const JobTask& task, Ranks& own) {
                return is_analysis(options) ? analyse_curves(options, task, own)
                                            : make_profiles(options, task, own).summary;
            },
        .estimate = [](SaxsOptions& options, SharedInputs&) { return estimate_profiles(options); }};
    return job_command(program, ranks, functions);
}

}  // namespace pleat::program
