// Stages: the computations of the engines that a selection is made from, and how to replace them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pleat/bio/structure/casp_contacts.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/couplings/contacts/contact_list.h"
#include "pleat/couplings/couplings.h"
#include "pleat/saxs/saxs.h"
#include "pleat/workflows/select/select.h"

namespace pleat::select {

/// The clustering results that a selection uses.
struct Clusters {
    std::vector<std::int32_t> assignment;  ///< [frame]
    std::vector<Index> medoids;            ///< [cluster]
    std::optional<double> cutoff;          ///< nothing if the method had none
};
Clusters clusters_of(const cluster::Result& result);

/// Computes each stage in memory, with the engines. The program derives from this to keep results
/// in folders and to use them again.
class Stages {
public:
    explicit Stages(bool device_is_named) : device_is_named_(device_is_named) {}
    virtual ~Stages() = default;
    Stages(const Stages&) = delete;
    Stages& operator=(const Stages&) = delete;

    /// chi^2 of each frame.
    virtual std::vector<double> fit_frames(const Ensemble& ensemble, const Profile& curve,
                                           const Context& context);
    /// `xyz` [frame, atom, axis]: the atoms to superpose.
    virtual Clusters cluster_frames(View<const float, 3> xyz, const cluster::Parameters& parameters,
                                    const Context& context);
    /// The contacts that couplings predict. `row`: name of the alignment row whose residues are
    /// numbered; empty: the first row.
    virtual PredictedContacts fit_couplings(const Alignment& alignment, const std::string& row,
                                            const Context& context);

private:
    bool device_is_named_;
};

/// Each frame is fitted by itself: weights of several frames are not computed.
saxs::Parameters frame_fit_parameters();
/// Scores are wanted, the model is not.
couplings::Parameters score_parameters();

/// chi^2 of each frame, rounded as in profile files, so that a selection from stored files gives
/// the same ranks.
std::vector<double> frame_chi2(const saxs::Result& result);

/// The pairs with a probability, rounded as in contact files. Throws InputError if there are none,
/// as in families with few sequences.
PredictedContacts predicted_contacts(const Alignment& alignment, const ReferenceRow& reference,
                                     std::span<const couplings::RankedPair> pairs);

/// Does the same as run(), with the caller's stages.
Result run(const Input& input, const Parameters& parameters, const Context& context,
           Stages& stages);

}  // namespace pleat::select
