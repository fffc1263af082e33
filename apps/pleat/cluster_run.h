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
/// How pairs are superposed, of all that `pleat rmsd` offers.
std::vector<Field> precision_field(ClusterOptions& options);
/// The options that decide what is computed, in the manifest's order.
std::vector<Field> result_fields(ClusterOptions& options);

/// Reads, clusters and writes the folder options.run.output; returns the summary for standard
/// output. `shown` may be null. Every kind of Error.
std::string make_clusters(ClusterOptions& options, const std::vector<std::string>& arguments,
                          Progress* shown);

}  // namespace pleat::program
