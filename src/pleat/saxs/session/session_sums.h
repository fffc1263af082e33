// Session sums: the sums over pairs of bodies of a session's chains.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/saxs/debye/body_pairs.h"

namespace pleat::saxs {

struct BodyPair {
    std::int32_t a = 0, b = 0;  ///< a <= b
};

struct ProposedPositions {
    Index chain = 0;
    View<const float, 2> xyz;           ///< [axis, sorted scatterer]
    std::span<const BodyPair> changed;  ///< the pairs of bodies whose sums change
};

/// The sums and profiles of some chains, accepted and proposed, in the host's memory. Not
/// thread-safe.
class SessionSums {
public:
    /// `self_terms` [chain, channel pair, q]: terms i = j; `scales` [chain, channel with scales,
    /// sorted scatterer], or empty. The model, `sorted` and `scales` must outlive it.
    SessionSums(const Model& model, const SortedScatterers& sorted,
                std::unique_ptr<BodyPairs> pairs, Array<double, 3> self_terms,
                View<const float, 3> scales);

    /// The partial profiles [proposal, channel pair, q] of proposals, at most one per chain, valid
    /// until the next call. Throws DeviceError, Cancelled.
    View<const double, 3> propose(std::span<const ProposedPositions> proposals);
    /// Accepts the last proposal of a chain. Proposals that are not accepted are dropped at the
    /// next one.
    void accept(Index chain);
    /// Computes all sums of a chain from its positions [axis, sorted scatterer].
    void refresh(Index chain, View<const float, 2> xyz);
    /// The accepted partial profiles [channel pair, q].
    View<const double, 2> profile(Index chain) const { return profiles_[chain]; }

private:
    /// The last proposal of a chain.
    struct Pending {
        std::vector<BodyPair> changed;
        std::vector<double> sums, profile;  ///< of the changed pairs; of the chain
    };

    Index size() const { return self_terms_.extent(1) * self_terms_.extent(2); }
    View<const float, 3> scales_of(Index chain) const;
    std::int64_t pair_bytes(std::int32_t a, std::int32_t b) const;
    void require_memory_for(const std::vector<PairJob>& jobs) const;
    void evaluate(std::span<const ProposedPositions> proposals);
    double* sums_of(Index chain, const BodyPair& pair);

    const Model& model_;
    const SortedScatterers& sorted_;
    std::unique_ptr<BodyPairs> pairs_;
    Index bodies_;
    View<const float, 3> scales_;
    Array<double, 3> self_terms_, profiles_;  ///< [chain, channel pair, q]
    Array<double, 3> sums_;                   ///< [chain, pair of bodies, channel pair and q]
    std::vector<Pending> pending_;
    std::vector<PairJob> jobs_;
    Array<double, 3> new_sums_, proposed_;  ///< [pair of bodies that changed; proposal] of a call
    Array<float, 3> sent_, sent_scales_;    ///< of a call of several proposals
    std::int64_t max_pair_bytes_ = 0;
};

/// Maximum bytes of a batch of sums with their pieces, unless one pair needs more.
inline constexpr std::int64_t kBatchBytes = std::int64_t{64} << 20;

}  // namespace pleat::saxs
