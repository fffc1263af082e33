// Cluster input: an ensemble, a finished run of rmsd, or a matrix, as distances and structures.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "options/common_options.h"
#include "options/ensemble_options.h"
#include "options/run_estimate.h"
#include "options/symmetry_options.h"
#include "pleat/cluster/cluster.h"
#include "pleat/core/jobs/job_command.h"
#include "pleat/core/run/run_directory.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::program {

/// What is clustered.
struct ClusterInput {
    std::string name;                          ///< of the first source, for messages
    std::optional<cluster::KnownPairs> known;  ///< what an earlier run has listed of all pairs
    std::optional<Coordinates> coordinates;    ///< none if there is only a matrix
    EnsembleSource ensemble;                   ///< where these came from
    std::string remark;    ///< which device was chosen and why, if one was chosen
    bool reduces = false;  ///< the device counts and clusters pairs itself: see PairReductions

    // What distances_of() needs.
    std::filesystem::path matrix;  ///< empty: frames are superposed
    bool recomputes = false;       ///< pairs near a cutoff are recomputed from the coordinates
    rmsd::Parameters superposition;
    SymmetryOptions symmetry;  ///< asked for, or of the earlier run
    AtomGroups chains;         ///< with symmetry of chains
    AtomGroups orders;         ///< with symmetry of atoms or ligands
    bool in_place = false;     ///< frames are not superposed

    /// All atoms, their weights, and what is tried in all places for each pair.
    rmsd::AtomSets sets() const {
        rmsd::AtomSets all;
        all.weights = coordinates->weights;
        all.weights_file = ensemble.weights;
        all.equal_orders = orders;
        all.in_place = in_place;
        if (symmetry.is_of_pairs()) all.equal_chains = chains;
        return all;
    }
    /// Whether pairs are not those of superposed atoms as they are named.
    bool is_permuted() const { return symmetry.is_of_pairs() || in_place; }
};

/// Reads `ensemble`: a folder of a finished `pleat rmsd`, whose matrix is used (else its ensemble
/// is superposed again) and whose ensemble is found through its manifest; an .npy file of one or
/// two axes; or what `pleat rmsd` takes. Throws InputError, UsageError.
ClusterInput read_cluster_input(const EnsembleSource& ensemble, const rmsd::Parameters& parameters,
                                const SymmetryOptions& symmetry, RunDirectory& run,
                                const Context& context);

/// What clustering `ensemble`, as for read_cluster_input(), needs, and writing so many bytes per
/// frame and atom.
RunEstimate estimate_clustering(const EnsembleSource& ensemble,
                                const cluster::Parameters& parameters,
                                const rmsd::Parameters& superposition,
                                const SymmetryOptions& symmetry = {}, std::int64_t written = 0);

/// What superposing and clustering so many frames needs, by permutations or in place if `sets` say
/// so.
Estimate estimate_superposing(const EnsembleSize& size, const cluster::Parameters& parameters,
                              const rmsd::Parameters& superposition, const Context& context,
                              const rmsd::AtomSets& sets = {});

/// Chooses the device of the context for these parameters if frames are superposed. A collective
/// call. Throws InputError, DeviceError.
void choose_device(ClusterInput& input, const cluster::Parameters& parameters,
                   const RunOptions& options, const JobTask& task, Ranks& ranks, Context& context);

/// The distances of what was read, superposed when they are asked for on the context's device.
/// Throws InputError, DeviceError.
std::unique_ptr<PairSource> distances_of(const ClusterInput& input, const Context& context);

/// Copies what distances_of() needs from the leading rank to the others.
void share(ClusterInput& input, Ranks& ranks);

}  // namespace pleat::program
