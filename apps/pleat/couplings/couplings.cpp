// pleat couplings: contacts from one alignment or from many.
#include <fmt/format.h>

#include <memory>
#include <thread>

#include "commands.h"
#include "couplings/couplings_fit.h"
#include "help/help_format.h"
#include "options/options.h"
#include "options/structure_choice.h"
#include "pleat/core/error.h"
#include "pleat/core/hardware/instruction_set.h"
#include "pleat/core/terminal/progress_terminal.h"
#include "process/standard_output.h"

namespace pleat::program {

namespace {

constexpr const char* kDescription =
    "Fit a Markov random field to an alignment and rank its pairs of columns as contacts.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat couplings family.a3m.gz -o run\n"
    "  pleat couplings family.a3m -o run --structure 1abc.pdb:A --max-gaps 0.7\n"
    "  zcat family.sto.gz | pleat couplings - -o run -t 4\n"
    "  pleat couplings rna.sto -o run --secondary rna.sto --max-gaps 0.5\n"
    "  pleat couplings pair.aln -o run --parts 218,310 --shuffle-parts 5\n"
    "  pleat couplings families/*.a3m -o runs\n"
    "  pleat couplings --list families.txt -o runs\n"
    "  pleat couplings family.a3m -o runs --sweep identity=0.7,0.8,0.9\n\n"
    "A run that was stopped or killed resumes when the same command is given again.";

JobFunctions<CouplingsOptions> job_functions() {
    return {.command = "couplings",
            .input_column = "alignment",
            .uses_seed = true,
            .numbers = {"sequences", "columns", "effective_sequences", "evaluations",
                        "relative_gap", "stop_reason", "precision_L"},
            .per_input = {"structure", "row", "focus", "initial", "secondary", "parts", "weights"},
            .fields = result_fields,
            .set_input = set_input<CouplingsOptions>,
            .check =
                [](const CouplingsOptions& options) {
                    check_couplings_options(options);
                    check_alignment_job(options.alignment);
                    check_structure_file(options.structure);
                },
            .input_files = alignment_files<CouplingsOptions>,
            .run = [](CouplingsOptions& options,
                      const JobTask& task) { return fit_family(options, task); },
            .estimate = estimate_family};
}

void run_couplings(const CLI::App& parser, CouplingsOptions& options,
                   const std::vector<std::string>& arguments, Ranks& ranks) {
    const std::vector<std::string>& paths = options.alignment.paths;
    const bool has_jobs = options.jobs.is_used() || ranks.caller() != nullptr;
    // Columns of a list and sweeps may still name a structure.
    if (!has_jobs) check_couplings_options(options);
    if (has_jobs || paths.size() > 1)
        return run_job_list(parser, options, paths, arguments, job_functions(), ranks);
    if (paths.empty())
        throw UsageError("give an ALIGNMENT or a --list of alignments; see 'pleat help couplings'");
    ranks.require_one("couplings of one alignment");
    restrict_instruction_set_by_environment();
    install_interrupt_handler();
    options.alignment.path = paths.front();
    if (options.run.estimate)
        return print_estimate(options, options.alignment.path, job_functions(), ranks);
    const std::jthread device_start = start_device(options.run, make_context(options.run), true);
    const std::unique_ptr<Progress> progress = make_progress(stderr, options.run.quiet);
    const std::string text = fit_family(options, {.arguments = arguments, .shown = progress.get()});
    if (!options.run.quiet) print(text);
}

}  // namespace

Command couplings_command(CLI::App& program, Ranks& ranks) {
    CLI::App* parser = program.add_subcommand("couplings", kDescription);
    const auto options = std::make_shared<CouplingsOptions>();
    add_alignment_options(*parser, options->alignment);
    add_run_options(*parser, options->run, true);
    add_estimate_option(*parser, options->run);
    add_job_options(*parser, options->jobs, false);
    add_fields(*parser, "Fit", fit_fields(*options));
    add_fields(*parser, "Structure", structure_fields(*options));
    add_fields(*parser, "Parts", part_fields(*options));
    add_fields(*parser, "Output", output_fields(*options));
    parser->footer(help_footer(std::string(kExamples) + kJobsHelp));
    return {.parser = parser,
            .run =
                [parser, options, &ranks](const std::vector<std::string>& arguments) {
                    run_couplings(*parser, *options, arguments, ranks);
                },
            .knows_ranks = true};
}

}  // namespace pleat::program
