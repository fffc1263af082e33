// Cluster run: one clustering from its options to the files of its run.
#pragma once

#include <string>
#include <vector>

#include "cluster/cluster_input.h"
#include "cluster/cluster_structures.h"
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
    StructureOutput structures;
};
/// The option of `pleat rmsd` that says how exactly frames are superposed.
std::vector<Field> precision_field(ClusterOptions& options);
/// The options on which results depend, in the order of the manifest.
std::vector<Field> result_fields(ClusterOptions& options);

struct ClusterOutcome {
    cluster::Result result;
    std::string summary;  ///< for standard output; empty on all ranks but the leading one
};

/// Reads, clusters and writes the folder options.run.output. `shown` may be null. `read`: input
/// that was read before, with coordinates; or null. Throws every kind of Error.
ClusterOutcome make_clusters(ClusterOptions& options, const std::vector<std::string>& arguments,
                             Ranks& ranks, Progress* shown, ClusterInput* read = nullptr);

}  // namespace pleat::program
