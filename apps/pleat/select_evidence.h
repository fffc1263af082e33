// Select evidence: what the stages found, frame by frame.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cluster_input.h"
#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/structure/structure.h"
#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/run/run_directory.h"
#include "pleat/select/contacts.h"
#include "select_options.h"

namespace pleat::program {

/// Of clusters: what the stage's files tell.
struct ClusterFiles {
    std::vector<std::int32_t> assignment;  ///< [frame]
    std::vector<Index> medoids;            ///< [cluster]
    double cutoff;                         ///< NaN: the method had none
};
/// InputError where the folder's files are not those of `frames` frames.
ClusterFiles read_clusters(const std::filesystem::path& folder, Index frames);

/// chi^2 of each frame, from the folder of a run of saxs. InputError.
std::vector<double> read_chi2(const std::filesystem::path& folder, Index frames);

/// The contacts that `--contacts` or the stage of couplings names: a file of CASP's RR, or the
/// folder of a run. InputError.
PredictedContacts read_predicted(const std::string& source);

/// The structure that tells residues apart: the topology, else the first file. InputError where the
/// ensemble's atoms have no names.
Structure read_residues(const EnsembleReader& reader, const EnsembleSource& ensemble);

/// [frame, contact]: 1 where it is formed. Cancelled, DeviceError (memory), InputError.
Array<std::uint8_t, 2> satisfied_contacts(EnsembleReader& reader, Index frames,
                                          const std::vector<select::ExpectedContact>& contacts,
                                          double cutoff, const Context& context);

/// Of each frame the share of the others that are nearer than `cutoff` angstrom. Cancelled.
std::vector<double> densities(const PairSource& distances, double cutoff, const Context& context);

}  // namespace pleat::program
