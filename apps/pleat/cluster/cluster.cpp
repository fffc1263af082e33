// pleat cluster: groups of similar frames of an ensemble, or of items by a matrix of distances.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cluster/cluster_assign.h"
#include "cluster/cluster_run.h"
#include "commands.h"
#include "help/help_format.h"
#include "jobs/job_list.h"
#include "options/options.h"

namespace pleat::program {

namespace {

constexpr const char* kDescription =
    "Cluster the frames of an ensemble by their RMSD, or items by a matrix of distances.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat cluster md.xtc --topology protein.pdb --select backbone --cutoff 2.5 -o run\n"
    "  pleat cluster models.pdb.gz --select ca -m average --k 2:20 -o run --write-members 3\n"
    "  pleat cluster rmsd_run -m dbscan --cutoff 1.5 --min-neighbours 10 -o run\n"
    "  pleat cluster distances.npy -m kmedoids --k 8 -o run\n"
    "  pleat cluster md.xtc --topology protein.pdb -o runs --sweep cutoff=1.5,2,2.5\n"
    "  pleat cluster long.xtc --topology protein.pdb --assign run -o states\n"
    "  mpirun -n 4 pleat cluster md.xtc --topology protein.pdb --cutoff 2.5 -o run\n\n"
    "Input: an ensemble as for 'pleat rmsd'; the folder of a finished 'pleat rmsd'; or a matrix "
    "of\n"
    "distances, .npy, condensed as in SciPy or square. gromos, gmx, dbscan and density-peaks need\n"
    "no matrix, however many frames there are. Clusters and frames are counted from 0 in files,\n"
    "cluster 0 is the largest, and noise has the cluster -1.\n\n"
    "A run that was stopped or killed resumes if the same command is given again, also with\n"
    "another number of ranks. To cluster in several ways, run 'pleat rmsd' once and give its\n"
    "folder.";

JobFunctions<ClusterOptions> job_functions(Ranks& ranks) {
    return {.command = "cluster",
            .input_column = "ensemble",
            .joins_files = true,
            .uses_seed = true,
            .numbers = {"items", "clusters", "largest", "noise", "cutoff", "chosen", "silhouette",
                        "mean"},
            .fields = result_fields,
            .set_input = set_ensemble<ClusterOptions>,
            .prepare = choose_atoms,
            .check = check_job,
            .input_files = job_files,
            .run = [&ranks](
                       ClusterOptions& options,
                       const JobTask& task) { return make_clusters(options, task, ranks).summary; },
            .estimate =
                [](ClusterOptions& options, SharedInputs& inputs) {
                    choose_atoms(options);
                    check_job(options);
                    options.ensemble.inputs = &inputs;
                    if (options.has_assign()) return estimate_assignment(options);
                    return estimate_clustering(options.ensemble, options.parameters,
                                               options.superposition, options.symmetry,
                                               member_bytes(options.structures));
                }};
}

}  // namespace

Command cluster_command(CLI::App& program, Ranks& ranks) {
    CLI::App* parser = program.add_subcommand("cluster", kDescription);
    const auto options = std::make_shared<ClusterOptions>();
    parser->add_option(
        "INPUT", options->ensemble.sources,
        fmt::format("Folder of a finished 'pleat rmsd'; matrix .npy; or {}", kEnsembleFiles));
    add_fields(*parser, "Input", fields(options->ensemble));
    add_run_options(*parser, options->run, true);
    add_estimate_option(*parser, options->run);
    add_job_options(*parser, options->jobs, true);
    add_fields(*parser, "Clustering", cluster::fields(options->parameters));
    add_fields(*parser, "Clustering", {assign_field(*options), each_chain_field(*options)});
    add_fields(*parser, "Clustering", precision_field(*options));
    add_fields(*parser, "Clustering", fields(options->symmetry));
    add_fields(*parser, "Trajectory", fields(options->trajectory));
    add_fields(*parser, "Structures", fields(options->structures));
    parser->footer(help_footer(std::string(kExamples) + kJobsHelp));
    return {.parser = parser,
            .run =
                [parser, options, &ranks](const std::vector<std::string>& arguments) {
                    run_jobs_or_one(*parser, *options, options->ensemble.sources, arguments,
                                    job_functions, true, "an INPUT or a --list of inputs", ranks);
                },
            .knows_ranks = true};
}

}  // namespace pleat::program
