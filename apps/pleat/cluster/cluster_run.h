// Cluster run: one clustering from its options to the files of its run.
#pragma once

#include <string>
#include <vector>

#include "cluster/cluster_input.h"
#include "cluster/cluster_structures.h"
#include "cluster/cluster_trajectory.h"
#include "jobs/job_list.h"
#include "options/common_options.h"
#include "options/ensemble_options.h"
#include "pleat/cluster/cluster.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::program {

/// All options of `pleat cluster`.
struct ClusterOptions {
    RunOptions run;
    EnsembleSource ensemble;
    cluster::Parameters parameters;
    rmsd::Parameters superposition;
    SymmetryOptions symmetry;
    TrajectoryOptions trajectory;
    StructureOutput structures;
    std::string assign;  ///< a file of medoids or a finished run; empty: clusters are found
    JobListOptions jobs;

    bool has_assign() const { return !assign.empty(); }
};
/// Ligands are compared by their heavy atoms unless others are selected.
void choose_atoms(ClusterOptions& options);
Field each_chain_field(ClusterOptions& options);
/// The option of `pleat rmsd` that says how exactly frames are superposed.
std::vector<Field> precision_field(ClusterOptions& options);
/// The options on which results depend, in the order of the manifest.
std::vector<Field> result_fields(ClusterOptions& options);

struct ClusterOutcome {
    cluster::Result result;
    std::string summary;  ///< for standard output; empty on all ranks but the leading one
};

/// Reads, clusters and writes the folder options.run.output. `read`: input that was read before,
/// with coordinates; or null. Throws every kind of Error.
ClusterOutcome make_clusters(ClusterOptions& options, const JobTask& task, Ranks& ranks,
                             ClusterInput* read = nullptr);
/// Throws if options exclude each other or a file is missing.
void check_job(const ClusterOptions& options);
/// The files of the input: none if it is a finished run, whose manifest lists them.
std::vector<std::string> job_files(const ClusterOptions& options);

}  // namespace pleat::program
