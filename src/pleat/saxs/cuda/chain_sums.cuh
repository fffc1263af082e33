// Chain sums: the sums over pairs of bodies of chains, kept on a GPU, and what sessions on several
// threads ask of one kernel there.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/cuda/grow.h"
#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/saxs/cuda/chain_kernel.cuh"
#include "pleat/saxs/cuda/gpu_kernel.cuh"
#include "pleat/saxs/cuda/task_tables.h"
#include "pleat/saxs/debye/body_pairs.h"
#include "pleat/saxs/session/session_sums.h"

namespace pleat::saxs::cuda {

using pleat::cuda::grow;
using pleat::cuda::Sides;
using pleat::cuda::upload;

/// A request of a session for moves, and which of its results have arrived.
struct ChainRequest {
    std::span<const ChainMove> moves;
    // Of ChainRequests::is_ready():
    std::size_t seen_moves = 0;  ///< whose results have come
    Index seen_values = 0;       ///< of the next one
    unsigned looks = 0;
    unsigned kernel = 0;  ///< number of the last one at the first look
};

/// A kernel that stays on a GPU, shared by several threads, while there are requests. Each session
/// writes one request at a time to its slot, and the kernel sees it without a launch. A kernel that
/// has seen no request for a while ends, and a waiting thread starts the next. Results do not
/// depend on concurrent requests.
template <class Gpu>
class ChainRequests {
    template <class T>
    using Array = typename Gpu::template Array<T>;
    template <class T>
    using Pinned = typename Gpu::template Pinned<T>;

public:
    ChainRequests(const Model& model, const SortedScatterers& sorted, const Gpu& gpu,
                  Index max_sum_bytes)
        : max_sum_bytes_(max_sum_bytes),
          classes_(model),
          grid_(model.q),
          size_(model.pair_count() * model.q_count()),
          data_(model, classes_, grid_),
          table_(sorted, channels_of_types(model), kChainColumns),
          kernel_(grid_.even ? serve_chains<true> : serve_chains<false>),
          scatterers_(model.scatterer_count()),
          ctas_(std::max<Index>(gpu.resident_ctas(kernel_, kChainThreads, kSharedBytes), 2)),
          sharers_(sharers_of(gpu.name())),
          gpu_(gpu.on(stream_)) {
        upload(tasks_, table_.tasks);
        upload(type_of_, table_.type_of);
        upload(segment_end_, table_.segment_end);
        upload(factors_, factors_of_passes(model));
        upload(units_, fixed_point_units(model, 60));
        for (std::size_t pair = 0; pair < table_.first_task.size() - 1; ++pair) {
            const Index ctas = ctas_of(static_cast<std::int32_t>(pair));
            all_ctas_ += ctas;
            max_pair_ctas_ = std::max(max_pair_ctas_, ctas);
        }
        requests_ = Pinned<unsigned long long>(kMaxSlots);
        std::fill_n(requests_.data(), kMaxSlots, 0ull);
        words_ = Pinned<unsigned>(2);
        std::fill_n(words_.data(), 2, 0u);
        slots_ = Array<ChainSlot>(kMaxSlots);
        seen_ = Array<unsigned char>(kMaxSlots);
        left_ = Array<unsigned>(kMaxSlots);
        counts_ = Array<unsigned long long>(2);
        gpu_.wait();
        ++*sharers_;
    }
    ~ChainRequests() { --*sharers_; }
    ChainRequests(const ChainRequests&) = delete;
    ChainRequests& operator=(const ChainRequests&) = delete;

    /// Jobs of a request at most.
    Index max_jobs() const {
        constexpr Index kMaxRequestJobs = 8192;
        return std::clamp<Index>(max_sum_bytes_ / (8 * size_), 1, kMaxRequestJobs);
    }
    /// Channel pairs times q.
    Index size() const { return size_; }
    Index body_pairs() const { return std::ssize(table_.first_task) - 1; }
    /// Size of a chain's positions in pieces of 16 bytes.
    Index position_pieces() const { return (12 * scatterers_ + 15) / 16; }
    /// Number of CTAs for all pairs of bodies together, and for the largest pair.
    Index all_ctas() const { return all_ctas_; }
    Index max_pair_ctas() const { return max_pair_ctas_; }
    /// Number of tasks per CTA of a pair of bodies. CTAs with more tasks wait less often for their
    /// next item but take longer, which is best with many sessions. Sums do not depend on it.
    std::int32_t cta_tasks(std::int32_t pair) const {
        constexpr Index kManySessions = 16;
        constexpr std::int32_t kManyTasks = 64;
        const bool has_many = session_count_.load(std::memory_order_relaxed) >= kManySessions &&
                              last_task(pair) - first_task(pair) >= kManyTasks;
        return has_many ? 2 * kWarps : kWarps;
    }
    /// Number of CTAs for a pair of bodies; 0 for a negative pair.
    std::int32_t ctas_of(std::int32_t pair, std::int32_t of_cta = kWarps) const {
        const std::int32_t tasks = last_task(pair) - first_task(pair);
        return std::max((tasks + of_cta - 1) / of_cta, 1);
    }
    std::int32_t first_task(std::int32_t pair) const {
        return pair < 0 ? 0 : table_.first_task[pair];
    }
    std::int32_t last_task(std::int32_t pair) const {
        return pair < 0 ? 0 : table_.first_task[pair + 1];
    }

    /// While this object exists no kernel runs, so that memory can be allocated at once: otherwise
    /// the GPU would wait for the end of the kernel, which requests of other threads delay.
    class Pause {
    public:
        explicit Pause(ChainRequests& of) : of_(of), starts_(of.start_mutex_) {
            of_.gpu_.make_current();
            set(1);
            try {
                of_.gpu_.wait();
            } catch (...) {
                set(0);
                throw;
            }
        }
        ~Pause() { set(0); }
        Pause(const Pause&) = delete;
        Pause& operator=(const Pause&) = delete;

    private:
        void set(unsigned has_to_end) const {
            std::atomic_ref(of_.words_.data()[1]).store(has_to_end, std::memory_order_release);
        }
        ChainRequests& of_;
        const std::unique_lock<std::mutex> starts_;
    };

    /// Adds a slot during a pause, for requests of at most this many parts and CTAs.
    Index add_slot(const ChainSlot& slot, Index max_parts, Index max_ctas) {
        const auto free = std::find(slot_items_.begin(), slot_items_.end(), 0);
        const Index number = free - slot_items_.begin();
        if (number == kMaxSlots)
            throw UsageError("expected at most " + std::to_string(kMaxSlots) +
                             " sessions of a shared GPU, found more");
        const Index of_slot = max_parts + data_.pass_count() * max_ctas;
        // Room for all that may wait at a time, and for the end of every CTA.
        const Index items =
            std::accumulate(slot_items_.begin(), slot_items_.end(), of_slot + ctas_);
        if (items_.size() < items) {
            const int bits = std::bit_width(static_cast<std::size_t>(items));
            Array<unsigned long long> ring(Index{1} << bits), counts(2);  // may throw
            gpu_.wait();
            items_ = std::move(ring);
            counts_ = std::move(counts);
            item_bits_ = bits;
        }
        slots_.upload(&slot, number, 1);
        gpu_.wait();
        if (free == slot_items_.end()) slot_items_.push_back(0);
        slot_items_[number] = of_slot;
        ++session_count_;
        return number;
    }
    /// Bytes that a slot of as many parts and CTAs may add to the ring.
    Index ring_bytes(Index parts, Index ctas) const {
        return 16 * (parts + data_.pass_count() * ctas);
    }
    /// Waits until the GPU no longer writes; the next request reports errors.
    void drain() noexcept {
        try {
            gpu_.wait();
        } catch (const DeviceError&) {
        }
    }
    /// Its last request must have come.
    void remove_slot(Index slot) {
        const std::lock_guard starts(start_mutex_);
        slot_items_[slot] = 0;
        --session_count_;
    }

    /// Starts the request whose table is in the slot's memory: it has `parts` of kPartPieces and
    /// `ctas`.
    void start(Index slot, Index parts, Index ctas) {
        const std::atomic_ref word(requests_.data()[slot]);
        const auto last = static_cast<unsigned>(word.load(std::memory_order_relaxed));
        word.store(ChainRequestWord::make(last + 1, parts, ctas), std::memory_order_release);
        start_kernel();
    }

    /// Whether all results of the request, initially kAwaited, have been written. Starts a kernel
    /// if the last one has ended, and checks the GPU from time to time in case it fails.
    bool is_ready(ChainRequest& request) {
        constexpr unsigned kLooks = 4096, kKernels = 8;
        if (have_come(request)) return true;
        start_kernel();
        if (has_failed_.load(std::memory_order_acquire)) std::rethrow_exception(error_);
        const unsigned started = started_.load(std::memory_order_relaxed);
        if (request.looks++ == 0) request.kernel = started;
        if (request.looks % kLooks == 0) gpu_.has_ended();
        // The kernel that saw the request has ended, and later ones as well.
        if (started - request.kernel > kKernels && !have_come(request))
            throw DeviceError("CUDA: expected all sums of a request, found some missing");
        return false;
    }

    /// Returns when the request is ready.
    void wait(ChainRequest& request) {
        constexpr unsigned kPatience = 64;
        while (!is_ready(request))
            if (request.looks % kPatience == 0) std::this_thread::yield();
    }

private:
    /// The number of users of a GPU in this process; jobs of a list share it.
    static std::shared_ptr<std::atomic<Index>> sharers_of(const std::string& gpu) {
        static std::mutex mutex;
        static std::map<std::string, std::shared_ptr<std::atomic<Index>>> all;
        const std::lock_guard lock(mutex);
        std::shared_ptr<std::atomic<Index>>& of = all[gpu];
        if (!of) of = std::make_shared<std::atomic<Index>>(0);
        return of;
    }

    /// As ChainArrays::factors.
    static std::vector<float4> factors_of_passes(const Model& model) {
        const Index passes = (model.q_count() + kPassSums - 1) / kPassSums;
        std::vector<float> factors;
        for (Index pass = 0; pass < passes; ++pass)
            for (Index channel = 0; channel < model.channel_count(); ++channel)
                for (Index type = 0; type < model.type_count(); ++type)
                    for (Index n = 0; n < kTaskSums; ++n) {
                        const Index k = pass * kPassSums + n;
                        const bool is_used = n < kPassSums && k < model.q_count();
                        factors.push_back(
                            is_used ? static_cast<float>(model.factors(channel, type, k)) : 0.0f);
                    }
        factors.resize(factors.size() + kLanes);  // which lanes without a second q read
        std::vector<float4> result(factors.size() / 4);
        std::memcpy(result.data(), factors.data(), 4 * factors.size());
        return result;
    }

    static std::vector<unsigned> channels_of_types(const Model& model) {
        std::vector<unsigned> channels(model.type_count());
        for (Index type = 0; type < model.type_count(); ++type)
            for (Index channel = 0; channel < model.channel_count(); ++channel)
                for (Index k = 0; k < model.q_count(); ++k)
                    if (model.factors(channel, type, k) != 0.0) channels[type] |= 1u << channel;
        return channels;
    }

    bool have_come(ChainRequest& request) const {
        for (; request.seen_moves < request.moves.size();
             ++request.seen_moves, request.seen_values = 0)
            for (; request.seen_values < size_; ++request.seen_values) {
                const std::atomic_ref<double> result(
                    request.moves[request.seen_moves].results[request.seen_values]);
                if (std::bit_cast<std::uint64_t>(result.load(std::memory_order_acquire)) ==
                    kAwaited)
                    return false;
            }
        return true;
    }

    /// Starts the next kernel if the last one has ended, unless another thread does or pauses.
    void start_kernel() {
        const std::atomic_ref ended(words_.data()[0]);
        const auto has_ended = [&] {
            return ended.load(std::memory_order_acquire) ==
                   started_.load(std::memory_order_acquire);
        };
        if (!has_ended()) return;
        const std::unique_lock starts(start_mutex_, std::try_to_lock);
        if (!starts || !has_ended() || has_failed_) return;
        const unsigned number = started_ + 1;
        const ChainArrays arrays{.tasks = tasks_.data(),
                                 .type_of = type_of_.data(),
                                 .segment_end = segment_end_.data(),
                                 .factors = factors_.data(),
                                 .units = units_.data(),
                                 .scatterer_count = scatterers_};
        const ChainQueue queue{.requests = requests_.data(),
                               .has_to_end = words_.data() + 1,
                               .ended = words_.data(),
                               .slots = slots_.data(),
                               .seen = seen_.data(),
                               .left = left_.data(),
                               .items = items_.data(),
                               .taken = counts_.data(),
                               .published = counts_.data() + 1,
                               .slot_count = static_cast<std::int32_t>(slot_items_.size()),
                               .item_bits = item_bits_,
                               .kernel = number};
        try {
            gpu_.make_current();
            // Kernels of other users of the GPU need room beside this one, or would have to take
            // turns. One CTA watches, and at least one computes.
            const Index ctas = std::max<Index>(ctas_ / *sharers_, 2);
            gpu_.launch("sum over pairs", kernel_, Sides{ctas}, Sides{kChainThreads}, kSharedBytes,
                        data_.with(nullptr, nullptr, 0), arrays, queue);
        } catch (...) {
            error_ = std::current_exception();
            has_failed_.store(true, std::memory_order_release);
        }
        started_.store(number, std::memory_order_release);
    }

    static constexpr Index kSharedBytes = kWarps * static_cast<Index>(sizeof(ChainWarp));

    Index max_sum_bytes_;
    ScaleClasses classes_;
    SineGrid grid_;
    Index size_;
    ScatteringData<Gpu, float> data_;
    ChainTable table_;
    void (*kernel_)(Scattering<float>, ChainArrays, ChainQueue);
    Index scatterers_, ctas_, all_ctas_ = 0, max_pair_ctas_ = 0;
    Array<ChainTask> tasks_;
    Array<std::int32_t> type_of_, segment_end_;
    Array<float4> factors_;
    Array<double> units_;
    Pinned<unsigned long long> requests_;  ///< [kMaxSlots]
    Pinned<unsigned> words_;               ///< ChainQueue::ended and has_to_end
    Array<ChainSlot> slots_;
    Array<unsigned char> seen_;
    Array<unsigned> left_;
    Array<unsigned long long> items_, counts_;  ///< `counts_`: ChainQueue::taken and published
    std::atomic<Index> session_count_ = 0;
    std::mutex start_mutex_;
    // The members below belong to the thread that starts a kernel or pauses.
    std::vector<Index> slot_items_;  ///< [slot]: items at most; 0: a free slot
    std::int32_t item_bits_ = 0;
    std::atomic<unsigned> started_ = 0;
    std::atomic<bool> has_failed_ = false;
    std::exception_ptr error_;
    std::shared_ptr<std::atomic<Index>> sharers_;
    typename Gpu::Stream stream_;
    Gpu gpu_;  ///< its stream ends before the arrays
};

/// Data that the sessions of one model share on a `Gpu`: CudaGpu, or a host emulation.
template <class Gpu>
class GpuOfSessions;

/// The sums of a session's chains. Each pair of bodies and each profile has two copies; notes in
/// host memory say which holds the accepted sums and which the proposed ones, so accepting a
/// proposal moves no data. Sums are integers without rounding, so a chain's profile is always
/// exactly that of its sums.
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
          changed_(self_terms.extent(0)) {
        const Index chains = self_terms.extent(0);
        const Gpu& gpu = of_->gpu();
        const typename ChainRequests<Gpu>::Pause pause(requests_);
        max_jobs_ = std::min(requests_.max_jobs(), chains * std::max<Index>(pairs_, 1));
        // A part of a proposal has at least one pair.
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
        places_ = DeviceArray<Sums>(chains * (pairs_ + 1) * 2 * requests_.size());
        scales_ = DeviceArray<float>(std::max<Index>(scales.size(), 1));
        if (scales.size() > 0) scales_.upload(scales.data, 0, scales.size());
        unit_scale_ = unit_scale_of(scales);
        std::copy(self_terms.begin(), self_terms.end(), constants_.begin());
        for (Index chain = 0; chain < chains; ++chain) {
            for (Index pair = 0; pair <= pairs_; ++pair) {
                accepted_(chain, pair) =
                    places_.data() + (chain * (pairs_ + 1) + pair) * 2 * requests_.size();
                spare_(chain, pair) = accepted_(chain, pair) + requests_.size();
            }
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
    /// Waits for work in progress, because the GPU would otherwise write to freed memory.
    ~ChainSums() override {
        try {
            finish_part();
        } catch (...) {  // it was for finish() to tell
            requests_.drain();
        }
        if (slot_ >= 0) requests_.remove_slot(slot_);
    }

    void start(std::span<const ProposedPositions> proposals) override {
        finish_part();
        started_.clear();
        for (const ProposedPositions& proposal : proposals) {
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
        return {found_.data(), std::ssize(started_), profiles_.extent(1), profiles_.extent(2)};
    }

    void accept(Index chain) override {
        for (const std::int32_t pair : changed_[chain])
            std::swap(accepted_(chain, pair), spare_(chain, pair));
        std::swap(accepted_(chain, pairs_), spare_(chain, pairs_));
        const View<const double, 2> from = proposed_.view()[chain];
        std::copy(from.begin(), from.end(), profiles_.view()[chain].data);
    }

    void refresh(Index chain, View<const float, 2> xyz) override {
        std::vector<std::int32_t>& all = changed_[chain];
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

    /// Adds the sums at q = 0, which do not depend on positions.
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

    /// Adds the changed pairs of a chain, in parts that fit into requests: each continues from the
    /// profile of the previous part. `replaces`: the old sums are part of the accepted profile.
    void add(Index chain, View<const float, 2> xyz, bool replaces) {
        const std::vector<std::int32_t>& changed = changed_[chain];
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
        if (std::ssize(jobs_) == max_jobs_ || std::ssize(ctas_) + ctas > max_ctas_) {
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
        const auto moves = std::ssize(moves_), jobs = std::ssize(jobs_), ctas = std::ssize(ctas_);
        const Index jobs_at = 1 + ctas, moves_at = jobs_at + pieces_of<ChainJob>(jobs),
                    positions_at = moves_at + pieces_of<ChainMove>(moves);
        uint4* const table = host_table_.data();
        *reinterpret_cast<ChainHeader*>(table) = {static_cast<std::int32_t>(jobs_at),
                                                  static_cast<std::int32_t>(moves_at)};
        for (Index n = 0; n < moves; ++n) {
            ChainMove& move = moves_[n];
            const View<const float, 2> xyz = positions_[n];
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

    /// Waits for a started part, if any, and stores the profiles.
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
    DeviceArray<Sums> sums_, changes_, places_;
    DeviceArray<unsigned> arrived_;
    DeviceArray<float> scales_;
    Pinned<double> results_;  ///< [chain, size]
    double unit_scale_ = 1;
    Array<Sums*, 2> accepted_, spare_;  ///< [chain, pair of bodies and profile]: where sums are
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
    /// `max_sum_bytes`: for the new sums of a request.
    GpuOfSessions(Model model, std::span<const std::int32_t> bodies, Gpu gpu,
                  Index max_sum_bytes = Index{16} << 20)
        : model_(std::move(model)),
          bodies_(bodies.empty() ? 1 : *std::max_element(bodies.begin(), bodies.end()) + 1),
          sorted_(sort_by_body(model_, bodies, bodies_)),
          gpu_(std::move(gpu)),
          requests_(model_, sorted_, gpu_, max_sum_bytes) {}

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
