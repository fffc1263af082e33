// pleat couplings: contacts from one alignment or from many.
#include <fmt/format.h>

#include <memory>
#include <thread>

#include "commands.h"
#include "couplings/couplings_fit.h"
#include "families/families.h"
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
    "  pleat couplings families/*.a3m -o runs\n"
    "  pleat couplings --list families.txt -o runs --no-models\n\n"
    "With several families each gets its own folder FOLDER/NAME, where NAME is the name\n"
    "of its file without extensions; FOLDER/families.tsv lists the outcomes. The same\n"
    "command skips finished families. A failed family does not stop the others; the exit\n"
    "code is then that of the first failed one.\n\n"
    "A run that was stopped or killed resumes when the same command is given again.";

void run_one(CouplingsOptions& options, const std::vector<std::string>& arguments) {
    const std::jthread device_start = start_device(options.run, make_context(options.run), true);
    const std::unique_ptr<Progress> progress = make_progress(stderr, options.run.quiet);
    const auto choose = [&](const Alignment& alignment, Context& context) {
        return choose_device(options.run, couplings::gpu_memory_needed(alignment), context);
    };
    const CouplingsOutcome outcome = fit_family(options, {.folder = options.run.output,
                                                          .arguments = arguments,
                                                          .shown = progress.get(),
                                                          .choose_device = choose});
    if (!options.run.quiet) print(outcome.summary);
}

void run_couplings(CouplingsOptions& options, const std::vector<std::string>& arguments) {
    check_structure_options(options.structure);
    restrict_instruction_set_by_environment();
    install_interrupt_handler();
    const std::vector<std::string>& paths = options.alignment.paths;
    if (!options.list.empty() || paths.size() > 1) return run_families(options);
    if (paths.empty())
        throw UsageError("give an ALIGNMENT or a --list of alignments; see 'pleat help couplings'");
    options.alignment.path = paths.front();
    run_one(options, arguments);
}

}  // namespace

Command couplings_command(CLI::App& program) {
    CLI::App* parser = program.add_subcommand("couplings", kDescription);
    const auto options = std::make_shared<CouplingsOptions>();
    add_alignment_options(*parser, options->alignment, true);
    add_run_options(*parser, options->run);
    add_fields(*parser, "Several families", family_fields(*options));
    add_fields(*parser, "Fit", couplings::fields(options->parameters));
    add_fields(*parser, "Structure", fields(options->structure));
    add_fields(*parser, "Output", output_fields(*options));
    parser->footer(help_footer(kExamples));
    return {parser, [options](const std::vector<std::string>& arguments) {
                run_couplings(*options, arguments);
            }};
}

}  // namespace pleat::program
