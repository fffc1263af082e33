// Select: the conformations of an ensemble ranked by contacts, clusters, scattering and scores.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/cluster/cluster.h"
#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"

#pragma GCC visibility push(default)

namespace pleat {
struct Alignment;
struct PredictedContacts;
struct Profile;
}  // namespace pleat

namespace pleat::select {

/// The options of a selection.
struct Parameters {
    /// How frames are clustered. If the method needs a cutoff and has none: usual_cutoff().
    cluster::Parameters clustering = {};
    double contact_weight = 1, cluster_weight = 1, curve_weight = 1, score_weight = 1;
    double contact_cutoff = 8;        ///< angstrom
    double contacts_per_residue = 1;  ///< expected contacts per residue of the sequence
    std::int64_t min_size = 3;        ///< frames that a selected cluster has at least
    std::int64_t max_clusters = 5;    ///< clusters to select
};
/// All options but those of the clustering.
std::vector<Field> fields(Parameters& parameters);
/// The options of clustering that `select` offers.
std::vector<Field> clustering_fields(Parameters& parameters);

/// d0 of the TM-score, 1.24 (L - 15)^(1/3) - 1.8 angstrom for L residues, at least 1: Zhang and
/// Skolnick, Proteins 57:702 (2004).
double usual_cutoff(Index residues);

/// The input of a selection. The pointers must outlive the call; each except `ensemble` may be
/// null.
struct Input {
    /// With contacts it must hold the CB and CA atoms, and with a curve all atoms.
    const Ensemble* ensemble = nullptr;
    std::vector<Index> superposed = {};           ///< atoms of the ensemble, ascending; empty: all
    const Alignment* alignment = nullptr;         ///< of proteins; couplings are fitted to it
    const PredictedContacts* contacts = nullptr;  ///< expected instead of fitted couplings
    const Profile* curve = nullptr;               ///< each frame is fitted to it
    /// Whether the score that ranks the ensemble's frames is used as evidence.
    bool uses_score = false;
    /// PDB or mmCIF file that names the residues of expected contacts; empty: the file that named
    /// the atoms of the ensemble.
    std::filesystem::path structure = {};
    /// Whether the user named the context's device. If not, each stage may choose a GPU.
    bool device_is_named = true;
};

/// Two residues that are expected to be in contact, and the two atoms whose distance decides.
struct ExpectedContact {
    Index i = 0, j = 0;            ///< residues of the predicted sequence, from 1
    std::string name_i, name_j;    ///< "ALA 52A" of the structure
    Index atom_i = 0, atom_j = 0;  ///< indices of the ensemble's atoms
    double strength = 0;           ///< probability
};

/// The contacts that are expected of the ensemble.
struct ExpectedContacts {
    std::vector<ExpectedContact> contacts;  ///< the most probable first
    std::string chain;                      ///< chain of the structure that the sequence fits best
    double identity = 0;                    ///< share of aligned letters that are identical
    Index mapped_residues = 0;  ///< residues of the sequence that are aligned to one of the chain
    Index pairs_without_atoms =
        0;  ///< pairs among the most probable for which the structure has no atoms
};

/// Scores of each frame. Ranks are relative to all frames, from 0 (worst) to 1 (best); equal values
/// share the mean rank.
struct Scores {
    std::vector<double> contacts;  ///< share of the strength of all contacts that is formed
    std::vector<double> unexplained_share;  ///< the same of contacts that the first selected
                                            ///< cluster does not explain
    std::vector<double> contact_rank, cluster_rank, curve_rank, score_rank;
    std::vector<double> joint_rank;  ///< weighted mean of the ranks
    std::vector<Index>
        position;  ///< from 1, the highest `joint_rank`; of equal ones the first frame
};

/// The evidence for one cluster: medians over its frames. NaN: not known.
struct ClusterSummary {
    std::int32_t cluster = 0;
    Index size = 0;
    Index selected = 0;     ///< position among the selected clusters, from 1; 0 for others
    Index best_frame = 0;   ///< its frame with the best position
    double joint_rank = 0;  ///< of Scores
    double joint_rank_when_selected = 0;  ///< median by which it was selected; NaN for others
    double contacts = 0, unexplained_share = 0, density = 0, chi2 = 0, min_chi2 = 0;
    /// Fraction of strength explained by this cluster and none before; NaN if it is not selected.
    double added = 0;
};

struct Result {
    Scores scores;
    std::vector<ClusterSummary> clusters;    ///< the selected in their order, then by `joint_rank`
    ExpectedContacts expected;               ///< empty without contacts
    Array<std::uint8_t, 2> formed_contacts;  ///< [frame, contact]: 1 if the frame forms it
    std::vector<Index> explained_by;  ///< [contact]: position of the first selected cluster that
                                      ///< explains it, 0 for none
    std::vector<std::int32_t> assignment;  ///< [frame]: cluster from 0, or -1 for noise
    std::vector<Index> medoids;            ///< [cluster]: frame
    std::vector<double> density;           ///< [frame]: share of the other frames below `cutoff`
    std::vector<double> chi2;              ///< [frame]: of the curve; empty without one
    std::vector<float> rmsd;  ///< [frame]: from the medoid of the first selected cluster, angstrom;
                              ///< empty if none is selected
    double cutoff = 0;        ///< angstrom, of clusters and density
};

/// Ranks frames and selects clusters one after another. The first cluster has the highest median
/// joint score. Each further cluster is selected likewise among the remaining clusters, counting
/// only contacts that no selected cluster explains, so that the first fold does not hide a second
/// one. README.md gives the formulas. The engines compute couplings, clusters and profiles. Throws
/// UsageError (options, no evidence besides the clusters), InputError (an ensemble whose atoms have
/// no names or that is not a protein of the family, no contact between its residues), DeviceError
/// (memory, device) and Cancelled.
Result run(const Input& input, const Parameters& parameters, const Context& context);

}  // namespace pleat::select

#pragma GCC visibility pop
