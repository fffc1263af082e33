// pleat saxs: scattering profiles of structures and ensembles, fitted to measured curves.
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "help/help_format.h"
#include "jobs/job_list.h"
#include "options/options.h"
#include "process/ranks.h"
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
        .run = [&ranks](
                   SaxsOptions& options,
                   const JobTask& task) { return make_profiles(options, task, ranks).summary; },
        .estimate = [](SaxsOptions& options, SharedInputs&) { return estimate_profiles(options); }};
}

}  // namespace

Command saxs_command(CLI::App& program, Ranks& ranks) {
    CLI::App* parser = program.add_subcommand("saxs", kDescription);
    const auto options = std::make_shared<SaxsOptions>();
    parser->add_option(
        "STRUCTURE", options->ensemble.sources,
        "PDB, mmCIF, GRO, MOL2 or XYZ of one or many models, DCD, XTC, TRR, AMBER NetCDF; "
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
                    run_jobs_or_one(*parser, *options, options->ensemble.sources, arguments,
                                    job_functions, true, "a STRUCTURE or a --list of structures",
                                    ranks);
                },
            .knows_ranks = true};
}

}  // namespace pleat::program
