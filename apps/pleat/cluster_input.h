// Cluster input: an ensemble, a finished run of rmsd, or a matrix, as distances and structures.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common_options.h"
#include "ensemble_options.h"
#include "pleat/cluster/distances/distances.h"
#include "pleat/core/run/run_directory.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::program {

/// What is clustered.
struct ClusterInput {
    std::string name;  ///< of the first source, for messages
    std::unique_ptr<cluster::Distances> distances;
    std::optional<Coordinates> coordinates;  ///< none with a matrix alone
    EnsembleSource ensemble;                 ///< where these came from
    std::string remark;                      ///< which device was chosen and why, where one was
};

/// Reads `ensemble`: a folder of a finished `pleat rmsd`, whose matrix is taken (else its ensemble
/// is superposed again) and whose ensemble is found through its manifest; an .npy of one or two
/// axes; or what `pleat rmsd` takes. Settles the context's device for what `method` needs of it.
/// InputError, UsageError, DeviceError.
ClusterInput read_cluster_input(const EnsembleSource& ensemble, const rmsd::Parameters& parameters,
                                const std::string& method, const RunOptions& options,
                                RunDirectory& run, Context& context);

}  // namespace pleat::program
