// SAXS run: reading, computing, writing.
#include "saxs_run.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <thread>

#include "pleat/bio/ensemble.h"
#include "pleat/bio/ensemble_files.h"
#include "pleat/core/error.h"
#include "pleat/core/parallel.h"
#include "pleat/saxs/citations.h"
#include "pleat/saxs/joined.h"
#include "pleat/saxs/output.h"
#include "ranks.h"
#include "saxs_summary.h"

namespace pleat::program {

namespace {

/// What one rank alone has: the run.
struct Leading {
    std::optional<RunDirectory> run;
};

struct Input {
    std::vector<Ensemble> components;
    std::optional<ProfileFile> curve;
    std::optional<saxs::FormFactorTable> form_factors;
};

void note(const Context& context, const std::string& text) { context.message(text); }

Ensemble read_component(const SaxsOptions& options, const std::vector<std::string>& sources,
                        const Context& context) {
    Ensemble ensemble = read_ensemble(sources, {.topology = options.ensemble.topology,
                                                .select = options.ensemble.select,
                                                .range = parse_frame_range(options.ensemble.frames)});
    for (const std::string& text : ensemble.notes) {
        // Where all atoms are taken the summary tells their number.
        if (options.ensemble.select != "all" || !text.starts_with("selection ")) note(context, text);
    }
    const std::string remark = saxs::settle_models(options.models, ensemble);
    if (!remark.empty()) note(context, remark);
    return ensemble;
}

Input read_input(const SaxsOptions& options, const Context& context) {
    Input input;
    if (options.mixture && !options.ensemble.topology.empty())
        throw UsageError("expected --mixture of files that name their atoms, found --topology");
    if (options.mixture) {
        for (const std::string& file : ensemble_files(options.ensemble.sources))
            input.components.push_back(read_component(options, {file}, context));
    } else {
        input.components.push_back(read_component(options, options.ensemble.sources, context));
    }
    if (!options.data.empty()) {
        input.curve = read_profile(options.data, options.curve.options());
        for (const std::string& text : input.curve->notes)
            note(context, fmt::format("{}: {}", options.data, text));
    }
    if (!options.form_factors.empty()) {
        std::vector<std::string> notes;
        const std::string& model = options.parameters.model;
        if (model != "one-body" && model != "two-body")
            throw UsageError(
                fmt::format("expected --model one-body or two-body with --form-factors, "
                            "found '{}'",
                            model));
        input.form_factors =
            saxs::read_form_factors(options.form_factors, saxs::parse_bodies(model), notes);
        for (const std::string& text : notes) note(context, text);
    }
    return input;
}

void record_inputs(const SaxsOptions& options, const Input& input, RunDirectory& run) {
    for (const Ensemble& ensemble : input.components) {
        for (const std::string& file : ensemble.files) record_input(file, run);
    }
    for (const std::string& file : {options.ensemble.topology, options.data, options.form_factors}) {
        if (!file.empty() && file != "-") record_input(file, run);
    }
}

saxs::Result compute(const SaxsOptions& options, const Input& input, const Context& context) {
    const std::string& name = options.ensemble.sources.front();
    try {
        return saxs::run(input.components, input.curve ? &input.curve->profile : nullptr,
                         input.form_factors ? &*input.form_factors : nullptr, options.parameters,
                         context);
    } catch (const InputError& error) {
        const std::string text = error.what();
        // The library knows frames and curves, but not every file's name.
        if (!text.starts_with("expected ") && !text.starts_with("cannot ")) throw;
        const bool about_curve = text.find("a curve of") != std::string::npos;
        throw InputError(about_curve ? options.data : name, 0, text);
    }
}

/// A GPU is for sums that take the CPU much longer than a GPU takes to start, a third of a second.
std::string settle_saxs_device(const SaxsOptions& options, const Input& input, Ranks& ranks,
                               Context& context) {
    constexpr double kLeastSeconds = 1.0;
    if (options.run.device != "auto") return settle_device(options.run, 0, ranks, context);
    const saxs::Effort effort =
        saxs::effort(input.components, input.curve ? &input.curve->profile : nullptr,
                     options.parameters);
    const double seconds = effort.cpu_seconds / (resolve_threads(context) * ranks.size());
    if (effort.gpu_bytes >= 0 && seconds >= kLeastSeconds)
        return settle_device(options.run, effort.gpu_bytes, ranks, context);
    context.device = {Device::Kind::cpu, 0};
    return effort.gpu_bytes < 0
               ? "device cpu: GPUs sum over pairs in float32"
               : fmt::format("device cpu: it takes some {:.2g} s there, too little for a GPU", seconds);
}

std::string write(SaxsOptions& options, const saxs::Result& result, Leading& leading) {
    RunDirectory& run = *leading.run;
    run.stage("write");
    saxs::write_results(run, result, options.parameters);
    saxs::record_facts(run, result);
    for (const Citation& citation : saxs::citations(result)) run.cite(citation);
    run.finish();
    return saxs_summary(
        {.sources = options.ensemble.sources, .data = options.data, .folder = run.path().string()}, result);
}

}  // namespace

std::vector<Field> input_fields(SaxsOptions& options) {
    std::vector<Field> all = frame_fields(options.ensemble);
    for (Field& field : all)
        if (field.name == "select") field.help = "Atoms to take";
    const std::vector<Field> own = {
        {.name = "models",
         .target = &options.models,
         .help = "What models and frames are: states of an ensemble, or parts of one structure a "
                 "file; auto: parts where they are copies of one another in other places",
         .choices = {"auto", "states", "parts"}},
        {.name = "mixture",
         .target = &options.mixture,
         .help = "Each file is a component of a mixture with atoms of its own, such as a monomer "
                 "and a dimer"},
        {.name = "form-factors",
         .target = &options.form_factors,
         .help = "Form factors of a coarse model in place of pleat's: q and a column a type, or "
                 "rows of the published tables",
         .value_name = "FILE"}};
    all.insert(all.end(), own.begin(), own.end());
    return all;
}

std::vector<Field> curve_fields(SaxsOptions& options) {
    std::vector<Field> all = {{.name = "data",
                               .target = &options.data,
                               .help = "Measured curve to fit to: q, intensity, error",
                               .value_name = "CURVE"}};
    for (const Field& field : fields(options.curve)) all.push_back(field);
    return all;
}

std::vector<Field> result_fields(SaxsOptions& options) {
    std::vector<Field> all = saxs::fields(options.parameters);
    for (const Field& field : input_fields(options)) all.push_back(field);
    for (const Field& field : curve_fields(options)) all.push_back(field);
    return all;
}

std::string make_profiles(SaxsOptions& options, const std::vector<std::string>& arguments,
                          Ranks& ranks, Progress* shown) {
    Context context = make_context(options.run, ranks);
    std::jthread device_start;
    if (options.run.device != "auto") device_start = start_device(options.run, context, true);
    Leading leading;
    ranks.lead([&] {
        leading.run.emplace(RunDirectory::Request{.path = options.run.output,
                                                  .command = "saxs",
                                                  .arguments = arguments,
                                                  .force = options.run.force});
        leading.run->parameters(result_fields(options));
        leading.run->stage("read");
    });
    context.progress = leading.run ? &leading.run->watch(shown) : shown;
    if (!ranks.advice().empty()) context.message(ranks.advice());
    const Input input = read_input(options, context);
    if (leading.run) record_inputs(options, input, *leading.run);
    const std::string remark = settle_saxs_device(options, input, ranks, context);
    if (leading.run) leading.run->context(context);
    if (options.run.verbose) context.message(remark);
    const saxs::Result result = compute(options, input, context);
    for (const std::string& text : result.notes) note(context, text);
    std::string summary;
    ranks.lead([&] { summary = write(options, result, leading); });
    return summary;
}

}  // namespace pleat::program
