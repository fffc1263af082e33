// Chain calls: proposals that come from several threads at a time, computed in one call of a GPU.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/cuda/grow.h"
#include "pleat/core/error.h"
#include "pleat/saxs/cuda/chain_kernel.cuh"
#include "pleat/saxs/cuda/chain_table.h"
#include "pleat/saxs/cuda/scattering_data.cuh"

namespace pleat::saxs::cuda {

using pleat::cuda::grow;
using pleat::cuda::Sides;
using pleat::cuda::upload;

/// What a thread asks for: moves of its chains, with the numbers of its own jobs and moves.
struct ChainRequest {
    std::span<const ChainMove> moves;
    std::span<const ChainJob> jobs;
    Index place = 0;  ///< lower ones are computed first where they are in one call
    enum State { waiting, started, failed };
    std::atomic<State> state = waiting;
    std::size_t lane = 0;      ///< once started
    std::exception_ptr error;  ///< once failed
    // Of ChainCalls::is_ready():
    std::size_t seen_moves = 0;  ///< whose results have come
    Index seen_values = 0;       ///< of the next one
    unsigned looks = 0;
};

inline void sort_by_place(std::vector<ChainRequest*>& requests) {
    std::stable_sort(
        requests.begin(), requests.end(),
        [](const ChainRequest* a, const ChainRequest* b) { return a->place < b->place; });
}

/// Calls of a GPU that threads share. A thread adds its request to a queue. Whoever finds a free
/// lane starts a call of all that wait: some calls are on their way at a time, so the GPU need not
/// wait for the host, and the longer calls take, the more requests the next one has. Results do not
/// depend on what a call has beside them.
template <class Gpu>
class ChainCalls {
public:
    ChainCalls(const Model& model, const SortedScatterers& sorted, const Gpu& gpu,
               Index max_sum_bytes)
        : max_sum_bytes_(max_sum_bytes),
          classes_(model),
          grid_(model.q),
          size_(model.pair_count() * model.q_count()),
          data_(model, classes_, grid_),
          table_(sorted, channels_of_types(model)),
          kernel_(grid_.even ? sum_chains<true> : sum_chains<false>),
          scatterers_(model.scatterer_count()),
          gpu_(gpu) {
        upload(tasks_, table_.tasks);
        upload(first_task_, table_.first_task);
        upload(type_of_, table_.type_of);
        upload(segment_end_, table_.segment_end);
        upload(factors_, factors_of_passes(model));
        upload(units_, units_of(model));
        for (Lane& lane : lanes_) {
            lane.gpu.emplace(gpu.on(lane.stream));
            lane.changes = Array<unsigned long long>(kMaxMoves * size_);
            lane.arrived = Array<unsigned>(kMaxMoves + 1);
            lane.summed = Pinned<unsigned>(1);
            *lane.summed.data() = 0;
        }
        gpu_.wait();
    }
    ChainCalls(const ChainCalls&) = delete;
    ChainCalls& operator=(const ChainCalls&) = delete;

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

    /// Adds a request, for which wait() must be called, and starts it if a lane is free.
    void add(ChainRequest& request) {
        {
            const std::lock_guard lock(queue_mutex_);
            queue_.push_back(&request);
        }
        start_call();
    }

    /// Looks whether all results of the request, which were kAwaited, have been written; until it
    /// is started, starts a call if a lane is free. Lanes are checked from time to time, in case
    /// the GPU fails.
    bool is_ready(ChainRequest& request) {
        constexpr unsigned kLooks = 4096;
        const ChainRequest::State state = request.state.load(std::memory_order_acquire);
        if (state == ChainRequest::failed) std::rethrow_exception(request.error);
        if (state == ChainRequest::waiting) start_call();
        if (state == ChainRequest::started && have_come(request)) return true;
        if (++request.looks % kLooks != 0) return false;
        for (const Lane& lane : lanes_) {
            const bool has_ended = lane.gpu->has_ended();
            if (has_ended && state == ChainRequest::started && &lane == &lanes_[request.lane] &&
                !have_come(request))
                throw DeviceError("CUDA: expected all sums at its end, found some missing");
        }
        return false;
    }

    /// Returns when the request is ready.
    void wait(ChainRequest& request) {
        constexpr unsigned kPatience = 64;
        try {
            while (!is_ready(request))
                if (request.looks % kPatience == 0) std::this_thread::yield();
        } catch (...) {
            const std::scoped_lock lock(start_mutex_, queue_mutex_);
            std::erase(queue_, &request);
            throw;
        }
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;
    template <class T>
    using Pinned = typename Gpu::template Pinned<T>;

    /// A call on its way.
    struct Lane {
        typename Gpu::Stream stream;
        std::optional<Gpu> gpu;
        Pinned<uint4> host_table;
        Array<uint4> table;
        Array<unsigned long long> sums, changes;
        Array<unsigned> arrived, arrived_ctas;
        Pinned<unsigned> summed;
        unsigned number = 0;

        /// Whether the table in the host's memory may be written again.
        bool is_free() const {
            const std::atomic_ref<unsigned> seen(*summed.data());
            return seen.load(std::memory_order_acquire) == number;
        }
    };

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

    /// As ChainCall::factors.
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

    /// Starts a call of what waits, if a lane is free and no other thread is starting one.
    void start_call() {
        const std::unique_lock starts(start_mutex_, std::try_to_lock);
        if (!starts) return;
        const std::size_t number = calls_ % kCallsAtATime;
        Lane& lane = lanes_[number];
        if (!error_ && !lane.is_free()) return;
        take_requests();
        if (taken_.empty()) return;
        try {
            if (!error_) launch(lane);
        } catch (...) {
            error_ = std::current_exception();  // its lane may never be free again
        }
        ++calls_;
        for (ChainRequest* const request : taken_) {
            request->lane = number;
            request->error = error_;
            request->state.store(error_ ? ChainRequest::failed : ChainRequest::started,
                                 std::memory_order_release);
        }
    }

    /// Moves requests from the queue to `taken_`, as many as fit into a call.
    void take_requests() {
        taken_.clear();
        moves_ = jobs_ = 0;
        const std::lock_guard lock(queue_mutex_);
        std::size_t count = 0;
        for (; count < queue_.size(); ++count) {
            const auto moves = static_cast<Index>(queue_[count]->moves.size()),
                       jobs = static_cast<Index>(queue_[count]->jobs.size());
            if (count > 0 && (moves_ + moves > kMaxMoves || jobs_ + jobs > max_jobs())) break;
            moves_ += moves;
            jobs_ += jobs;
            taken_.push_back(queue_[count]);
        }
        queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(count));
        sort_by_place(taken_);
    }

    /// Where a call's table has its parts, in pieces of 16 bytes.
    struct Layout {
        Index jobs, ctas, pieces;
    };
    Layout layout(Index ctas) const {
        const auto pieces = [](Index count, std::size_t size) {
            return (count * static_cast<Index>(size) + 15) / 16;
        };
        Layout at{pieces(moves_, sizeof(ChainMove)), 0, 0};
        at.ctas = at.jobs + pieces(jobs_, sizeof(ChainJob));
        at.pieces = at.ctas + pieces(ctas, sizeof(ChainCta));
        return at;
    }

    Index ctas_of(std::int32_t pair) const {
        if (pair < 0) return 1;
        const auto n = static_cast<std::size_t>(pair);
        const Index tasks = table_.first_task[n + 1] - table_.first_task[n];
        return std::max<Index>((tasks + kWarps - 1) / kWarps, 1);
    }

    void launch(Lane& lane) {
        gpu_.make_current();
        Index ctas = 0;
        for (const ChainRequest* const request : taken_)
            for (const ChainJob& job : request->jobs) ctas += ctas_of(job.pair);
        const Layout at = layout(ctas);
        reserve(lane, at.pieces);
        ChainCopies copies;
        copies.pieces = static_cast<std::int32_t>(position_pieces());
        copies.table_pieces = static_cast<std::int32_t>(at.pieces);
        write_table(lane, at, copies);
        const Scattering<float> from = data_.with(nullptr, nullptr, 0);
        const ChainCall call{.tasks = tasks_.data(),
                             .first_task = first_task_.data(),
                             .type_of = type_of_.data(),
                             .segment_end = segment_end_.data(),
                             .factors = factors_.data(),
                             .moves = reinterpret_cast<const ChainMove*>(lane.table.data()),
                             .jobs = reinterpret_cast<const ChainJob*>(lane.table.data() + at.jobs),
                             .ctas = reinterpret_cast<const ChainCta*>(lane.table.data() + at.ctas),
                             .units = units_.data(),
                             .sums = lane.sums.data(),
                             .changes = lane.changes.data(),
                             .arrived_ctas = lane.arrived_ctas.data(),
                             .arrived_jobs = lane.arrived.data(),
                             .arrived_moves = lane.arrived.data() + kMaxMoves,
                             .scatterer_count = scatterers_,
                             .move_count = static_cast<std::int32_t>(moves_),
                             .summed = lane.summed.data(),
                             .number = lane.number + 1};
        const auto parts = [](Index count) { return (count + kChainThreads - 1) / kChainThreads; };
        const Index pieces = std::max(position_pieces(), at.pieces);
        ++lane.number;
        lane.gpu->launch("copy positions", &copy_chains, Sides{parts(pieces), moves_ + 1},
                         Sides{kChainThreads}, 0, copies);
        lane.gpu->launch("sum over pairs", kernel_, Sides{ctas, data_.pass_count()},
                         Sides{kWarps * kLanes}, kWarps * static_cast<Index>(sizeof(ChainWarp)),
                         from, call);
    }

    /// Makes room for a call's table and sums.
    void reserve(Lane& lane, Index pieces) {
        if (lane.table.size() >= pieces && lane.sums.size() >= jobs_ * size_) return;
        lane.gpu->wait();
        grow(lane.host_table, pieces + pieces / 2);
        grow(lane.table, pieces + pieces / 2);
        grow(lane.sums, (jobs_ + jobs_ / 2) * size_);
        grow(lane.arrived_ctas, jobs_ + jobs_ / 2);
        lane.gpu->wait();  // arrays are cleared in the thread's stream
    }

    /// Writes moves, jobs and CTAs of all requests, numbered for the call.
    void write_table(Lane& lane, const Layout& at, ChainCopies& copies) const {
        uint4* const table = lane.host_table.data();
        copies.from[moves_] = table;
        copies.to[moves_] = lane.table.data();
        auto* move = reinterpret_cast<ChainMove*>(table);
        auto* job = reinterpret_cast<ChainJob*>(table + at.jobs);
        auto* cta = reinterpret_cast<ChainCta*>(table + at.ctas);
        std::int32_t moves = 0, jobs = 0;
        for (const ChainRequest* const request : taken_) {
            const std::int32_t first_move = moves;
            for (const ChainMove& one : request->moves) {
                copies.from[moves] = one.host_xyz;
                copies.to[moves++] = one.xyz;
                *move++ = one;
            }
            for (const ChainJob& one : request->jobs) {
                *job = one;
                job->move += first_move;
                const std::int32_t ctas = job++->ctas =
                    static_cast<std::int32_t>(ctas_of(one.pair));
                const std::int32_t first_task =
                    one.pair < 0 ? 0 : table_.first_task[static_cast<std::size_t>(one.pair)];
                for (std::int32_t n = 0; n < ctas; ++n) *cta++ = {jobs, first_task + n * kWarps};
                ++jobs;
            }
        }
    }

    static constexpr std::size_t kCallsAtATime = 6;

    Index max_sum_bytes_;
    ScaleClasses classes_;
    SineGrid grid_;
    Index size_;
    ScatteringData<Gpu, float> data_;
    ChainTable table_;
    void (*kernel_)(Scattering<float>, ChainCall);
    Index scatterers_;
    Array<ChainTask> tasks_;
    Array<std::int32_t> first_task_, type_of_, segment_end_;
    Array<float4> factors_;
    Array<double> units_;
    std::mutex queue_mutex_, start_mutex_;
    std::vector<ChainRequest*> queue_;
    // Below: of the thread that starts a call.
    std::vector<ChainRequest*> taken_;
    Index moves_ = 0, jobs_ = 0;  ///< of `taken_`
    std::size_t calls_ = 0;
    std::exception_ptr error_;
    Gpu gpu_;
    std::array<Lane, kCallsAtATime> lanes_;  ///< streams end before the arrays
};

}  // namespace pleat::saxs::cuda
