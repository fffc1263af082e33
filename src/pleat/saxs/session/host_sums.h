// Host sums: the sums over pairs of bodies of chains in the host's memory.
#pragma once

#include <memory>
#include <vector>

#include "pleat/saxs/debye/body_pairs.h"
#include "pleat/saxs/session/session_sums.h"

namespace pleat::saxs {

/// Sums that any BodyPairs computes.
class HostSums final : public SessionSums {
public:
    /// `self_terms` [chain, channel pair, q]: terms i = j; `scales` [chain, channel with scales,
    /// sorted scatterer], or empty. The model, `sorted` and `scales` must outlive it.
    HostSums(const Model& model, const SortedScatterers& sorted, std::unique_ptr<BodyPairs> pairs,
             Array<double, 3> self_terms, View<const float, 3> scales);

    void start(std::span<const Proposal> proposals) override;
    View<const double, 3> finish() override { return found_; }
    void accept(Index chain) override;
    void refresh(Index chain, View<const float, 2> xyz) override;
    void adopt(Index chain, const SessionSums& from) override;
    View<const double, 2> profile(Index chain) const override { return profiles_.view()[chain]; }

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
    void evaluate(std::span<const Proposal> proposals);
    double* sums_of(Index chain, const BodyPair& pair) {
        return &sums_(chain, channel_pair(pair.a, pair.b, bodies_), 0);
    }

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
    View<const double, 3> found_;           ///< of the last call
    Array<float, 3> sent_, sent_scales_;    ///< of a call of several proposals
    std::int64_t max_pair_bytes_ = 0;
};

}  // namespace pleat::saxs
