// pleat refine: conformations of rigid domains on flexible linkers, and those that fit a curve.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "help/help_format.h"
#include "options/common_options.h"
#include "options/ensemble_options.h"
#include "options/options.h"
#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/printable.h"
#include "pleat/core/hardware/device_choice.h"
#include "pleat/core/hardware/instruction_set.h"
#include "pleat/core/terminal/progress_terminal.h"
#include "pleat/workflows/refine/output.h"
#include "pleat/workflows/refine/refine.h"
#include "process/ranks.h"
#include "process/standard_output.h"
#include "saxs/saxs_run.h"

namespace pleat::program {

namespace {

constexpr const char* kDescription =
    "Sample conformations of rigid domains on flexible linkers, and fit them to a curve.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat refine protein.pdb --linkers A:225-242,A:446-448 -o run\n"
    "  pleat refine protein.pdb --rigid A:20-224,A:243-600 --data curve.dat -o run\n"
    "  pleat refine protein.pdb --linkers A:225-242 --data curve.dat --mode pool -o run\n"
    "  pleat refine model.cif --pae pae.json --data curve.dat -o run\n"
    "  pleat refine dimer.cif --linkers A:1-15,B:1-15 --group A:16-180,B:16-180 -o run\n"
    "  pleat refine protein.pdb --linkers A:289-301 --data curve.dat --mode fit -o run\n"
    "  pleat report run -o page.html\n\n"
    "Linkers turn about phi and psi, as in coils of known structures; the rest of the protein is\n"
    "rigid. The frames are samples, not one refined model: in mode pool of this distribution "
    "without\n"
    "overlaps, in mode fit of the same times the likelihood of the curve, where each frame alone\n"
    "explains it (one conformation of unknown place), in mode average the same for replicas whose\n"
    "mean profile explains it (proteins that stay flexible; the default with --data).\n"
    "Chains, ligands and nucleic acids without linkers move with the domain that they touch most.\n"
    "With --data the frames are fitted in RUN/saxs as 'pleat saxs' does: chi^2 of each, minimal\n"
    "ensembles and weights. A run that has not converged says so, and one whose frames do not\n"
    "explain the curve; its files stay. The same command resumes a run that was stopped. "
    "--device\n"
    "names the GPU that computes profiles; moves are made on the CPU's threads.";

struct RefineOptions {
    RunOptions run;
    std::string structure;
    EnsembleSource source;  ///< its assembly
    refine::Parameters parameters;
    SaxsOptions saxs;  ///< data, curve and parameters of the fit
};

std::vector<Field> input_fields(RefineOptions& options) {
    std::vector<Field> fields = frame_fields(options.source);
    std::erase_if(fields, [](const Field& field) { return field.name != "assembly"; });
    return fields;
}

/// The options of the curve: one of X-rays, whose likelihood is not smeared.
std::vector<Field> refined_curve_fields(RefineOptions& options) {
    std::vector<Field> fields = curve_fields(options.saxs);
    std::erase_if(
        fields, [](const Field& field) { return field.name == "series" || field.name == "smear"; });
    return fields;
}

std::vector<Field> result_fields(RefineOptions& options) {
    std::vector<Field> all = refine::fields(options.parameters);
    for (const auto& fields : {input_fields(options), refined_curve_fields(options),
                               refine::profile_fields(options.saxs.parameters)})
        all.insert(all.end(), fields.begin(), fields.end());
    return all;
}

std::string moves_line(const refine::Result& result) {
    std::string text = "accepted moves:";
    for (const refine::MoveShare& move : result.moves)
        if (move.proposed > 0)
            text += fmt::format(
                " {} {:.0f} %,", move.name,
                100.0 * static_cast<double>(move.accepted) / static_cast<double>(move.proposed));
    text.back() = '\n';
    return text;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

std::string summary(const RefineOptions& options, const refine::Result& result,
                    const std::string& folder) {
    std::string text;
    if (!result.is_converged()) text += refine::convergence_remark(result) + "\n";
    text += fmt::format("{}: {} frames of {} atoms, {} angles of linkers {}\n",
                        printable(options.structure), result.frames.frame_count(),
                        result.frames.atom_count(), result.hinges, fmt::join(result.linkers, ", "));
    for (std::size_t n = 0; n < result.domains.size(); ++n)
        text += fmt::format("domain {}: {}\n", n + 1, result.domains[n]);
    text += moves_line(result);
    if (!result.swaps.empty())
        text += fmt::format("powers of the likelihood: {:.3g}; swaps: {:.2f}\n",
                            fmt::join(result.betas, " "), fmt::join(result.swaps, " "));
    if (!result.chi2.empty())
        text += fmt::format("chi^2 per point, by beads: smallest {:.3f}, median {:.3f}\n",
                            *std::min_element(result.chi2.begin(), result.chi2.end()),
                            median(result.chi2));
    text += fmt::format("\n{:<16}{:>10}{:>10}{:>10}{:>9}{:>8}\n", "angstrom", "5 %", "median",
                        "95 %", "R-hat", "ESS");
    for (const refine::Quantity& quantity : result.quantities) {
        std::vector<double> sorted = quantity.values;
        std::sort(sorted.begin(), sorted.end());
        const auto at = [&](double share) {
            return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
        };
        text += fmt::format("{:<16}{:>10.2f}{:>10.2f}{:>10.2f}{:>9.3f}{:>8.0f}\n", quantity.name,
                            at(0.05), at(0.5), at(0.95), quantity.convergence.r_hat,
                            quantity.convergence.effective_size);
    }
    if (const std::string remark = refine::misfit_remark(result); !remark.empty())
        text += "\n" + remark + "\n";
    if (!result.found_options.empty())
        text += "\nfound by --pae (also in domains.txt): " + result.found_options + "\n";
    return text + fmt::format(
                      "\nThe run is in {}: frames.dcd, {}, frames.tsv, convergence.json, "
                      "manifest.json\n",
                      printable(folder), refine::topology_name(result));
}

/// Fits the frames that were written to the curve, as a run of `pleat saxs` in a folder of this
/// one.
std::string fit_frames(RefineOptions& options, const refine::Result& result, RunDirectory& run,
                       Ranks& ranks, const Context& context) {
    SaxsOptions& own = options.saxs;
    SaxsOptions usual;
    own.run = options.run;
    own.run.output = run.stage_folder("saxs").string();
    own.run.force = true;
    own.ensemble.sources = {run.output("frames.dcd").string()};
    own.ensemble.topology = run.output(refine::topology_name(result)).string();
    const std::vector<std::string> words =
        call_words("saxs", own.ensemble.sources, program::result_fields(own),
                   program::result_fields(usual), own.run, own.run.output);
    return make_profiles(own, {.arguments = words, .shown = context.progress}, ranks).summary;
}

void run_refine(RefineOptions& options, const std::vector<std::string>& arguments, Ranks& ranks) {
    if (options.structure.empty()) throw UsageError("give a STRUCTURE; see 'pleat help refine'");
    restrict_instruction_set_by_environment();
    install_interrupt_handler();
    const bool has_curve = !options.saxs.data.empty();
    refine::Mode& mode = options.parameters.mode;
    if (mode == refine::Mode::automatic)
        mode = has_curve ? refine::Mode::average : refine::Mode::pool;
    if (mode != refine::Mode::pool && options.saxs.parameters.background)
        throw UsageError(
            "modes fit and average have no background: leave out --background, or give --mode "
            "pool");
    check_readable({options.structure, options.saxs.data, options.parameters.pae});
    if (!options.saxs.data.empty()) refuse_pipes({options.saxs.data}, "it is read again");
    const std::unique_ptr<Progress> shown = make_progress(stderr, options.run.quiet);
    Context context = make_context(options.run);
    if (context.device.kind == Device::Kind::cuda) {
        if (!has_curve)
            throw UsageError(
                "--device is for the profiles of --data: without it moves need the CPU alone");
        machine_gpus().free_bytes(context.device.index);  // refuses one that is missing
    }
    context.lanes.clear();
    RunDirectory run({.path = options.run.output,
                      .command = "refine",
                      .arguments = arguments,
                      .force = options.run.force});
    context.progress = &run.watch(shown.get());
    context.checkpoint = run.checkpoint();
    run.parameters(result_fields(options));
    run.stage("read");
    std::optional<ProfileFile> curve;
    if (!options.saxs.data.empty()) curve = read_profile(options.saxs.data, options.saxs.curve);
    const Ensemble structure =
        read_ensemble({options.structure}, {.topology = {},
                                            .assembly = options.source.assembly,
                                            .range = {.first = 0, .last = 1},
                                            .centre_each_frame = true});
    record_input(options.structure, run);
    if (!options.saxs.data.empty()) record_input(options.saxs.data, run);
    if (!options.parameters.pae.empty()) record_input(options.parameters.pae, run);
    for (const std::string& note : structure.notes) context.message(note);
    run.context(context);
    const refine::Result result = refine::run(
        structure, refine::curve_input(options.saxs.parameters, curve ? &curve->profile : nullptr),
        options.parameters, context);
    for (const std::string& note : result.notes) context.message(note);
    refine::write_results(run, result, context);
    refine::record_facts(run, result);
    std::string text = summary(options, result, run.path().string());
    if (!options.saxs.data.empty()) text += "\n" + fit_frames(options, result, run, ranks, context);
    if (!result.is_converged()) context.message("WARNING: " + refine::convergence_remark(result));
    if (const std::string remark = refine::misfit_remark(result); !remark.empty())
        context.message("WARNING: " + remark);
    run.finish();
    if (!options.run.quiet) print(text);
}

}  // namespace

Command refine_command(CLI::App& program, Ranks& ranks) {
    CLI::App* parser = program.add_subcommand("refine", kDescription);
    const auto options = std::make_shared<RefineOptions>();
    parser->add_option("STRUCTURE", options->structure,
                       "PDB or mmCIF file; of several models the first");
    add_fields(*parser, "Input", input_fields(*options));
    add_fields(*parser, "Sampling", refine::fields(options->parameters));
    add_fields(*parser, "Curve", refined_curve_fields(*options));
    add_run_options(*parser, options->run, true);
    add_fields(*parser, "Profile", refine::profile_fields(options->saxs.parameters));
    parser->footer(help_footer(kExamples));
    return {.parser = parser, .run = [options, &ranks](const std::vector<std::string>& arguments) {
                run_refine(*options, arguments, ranks);
            }};
}

}  // namespace pleat::program
