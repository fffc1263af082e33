// pleat refine: conformations of rigid domains on flexible linkers, and those that fit a curve.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "help/help_format.h"
#include "jobs/job_list.h"
#include "options/options.h"
#include "pleat/core/error.h"
#include "process/ranks.h"
#include "refine/refine_run.h"

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
    "  pleat refine domains.pdb --sequence protein.fasta --data curve.dat -o run\n"
    "  pleat refine one.pdb two.pdb --join --sequence protein.fasta -o run\n"
    "  pleat refine dimer.cif --linkers A:1-15,B:1-15 --group A:16-180,B:16-180 -o run\n"
    "  pleat refine protein.pdb --linkers A:289-301 --data curve.dat --mode fit -o run\n"
    "  pleat refine start1.pdb start2.pdb --linkers A:225-242 -o runs --sweep seed=1,2,3\n"
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

JobFunctions<RefineOptions> job_functions(Ranks& ranks) {
    return {
        .command = "refine",
        .input_column = "structure",
        .uses_seed = true,
        .numbers = {"frames", "angles", "domains", "converged", "residuals_are_noise"},
        .per_input = {"pae", "sequence"},
        .fields = [](RefineOptions& options) { return result_fields(options); },
        .set_input = set_ensemble<RefineOptions>,
        .prepare = choose_mode,
        .check = [](const RefineOptions& options) { check_job(options); },
        .input_files = files_of_ensemble<RefineOptions>,
        .run = [&ranks](RefineOptions& options,
                        const JobTask& task) { return make_frames(options, task, ranks); },
        .estimate = [](RefineOptions& options, SharedInputs&) { return estimate_frames(options); }};
}

}  // namespace

Command refine_command(CLI::App& program, Ranks& ranks) {
    CLI::App* parser = program.add_subcommand("refine", kDescription);
    const auto options = std::make_shared<RefineOptions>();
    parser->add_option(
        "STRUCTURE", options->ensemble.sources,
        "PDB or mmCIF file; of several models the first, or all if they hold different "
        "domains of the --sequence");
    add_fields(*parser, "Input", input_fields(*options));
    add_fields(*parser, "Sampling", refine::fields(options->parameters));
    add_fields(*parser, "Curve", refined_curve_fields(*options));
    add_run_options(*parser, options->run, true);
    add_estimate_option(*parser, options->run);
    add_job_options(*parser, options->jobs, false);
    add_fields(*parser, "Clusters", frame_cluster_fields(*options));
    add_fields(*parser, "Profile", frame_profile_fields(*options));
    parser->footer(help_footer(std::string(kExamples) + kJobsHelp));
    return {.parser = parser,
            .run =
                [parser, options, &ranks](const std::vector<std::string>& arguments) {
                    if (options->join && options->jobs.is_used())
                        throw UsageError(
                            "--join makes one run of its structures: leave out --list, --sweep and "
                            "--share");
                    run_jobs_or_one(*parser, *options, options->ensemble.sources, arguments,
                                    job_functions, options->join,
                                    "a STRUCTURE or a --list of structures", ranks);
                },
            .knows_ranks = true};
}

}  // namespace pleat::program
