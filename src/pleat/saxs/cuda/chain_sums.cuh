// Chain sums: the sums over pairs of bodies of chains, kept on a GPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pleat/core/hardware/memory.h"
#include "pleat/saxs/cuda/chain_calls.cuh"
#include "pleat/saxs/debye/body_pairs.h"
#include "pleat/saxs/session/session_sums.h"

namespace pleat::saxs::cuda {

/// What sessions of one model share on a `Gpu`: CudaGpu, or the host in its place.
template <class Gpu>
class GpuOfSessions;

/// The sums of a session's chains. There are two of each pair of bodies and of each profile, and
/// notes in the host's memory where the accepted ones are and where proposed ones go: accepting a
/// proposal moves no data. A session that adopts a chain of another notes the same accepted sums
/// and keeps a place of its own for proposed ones. Integers add up without rounding, so a chain's
/// profile is always that of its sums.
template <class Gpu>
class ChainSums final : public SessionSums {
public:
    /// As SharedGpu::make_sums().
    ChainSums(std::shared_ptr<GpuOfSessions<Gpu>> of, View<const double, 3> self_terms,
              View<const float, 3> scales, Index place)
        : of_(std::move(of)),
          calls_(of_->calls()),
          place_(place),
          pieces_(calls_.position_pieces()),
          pairs_(calls_.body_pairs()),
          scale_size_(scales.size() / self_terms.extent(0)),
          profiles_(self_terms.extent(0), self_terms.extent(1), self_terms.extent(2)),
          proposed_(profiles_),
          constants_(profiles_),
          results_(profiles_.size()),
          accepted_(self_terms.extent(0), pairs_ + 1),
          spare_(self_terms.extent(0), pairs_ + 1),
          places_(static_cast<std::size_t>(self_terms.extent(0))),
          changed_(static_cast<std::size_t>(self_terms.extent(0))) {
        const Index chains = self_terms.extent(0);
        const Gpu& gpu = of_->gpu();
        gpu.make_current();
        const Index bytes = 8 * 2 * calls_.size() * (pairs_ + 1) + 16 * pieces_ + 4 * scale_size_;
        require_memory(
            chains * bytes,
            std::to_string(chains) + " chains of " + std::to_string(of_->bodies()) + " bodies",
            "take fewer bodies or chains", gpu.free_bytes(), " on the GPU");
        xyz_ = DeviceArray<uint4>(chains * pieces_);
        host_xyz_ = Pinned<uint4>(chains * pieces_);
        scales_ = DeviceArray<float>(std::max<Index>(scales.size(), 1));
        if (scales.size() > 0) scales_.upload(scales.data, 0, scales.size());
        float largest = 1.0f;
        for (const float scale : scales) largest = std::max(largest, std::fabs(scale));
        unit_scale_ = largest > 1.0f ? std::ldexp(1.0, -2 * (std::ilogb(largest) + 1)) : 1.0;
        std::copy(self_terms.begin(), self_terms.end(), constants_.begin());
        for (Index chain = 0; chain < chains; ++chain) {
            places_[static_cast<std::size_t>(chain)] = std::make_shared<Places>();
            add_places(chain, accepted_);
            add_places(chain, spare_);
            add_zero_angle(scales.size() > 0 ? scales[chain] : View<const float, 2>{},
                           constants_.view()[chain]);
        }
        gpu.wait();
    }

    ChainSums(const ChainSums&) = delete;
    ChainSums& operator=(const ChainSums&) = delete;
    /// Waits for what was started: the GPU would write into memory that is free.
    ~ChainSums() override {
        try {
            finish_part();
        } catch (...) {  // it was for finish() to tell
        }
    }

    void start(std::span<const Proposal> proposals) override {
        finish_part();
        started_.clear();
        for (const Proposal& proposal : proposals) {
            const auto chain = static_cast<std::size_t>(proposal.chain);
            changed_[chain].clear();
            for (const BodyPair& pair : proposal.changed)
                changed_[chain].push_back(
                    static_cast<std::int32_t>(channel_pair(pair.a, pair.b, of_->bodies())));
            started_.push_back(proposal.chain);
            add(proposal.chain, proposal.xyz, true);
        }
        start_part();
    }

    View<const double, 3> finish() override {
        finish_part();
        found_.resize(started_.size() * static_cast<std::size_t>(calls_.size()));
        double* to = found_.data();
        for (const Index chain : started_) {
            const View<const double, 2> from = proposed_.view()[chain];
            to = std::copy(from.begin(), from.end(), to);
        }
        return {found_.data(), static_cast<Index>(started_.size()), profiles_.extent(1),
                profiles_.extent(2)};
    }

    void accept(Index chain) override {
        for (const std::int32_t pair : changed_[static_cast<std::size_t>(chain)])
            std::swap(accepted_(chain, pair), spare_(chain, pair));
        std::swap(accepted_(chain, pairs_), spare_(chain, pairs_));
        const View<const double, 2> from = proposed_.view()[chain];
        std::copy(from.begin(), from.end(), profiles_.view()[chain].data);
    }

    bool is_ready() override {
        try {
            return !request_ || calls_.is_ready(*request_);
        } catch (...) {
            return true;  // finish() tells
        }
    }

    void adopt(Index chain, const SessionSums& from) override {
        const auto& other = dynamic_cast<const ChainSums&>(from);
        auto& places = places_[static_cast<std::size_t>(chain)];
        if (places != other.places_[static_cast<std::size_t>(chain)]) {
            finish_part();
            const Gpu& gpu = of_->gpu();
            gpu.make_current();
            places = other.places_[static_cast<std::size_t>(chain)];
            add_places(chain, spare_);
            gpu.wait();
        }
        std::copy_n(&other.accepted_(chain, 0), pairs_ + 1, &accepted_(chain, 0));
        const View<const double, 2> profile = other.profile(chain);
        std::copy(profile.begin(), profile.end(), profiles_.view()[chain].data);
    }

    void refresh(Index chain, View<const float, 2> xyz) override {
        std::vector<std::int32_t>& all = changed_[static_cast<std::size_t>(chain)];
        all.clear();
        for (std::int32_t pair = 0; pair < pairs_; ++pair) all.push_back(pair);
        finish_part();
        add(chain, xyz, false);
        start_part();
        finish_part();
        accept(chain);
    }

    View<const double, 2> profile(Index chain) const override { return profiles_.view()[chain]; }

private:
    template <class T>
    using DeviceArray = typename Gpu::template Array<T>;
    template <class T>
    using Pinned = typename Gpu::template Pinned<T>;
    using Sums = unsigned long long;  ///< [channel pair, q], units

    /// The device's memory for the sums of a chain, which all have that adopted it.
    struct Places {
        std::mutex mutex;
        std::vector<DeviceArray<Sums>> arrays;
    };

    /// Notes new places for the sums of a chain.
    void add_places(Index chain, Array<Sums*, 2>& notes) {
        DeviceArray<Sums> added((pairs_ + 1) * calls_.size());
        for (Index pair = 0; pair <= pairs_; ++pair)
            notes(chain, pair) = added.data() + pair * calls_.size();
        Places& places = *places_[static_cast<std::size_t>(chain)];
        const std::lock_guard lock(places.mutex);
        places.arrays.push_back(std::move(added));
    }

    /// Adds the sums at q = 0, which are the same in all positions.
    void add_zero_angle(View<const float, 2> scales, View<double, 2> to) const {
        const Model& model = of_->model();
        if (model.q.front() != 0.0) return;
        const ZeroAngleSums sums = zero_angle_sums(model, of_->sorted(), scales);
        Array<double, 2> one(model.pair_count(), model.q_count());
        for (std::int32_t a = 0; a < of_->bodies(); ++a)
            for (std::int32_t b = a; b < of_->bodies(); ++b) {
                set_zero_angle_profile(sums, {0, a, b}, one);
                for (Index pair = 0; pair < model.pair_count(); ++pair) to(pair, 0) += one(pair, 0);
            }
    }

    /// Adds the changed pairs of a chain, in parts that fit into calls: each goes on from the
    /// profile of the part before. `replaces`: the old sums are part of the accepted profile.
    void add(Index chain, View<const float, 2> xyz, bool replaces) {
        const std::vector<std::int32_t>& changed = changed_[static_cast<std::size_t>(chain)];
        std::memcpy(host_xyz_.data() + chain * pieces_, xyz.data,
                    static_cast<std::size_t>(4 * xyz.size()));
        const Sums* from = replaces ? accepted_(chain, pairs_) : nullptr;
        for (std::size_t first = 0; first == 0 || first < changed.size();) {
            if (moves_.size() == kMaxMoves ||
                static_cast<Index>(jobs_.size()) == calls_.max_jobs() || first > 0) {
                start_part();
                finish_part();
            }
            const std::size_t room = static_cast<std::size_t>(calls_.max_jobs()) - jobs_.size();
            const std::size_t count = std::min(changed.size() - first, room);
            moves_.push_back({host_xyz_.data() + chain * pieces_, xyz_.data() + chain * pieces_,
                              scales_.data() + chain * scale_size_, from, spare_(chain, pairs_),
                              results_.data() + chain * calls_.size(), unit_scale_,
                              static_cast<std::int32_t>(std::max<std::size_t>(count, 1))});
            chains_.push_back(chain);
            if (count == 0)
                jobs_.push_back(
                    {static_cast<std::int32_t>(moves_.size()) - 1, -1, 0, nullptr, nullptr});
            for (std::size_t n = first; n < first + count; ++n)
                jobs_.push_back({static_cast<std::int32_t>(moves_.size()) - 1, changed[n], 0,
                                 replaces ? accepted_(chain, changed[n]) : nullptr,
                                 spare_(chain, changed[n])});
            first += std::max<std::size_t>(count, 1);
            from = spare_(chain, pairs_);
        }
    }

    /// Starts to compute what was added.
    void start_part() {
        if (moves_.empty()) return;
        for (const ChainMove& move : moves_)
            std::fill_n(move.results, calls_.size(), std::bit_cast<double>(kAwaited));
        request_.emplace();
        request_->moves = moves_;
        request_->jobs = jobs_;
        request_->place = place_;
        calls_.add(*request_);
    }

    /// Waits for what was started, if anything was, and keeps the profiles.
    void finish_part() {
        if (!request_) return;
        try {
            calls_.wait(*request_);
        } catch (...) {
            clear_part();
            throw;
        }
        for (const Index chain : chains_) {
            const double* const from = results_.data() + chain * calls_.size();
            const double* const constant = constants_.view()[chain].data;
            double* const to = proposed_.view()[chain].data;
            for (Index k = 0; k < calls_.size(); ++k) to[k] = constant[k] + from[k];
        }
        clear_part();
    }

    void clear_part() {
        request_.reset();
        moves_.clear();
        jobs_.clear();
        chains_.clear();
    }

    std::shared_ptr<GpuOfSessions<Gpu>> of_;
    ChainCalls<Gpu>& calls_;
    Index place_, pieces_, pairs_, scale_size_;
    Array<double, 3> profiles_, proposed_;  ///< [chain, channel pair, q]
    Array<double, 3> constants_;            ///< what is the same in all positions
    DeviceArray<uint4> xyz_;
    Pinned<uint4> host_xyz_;
    DeviceArray<float> scales_;
    Pinned<double> results_;  ///< [chain, size]
    double unit_scale_ = 1;
    Array<Sums*, 2> accepted_, spare_;  ///< [chain, pair of bodies and profile]: where sums are
    std::vector<std::shared_ptr<Places>> places_;     ///< [chain]
    std::vector<std::vector<std::int32_t>> changed_;  ///< [chain]: pairs of the last proposal
    std::vector<ChainMove> moves_;
    std::vector<ChainJob> jobs_;
    std::vector<Index> chains_;            ///< [move]
    std::optional<ChainRequest> request_;  ///< of these moves and jobs, if it was started
    std::vector<Index> started_;           ///< chains of the last start()
    std::vector<double> found_;            ///< their profiles
};

template <class Gpu>
class GpuOfSessions final : public SharedGpu,
                            public std::enable_shared_from_this<GpuOfSessions<Gpu>> {
public:
    /// `max_sum_bytes`: for the new sums of a call.
    GpuOfSessions(Model model, std::span<const std::int32_t> bodies, Gpu gpu,
                  Index max_sum_bytes = Index{16} << 20)
        : model_(std::move(model)),
          bodies_(bodies.empty() ? 1 : *std::max_element(bodies.begin(), bodies.end()) + 1),
          sorted_(sort_by_body(model_, bodies, bodies_)),
          gpu_(std::move(gpu)),
          calls_(model_, sorted_, gpu_, max_sum_bytes) {}

    void check(const Model& model, const SortedScatterers& sorted) const override {
        const auto same = [](const Array<double, 3>& a, const Array<double, 3>& b) {
            return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
        };
        if (model.q != model_.q || model.types != model_.types || model.scaled != model_.scaled ||
            !same(model.factors, model_.factors) || sorted.order != sorted_.order ||
            sorted.first_segment != sorted_.first_segment)
            throw UsageError("expected the model and bodies of the shared GPU, found others");
    }
    std::unique_ptr<SessionSums> make_sums(View<const double, 3> self_terms,
                                           View<const float, 3> scales, Index place) override {
        return std::make_unique<ChainSums<Gpu>>(this->shared_from_this(), self_terms, scales,
                                                place);
    }

    const Model& model() const { return model_; }
    Index bodies() const { return bodies_; }
    const SortedScatterers& sorted() const { return sorted_; }
    const Gpu& gpu() const { return gpu_; }
    ChainCalls<Gpu>& calls() { return calls_; }

private:
    const Model model_;
    Index bodies_;
    SortedScatterers sorted_;
    Gpu gpu_;
    ChainCalls<Gpu> calls_;
};

}  // namespace pleat::saxs::cuda
