// Cluster run: one clustering from its options to the files of its run.
#pragma once

#include <string>
#include <vector>

#include "cluster_structures.h"
#include "common_options.h"
#include "ensemble_options.h"
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

/// Reads, clusters and writes the folder options.run.output; returns the summary for standard
/// output, empty on all ranks but the leading one. `shown` may be null. Throws every kind of Error.
std::string make_clusters(ClusterOptions& options, const std::vector<std::string>& arguments,
                          Ranks& ranks, Progress* shown);

}  // namespace pleat::program
