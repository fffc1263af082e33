// pleat saxs: scattering profiles of structures and ensembles, fitted to measured curves.
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "help/help_format.h"
#include "jobs/job_list.h"
#include "options/options.h"
#include "pleat/core/error.h"
#include "pleat/core/hardware/instruction_set.h"
#include "pleat/core/terminal/progress_terminal.h"
#include "process/ranks.h"
#include "process/standard_output.h"
#include "saxs/saxs_run.h"

namespace pleat::program {

namespace {

constexpr const char* kDescription =
    "Compute small angle scattering profiles (X-rays, neutrons) of structures, and fit them to "
    "curves.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat saxs protein.pdb -o run --data curve.dat\n"
    "  pleat saxs protein.cif.gz -o run --q-points 501 --q-max 0.5 --c2 1\n"
    "  pleat saxs run.xtc --topology protein.pdb -o run --data curve.dat --frames 100::10\n"
    "  pleat saxs models/ -o run --model two-bead --data curve.dat --max-members 4\n"
    "  pleat saxs complex.pdb -o run --neutrons --d2o 0.42 --deuterate B:0.75\n"
    "  pleat saxs protein.pdb -o run --data xray.dat --series h2o.dat:0,d2o.dat:0.99\n\n"
    "Several files, folders, and lists (@FILE, one path per line) are one ensemble, which must\n"
    "have the same atoms. Frames count from 0. Selections: protein, heavy, name CA CB, resid 10 "
    "to\n"
    "50, chain A, within 5 of resname HEM, A:10-50, joined by and, or, not and parentheses\n"
    "(docs/selections.md).\n\n"
    "A curve has columns q, intensity and error, with any titles and footers. If there are "
    "several\n"
    "frames, their mean is fitted, then the smallest ensembles that suffice, and the weights of\n"
    "all frames.\n\n"
    "The same command resumes a run that was stopped or killed: finished profiles are kept.";

JobFunctions<SaxsOptions> job_functions(Ranks& ranks) {
    return {
        .command = "saxs",
        .input_column = "structure",
        .joins_files = true,
        .numbers = {"frames", "rg", "i0", "dmax", "c1", "c2", "chi2", "chi2_reduced",
                    "match_point"},
        .fields = result_fields,
        .set_input = set_ensemble<SaxsOptions>,
        .check = check_job,
        .input_files = files_of_ensemble<SaxsOptions>,
        .run = [&ranks](SaxsOptions& options,
                        const JobTask& task) { make_profiles(options, task, ranks); },
        .estimate = [](SaxsOptions& options, SharedInputs&) { return estimate_profiles(options); }};
}

void run_saxs(const CLI::App& parser, SaxsOptions& options,
              const std::vector<std::string>& arguments, Ranks& ranks) {
    const std::vector<std::string>& sources = options.ensemble.sources;
    if (options.jobs.is_used() || ranks.caller() != nullptr)
        return run_job_list(parser, options, sources, arguments, job_functions(ranks.alone()),
                            ranks);
    if (sources.empty())
        throw UsageError("give a STRUCTURE or a --list of structures; see 'pleat help saxs'");
    restrict_instruction_set_by_environment();
    install_interrupt_handler();
    if (options.run.estimate)
        return print_estimate(options, sources.front(), job_functions(ranks), ranks);
    const std::unique_ptr<Progress> shown = ranks.progress(options.run.quiet);
    const std::string summary =
        make_profiles(options, {.arguments = arguments, .shown = shown.get()}, ranks).summary;
    if (!options.run.quiet && !summary.empty()) print(summary);
}

}  // namespace

Command saxs_command(CLI::App& program, Ranks& ranks) {
    CLI::App* parser = program.add_subcommand("saxs", kDescription);
    const auto options = std::make_shared<SaxsOptions>();
    parser->add_option("STRUCTURE", options->ensemble.sources,
                       "PDB, mmCIF or GRO of one or many models, DCD, XTC, TRR, AMBER NetCDF; "
                       "folders; @LIST");
    add_fields(*parser, "Input", input_fields(*options));
    add_fields(*parser, "Curve", curve_fields(*options));
    add_run_options(*parser, options->run);
    add_estimate_option(*parser, options->run);
    add_job_options(*parser, options->jobs, true);
    add_fields(*parser, "Profile", saxs::fields(options->parameters));
    parser->footer(help_footer(std::string(kExamples) + kJobsHelp));
    return {.parser = parser,
            .run =
                [parser, options, &ranks](const std::vector<std::string>& arguments) {
                    run_saxs(*parser, *options, arguments, ranks);
                },
            .knows_ranks = true};
}

}  // namespace pleat::program
