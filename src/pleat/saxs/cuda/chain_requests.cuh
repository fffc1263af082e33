// Chain requests: what sessions on several threads ask of one kernel, which stays on the GPU.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/cuda/grow.h"
#include "pleat/core/error.h"
#include "pleat/saxs/cuda/chain_queue.cuh"
#include "pleat/saxs/cuda/chain_table.h"
#include "pleat/saxs/cuda/scattering_data.cuh"

namespace pleat::saxs::cuda {

using pleat::cuda::grow;
using pleat::cuda::Sides;
using pleat::cuda::upload;

/// The moves that a session asks for, and which of their results have come.
struct ChainRequest {
    std::span<const ChainMove> moves;
    // Of ChainRequests::is_ready():
    std::size_t seen_moves = 0;  ///< whose results have come
    Index seen_values = 0;       ///< of the next one
    unsigned looks = 0;
    unsigned kernel = 0;  ///< number of the last one at the first look
};

/// A kernel of a GPU that threads share, and that stays there while there are requests. Each
/// session has a slot, where it writes one request at a time; the kernel sees it without a launch.
/// A kernel that has seen nothing for a while ends, and whoever waits then starts the next one.
/// Results do not depend on what is computed beside them.
template <class Gpu>
class ChainRequests {
    template <class T>
    using Array = typename Gpu::template Array<T>;
    template <class T>
    using Pinned = typename Gpu::template Pinned<T>;

public:
    /// `few_moves`: as make_shared_gpu() has it.
    ChainRequests(const Model& model, const SortedScatterers& sorted, const Gpu& gpu,
                  bool few_moves, Index max_sum_bytes)
        : max_sum_bytes_(max_sum_bytes),
          classes_(model),
          grid_(model.q),
          size_(model.pair_count() * model.q_count()),
          data_(model, classes_, grid_),
          table_(sorted, channels_of_types(model), few_moves ? kColumnsOfFewMoves : kChainColumns),
          kernel_(grid_.even ? serve_chains<true> : serve_chains<false>),
          scatterers_(model.scatterer_count()),
          ctas_(std::max<Index>(gpu.resident_ctas(kernel_, kChainThreads, kSharedBytes), 2)),
          sharers_(sharers_of(gpu.name())),
          gpu_(gpu.on(stream_)) {
        upload(tasks_, table_.tasks);
        upload(type_of_, table_.type_of);
        upload(segment_end_, table_.segment_end);
        upload(factors_, factors_of_passes(model));
        upload(units_, units_of(model));
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
        constexpr Index kMaxJobs = 8192;
        return std::clamp<Index>(max_sum_bytes_ / (8 * size_), 1, kMaxJobs);
    }
    /// Channel pairs times q.
    Index size() const { return size_; }
    Index body_pairs() const { return static_cast<Index>(table_.first_task.size()) - 1; }
    /// Pieces of 16 bytes of the positions of a chain.
    Index position_pieces() const { return (12 * scatterers_ + 15) / 16; }
    /// CTAs of all pairs of bodies together, and of the largest.
    Index all_ctas() const { return all_ctas_; }
    Index max_pair_ctas() const { return max_pair_ctas_; }
    /// Tasks of a CTA of a pair of bodies. More of them wait less often for their next item, but
    /// take longer: best where there are many sessions. Sums do not depend on it.
    std::int32_t cta_tasks(std::int32_t pair) const {
        constexpr Index kManySessions = 16;
        constexpr std::int32_t kManyTasks = 64;
        const bool has_many = session_count_.load(std::memory_order_relaxed) >= kManySessions &&
                              last_task(pair) - first_task(pair) >= kManyTasks;
        return has_many ? 2 * kWarps : kWarps;
    }
    /// CTAs of a pair of bodies; of none, if it is negative.
    std::int32_t ctas_of(std::int32_t pair, std::int32_t of_cta = kWarps) const {
        const std::int32_t tasks = last_task(pair) - first_task(pair);
        return std::max((tasks + of_cta - 1) / of_cta, 1);
    }
    std::int32_t first_task(std::int32_t pair) const {
        return pair < 0 ? 0 : table_.first_task[static_cast<std::size_t>(pair)];
    }
    std::int32_t last_task(std::int32_t pair) const {
        return pair < 0 ? 0 : table_.first_task[static_cast<std::size_t>(pair) + 1];
    }

    /// While it lives, no kernel runs, so that memory may be taken at once: the GPU would wait for
    /// the end of the kernel, which requests of other threads put off.
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

    /// Adds a slot, during a pause. Its requests have as many parts and CTAs at most.
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
        slot_items_[static_cast<std::size_t>(number)] = of_slot;
        ++session_count_;
        return number;
    }
    /// Bytes that a slot of as many parts and CTAs may add to the ring.
    Index ring_bytes(Index parts, Index ctas) const {
        return 16 * (parts + data_.pass_count() * ctas);
    }
    /// Waits until the GPU writes nothing more; an error is for the next request to tell.
    void drain() noexcept {
        try {
            gpu_.wait();
        } catch (const DeviceError&) {
        }
    }
    /// Its last request must have come.
    void remove_slot(Index slot) {
        const std::lock_guard starts(start_mutex_);
        slot_items_[static_cast<std::size_t>(slot)] = 0;
        --session_count_;
    }

    /// Begins to compute the request whose table is in the slot's memory: it has `parts` of
    /// kPartPieces and `ctas`.
    void start(Index slot, Index parts, Index ctas) {
        const std::atomic_ref word(requests_.data()[slot]);
        const auto last = static_cast<unsigned>(word.load(std::memory_order_relaxed));
        word.store(ChainRequestWord::make(last + 1, parts, ctas), std::memory_order_release);
        start_kernel();
    }

    /// Looks whether all results of the request, which were kAwaited, have been written, and starts
    /// a kernel if the last one has ended. Looks at the GPU from time to time, in case it fails.
    bool is_ready(ChainRequest& request) {
        constexpr unsigned kLooks = 4096, kKernels = 8;
        if (have_come(request)) return true;
        start_kernel();
        if (has_failed_.load(std::memory_order_acquire)) std::rethrow_exception(error_);
        const unsigned started = started_.load(std::memory_order_relaxed);
        if (request.looks++ == 0) request.kernel = started;
        if (request.looks % kLooks == 0) gpu_.has_ended();
        // The kernel that saw the request has ended, as others have since.
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
    /// How many there are on a GPU in this process: runs of a list of jobs share it.
    static std::shared_ptr<std::atomic<Index>> sharers_of(const std::string& gpu) {
        static std::mutex mutex;
        static std::map<std::string, std::shared_ptr<std::atomic<Index>>> all;
        const std::lock_guard lock(mutex);
        std::shared_ptr<std::atomic<Index>>& of = all[gpu];
        if (!of) of = std::make_shared<std::atomic<Index>>(0);
        return of;
    }

    /// As SmallCalls has them, without a count of CTAs.
    static std::vector<double> units_of(const Model& model) {
        constexpr int kSumBits = 60;
        std::vector<double> units;
        const auto amplitude = [&](Index channel, Index k) {
            double sum = 0.0;
            for (const std::int32_t type : model.types)
                sum += std::fabs(model.factors(channel, type, k));
            return sum;
        };
        for (Index a = 0; a < model.channel_count(); ++a)
            for (Index b = a; b < model.channel_count(); ++b)
                for (Index k = 0; k < model.q_count(); ++k) {
                    const double bound = 2.0 * amplitude(a, k) * amplitude(b, k);
                    const int bits = bound > 0.0 ? kSumBits - std::ilogb(bound) : 0;
                    units.push_back(std::ldexp(1.0, std::min(bits, 1000)));
                }
        return units;
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
        std::vector<unsigned> channels(static_cast<std::size_t>(model.type_count()));
        for (Index type = 0; type < model.type_count(); ++type)
            for (Index channel = 0; channel < model.channel_count(); ++channel)
                for (Index k = 0; k < model.q_count(); ++k)
                    if (model.factors(channel, type, k) != 0.0)
                        channels[static_cast<std::size_t>(type)] |= 1u << channel;
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
            // The kernels of others that share the GPU need room beside it, or would take turns.
            // One CTA watches, and at least one computes.
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
    // Below: of the thread that starts a kernel or pauses.
    std::vector<Index> slot_items_;  ///< [slot]: items at most; 0: a free slot
    std::int32_t item_bits_ = 0;
    std::atomic<unsigned> started_ = 0;
    std::atomic<bool> has_failed_ = false;
    std::exception_ptr error_;
    std::shared_ptr<std::atomic<Index>> sharers_;
    typename Gpu::Stream stream_;
    Gpu gpu_;  ///< its stream ends before the arrays
};

}  // namespace pleat::saxs::cuda
