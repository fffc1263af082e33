// Cluster assignment: frames of an ensemble given to the medoids of another one.
#pragma once

#include <string>

#include "cluster/cluster_input.h"
#include "cluster/cluster_run.h"
#include "cluster/cluster_trajectory.h"
#include "options/run_estimate.h"
#include "pleat/cluster/cluster.h"
#include "pleat/core/context.h"
#include "pleat/core/run/run_directory.h"

namespace pleat::program {

Field assign_field(ClusterOptions& options);

/// Throws UsageError for options that mean nothing if clusters are given.
void check_assign_options(const ClusterOptions& options);

/// The result_fields() on which an assignment depends.
std::vector<Field> assign_result_fields(ClusterOptions& options);

/// The files that --assign names, for the inputs of a job.
std::vector<std::string> medoid_files(const std::string& assign);

struct AssignedFrames {
    cluster::Result result;
    ClusterInput medoids;
    Trajectory trajectory;
};
/// Reads the medoids that options.assign names, then the frames, block by block, and gives each to
/// the nearest medoid; writes distances.tsv. Ranks read blocks in turn; the result is that of the
/// leading one, the only one that has a `run`. A collective call. Throws UsageError, InputError
/// (atoms that differ), OutputError, Cancelled.
AssignedFrames assign_frames(const ClusterOptions& options, RunDirectory* run, Ranks& ranks,
                             const Context& context);

/// What an assignment needs.
RunEstimate estimate_assignment(const ClusterOptions& options);

}  // namespace pleat::program
