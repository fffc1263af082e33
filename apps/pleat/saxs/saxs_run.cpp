// SAXS run: reads the input, computes profiles and fits, writes the files of the run.
#include "saxs/saxs_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "options/options.h"
#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/bio/selection/selection_terms.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/notes.h"
#include "pleat/saxs/memory_estimate.h"
#include "pleat/saxs/model/form_factors.h"
#include "pleat/saxs/model/model_joining.h"
#include "pleat/saxs/output.h"
#include "process/ranks.h"
#include "saxs/saxs_summary.h"

namespace pleat::program {

std::vector<SeriesFile> parse_series(const std::string& text) {
    std::vector<SeriesFile> files;
    std::size_t from = 0;
    while (from < text.size()) {
        const std::size_t to = std::min(text.find(',', from), text.size());
        const std::string one = text.substr(from, to - from);
        const std::size_t colon = one.rfind(':');
        const std::string number = colon == std::string::npos ? "" : one.substr(colon + 1);
        double fraction = -1;
        const auto parsed = std::from_chars(number.data(), number.data() + number.size(), fraction);
        const bool is_number = parsed.ec == std::errc() &&
                               parsed.ptr == number.data() + number.size() && fraction >= 0 &&
                               fraction <= 1;
        if (colon == 0 || (!is_number && number != "xray"))
            throw UsageError(
                fmt::format("give --series CURVE:D2O,... with D2O fractions from 0 to 1, or xray, "
                            "behind each curve; found '{}'",
                            one));
        files.push_back({one.substr(0, colon), is_number ? std::optional(fraction) : std::nullopt});
        from = to + 1;
    }
    return files;
}

namespace {

/// The components of a mixture, or one ensemble, and what reading said.
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
};

bool is_curve(const std::string& file) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) return false;
    try {
        read_profile(file, {.assumed_error = 0.1});
        return true;
    } catch (const Error&) {
        return false;
    }
}

/// Throws InputError if one of these files is a curve.
void refuse_curves(const std::vector<std::string>& sources) {
    for (const std::string& file : sources)
        if (is_curve(file))
            throw InputError(file, 0, "expected a structure, found a curve; --data takes curves");
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
    std::vector<std::string> files = {options.ensemble.topology, options.data,
                                      options.form_factors};
    for (const SeriesFile& one : parse_series(options.series)) files.push_back(one.path);
    return files;
}

/// Every file that is read is looked at first, as the frames may take long. `refused_pipes`: why a
/// pipe cannot be read; null if it can.
void check_files(const SaxsOptions& options, const char* refused_pipes) {
    if (!options.form_factors.empty()) saxs::check_bead_model(options.parameters.model);
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
    return input;
}

/// Lists the inputs, and the checkpoint of each component, for the leading rank's run.
void prepare_run(const SaxsOptions& options, const Input& input,
                 const std::filesystem::path& checkpoint, RunDirectory& run) {
    const std::size_t kinds = input.further.empty() ? 1 : 2;  // X-rays and neutrons
    for (std::size_t n = 1; n < kinds * input.components.size(); ++n)
        run.checkpoint(saxs::component_checkpoint(checkpoint, n).filename().string());
    record_lists(options.ensemble.sources, run);
    for (const Ensemble& ensemble : input.components) {
        for (const std::string& file : ensemble.files) record_input(file, run);
    }
    for (const std::string& file : other_files(options)) {
        if (!file.empty()) record_input(file, run);
    }
    for (const std::string& file : score_files(options.ensemble)) record_input(file, run);
    for (const std::string& file : selection::index_files(options.ensemble.select))
        record_input(file, run);
}

saxs::Result compute(const SaxsOptions& options, const Input& input, const Context& context) {
    return saxs::run(input.components, input.curve ? &input.curve->profile : nullptr,
                     input.form_factors ? &*input.form_factors : nullptr, options.parameters,
                     context, input.further);
}

/// Chooses the device if the user named none: a GPU for sums that take the CPU much longer than a
/// GPU takes to start, a third of a second. Returns the reason.
std::string choose_saxs_device(const SaxsOptions& options, const JobTask& task, const Input& input,
                               Ranks& ranks, Context& context) {
    constexpr double kMinSeconds = 1.0;
    const Profile* const curve = input.curve ? &input.curve->profile : nullptr;
    if (task.choose_device) {
        const saxs::Effort effort =
            saxs::effort(input.components, curve, options.parameters, input.further);
        const std::vector<saxs::ComponentSize> sizes = saxs::sizes_of(input.components, 1);
        const auto estimate = [&, points = curve != nullptr ? static_cast<Index>(curve->size())
                                                            : 0](const Context& chosen) {
            return saxs::estimate(sizes, points, options.parameters, chosen, input.further);
        };
        // Other jobs use the other threads.
        const bool pays = effort.cpu_seconds >= kMinSeconds;
        return task.choose_device(
            {.gpu_bytes = pays ? effort.gpu_bytes : std::nullopt, .estimate = estimate}, context);
    }
    if (options.run.names_device()) return choose_device(options.run, {}, ranks, context);
    const saxs::Effort effort =
        saxs::effort(input.components, input.curve ? &input.curve->profile : nullptr,
                     options.parameters, input.further);
    const double seconds = effort.cpu_seconds / (resolve_threads(context) * ranks.size());
    if (effort.gpu_bytes && seconds >= kMinSeconds)
        return choose_device(options.run, {*effort.gpu_bytes, effort.gpu_seconds()}, ranks,
                             context);
    context.device = {Device::Kind::cpu, 0};
    if (!effort.gpu_bytes)
        return "using the CPU: GPUs have --method multipole in float32, for small enough frames";
    return fmt::format("using the CPU: it needs about {:.2g} s, too little for a GPU", seconds);
}

std::string write(const SaxsOptions& options, const saxs::Result& result, RunDirectory& run) {
    run.stage("write");
    saxs::write_results(run, result, options.parameters);
    saxs::record_facts(run, result);
    for (const std::string_view key : saxs::citations(result)) run.cite(key);
    run.finish();
    return saxs_summary(
        {.sources = options.ensemble.sources, .data = options.data, .folder = run.path().string()},
        result);
}

}  // namespace

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
         .help = "Form factors of a bead model instead of pleat's: q and one column per type, or "
                 "rows of the published tables",
         .value_name = "FILE"}};
    all.insert(all.end(), fields.begin(), fields.end());
    return all;
}

std::vector<Field> curve_fields(SaxsOptions& options) {
    std::vector<Field> all = {{.name = "data",
                               .target = &options.data,
                               .help = "Measured curve to fit to: q, intensity, error",
                               .value_name = "CURVE"},
                              {.name = "series",
                               .target = &options.series,
                               .help = "Further curves of the same sample, fitted together with "
                                       "--data with one c1 and c2: of neutrons at this fraction of "
                                       "D2O, or of X-rays (CURVE:xray)",
                               .value_name = "CURVE:D2O,..."}};
    for (const Field& field : fields(options.curve)) all.push_back(field);
    return all;
}

std::vector<Field> result_fields(SaxsOptions& options) {
    return concatenated(
        {saxs::fields(options.parameters), input_fields(options), curve_fields(options)});
}

void check_job(const SaxsOptions& options) { check_files(options, "a job may be run again"); }

SaxsOutcome make_profiles(SaxsOptions& options, const JobTask& task, Ranks& ranks,
                          const SaxsInputRead& read) {
    Context context = make_context(options.run, ranks);
    std::jthread device_start;
    if (options.run.names_device() && !task.choose_device)
        device_start = start_device(options.run, context, true);
    options.ensemble.inputs = task.inputs;
    std::optional<RunDirectory> run;  // of the leading rank
    ranks.lead([&] {
        run.emplace(run_request("saxs", options.run, task));
        run->parameters(result_fields(options));
        context.checkpoint = run->checkpoint("checkpoint.tiles");
        run->stage("read");
    });
    ranks.share(context.checkpoint);
    context.progress = run ? &run->watch(task.shown) : task.shown;
    if (!ranks.advice().empty()) context.message(ranks.advice());
    check_files(options, ranks.size() > 1 ? "several ranks read it" : nullptr);
    const Input input = read_input(options, read, context);
    if (run) prepare_run(options, input, context.checkpoint, *run);
    const std::string remark = choose_saxs_device(options, task, input, ranks, context);
    if (run) {
        run->context(context);
        Index frames = 0;
        for (const Ensemble& one : input.components) frames += one.frame_count();
        run->require_space(saxs::disk_needed(frames, options.parameters));
        run->stage("scatterers");
    }
    if (options.run.verbose) context.message(remark);
    saxs::Result result = compute(options, input, context);
    context.notes(result.notes);
    for (const std::string& text : result.warnings) context.message("WARNING: " + text);
    if (task.computed) task.computed();
    std::string summary;
    ranks.lead([&] { summary = write(options, result, *run); });
    return {std::move(result), std::move(summary)};
}

}  // namespace pleat::program
