// Session sums: the sums over pairs of bodies of chains in the host's memory.
#include "pleat/saxs/session/session_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "pleat/core/hardware/memory.h"

namespace pleat::saxs {

namespace {

/// The first `count` entries of an array that grows, losing its elements, if it is too short.
template <class T>
View<T, 3> reserve(Array<T, 3>& array, Index count, Index rows, Index columns) {
    if (array.extent(0) < count) array = Array<T, 3>::unset(count, rows, columns);
    View<T, 3> first = array.view();
    first.extents[0] = count;
    return first;
}

/// Sums in host memory, computed by any BodyPairs.
class HostSums final : public SessionSums {
public:
    /// `self_terms` [chain, channel pair, q]: terms i = j; `scales` [chain, channel with scales,
    /// sorted scatterer], or empty. The model, `sorted` and `scales` must outlive it.
    HostSums(const Model& model, const SortedScatterers& sorted, std::unique_ptr<BodyPairs> pairs,
             Array<double, 3> self_terms, View<const float, 3> scales)
        : model_(model),
          sorted_(sorted),
          pairs_(std::move(pairs)),
          bodies_(std::ssize(sorted.first_segment) - 1),
          scales_(scales),
          self_terms_(std::move(self_terms)),
          profiles_(self_terms_),
          sums_(profiles_.extent(0), bodies_ * (bodies_ + 1) / 2, size()),
          pending_(profiles_.extent(0)) {
        for (std::int32_t body = 0; body < bodies_; ++body)
            max_pair_bytes_ = std::max(max_pair_bytes_, pair_bytes(body, body));
    }

    void start(std::span<const ProposedPositions> proposals) override {
        const Index count = std::ssize(proposals);
        jobs_.clear();
        for (Index n = 0; n < count; ++n)
            for (const BodyPair& pair : proposals[n].changed)
                jobs_.push_back({static_cast<std::int32_t>(n), pair.a, pair.b});
        require_memory_for(jobs_);
        evaluate(proposals);
        const View<double, 3> proposed =
            reserve(proposed_, count, model_.pair_count(), model_.q_count());
        const double* now = new_sums_.data();
        for (Index n = 0; n < count; ++n) {
            const auto& [chain, xyz, changed] = proposals[n];
            Pending& pending = pending_[chain];
            pending.changed.assign(changed.begin(), changed.end());
            pending.sums.assign(now, now + std::ssize(changed) * size());
            const View<const double, 2> accepted = profile(chain);
            pending.profile.assign(accepted.begin(), accepted.end());
            for (const BodyPair& pair : changed) {
                const double* const before = sums_of(chain, pair);
                for (Index k = 0; k < size(); ++k) pending.profile[k] += now[k] - before[k];
                now += size();
            }
            std::ranges::copy(pending.profile, proposed[n].data);
        }
        found_ = proposed;
    }
    View<const double, 3> finish() override { return found_; }

    void accept(Index chain) override {
        const Pending& pending = pending_[chain];
        const double* now = pending.sums.data();
        for (const BodyPair& pair : pending.changed) {
            std::copy_n(now, size(), sums_of(chain, pair));
            now += size();
        }
        std::ranges::copy(pending.profile, profiles_[chain].data);
    }

    void refresh(Index chain, View<const float, 2> xyz) override {
        const ProposedPositions all{chain, xyz, {}};
        std::int64_t bytes = 0;
        Index done = 0;
        // Recomputes all sums of a chain in their order, in batches of kBatchBytes.
        const auto compute = [&] {
            evaluate({&all, 1});
            const auto count = std::ssize(jobs_);
            std::copy_n(new_sums_.data(), count * size(), &sums_(chain, done, 0));
            done += count;
            jobs_.clear();
            bytes = 0;
        };
        jobs_.clear();
        for (std::int32_t a = 0; a < bodies_; ++a) {
            for (std::int32_t b = a; b < bodies_; ++b) {
                const std::int64_t next = pair_bytes(a, b);
                if (!jobs_.empty() && bytes + next > kBatchBytes) compute();
                jobs_.push_back({0, a, b});
                bytes += next;
            }
        }
        compute();
        double* const to = profiles_[chain].data;
        std::copy_n(self_terms_[chain].data, size(), to);
        for (Index pair = 0; pair < sums_.extent(1); ++pair)
            for (Index k = 0; k < size(); ++k) to[k] += sums_(chain, pair, k);
    }
    View<const double, 2> profile(Index chain) const override { return profiles_[chain]; }

private:
    /// The last proposal of a chain.
    struct Pending {
        std::vector<BodyPair> changed;
        std::vector<double> sums, profile;  ///< of the changed pairs; of the chain
    };

    Index size() const { return self_terms_.extent(1) * self_terms_.extent(2); }
    View<const float, 3> scales_of(Index chain) const {
        if (scales_.size() == 0) return {};
        return {scales_[chain].data, Index{1}, scales_.extent(1), scales_.extent(2)};
    }

    /// Bytes for the sums of a pair of bodies during their computation: its own, and those of
    /// pieces of either body that threads process.
    std::int64_t pair_bytes(std::int32_t a, std::int32_t b) const {
        const auto pieces = [&](std::int32_t body) {
            Index scatterers = 0;
            for (Index k = sorted_.first_segment[body]; k < sorted_.first_segment[body + 1]; ++k)
                scatterers += sorted_.segments[k].count;
            return sorted_.first_segment[body + 1] - sorted_.first_segment[body] + scatterers / 64;
        };
        return 8 * size() * (1 + pieces(a) + pieces(b));
    }

    /// Throws DeviceError if memory is too small for many pairs; few pairs are not checked, because
    /// that takes longer than a small move.
    void require_memory_for(const std::vector<PairJob>& jobs) const {
        if (static_cast<std::int64_t>(jobs.size()) * max_pair_bytes_ <= kBatchBytes) return;
        std::int64_t bytes = 0;
        for (const PairJob& job : jobs) bytes += pair_bytes(job.a, job.b);
        require_memory(bytes, fmt::format("{} pairs of bodies that moved", jobs.size()),
                       "propose fewer moves at a time");
    }

    /// Computes the new sums of `jobs_`. The positions of a single proposal are used in place.
    void evaluate(std::span<const ProposedPositions> proposals) {
        const Index count = std::ssize(proposals), scatterers = model_.scatterer_count();
        View<const float, 3> xyz, scales;
        if (count == 1) {
            xyz = {proposals.front().xyz.data, Index{1}, Index{3}, scatterers};
            scales = scales_of(proposals.front().chain);
        } else {
            const View<float, 3> all = reserve(sent_, count, 3, scatterers);
            const bool has_scales = scales_.size() > 0;
            const View<float, 3> all_scales =
                reserve(sent_scales_, has_scales ? count : 0, scales_.extent(1), scatterers);
            for (Index n = 0; n < count; ++n) {
                const ProposedPositions& proposal = proposals[n];
                std::copy_n(proposal.xyz.data, 3 * scatterers, all[n].data);
                if (!has_scales) continue;
                const View<const float, 2> from = scales_[proposal.chain];
                std::ranges::copy(from, all_scales[n].data);
            }
            xyz = all;
            if (has_scales) scales = all_scales;
        }
        const View<double, 3> to =
            reserve(new_sums_, std::ssize(jobs_), model_.pair_count(), model_.q_count());
        pairs_->evaluate(xyz, scales, jobs_, to);
    }

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

}  // namespace

std::unique_ptr<SessionSums> make_host_sums(const Model& model, const SortedScatterers& sorted,
                                            std::unique_ptr<BodyPairs> pairs,
                                            Array<double, 3> self_terms,
                                            View<const float, 3> scales) {
    return std::make_unique<HostSums>(model, sorted, std::move(pairs), std::move(self_terms),
                                      scales);
}

}  // namespace pleat::saxs
