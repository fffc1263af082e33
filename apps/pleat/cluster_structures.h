// Cluster structures: medoids and members of clusters, superposed and written.
#pragma once

#include <string>
#include <vector>

#include "cluster_input.h"
#include "pleat/cluster/cluster.h"
#include "pleat/core/fields.h"
#include "pleat/core/run/run_directory.h"

namespace pleat::program {

struct StructureOutput {
    std::string format = "auto";  ///< "auto", "pdb", "cif", "none"
    std::string atoms;            ///< empty: those that were superposed
    std::int64_t members = 0;     ///< of so many clusters; -1: all
};
std::vector<Field> fields(StructureOutput& options);

/// Refuses atoms or members of structures of which none are written. UsageError.
void check_options(const StructureOutput& options);

/// Refuses before the work what would be refused after it: atoms that cannot be selected, and PDB
/// for what it cannot hold. UsageError, InputError.
void check_structures(const ClusterInput& input, const StructureOutput& options);

/// Writes medoids.pdb (or .cif), a model a cluster, each superposed onto that of the largest
/// cluster, and members-N.pdb of the clusters asked for, each on its medoid. Nothing without
/// coordinates. UsageError (atoms), InputError, OutputError, Cancelled.
void write_structures(RunDirectory& run, const ClusterInput& input, const cluster::Result& result,
                      const StructureOutput& options, const Context& context);

/// Writes NAME.pdb (or .cif): a model for each of `frames`, superposed onto the first of them. The
/// same conditions and errors.
void write_frames(RunDirectory& run, const std::string& name, const ClusterInput& input,
                  const std::vector<Index>& frames, const StructureOutput& options,
                  const Context& context);

}  // namespace pleat::program
