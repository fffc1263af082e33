// Small calls: one kernel copies its input from the host, sums over pairs, and writes the results
// to the host, for one or a few profiles soon.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <span>

#include "pleat/core/cuda/grow.h"
#include "pleat/core/error.h"
#include "pleat/saxs/cuda/pair_sums.cuh"
#include "pleat/saxs/cuda/task_tables.h"
#include "pleat/saxs/debye/body_pairs.h"
#include "pleat/saxs/debye/sorted_scatterers.h"

namespace pleat::saxs::cuda {

/// Threads of a CTA.
inline constexpr int kCallThreads = kCallWarps * kLanes;

/// Marks a result that has not been written yet: a NaN that no sum produces.
inline constexpr std::uint64_t kAwaited = 0x7ff8000000a3a17eu;

/// Bits of a sum that count the CTAs that have added to it.
inline constexpr int kCountBits = 12;

/// The arrays of a small call, besides those of Scattering.
struct Call {
    const Task* tasks;               ///< of a CallTable
    const std::int32_t* first_warp;  ///< [pair of bodies, and one]
    const std::int32_t* first_task;  ///< [warp, and one]
    const uint4* host_input;         ///< [pieces]: jobs, positions and scales in host memory
    uint4* device_input;             ///< the same in device memory
    Index pieces;
    unsigned*
        copying_ctas;  ///< [2]: CTAs that have copied their part; CTAs that have seen all copied
    const double*
        unit_scale;  ///< [1]: of `units`, as large scales leave fewer; these four in `taken`
    const PairJob* jobs;
    const float* xyz;     ///< [set, axis, sorted scatterer]
    const float* scales;  ///< [set, scale, sorted scatterer]
    Index scatterer_count;
    std::int32_t scale_count;
    PairJob job;                ///< the job, if there is only one
    std::int32_t copies_input;  ///< whether the kernel that sums copies the input
    const double* units;        ///< [channel pair, q]: units per electron^2, powers of two
    unsigned long long* sums;   ///< [job, channel pair, q]: units and kCountBits; 0 between calls
    double* results;            ///< [job, channel pair, q] in host memory
};

/// Copies a CTA's part of the host's input, one piece per thread. With few CTAs each copies much,
/// because host memory has a long latency.
__device__ inline void copy_input(const Call& call, Index cta) {
    const Index piece = cta * kCallThreads + threadIdx.x;
    if (piece < call.pieces) call.device_input[piece] = call.host_input[piece];
}

/// Copies a CTA's part of the input, and counts the CTAs that have done so.
__device__ inline void copy_input_and_count(const Call& call, Index cta) {
    if (cta * kCallThreads >= call.pieces) return;
    copy_input(call, cta);
    __syncthreads();
    if (threadIdx.x > 0) return;
    __threadfence();
    atomicAdd(call.copying_ctas, 1u);
}

/// Waits until all CTAs, which must be resident on the GPU at once, have copied their parts. The
/// last CTA to see this clears the counts for the next call.
__device__ inline void await_input(const Call& call, unsigned ctas) {
    if (threadIdx.x == 0) {
        const auto copying_ctas =
            static_cast<unsigned>((call.pieces + kCallThreads - 1) / kCallThreads);
        const volatile unsigned* const copied = call.copying_ctas;
        while (*copied < copying_ctas) {
        }
        __threadfence();
        if (atomicAdd(call.copying_ctas + 1, 1u) == ctas - 1)
            call.copying_ctas[0] = call.copying_ctas[1] = 0;
    }
    __syncthreads();
}

/// Bytes of shared memory of a CTA: scatterers and sums [channel pair, kTaskSums] of each warp.
inline Index shared_bytes(Index channel_pairs) {
    return kCallWarps *
           (static_cast<Index>(sizeof(KeptScatterers<float>)) + 8 * channel_pairs * kTaskSums);
}

/// The work of a CTA: a weighting and a pass of a job.
struct CtaWork {
    Index job;
    int weighting, pass;
};

/// The factors of a task's sums at the two q of a lane, for one channel pair.
struct TwoWeights {
    double first, second;
};
__device__ inline TwoWeights weights_of(const Scattering<float>& from, const Task& of,
                                        const CtaWork& work, int a, int b, int lane) {
    const int k = work.pass * kPassSums + 2 * lane, n = 2 * lane;
    const auto weight = [&](int more) {
        return n + more < kPassSums && k + more < from.q_count
                   ? weight_of(from, of, work.weighting / from.classes,
                               work.weighting % from.classes, a, b, k + more)
                   : 0.0;
    };
    return {weight(0), weight(1)};
}

/// The tasks of a warp, and the factors of its first task for the first channel pair.
struct WarpTasks {
    Index next, last;
    Task first;
    TwoWeights weights;
};
__device__ inline WarpTasks tasks_of(const Scattering<float>& from, const Call& call,
                                     const PairJob& of, const CtaWork& work, int warp_of_cta,
                                     int lane) {
    const std::int32_t* const warps = call.first_warp + body_pair(of.a, of.b, from.bodies);
    const Index warp = warps[0] + Index{blockIdx.x} * kCallWarps + warp_of_cta;
    WarpTasks result{};
    if (warp >= warps[1]) return result;
    result.next = call.first_task[warp];
    result.last = call.first_task[warp + 1];
    result.first = call.tasks[result.next];
    result.weights = weights_of(from, result.first, work, 0, 0, lane);
    return result;
}

/// Adds tasks to a warp's `sums` [channel pair, kTaskSums].
template <bool kEven, bool kScaled>
__device__ void sum_warp(const Scattering<float>& from, const Call& call, const PairJob& of,
                         const CtaWork& work, WarpTasks tasks, KeptScatterers<float>& kept,
                         double* sums) {
    const int lane = threadIdx.x % kLanes;
    const int u = work.weighting / from.classes, v = work.weighting % from.classes;
    const auto scales = [&](int of_class) -> const float* {
        const int scale = of_class - from.has_unscaled_class;
        return scale < 0 ? nullptr
                         : call.scales + (of.set * call.scale_count + scale) * call.scatterer_count;
    };
    const Positions<float> positions{call.xyz + of.set * 3 * call.scatterer_count,
                                     call.scatterer_count, scales(u), scales(v)};
    const auto add = [&](const Task& task) {
        const TwoSums<float> added =
            sums_of_task<kEven, kScaled>(from, positions, task, work.pass, lane, kept);
        int pair = 0;
        for (int a = 0; a < from.channels && 2 * lane < kTaskSums; ++a) {
            for (int b = a; b < from.channels; ++b, ++pair) {
                if (!concerns(from, u, v, a, b)) continue;
                const TwoWeights weights =
                    pair == 0 ? tasks.weights : weights_of(from, task, work, a, b, lane);
                double* const to = sums + pair * kTaskSums + 2 * lane;
                to[0] += weights.first * static_cast<double>(added.first);
                to[1] += weights.second * static_cast<double>(added.second);
            }
        }
    };
    while (tasks.next < tasks.last) {
        if (counts(from, tasks.first, u, v)) add(tasks.first);
        if (++tasks.next == tasks.last) break;
        __syncwarp();  // wait until no lane reads the stored scatterers
        tasks.first = call.tasks[tasks.next];
        tasks.weights = weights_of(from, tasks.first, work, 0, 0, lane);
    }
}

/// Adds a CTA's sum for one channel pair and q, and counts it; the last CTA writes the result. Sums
/// are integers, so the order does not matter.
__device__ inline void add_and_write(const Call& call, Index position, double sum, double units,
                                     unsigned ctas) {
    const auto counted =
        static_cast<unsigned long long>(__double2ll_rn(sum * units)) << kCountBits | 1u;
    const unsigned long long all = atomicAdd(call.sums + position, counted) + counted;
    if ((all & ((1u << kCountBits) - 1)) != ctas) return;
    call.sums[position] = 0;
    call.results[position] = static_cast<double>(static_cast<long long>(all) >> kCountBits) / units;
}

/// Computes a small call.
template <bool kEven, bool kScaled>
__global__ void __launch_bounds__(kCallThreads, 1) answer_call(Scattering<float> from, Call call) {
    PLEAT_DYNAMIC_SHARED(KeptScatterers<float>, kept);
    auto* const sums = reinterpret_cast<double*>(kept + kCallWarps);
    const int pairs = from.channels * (from.channels + 1) / 2, of_warp = pairs * kTaskSums;
    const int warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    const CtaWork work{blockIdx.y, static_cast<int>(blockIdx.z / from.pass_count),
                       static_cast<int>(blockIdx.z % from.pass_count)};
    for (int n = lane; n < of_warp; n += kLanes) sums[warp * of_warp + n] = 0.0;
    if (call.copies_input != 0)
        copy_input_and_count(call,
                             blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * Index{blockIdx.z}));
    PairJob of = call.job;
    // If there is a single job, its tasks and factors are read while positions are copied.
    WarpTasks tasks{};
    if (gridDim.y == 1) tasks = tasks_of(from, call, of, work, warp, lane);
    if (call.copies_input != 0) await_input(call, gridDim.x * gridDim.y * gridDim.z);
    if (gridDim.y > 1) {
        of = call.jobs[work.job];
        tasks = tasks_of(from, call, of, work, warp, lane);
    }
    __syncwarp();
    sum_warp<kEven, kScaled>(from, call, of, work, tasks, kept[warp], sums + warp * of_warp);
    __syncthreads();
    for (int n = threadIdx.x; n < of_warp; n += kCallThreads) {
        const int k = work.pass * kPassSums + n % kTaskSums, pair = n / kTaskSums;
        int a, b;
        channels_of(pair, from.channels, a, b);
        const int u = work.weighting / from.classes, v = work.weighting % from.classes;
        if (n % kTaskSums >= kPassSums || k >= from.q_count || !concerns(from, u, v, a, b))
            continue;
        double sum = 0.0;
        for (int w = 0; w < kCallWarps; ++w) sum += sums[w * of_warp + n];
        const Index of_pair = Index{pair} * from.q_count + k;
        add_and_write(call, work.job * pairs * from.q_count + of_pair, sum,
                      call.units[of_pair] * *call.unit_scale, gridDim.x * (u == v ? 1 : 2));
    }
}

/// Copies the input of a call whose CTAs cannot all be resident on the GPU at once.
static __global__ void __launch_bounds__(kCallThreads) copy_all_input(Call call) {
    copy_input(call, blockIdx.x);
}

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
        // What the count leaves free.
        upload(units_, fixed_point_units(model, 64 - kCountBits - 3));
        is_possible_ = shared_bytes_ <= gpu.max_shared_bytes() &&
                       2 * gpu.processors() < Index{1} << kCountBits;
        if (is_possible_) resident_ = gpu.resident_ctas(kernel_, kCallThreads, shared_bytes_);
        gpu.wait();
    }
    SmallCalls(const SmallCalls&) = delete;
    SmallCalls& operator=(const SmallCalls&) = delete;

    /// Whether a call of this size is small enough for this class.
    bool can_compute(View<const float, 3> xyz, View<const float, 3> scales, Index jobs,
                     Index results) const {
        constexpr Index kMaxBytes = Index{1} << 20, kMaxJobs = 65535;
        return is_possible_ && jobs <= kMaxJobs && 8 * results <= kMaxBytes &&
               4 * (xyz.size() + scales.size()) <= kMaxBytes;
    }

    /// As BodyPairs::evaluate().
    void evaluate(View<const float, 3> xyz, View<const float, 3> scales,
                  std::span<const PairJob> jobs, View<double, 3> partial) {
        const Layout at = layout(std::ssize(jobs), xyz.size(), scales.size());
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
        const double unit_scale = unit_scale_of(scales);
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
        const Index job_count = std::ssize(jobs);
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

    /// Properties that calls of one graph share: sets, jobs, CTAs per job, and the job if there is
    /// only one.
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
