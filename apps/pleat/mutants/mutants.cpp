// pleat mutants: effects of mutations from one family or model, or from many.
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "help/help_format.h"
#include "mutants/mutants_run.h"
#include "options/options.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/workflows/mutants/mutant_table.h"

namespace pleat::program {

namespace {

constexpr const char* kDescription =
    "Predict the effects of mutations of a sequence from a model of its family.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat mutants family.a3m.gz -o run\n"
    "  pleat mutants family.a3m -o run --mutants scan.csv --target protein.fasta\n"
    "  pleat mutants couplings_run -o run --doubles 20-45\n"
    "  pleat mutants model.plmc -o run --first-number 128\n"
    "  pleat mutants couplings_run -o run --sequences designs.fasta --align\n\n"
    "An effect is E(mutant) - E(target): the more negative, the more harmful. Each is given "
    "beside\n"
    "that of an independent model, which has no couplings. The family is fitted as by\n"
    "'pleat couplings', on --device, in the folder couplings of the run, and only if it has no "
    "such\n"
    "run yet: with other mutants (--force) it is not fitted again. Effects of listed mutants are\n"
    "exact for the model; energies of sequences that --align has aligned are rough.\n"
    "--list also takes the table of --mutants: its header distinguishes it from a list of "
    "inputs.\n\n"
    "A run that was stopped or killed resumes when the same command is given again.";

JobFunctions<MutantsOptions> job_functions(Ranks& /*ranks*/) {
    return {.command = "mutants",
            .input_column = "alignment",
            .numbers = {"target", "residues", "singles", "effective_sequences", "energy",
                        "energy_independent", "listed", "predicted"},
            .per_input = {"row", "focus", "target", "mutants", "sequences", "first-number",
                          "doubles", "initial", "weights"},
            .of_one_rank = "mutants of one family",
            .fields = [](MutantsOptions& options) { return result_fields(options); },
            .set_input = set_input<MutantsOptions>,
            .check = check_options,
            .input_files = [](const MutantsOptions& options) -> std::vector<std::string> {
                const std::filesystem::path model = model_file(options.alignment.path);
                return {model.empty() ? options.alignment.path : model.string()};
            },
            .run =
                [](MutantsOptions& options, const JobTask& task) {
                    check_options(options);
                    return compute_mutants(options, task);
                },
            .estimate = estimate_mutants};
}

/// Moves a table of mutants from --list to --mutants.
void take_table_from_list(MutantsOptions& options) {
    const std::string& list = options.jobs.list;
    if (list.empty() || is_read_once(list)) return;
    constexpr std::size_t kHeader = 4096;
    if (!mutants::is_mutant_table(ByteReader(list).peek(kHeader))) return;
    if (!options.table.empty())
        throw UsageError(fmt::format("--list {} is a table of mutants, too; give one", list));
    if (options.alignment.paths.size() > 1)
        throw UsageError(fmt::format(
            "--list {} is a table of mutants: expected one input, as it belongs to one, found {}",
            list, options.alignment.paths.size()));
    options.table = std::move(options.jobs.list);
    options.jobs.list.clear();
}

}  // namespace

Command mutants_command(CLI::App& program, Ranks& ranks) {
    CLI::App* parser = program.add_subcommand("mutants", kDescription);
    const auto options = std::make_shared<MutantsOptions>();
    parser->add_option("ALIGNMENT|RUN", options->alignment.paths,
                       "Alignment of the target's family, whose first row is the target; or the "
                       "folder of a run of 'pleat couplings', its couplings.npz, or a binary model "
                       "of plmc. Several are several jobs");
    add_fields(*parser, "Input", mutant_row_fields(*options));
    add_fields(*parser, "Input", mutant_file_fields(*options));
    add_fields(*parser, "Input", fields(options->alignment));
    add_run_options(*parser, options->run);
    add_estimate_option(*parser, options->run);
    add_job_options(*parser, options->jobs, false);
    add_fields(*parser, "Mutants", mutants::fields(options->parameters));
    add_fields(*parser, "Fit", mutant_fit_fields(*options));
    parser->footer(help_footer(std::string(kExamples) + kJobsHelp));
    return {.parser = parser,
            .run =
                [parser, options, &ranks](const std::vector<std::string>& arguments) {
                    take_table_from_list(*options);
                    run_jobs_or_one(*parser, *options, options->alignment.paths, arguments,
                                    job_functions, false, "an ALIGNMENT, a RUN or a --list of them",
                                    ranks);
                },
            .knows_ranks = true};
}

}  // namespace pleat::program
