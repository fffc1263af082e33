// Small calls: the host side of low-latency GPU calls for one or a few profiles.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "pleat/core/cuda/grow.h"
#include "pleat/core/error.h"
#include "pleat/saxs/cuda/call_kernel.cuh"
#include "pleat/saxs/debye/body_pairs.h"
#include "pleat/saxs/debye/pair_sums.h"

namespace pleat::saxs::cuda {

using pleat::cuda::grow;
using pleat::cuda::Sides;
using pleat::cuda::upload;

/// Calls that are limited by the latency of launching and answering, not by the sums: the host
/// writes positions into host memory that the GPU reads, launches one kernel, and polls host memory
/// into which the kernel writes the results. Calls from any thread go to one stream.
template <class Gpu>
class SmallCalls {
public:
    /// Pointers of `from` must outlive this; its tasks are not used.
    SmallCalls(const Model& model, const SortedScatterers& sorted, const SineGrid& grid,
               const Scattering<float>& from, const Gpu& gpu)
        : from_(from),
          kernel_(!grid.even                ? answer_call<false, true>
                  : model.scale_count() > 0 ? answer_call<true, true>
                                            : answer_call<true, false>),
          shared_bytes_(shared_bytes(model.pair_count())),
          table_(sorted, gpu.processors() * kCallWarps),
          gpu_(gpu.on(stream_)) {
        upload(tasks_, table_.tasks);
        upload(first_warp_, table_.first_warp);
        upload(first_task_, table_.first_task);
        make_units(model);
        is_possible_ = shared_bytes_ <= gpu.max_shared_bytes() &&
                       2 * gpu.processors() < Index{1} << kCountBits;
        if (is_possible_) resident_ = gpu.resident_ctas(kernel_, kCallThreads, shared_bytes_);
        gpu.wait();
    }
    SmallCalls(const SmallCalls&) = delete;
    SmallCalls& operator=(const SmallCalls&) = delete;

    /// Whether a call of this size is small enough.
    bool can_compute(View<const float, 3> xyz, View<const float, 3> scales, Index jobs,
                     Index results) const {
        constexpr Index kMaxBytes = Index{1} << 20, kMaxJobs = 65535;
        return is_possible_ && jobs <= kMaxJobs && 8 * results <= kMaxBytes &&
               4 * (xyz.size() + scales.size()) <= kMaxBytes;
    }

    /// As BodyPairs::evaluate().
    void evaluate(View<const float, 3> xyz, View<const float, 3> scales,
                  std::span<const PairJob> jobs, View<double, 3> partial) {
        const Layout at = layout(static_cast<Index>(jobs.size()), xyz.size(), scales.size());
        reserve(at.bytes, partial.size());
        write_input(at, xyz, scales, jobs);
        std::fill_n(results_.data(), partial.size(), std::bit_cast<double>(kAwaited));
        start(make_call(at, xyz, scales, jobs), xyz.extent(0), jobs);
        wait(partial.size());
        std::copy_n(results_.data(), partial.size(), partial.data);
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;
    template <class T>
    using Pinned = typename Gpu::template Pinned<T>;

    /// Units per square electron such that no sum of a whole system overflows the bits that the
    /// count leaves free: |sin(x) / x| is at most 1. They are powers of two, by which division is
    /// exact.
    void make_units(const Model& model) {
        constexpr int kSumBits = 64 - kCountBits - 3;
        std::vector<double> units;
        const Index q_count = model.q_count();
        const auto amplitude = [&](Index channel, Index k) {
            double sum = 0.0;
            for (const std::int32_t type : model.types)
                sum += std::fabs(model.factors(channel, type, k));
            return sum;
        };
        for (Index a = 0; a < model.channel_count(); ++a)
            for (Index b = a; b < model.channel_count(); ++b)
                for (Index k = 0; k < q_count; ++k) {
                    const double bound = 2.0 * amplitude(a, k) * amplitude(b, k);
                    const int bits = bound > 0.0 ? kSumBits - std::ilogb(bound) : 0;
                    units.push_back(std::ldexp(1.0, std::min(bits, 1000)));
                }
        upload(units_, units);
    }

    /// The largest number of warps of a job.
    Index max_warps(std::span<const PairJob> jobs) const {
        Index max_count = 1;
        for (const PairJob& job : jobs) {
            const auto pair = static_cast<std::size_t>(channel_pair(job.a, job.b, table_.bodies));
            max_count =
                std::max<Index>(max_count, table_.first_warp[pair + 1] - table_.first_warp[pair]);
        }
        return max_count;
    }

    /// Offsets of the input of a call in one block of bytes: the scale of units, then jobs.
    static constexpr Index kJobs = 256;
    struct Layout {
        Index xyz, scales, bytes;
    };
    static Layout layout(Index jobs, Index xyz, Index scales) {
        const auto round = [](Index bytes) { return (bytes + 255) / 256 * 256; };
        Layout to{kJobs + round(jobs * static_cast<Index>(sizeof(PairJob))), 0, 0};
        to.scales = to.xyz + round(4 * xyz);
        to.bytes = to.scales + round(4 * scales);
        return to;
    }

    void reserve(Index bytes, Index results) {
        if (host_input_.size() >= bytes && results_.size() >= results) return;
        gpu_.wait();
        graphs_.clear();  // they contain the addresses
        grow(host_input_, bytes);
        grow(device_input_, bytes);
        grow(results_, results);
        grow(sums_, results);
        gpu_.wait();  // arrays are cleared in the thread's stream
    }

    Call make_call(const Layout& at, View<const float, 3> xyz, View<const float, 3> scales,
                   std::span<const PairJob> jobs) const {
        const std::uint8_t* const device_input = device_input_.data();
        Call call{};
        call.tasks = tasks_.data();
        call.first_warp = first_warp_.data();
        call.first_task = first_task_.data();
        call.host_input = reinterpret_cast<const uint4*>(host_input_.data());
        call.device_input = reinterpret_cast<uint4*>(device_input_.data());
        call.pieces = at.bytes / static_cast<Index>(sizeof(uint4));
        call.copying_ctas = copying_ctas_.data();
        call.unit_scale = reinterpret_cast<const double*>(device_input);
        call.jobs = reinterpret_cast<const PairJob*>(device_input + kJobs);
        call.xyz = reinterpret_cast<const float*>(device_input + at.xyz);
        call.scales = reinterpret_cast<const float*>(device_input + at.scales);
        call.scatterer_count = xyz.extent(2);
        call.scale_count = static_cast<std::int32_t>(scales.extent(1));
        call.job = jobs.front();
        call.units = units_.data();
        call.sums = sums_.data();
        call.results = results_.data();
        return call;
    }

    void write_input(const Layout& at, View<const float, 3> xyz, View<const float, 3> scales,
                     std::span<const PairJob> jobs) {
        std::uint8_t* const to = host_input_.data();
        float largest = 1.0f;
        for (const float scale : scales) largest = std::max(largest, std::fabs(scale));
        const double unit_scale =
            largest > 1.0f ? std::ldexp(1.0, -2 * (std::ilogb(largest) + 1)) : 1.0;
        std::memcpy(to, &unit_scale, sizeof(unit_scale));
        std::memcpy(to + kJobs, jobs.data(), jobs.size_bytes());
        std::memcpy(to + at.xyz, xyz.data, static_cast<std::size_t>(4 * xyz.size()));
        if (scales.size() > 0)
            std::memcpy(to + at.scales, scales.data, static_cast<std::size_t>(4 * scales.size()));
    }

    /// Launches a call. Its CTAs copy the input themselves if all of them can be resident on the
    /// GPU at once.
    void launch(Call call, Sides grid) const {
        const Index copying_ctas = (call.pieces + kCallThreads - 1) / kCallThreads;
        const Index ctas = grid.x * grid.y * grid.z;
        call.copies_input = copying_ctas <= ctas && ctas <= resident_ ? 1 : 0;
        if (call.copies_input == 0) {
            gpu_.launch("copy positions", &copy_all_input, Sides{copying_ctas}, Sides{kCallThreads},
                        0, call);
        }
        gpu_.launch("sum over pairs", kernel_, grid, Sides{kCallThreads}, shared_bytes_, from_,
                    call);
    }

    /// Starts a call: as a graph, which is faster, unless there are too many different graphs.
    void start(const Call& call, Index sets, std::span<const PairJob> jobs) {
        constexpr std::size_t kMaxGraphs = 256;
        const Index ctas = (max_warps(jobs) + kCallWarps - 1) / kCallWarps;
        const Index job_count = static_cast<Index>(jobs.size());
        const Sides grid{ctas, job_count, Index{from_.classes} * from_.classes * from_.pass_count};
        const PairJob one = job_count == 1 ? call.job : PairJob{};
        const CallShape shape{sets, job_count, ctas, one.set, one.a, one.b};
        auto graph = graphs_.find(shape);
        if (graph == graphs_.end()) {
            if (graphs_.size() >= kMaxGraphs) return launch(call, grid);
            graph = graphs_.emplace(shape, gpu_.capture([=, this] { launch(call, grid); })).first;
        }
        gpu_.replay(graph->second);
    }

    /// Calls of one graph have in common: sets, jobs, CTAs per job, and the job if there is only
    /// one.
    using CallShape = std::array<Index, 6>;

    /// Waits until all results have been written, which is visible before the stream reports its
    /// end. The stream is checked from time to time, in case the GPU fails.
    void wait(Index results) {
        constexpr int kLooks = 4096;
        for (Index n = 0; n < results; ++n) {
            const std::atomic_ref<double> result(results_.data()[n]);
            const auto came = [&] {
                return std::bit_cast<std::uint64_t>(result.load(std::memory_order_acquire)) !=
                       kAwaited;
            };
            for (int look = 1; !came(); ++look) {
                if (look % kLooks != 0) continue;
                if (gpu_.has_ended() && !came())
                    throw DeviceError("CUDA: expected all sums at its end, found some missing");
            }
        }
    }

    Scattering<float> from_;
    void (*kernel_)(Scattering<float>, Call);
    Index shared_bytes_;
    bool is_possible_ = false;
    Index resident_ = 0;  ///< CTAs that can be resident at once
    CallTable table_;
    Array<Task> tasks_;
    Array<std::int32_t> first_warp_, first_task_;
    Array<double> units_;
    Pinned<std::uint8_t> host_input_;
    Array<std::uint8_t> device_input_;
    Pinned<double> results_;
    Array<unsigned long long> sums_;
    Array<unsigned> copying_ctas_{2};
    std::map<CallShape, typename Gpu::Graph> graphs_;
    typename Gpu::Stream stream_;  ///< ends before the arrays
    Gpu gpu_;
};

}  // namespace pleat::saxs::cuda
