// Curve fit: the scatterers of a chain model, what the targets of mode `fit` share, and the target
// of one conformation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/notes.h"
#include "pleat/saxs/debye/debye.h"
#include "pleat/saxs/session/profile_session.h"
#include "pleat/saxs/session/session_sums.h"
#include "pleat/workflows/refine/chain/chain_model.h"
#include "pleat/workflows/refine/fit/curve_likelihood.h"
#include "pleat/workflows/refine/moves/moves.h"
#include "pleat/workflows/refine/refine.h"
#include "pleat/workflows/refine/sampling/sampler.h"

namespace pleat::refine {

/// Two beads per residue and sites of the hydration layer. The sites are found once, in an open
/// conformation, and move with their atoms, so that a conformation has one profile.
struct ProfileModel {
    /// The atoms of a scatterer in one piece, at their centre in the start structure.
    struct Share {
        Index scatterer = 0, piece = 0;
        Vector centre;
        double weight = 1;  ///< mass divided by the scatterer's
    };

    /// The scatterers of a piece, and their positions in the start structure.
    struct PieceScatterers {
        std::vector<Index> scatterers;
        Coordinates places;

        /// Writes the scatterers' positions after a move of the piece.
        void write(const Transform& move, float* x, float* y, float* z) const {
            write_moved(move, places, 0, scatterers.size(), x, y, z);
        }
    };

    saxs::Model model;  ///< channels: net amplitudes, hydration
    Index beads = 0, sites = 0;
    Array<float, 2> scales;                            ///< [row of scales, scatterer]
    std::vector<std::int32_t> bodies;                  ///< [scatterer]
    std::vector<Share> shares;                         ///< by scatterer
    std::vector<PieceScatterers> scatterers_of_piece;  ///< [piece]: scatterers in that piece alone
    std::vector<std::size_t> mixed;  ///< the first shares of scatterers in several pieces
    /// With a GPU: the object that computes the profiles of all conformations on it.
    std::shared_ptr<saxs::SharedGpu> gpu;

    /// Positions [axis, scatterer] in a conformation.
    void write(const Conformation& conformation, View<float, 2> positions) const;
    /// The position of the scatterer whose shares begin there.
    Vector position(const Conformation& conformation, std::size_t first_share) const {
        const Share& share = shares[first_share];
        Vector at = share.weight * conformation.piece(share.piece)(share.centre);
        for (std::size_t n = first_share + 1;
             n < shares.size() && shares[n].scatterer == share.scatterer; ++n)
            at = at + shares[n].weight * conformation.piece(shares[n].piece)(shares[n].centre);
        return at;
    }
};

/// `open`: the conformation in which the hydration layer is found. Throws InputError for residues
/// without beads.
ProfileModel make_profile_model(const ChainModel& chain, const Conformation& open,
                                const std::vector<double>& q, const Context& context);

/// Conformations whose proposals are computed in one call of a ProfileSession: several on a GPU,
/// which one alone would not fill. Not thread-safe.
class ProfileBatch {
public:
    /// The model must outlive it.
    ProfileBatch(const ProfileModel& model, Index conformations, const Device& device);

    /// Sets a conformation's state. All must be set before the first profile.
    void start(Index conformation, const Conformation& at);
    /// Queues a proposal, which the next call of begin() or proposed_profile() computes with all
    /// queued ones.
    void propose(Index conformation, const Conformation& proposed);
    /// Starts computing the queued proposals; on a GPU it returns before they are finished.
    void begin();
    /// Partial profiles [channel pair, q] of a proposal; valid until the next computation.
    View<const double, 2> proposed_profile(Index conformation);
    View<const double, 2> profile(Index conformation);
    void accept(Index conformation);
    /// Drops a proposal, without waiting for it if it is not computed yet.
    void reject(Index conformation);

private:
    struct NotedProposal {
        std::vector<Index> moved;                              ///< scatterers
        std::vector<float> xyz;                                ///< [axis, index into `moved`]
        std::vector<std::pair<std::size_t, Transform>> turns;  ///< pieces that moved
        Index number_in_call = -1;  ///< its number in the last call; -1: nothing moved
        bool is_queued = false;

        View<const float, 2> positions() const { return {xyz.data(), Index{3}, moved.size()}; }
    };
    saxs::ProfileSession& session();
    /// Waits for what was begun.
    void finish();

    const ProfileModel* model_;
    Context context_;
    Array<float, 3> xyz_;  ///< [conformation, axis, scatterer], with which the session starts
    std::vector<std::vector<Transform>> pieces_;  ///< [conformation][piece], accepted
    std::vector<NotedProposal> proposals_;        ///< [conformation]
    std::vector<std::uint8_t> has_moved_;         ///< [piece], of a proposal
    std::vector<std::size_t> moved_shares_;       ///< as ProfileModel::mixed, those that moved
    std::vector<saxs::Move> moves_;               ///< of the last call
    std::optional<saxs::ProfileSession> session_;
    View<const double, 3> computed_profiles_;
    bool has_begun_computing_ = false;  ///< and proposed_profile() must wait for the end
};

/// The target of a conformation: ln w = -overlap energy + beta ln L(profile). Overlaps are found
/// first; the profile of a conformation that they exclude is not computed.
class CurveTarget final : public SamplingTarget {
public:
    /// `in_batch`: the number of its conformation in `profiles`. The likelihood must outlive it.
    CurveTarget(const ChainModel& chain, std::shared_ptr<ProfileBatch> profiles, Index in_batch,
                const CurveLikelihood& likelihood);

    void start(const Conformation& at) override;
    bool prepare(const Conformation& proposed) override;
    void begin() override { profiles_->begin(); }
    double prepared_log_weight() override;
    void accept() override;
    void reject() override { profiles_->reject(in_batch_); }
    void set_beta(double beta) override { beta_ = beta; }
    double accepted_log_weight() override { return -energy_ + beta_ * log_likelihood(); }
    double log_likelihood() override;
    CurveFit fit() override { return likelihood_->fit(profiles_->profile(in_batch_)); }
    ResidualTest residual_test() override {
        return likelihood_->residual_test(profiles_->profile(in_batch_));
    }

private:
    Sterics sterics_;
    std::shared_ptr<ProfileBatch> profiles_;
    const CurveLikelihood* likelihood_;
    Index in_batch_;
    double energy_ = 0, pending_energy_ = 0;  ///< of overlaps
    double log_likelihood_ = 0, pending_log_likelihood_ = 0;
    bool is_known_ = false;  ///< log_likelihood_
    double beta_ = 1;
};

/// Number of points of the q grid from 0 to `q_max` for the profiles of moves.
Index grid_points(double q_max, double extent);

/// Data for curve fits that is made once per run. `chain` must outlive it and its targets.
class CurveFitSetup {
public:
    /// Throws InputError for a curve with fewer points up to q_max than parameters are fitted.
    CurveFitSetup(const ChainModel& chain, const Moves& moves, const CurveInput& input,
                  const Parameters& parameters, const Context& context);

    /// The targets of conformations that are computed together.
    TargetBatch make_targets(Index conformations) const;

    Notes notes;

private:
    const ChainModel* chain_;
    Device device_;
    ProfileModel model_;
    std::optional<CurveLikelihood> likelihood_;
};

}  // namespace pleat::refine
