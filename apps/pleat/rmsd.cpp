// pleat rmsd: frames compared with each other, another set or one structure.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "commands.h"
#include "common_options.h"
#include "ensemble_options.h"
#include "help_format.h"
#include "options.h"
#include "pleat/core/error.h"
#include "pleat/core/instruction_set.h"
#include "pleat/core/progress_terminal.h"
#include "pleat/rmsd/citations.h"
#include "pleat/rmsd/measures.h"
#include "pleat/rmsd/metric.h"
#include "pleat/rmsd/output.h"
#include "rmsd_reference.h"
#include "rmsd_sets.h"
#include "standard_output.h"

namespace pleat::program {

namespace {

constexpr const char* kDescription =
    "Compare frames with each other, another set or one structure: RMSD, dRMSD, TM-score, GDT_TS.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat rmsd models.pdb.gz -o run --select ca\n"
    "  pleat rmsd run1.xtc run2.xtc --topology protein.pdb --select backbone -o run --frames 101::10\n"
    "  pleat rmsd ensemble.npy -o run --matrix none --cutoff 2 --best 10\n"
    "  pleat rmsd decoys/ -o run --select ca --matrix full\n"
    "  pleat rmsd decoys/ -o run --select ca --metric tm --reference native.pdb\n"
    "  pleat rmsd run1.xtc --topology protein.pdb --against run2.xtc --select ca -o run\n"
    "  pleat rmsd run1.xtc --topology complex.pdb --select 'ca and A' --measure 'heavy and B' -o run\n"
    "  pleat rmsd models.pdb --select ca --measure all --rmsf --superposed pdb -o run\n\n"
    "Several files, folders, and lists (@FILE, a path a line) are one ensemble. Frames count\n"
    "from 1 here and in messages, from 0 in the files of results. Selections: all, ca, backbone,\n"
    "heavy, residues (A:10-50), gemmi's syntax, joined by and, or, not. The matrix is named\n"
    "after the metric: rmsd.npy, drmsd.npy, tm.npy, gdt_ts.npy.\n\n"
    "A run with a matrix that was stopped or killed goes on when the same command is given\n"
    "again. While it runs it needs room for the matrix twice: its tiles, and the file.";

struct RmsdOptions {
    RunOptions run;
    EnsembleSource ensemble;
    SetOptions sets;
    rmsd::Parameters parameters;
};

std::vector<Field> result_fields(RmsdOptions& options) {
    std::vector<Field> all = rmsd::fields(options.parameters);
    for (const Field& field : fields(options.ensemble)) all.push_back(field);
    for (const Field& field : fields(options.sets)) all.push_back(field);
    return all;
}

/// Options that exclude each other.
void check_options(const RmsdOptions& options) {
    if (!options.sets.has_reference()) return;
    const auto refuse = [](std::string_view what) {
        throw UsageError(fmt::format("expected --reference, --rmsf and --superposed without {}, found both: "
                                     "they compare frames with one structure, not with each other",
                                     what));
    };
    if (options.sets.has_against()) refuse("--against");
    if (options.parameters.has_cutoff()) refuse("a cut-off");
    if (options.parameters.best > 0) refuse("a number of best frames");
    if (options.parameters.matrix == "full") refuse("a full matrix");
}

rmsd::Result compute(const RmsdOptions& options, const ComparedFrames& compared, const Context& context,
                     RunDirectory& run) {
    const rmsd::Parameters& parameters = options.parameters;
    std::filesystem::path matrix;
    if (parameters.matrix != "none" && !options.sets.has_reference())
        matrix = run.output(parameters.metric + ".npy");
    const Array<float, 3>& xyz = compared.frames.xyz;
    try {
        if (options.sets.has_reference())
            return run_reference(compared, options.sets, parameters, context, run);
        if (!options.sets.has_against())
            return rmsd::run(xyz, compared.sets, parameters, context, matrix);
        const Coordinates others =
            read_others(compared, options.sets.against, options.sets.against_frames, run, context);
        run.fact("others", others.frames());
        return rmsd::run_against(xyz, others.xyz, compared.sets, parameters, context, matrix);
    } catch (const InputError& error) {
        const std::string text = error.what();
        // The library knows frames and atoms, but no files.
        const bool is_of_frames = text.starts_with("frame ") || text.starts_with("expected ");
        if (is_of_frames) throw InputError(compared.frames.name, 0, text);
        if (text.starts_with("other frame "))
            throw InputError(options.sets.has_against() ? options.sets.against : options.sets.reference, 0,
                             text.substr(6));
        throw;
    }
}

/// Pairs of frames stand in both rows of a set's neighbours, once in those of two sets.
std::int64_t neighbour_pairs(const RmsdOptions& options, const rmsd::Result& result) {
    const auto listed = static_cast<std::int64_t>(result.neighbours.indices.size());
    return options.sets.has_against() ? listed : listed / 2;
}

void record_result(const RmsdOptions& options, const rmsd::Result& result, RunDirectory& run) {
    run.fact("frames", result.frames);
    run.fact("atoms", result.atoms);
    run.fact("pairs", result.pairs);
    run.fact("least", result.least);
    run.fact("mean", result.mean);
    run.fact("most", result.most);
    if (options.parameters.has_cutoff()) run.fact("neighbour_pairs", neighbour_pairs(options, result));
}

std::string summary(const RmsdOptions& options, const rmsd::Result& result, const std::string& folder) {
    const rmsd::Metric& metric = rmsd::metric_of(options.parameters.metric);
    const bool has_reference = options.sets.has_reference();
    std::string text = fmt::format("{}{}: {} frames, {} atoms, {} {}\n", options.ensemble.sources.front(),
                                   options.ensemble.sources.size() > 1 ? " and more" : "", result.frames,
                                   result.atoms, result.pairs, has_reference ? "values" : "pairs");
    if (result.pairs > 0)
        text += fmt::format("{} from {:.4f} to {:.4f}, mean {:.4f}{}{}\n", metric.label, result.least,
                            result.most, result.mean, metric.unit.empty() ? "" : " ", metric.unit);
    if (options.parameters.has_cutoff())
        text += fmt::format("{} pairs {} {:g}{}{}\n", neighbour_pairs(options, result),
                            metric.is_score ? "above" : "below", options.parameters.cutoff,
                            metric.unit.empty() ? "" : " ", metric.unit);
    const std::string first = has_reference                          ? "reference.tsv, "
                              : options.parameters.matrix == "none" ? ""
                                                                     : options.parameters.metric + ".npy, ";
    return text + fmt::format("\nThe run is in {}: {}histogram.tsv, manifest.json and more\n", folder, first);
}

/// The CUDA kernel has not run on a GPU yet, so one must be named.
std::string settle_rmsd_device(const RmsdOptions& options, const Coordinates& input, Context& context) {
    if (options.run.device == "auto") {
        context.device = {Device::Kind::cpu, 0};
        return "device cpu: a GPU is taken where --device names it, since its kernel is new";
    }
    const std::int64_t gpu_bytes = rmsd::memory_needed(input.frames(), input.atoms(), options.parameters,
                                                       {Device::Kind::cuda, 0});
    return settle_device(options.run, gpu_bytes, context);
}

void run_rmsd(RmsdOptions& options, const std::vector<std::string>& arguments) {
    check_options(options);
    restrict_instruction_set_by_environment();
    install_interrupt_handler();
    Context context = make_context(options.run);
    std::jthread device_start;
    if (options.run.device != "auto") device_start = start_device(options.run, context, true);
    RunDirectory run({.path = options.run.output,
                      .command = "rmsd",
                      .arguments = arguments,
                      .force = options.run.force});
    const std::unique_ptr<Progress> shown = make_progress(stderr, options.run.quiet);
    context.progress = &run.watch(shown.get());
    context.checkpoint = run.checkpoint("checkpoint.tiles");
    run.parameters(result_fields(options));
    for (const Citation& citation : rmsd::citations(options.parameters.metric)) run.cite(citation);
    run.stage("read");
    const ComparedFrames compared = read_compared(options.ensemble, options.sets, run, context);
    const std::string remark = settle_rmsd_device(options, compared.frames, context);
    run.context(context);
    if (options.run.verbose) context.message(remark);
    const rmsd::Result result = compute(options, compared, context, run);
    run.stage("write");
    rmsd::write_results(run, result, options.parameters);
    record_result(options, result, run);
    run.finish();
    if (!options.run.quiet) print(summary(options, result, run.path().string()));
}

}  // namespace

Command rmsd_command(CLI::App& program) {
    CLI::App* parser = program.add_subcommand("rmsd", kDescription);
    const auto options = std::make_shared<RmsdOptions>();
    parser->add_option("ENSEMBLE", options->ensemble.sources, kEnsembleFiles)->required();
    add_fields(*parser, "Input", fields(options->ensemble));
    add_run_options(*parser, options->run);
    add_fields(*parser, "Comparison", fields(options->sets));
    add_fields(*parser, "Measure", rmsd::fields(options->parameters));
    parser->footer(help_footer(kExamples));
    return {.parser = parser, .run = [options](const std::vector<std::string>& arguments) {
                run_rmsd(*options, arguments);
            }};
}

}  // namespace pleat::program
