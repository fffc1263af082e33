// pleat rmsd: the RMSD of all pairs of frames after optimal superposition.
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
#include "pleat/rmsd/output.h"
#include "standard_output.h"

namespace pleat::program {

namespace {

constexpr const char* kDescription =
    "Measure the RMSD of all pairs of frames of an ensemble after optimal superposition.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat rmsd models.pdb.gz -o run --select ca\n"
    "  pleat rmsd run1.xtc run2.xtc --topology protein.pdb --select backbone -o run --frames 101::10\n"
    "  pleat rmsd ensemble.npy -o run --matrix none --cutoff 2 --best 10\n"
    "  pleat rmsd decoys/ -o run --select ca --matrix full\n\n"
    "Several files, folders, and lists (@FILE, a path a line) are one ensemble. Frames count\n"
    "from 1. Selections: all, ca, backbone, heavy, residues (A:10-50), gemmi's syntax, joined\n"
    "by and, or, not.\n\n"
    "A run with a matrix that was stopped or killed goes on when the same command is given\n"
    "again. While it runs it needs room for the matrix twice: its tiles, and rmsd.npy.";

struct RmsdOptions {
    RunOptions run;
    EnsembleSource ensemble;
    rmsd::Parameters parameters;
};

std::vector<Field> result_fields(RmsdOptions& options) {
    std::vector<Field> all = rmsd::fields(options.parameters);
    for (const Field& field : fields(options.ensemble)) all.push_back(field);
    return all;
}

rmsd::Result compute(const RmsdOptions& options, const Coordinates& input, const Context& context,
                     RunDirectory& run) {
    std::filesystem::path matrix;
    if (options.parameters.matrix != "none") matrix = run.output("rmsd.npy");
    try {
        return rmsd::run(input.xyz, input.weights, options.parameters, context, matrix);
    } catch (const InputError& error) {
        const std::string text = error.what();
        // The library knows frames and atoms, but no files; a damaged checkpoint names itself.
        if (!matrix.empty() && text.starts_with(context.checkpoint.string())) throw;
        throw InputError(input.name, 0, text);
    }
}

void record_result(RunDirectory& run, const rmsd::Result& result) {
    run.fact("frames", result.frames);
    run.fact("atoms", result.atoms);
    run.fact("pairs", result.pairs);
    run.fact("least", result.least);
    run.fact("mean", result.mean);
    run.fact("most", result.most);
    if (!result.neighbours.starts.empty())
        run.fact("neighbour_pairs", static_cast<std::int64_t>(result.neighbours.indices.size() / 2));
}

std::string summary(const RmsdOptions& options, const rmsd::Result& result, const std::string& folder) {
    std::string text = fmt::format("{}{}: {} frames, {} atoms, {} pairs\n", options.ensemble.sources.front(),
                                   options.ensemble.sources.size() > 1 ? " and more" : "", result.frames,
                                   result.atoms, result.pairs);
    if (result.pairs > 0)
        text += fmt::format("RMSD from {:.4f} to {:.4f}, mean {:.4f} angstrom\n", result.least, result.most,
                            result.mean);
    if (!result.neighbours.starts.empty())
        text += fmt::format("{} pairs below {:g} angstrom\n", result.neighbours.indices.size() / 2,
                            options.parameters.cutoff);
    return text + fmt::format("\nThe run is in {}: {}histogram.tsv, manifest.json and more\n", folder,
                              options.parameters.matrix == "none" ? "" : "rmsd.npy, ");
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
    for (const Citation& citation : rmsd::citations()) run.cite(citation);
    run.stage("read");
    const Coordinates input = read_coordinates(options.ensemble, run, context);
    const std::string remark = settle_rmsd_device(options, input, context);
    run.context(context);
    if (options.run.verbose) context.message(remark);
    const rmsd::Result result = compute(options, input, context, run);
    run.stage("write");
    rmsd::write_results(run, result, options.parameters);
    record_result(run, result);
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
    add_fields(*parser, "RMSD", rmsd::fields(options->parameters));
    parser->footer(help_footer(kExamples));
    return {.parser = parser, .run = [options](const std::vector<std::string>& arguments) {
                run_rmsd(*options, arguments);
            }};
}

}  // namespace pleat::program
