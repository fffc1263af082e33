// Chain sums: the sums over pairs of bodies of chains, kept on a GPU.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pleat/core/hardware/memory.h"
#include "pleat/saxs/cuda/chain_requests.cuh"
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
              View<const float, 3> scales)
        : of_(std::move(of)),
          requests_(of_->requests()),
          pieces_(requests_.position_pieces()),
          pairs_(requests_.body_pairs()),
          scale_size_(scales.size() / self_terms.extent(0)),
          profiles_(self_terms.extent(0), self_terms.extent(1), self_terms.extent(2)),
          proposed_(profiles_),
          constants_(profiles_),
          accepted_(self_terms.extent(0), pairs_ + 1),
          spare_(self_terms.extent(0), pairs_ + 1),
          places_(static_cast<std::size_t>(self_terms.extent(0))),
          changed_(static_cast<std::size_t>(self_terms.extent(0))) {
        const Index chains = self_terms.extent(0);
        const Gpu& gpu = of_->gpu();
        const typename ChainRequests<Gpu>::Pause pause(requests_);
        max_jobs_ = std::min(requests_.max_jobs(), chains * std::max<Index>(pairs_, 1));
        // A part of a proposal has one pair at least.
        constexpr Index kCtas = 1 << 16;
        max_ctas_ =
            std::max(std::min(kCtas, chains * requests_.all_ctas()), requests_.max_pair_ctas());
        const Index pieces = 1 + max_ctas_ + pieces_of<ChainJob>(max_jobs_) +
                             pieces_of<ChainMove>(chains) + chains * pieces_;
        const Index parts = (pieces + kPartPieces - 1) / kPartPieces;
        const Index bytes = 8 * 2 * requests_.size() * (pairs_ + 1) + 4 * scale_size_;
        require_memory(
            chains * bytes + 16 * kPartPieces * parts +
                8 * requests_.size() * (max_jobs_ + chains) +
                requests_.ring_bytes(parts, max_ctas_),
            std::to_string(chains) + " chains of " + std::to_string(of_->bodies()) + " bodies",
            "take fewer bodies or chains", gpu.free_bytes(), " on the GPU");
        results_ = Pinned<double>(profiles_.size());
        host_table_ = Pinned<uint4>(kPartPieces * parts);
        table_ = DeviceArray<uint4>(kPartPieces * parts);
        sums_ = DeviceArray<Sums>(max_jobs_ * requests_.size());
        changes_ = DeviceArray<Sums>(chains * requests_.size());
        arrived_ = DeviceArray<unsigned>(max_jobs_ + chains);
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
        slot_ = requests_.add_slot({.host = host_table_.data(),
                                    .table = table_.data(),
                                    .sums = sums_.data(),
                                    .changes = changes_.data(),
                                    .arrived_ctas = arrived_.data(),
                                    .arrived_jobs = arrived_.data() + max_jobs_},
                                   parts, max_ctas_);
    }

    ChainSums(const ChainSums&) = delete;
    ChainSums& operator=(const ChainSums&) = delete;
    /// Waits for what was started: the GPU would write into memory that is free.
    ~ChainSums() override {
        try {
            finish_part();
        } catch (...) {  // it was for finish() to tell
            requests_.drain();
        }
        if (slot_ >= 0) requests_.remove_slot(slot_);
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
        found_.resize(started_.size() * static_cast<std::size_t>(requests_.size()));
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
            return !request_ || requests_.is_ready(*request_);
        } catch (...) {
            return true;  // finish() tells
        }
    }

    void adopt(Index chain, const SessionSums& from) override {
        const auto& other = dynamic_cast<const ChainSums&>(from);
        auto& places = places_[static_cast<std::size_t>(chain)];
        if (places != other.places_[static_cast<std::size_t>(chain)]) {
            finish_part();
            const typename ChainRequests<Gpu>::Pause pause(requests_);
            places = other.places_[static_cast<std::size_t>(chain)];
            add_places(chain, spare_);
            of_->gpu().wait();
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
        DeviceArray<Sums> added((pairs_ + 1) * requests_.size());
        for (Index pair = 0; pair <= pairs_; ++pair)
            notes(chain, pair) = added.data() + pair * requests_.size();
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

    /// Adds the changed pairs of a chain, in parts that fit into requests: each goes on from the
    /// profile of the part before. `replaces`: the old sums are part of the accepted profile.
    void add(Index chain, View<const float, 2> xyz, bool replaces) {
        const std::vector<std::int32_t>& changed = changed_[static_cast<std::size_t>(chain)];
        add_move(chain, xyz, replaces ? accepted_(chain, pairs_) : nullptr);
        for (const std::int32_t pair : changed)
            add_job(chain, xyz, pair, replaces ? accepted_(chain, pair) : nullptr,
                    spare_(chain, pair));
        if (changed.empty()) add_job(chain, xyz, -1, nullptr, nullptr);
    }

    void add_move(Index chain, View<const float, 2> xyz, const Sums* from) {
        moves_.push_back({nullptr, scales_.data() + chain * scale_size_, from,
                          spare_(chain, pairs_), results_.data() + chain * requests_.size(),
                          unit_scale_, 0});
        chains_.push_back(chain);
        positions_.push_back(xyz);
    }

    /// Adds a job of the last move.
    void add_job(Index chain, View<const float, 2> xyz, std::int32_t pair, const Sums* old_sums,
                 Sums* new_sums) {
        const std::int32_t tasks = requests_.cta_tasks(pair), ctas = requests_.ctas_of(pair, tasks);
        if (static_cast<Index>(jobs_.size()) == max_jobs_ ||
            static_cast<Index>(ctas_.size()) + ctas > max_ctas_) {
            const bool is_first = moves_.back().job_count == 0;
            const Sums* const from = is_first ? moves_.back().from : spare_(chain, pairs_);
            if (is_first) {
                moves_.pop_back();
                chains_.pop_back();
                positions_.pop_back();
            }
            start_part();
            finish_part();
            add_move(chain, xyz, from);
        }
        ++moves_.back().job_count;
        jobs_.push_back(
            {static_cast<std::int32_t>(moves_.size()) - 1, pair, ctas, old_sums, new_sums});
        const std::int32_t first = requests_.first_task(pair), last = requests_.last_task(pair);
        for (std::int32_t n = 0; n < ctas; ++n)
            ctas_.push_back({static_cast<std::int32_t>(jobs_.size()) - 1, jobs_.back().move,
                             first + n * tasks, std::min(first + (n + 1) * tasks, last)});
    }

    template <class T>
    static Index pieces_of(Index count) {
        return (count * static_cast<Index>(sizeof(T)) + 15) / 16;
    }

    /// Starts to compute what was added.
    void start_part() {
        if (moves_.empty()) return;
        const auto moves = static_cast<Index>(moves_.size()),
                   jobs = static_cast<Index>(jobs_.size()), ctas = static_cast<Index>(ctas_.size());
        const Index jobs_at = 1 + ctas, moves_at = jobs_at + pieces_of<ChainJob>(jobs),
                    positions_at = moves_at + pieces_of<ChainMove>(moves);
        uint4* const table = host_table_.data();
        *reinterpret_cast<ChainHeader*>(table) = {static_cast<std::int32_t>(jobs_at),
                                                  static_cast<std::int32_t>(moves_at)};
        for (Index n = 0; n < moves; ++n) {
            ChainMove& move = moves_[static_cast<std::size_t>(n)];
            const View<const float, 2> xyz = positions_[static_cast<std::size_t>(n)];
            const Index at = positions_at + n * pieces_;
            move.xyz = table_.data() + at;
            std::memcpy(table + at, xyz.data, static_cast<std::size_t>(4 * xyz.size()));
            std::fill_n(move.results, requests_.size(), std::bit_cast<double>(kAwaited));
        }
        std::memcpy(table + 1, ctas_.data(), ctas_.size() * sizeof(ChainCta));
        std::memcpy(table + jobs_at, jobs_.data(), jobs_.size() * sizeof(ChainJob));
        std::memcpy(table + moves_at, moves_.data(), moves_.size() * sizeof(ChainMove));
        request_.emplace();
        request_->moves = moves_;
        const Index pieces = positions_at + moves * pieces_;
        requests_.start(slot_, (pieces + kPartPieces - 1) / kPartPieces, ctas);
    }

    /// Waits for what was started, if anything was, and keeps the profiles.
    void finish_part() {
        if (!request_) return;
        try {
            requests_.wait(*request_);
        } catch (...) {
            clear_part();
            throw;
        }
        for (const Index chain : chains_) {
            const double* const from = results_.data() + chain * requests_.size();
            const double* const constant = constants_.view()[chain].data;
            double* const to = proposed_.view()[chain].data;
            for (Index k = 0; k < requests_.size(); ++k) to[k] = constant[k] + from[k];
        }
        clear_part();
    }

    void clear_part() {
        request_.reset();
        moves_.clear();
        jobs_.clear();
        chains_.clear();
        positions_.clear();
        ctas_.clear();
    }

    std::shared_ptr<GpuOfSessions<Gpu>> of_;
    ChainRequests<Gpu>& requests_;
    Index pieces_, pairs_, scale_size_;
    Array<double, 3> profiles_, proposed_;  ///< [chain, channel pair, q]
    Array<double, 3> constants_;            ///< what is the same in all positions
    // A slot of the GPU's queue, and its memory; see ChainSlot.
    Index slot_ = -1, max_jobs_ = 0, max_ctas_ = 0;
    Pinned<uint4> host_table_;
    DeviceArray<uint4> table_;
    DeviceArray<Sums> sums_, changes_;
    DeviceArray<unsigned> arrived_;
    DeviceArray<float> scales_;
    Pinned<double> results_;  ///< [chain, size]
    double unit_scale_ = 1;
    Array<Sums*, 2> accepted_, spare_;  ///< [chain, pair of bodies and profile]: where sums are
    std::vector<std::shared_ptr<Places>> places_;     ///< [chain]
    std::vector<std::vector<std::int32_t>> changed_;  ///< [chain]: pairs of the last proposal
    // Of the part that is being made, or was started.
    std::vector<ChainMove> moves_;
    std::vector<ChainJob> jobs_;
    std::vector<Index> chains_;                    ///< [move]
    std::vector<View<const float, 2>> positions_;  ///< [move]; not kept when it was started
    std::vector<ChainCta> ctas_;
    std::optional<ChainRequest> request_;  ///< of these moves, if it was started
    std::vector<Index> started_;           ///< chains of the last start()
    std::vector<double> found_;            ///< their profiles
};

template <class Gpu>
class GpuOfSessions final : public SharedGpu,
                            public std::enable_shared_from_this<GpuOfSessions<Gpu>> {
public:
    /// `few_moves`: as make_shared_gpu() has it. `max_sum_bytes`: for the new sums of a request.
    GpuOfSessions(Model model, std::span<const std::int32_t> bodies, Gpu gpu,
                  bool few_moves = false, Index max_sum_bytes = Index{16} << 20)
        : model_(std::move(model)),
          bodies_(bodies.empty() ? 1 : *std::max_element(bodies.begin(), bodies.end()) + 1),
          sorted_(sort_by_body(model_, bodies, bodies_)),
          gpu_(std::move(gpu)),
          requests_(model_, sorted_, gpu_, few_moves, max_sum_bytes) {}

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
                                           View<const float, 3> scales) override {
        return std::make_unique<ChainSums<Gpu>>(this->shared_from_this(), self_terms, scales);
    }

    const Model& model() const { return model_; }
    Index bodies() const { return bodies_; }
    const SortedScatterers& sorted() const { return sorted_; }
    const Gpu& gpu() const { return gpu_; }
    ChainRequests<Gpu>& requests() { return requests_; }

private:
    const Model model_;
    Index bodies_;
    SortedScatterers sorted_;
    Gpu gpu_;
    ChainRequests<Gpu> requests_;
};

}  // namespace pleat::saxs::cuda
