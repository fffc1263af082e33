// Chain kernel: stays on the GPU, sees requests for the moves of many chains in the host's memory,
// and keeps their sums over pairs of bodies.
#pragma once

#include "pleat/saxs/cuda/pair_sums.cuh"
#include "pleat/saxs/cuda/small_calls.cuh"
#include "pleat/saxs/cuda/task_tables.h"
#include "pleat/saxs/session/session_sums.h"

namespace pleat::saxs::cuda {

/// A move of a chain: new positions, and where its sums are. All pointers but `results` are to
/// device memory.
struct ChainMove {
    const uint4* xyz;                ///< [axis, sorted scatterer], floats
    const float* scales;             ///< [scale, sorted scatterer]
    const unsigned long long* from;  ///< profile [channel pair, q], units; null: none yet
    unsigned long long* to;          ///< profile with the new sums; may be `from`
    double* results;                 ///< [channel pair, q] in host memory
    double unit_scale;               ///< of units, as large scales leave fewer
    std::int32_t job_count;
};

/// A pair of bodies of a chain that moved. A negative pair: none, of a move that changes no sum.
struct ChainJob {
    std::int32_t move, pair;
    std::int32_t ctas;
    const unsigned long long*
        from;                ///< old sums [channel pair, q], units; null: not in the profile
    unsigned long long* to;  ///< new sums
};

/// The tasks of a CTA, shared by its warps. Each job has at least one CTA.
struct alignas(16) ChainCta {
    std::int32_t job, move, first_task, last_task;
};

/// Arrays that all requests share, besides those of Scattering.
struct ChainArrays {
    const ChainTask* tasks;
    const std::int32_t* type_of;      ///< [sorted scatterer]
    const std::int32_t* segment_end;  ///< [sorted scatterer]: one past those of its type
    const float4* factors;            ///< [pass, channel, type, kTaskSums / 4], and kLanes
    const double* units;              ///< [channel pair, q]: units per electron^2, powers of two
    Index scatterer_count;
};

/// The shared memory of a warp that sums.
struct ChainWarp {
    float4 totals[kLanes][kTaskSums / 4];  ///< [row]: sums over columns, times their factors
    Point<float> columns[kChainColumns];
    std::int32_t row_types[kLanes];  ///< types times kTaskSums
};

/// Columns that make no pair with a row: none, or `count` from `first` on.
struct NoneExcluded {
    __device__ inline bool has(int) const { return false; }
};
struct Excluded {
    int first;
    unsigned count;

    __device__ inline bool has(int column) const {
        return static_cast<unsigned>(column - first) < count;
    }
};

/// Calls body(r, weight) for a row and the columns [first, last).
template <class Exclusion, class Body>
__device__ inline void for_columns(const Point<float>& row, const Point<float>* columns, int first,
                                   int last, const Exclusion& excluded, const Body& body) {
#pragma unroll 1
    for (int n = first; n < last; ++n) {
        const Point<float> column = columns[n];
        float weight;
        const float r = pair_distance(row, column, weight);
        weight *= row.scale * column.scale;
        body(r, excluded.has(n) ? 0.0f : weight);
    }
}

/// Sums of a row over the columns [first, last), [kPassSums] in the order of q.
template <bool kEven, bool kFromZero, class Exclusion>
__device__ inline void sum_columns(const Pass<float>& pass, const Point<float>& row,
                                   const Point<float>* columns, int first, int last,
                                   const Exclusion& excluded, float (&values)[kTaskSums]) {
    if constexpr (kEven) {
        LaneSineSums<float> sums = {};
        for_columns(row, columns, first, last, excluded,
                    [&](float r, float weight) { add_pair<kFromZero>(sums, pass, r, weight); });
        put_in_order(sums, values);
    } else {
#pragma unroll
        for (int n = 0; n < kPassSums; ++n) values[n] = 0;
        for_columns(row, columns, first, last, excluded, [&](float r, float weight) {
#pragma unroll
            for (int n = 0; n < kPassSums; ++n)
                values[n] = fmaf(sine_of(r, pass.turns[n]), weight, values[n]);
        });
    }
#pragma unroll
    for (int n = kPassSums; n < kTaskSums; ++n) values[n] = 0;
}

/// The factors of a channel in a pass, [type, kTaskSums / 4].
__device__ inline const float4* factors_of(const Scattering<float>& from, const ChainArrays& arrays,
                                           int pass, int channel) {
    return arrays.factors + (Index{pass} * from.channels + channel) * from.types * (kTaskSums / 4);
}

/// Each lane adds its row's sums over all columns, times their factors, to its totals.
template <bool kEven, bool kFromZero, class Exclusion>
__device__ inline void sum_rows(const Scattering<float>& from, const ChainArrays& arrays,
                                const ChainTask& task, const Point<float>& row,
                                const Exclusion& excluded, int pass, float4* totals,
                                const Point<float>* columns) {
    const Pass<float> waves = from.passes[pass];
    const float4* const factors = factors_of(from, arrays, pass, task.column_channel);
#pragma unroll
    for (int n = 0; n < kTaskSums / 4; ++n) totals[n] = {0, 0, 0, 0};
    for (int first = 0, last; first < task.columns; first = last) {
        const std::int32_t end = arrays.segment_end[task.column + first] - task.column;
        last = end < task.columns ? end : task.columns;
        const float4* const of_type =
            factors + arrays.type_of[task.column + first] * (kTaskSums / 4);
        float values[kTaskSums];
        sum_columns<kEven, kFromZero>(waves, row, columns, first, last, excluded, values);
#pragma unroll
        for (int n = 0; n < kTaskSums / 4; ++n) {
            const float4 factor = of_type[n];
            float4 total = totals[n];
            total.x = fmaf(factor.x, values[4 * n], total.x);
            total.y = fmaf(factor.y, values[4 * n + 1], total.y);
            total.z = fmaf(factor.z, values[4 * n + 2], total.z);
            total.w = fmaf(factor.w, values[4 * n + 3], total.w);
            totals[n] = total;
        }
    }
}
template <bool kEven, class Exclusion>
__device__ inline void sum_rows_of_pass(const Scattering<float>& from, const ChainArrays& arrays,
                                        const ChainTask& task, const Point<float>& row,
                                        const Exclusion& excluded, int pass, float4* totals,
                                        const Point<float>* columns) {
    if (pass == 0 && from.starts_at_zero != 0)
        sum_rows<kEven, kEven>(from, arrays, task, row, excluded, pass, totals, columns);
    else
        sum_rows<kEven, false>(from, arrays, task, row, excluded, pass, totals, columns);
}

/// Adds a task's totals, times the form factors of their rows, to the sums of a job: two q per
/// lane, or one q and what follows the row. The sums are integers, so they do not depend on the
/// order of warps.
__device__ inline void add_task(const Scattering<float>& from, const ChainArrays& arrays,
                                const ChainTask& task, double unit_scale,
                                unsigned long long* job_sums, int pass, int lane,
                                const ChainWarp& warp) {
    const auto* const factors =
        reinterpret_cast<const float*>(factors_of(from, arrays, pass, task.row_channel)) + lane;
    const auto* total = reinterpret_cast<const float*>(warp.totals) + lane;
    float sums[2] = {0, 0};
#pragma unroll 4
    for (int r = 0; r < task.rows; ++r, total += kTaskSums) {
        const float* const factor = factors + warp.row_types[r];
        sums[0] = fmaf(factor[0], total[0], sums[0]);
        sums[1] = fmaf(factor[kLanes], total[kLanes], sums[1]);
    }
    const int a = task.row_channel < task.column_channel ? task.row_channel : task.column_channel,
              b = task.row_channel + task.column_channel - a;
    for (int m = 0; m < 2; ++m) {
        const int n = lane + m * kLanes, k = pass * kPassSums + n;
        if (n >= kPassSums || k >= from.q_count) break;
        const Index at = body_pair(a, b, from.channels) * from.q_count + k;
        const double value = 2.0 * from.inverse_q[k] * static_cast<double>(sums[m]);
        atomicAdd(job_sums + at, static_cast<unsigned long long>(
                                     __double2ll_rn(value * arrays.units[at] * unit_scale)));
    }
}

/// Computes a task of a job: each lane sums the columns of its row, then all rows are added.
template <bool kEven>
__device__ inline void sum_chain_task(const Scattering<float>& from, const ChainArrays& arrays,
                                      const ChainMove& move, const ChainTask& task,
                                      unsigned long long* job_sums, int pass, int lane,
                                      ChainWarp& warp) {
    const auto scales_of_channel = [&](int channel) -> const float* {
        const int scale = from.class_of[channel] - from.has_unscaled_class;
        return scale < 0 ? nullptr : move.scales + scale * arrays.scatterer_count;
    };
    const Positions<float> positions{reinterpret_cast<const float*>(move.xyz),
                                     arrays.scatterer_count, scales_of_channel(task.row_channel),
                                     scales_of_channel(task.column_channel)};
    for (int n = lane; n < task.columns; n += kLanes) {
        Point<float> column = positions.point(task.column + n);
        column.scale = positions.of_column(task.column + n);
        warp.columns[n] = column;
    }
    Point<float> row{0, 0, 0, 0};
    if (lane < task.rows) {
        row = positions.point(task.row + lane);
        row.scale = positions.of_row(task.row + lane);
        warp.row_types[lane] = arrays.type_of[task.row + lane] * kTaskSums;
    }
    __syncwarp();
    if (task.overlaps == 0) {
        sum_rows_of_pass<kEven>(from, arrays, task, row, NoneExcluded{}, pass, warp.totals[lane],
                                warp.columns);
    } else {
        const int self = task.row + lane - task.column;
        Excluded excluded{self, 1};
        if (task.row_channel == task.column_channel)
            excluded = {0, self >= 0 ? static_cast<unsigned>(self) + 1 : 0};
        sum_rows_of_pass<kEven>(from, arrays, task, row, excluded, pass, warp.totals[lane],
                                warp.columns);
    }
    __syncwarp();
    add_task(from, arrays, task, move.unit_scale, job_sums, pass, lane, warp);
    __syncwarp();  // the warp's memory may be used again
}

/// Stores the new sums of a job, and adds their differences to its move's `changes`. Data written
/// by other CTAs is in the L2 cache.
__device__ inline void finish_job(const ChainJob& job, unsigned long long* sums,
                                  unsigned long long* changes, Index size) {
    if (job.pair < 0) return;
    for (Index k = threadIdx.x; k < size; k += kWarps * kLanes) {
        const unsigned long long now = __ldcg(sums + k),
                                 before = job.from != nullptr ? __ldcg(job.from + k) : 0;
        sums[k] = 0;
        job.to[k] = now;
        atomicAdd(changes + k, now - before);
    }
}

/// Keeps the new profile of a move, and writes it into the host's memory.
__device__ inline void finish_move(const ChainArrays& arrays, const ChainMove& move,
                                   unsigned long long* changes, Index size) {
    for (Index k = threadIdx.x; k < size; k += kWarps * kLanes) {
        const unsigned long long sum =
            (move.from != nullptr ? __ldcg(move.from + k) : 0) + __ldcg(changes + k);
        changes[k] = 0;
        move.to[k] = sum;
    }
    __threadfence();  // the chain's next request may come at once
    for (Index k = threadIdx.x; k < size; k += kWarps * kLanes)
        move.results[k] = static_cast<double>(static_cast<long long>(move.to[k])) /
                          (arrays.units[k] * move.unit_scale);
}

/// Each session has one slot, through which it submits one request at a time.
inline constexpr int kMaxSlots = static_cast<int>(kMaxSharedSessions);

/// Pieces of 16 bytes that a CTA copies at a time: several a thread, since the host's memory has a
/// long latency. Tables of requests have whole parts.
inline constexpr int kChainThreads = kWarps * kLanes, kPartPieces = 4 * kChainThreads;

struct ChainSlot {
    const uint4* host;            ///< in host memory: ChainHeader, CTAs, jobs, moves, positions
    uint4* table;                 ///< the same in device memory
    unsigned long long* sums;     ///< [job, channel pair, q]: units; 0 between requests
    unsigned long long* changes;  ///< [move, channel pair, q]: units; 0 between requests
    unsigned *arrived_ctas,       ///< [job]; 0 between requests
        *arrived_jobs;            ///< [move]; the same
};

/// Begins a request's table: where its jobs and moves begin, in pieces of 16 bytes. CTAs begin
/// at 1.
struct alignas(16) ChainHeader {
    std::int32_t jobs, moves;
};

/// A request in one word, so that the GPU sees it completely or not at all: its number, which
/// differs from that of the slot's previous request, parts to copy, and CTAs.
struct ChainRequestWord {
    static constexpr int kNumberBits = 8, kPartBits = 24;

    static unsigned long long make(unsigned number, Index parts, Index ctas) {
        return static_cast<unsigned long long>(ctas) << (kNumberBits + kPartBits) |
               static_cast<unsigned long long>(parts) << kNumberBits |
               (number & ((1u << kNumberBits) - 1));
    }
    __device__ static unsigned number(unsigned long long word) {
        return static_cast<unsigned>(word) & ((1u << kNumberBits) - 1);
    }
    __device__ static unsigned parts(unsigned long long word) {
        return static_cast<unsigned>(word >> kNumberBits) & ((1u << kPartBits) - 1);
    }
    __device__ static unsigned ctas(unsigned long long word) {
        return static_cast<unsigned>(word >> (kNumberBits + kPartBits));
    }
};

/// What the host and the kernel share.
struct ChainQueue {
    // In host memory:
    const unsigned long long* requests;  ///< [slot]: ChainRequestWord
    const unsigned* has_to_end;          ///< [1]
    unsigned* ended;                     ///< [1]: number of the last kernel that ends
    // In device memory, kept between kernels:
    const ChainSlot* slots;
    unsigned char* seen;            ///< [slot]: number of the last request
    unsigned* left;                 ///< [slot]: parts that are still to be copied
    unsigned long long* items;      ///< [item modulo 2^item_bits]: a ring; see ItemWord
    unsigned long long* taken;      ///< [1]: items that CTAs have taken
    unsigned long long* published;  ///< [1]
    std::int32_t slot_count, item_bits;
    unsigned kernel;  ///< its number
};

/// An item of the ring: what a CTA does next. The lap of the ring shows that it is new.
struct ItemWord {
    static constexpr int kLapBits = 16, kSlotBits = 12, kNumberBits = 34;
    enum Kind : unsigned { copy, sum, end };

    __device__ static unsigned lap(const ChainQueue& queue, unsigned long long item) {
        return static_cast<unsigned>((item >> queue.item_bits) + 1) & ((1u << kLapBits) - 1);
    }
    __device__ static unsigned lap_of(unsigned long long word) {
        return static_cast<unsigned>(word >> (64 - kLapBits));
    }
    __device__ static unsigned long long make(unsigned lap, unsigned slot, Kind kind,
                                              unsigned long long number) {
        return static_cast<unsigned long long>(lap) << (64 - kLapBits) |
               static_cast<unsigned long long>(slot) << (2 + kNumberBits) |
               static_cast<unsigned long long>(kind) << kNumberBits | number;
    }
    __device__ static unsigned slot(unsigned long long word) {
        return static_cast<unsigned>(word >> (2 + kNumberBits)) & ((1u << kSlotBits) - 1);
    }
    __device__ static Kind kind(unsigned long long word) {
        return static_cast<Kind>(static_cast<unsigned>(word >> kNumberBits) & 3);
    }
    __device__ static unsigned long long number(unsigned long long word) {
        return word & ((1ull << kNumberBits) - 1);
    }
};

template <class T>
__device__ inline T look_at(const T* at) {
    return *static_cast<const volatile T*>(at);
}

__device__ inline void put_item(const ChainQueue& queue, unsigned long long item, unsigned slot,
                                ItemWord::Kind kind, unsigned long long number) {
    queue.items[item & ((1ull << queue.item_bits) - 1)] =
        ItemWord::make(ItemWord::lap(queue, item), slot, kind, number);
}

/// Adds the items of a slot's request to the ring. Parts come first, so that whoever waits for them
/// waits for CTAs that have begun.
__device__ inline void publish(const ChainQueue& queue, unsigned slot, unsigned long long word,
                               int passes, unsigned long long& published) {
    const Index parts = ChainRequestWord::parts(word),
                sums = Index{passes} * ChainRequestWord::ctas(word);
    for (Index n = threadIdx.x; n < parts + sums; n += kLanes)
        put_item(queue, published + static_cast<unsigned long long>(n), slot,
                 n < parts ? ItemWord::copy : ItemWord::sum,
                 static_cast<unsigned long long>(n < parts ? n : n - parts));
    published += static_cast<unsigned long long>(parts + sums);
}

/// Checks slots [first, first + kGroups * kLanes) for requests and publishes them; returns whether
/// there were any. The host writes tables before their words; tables are read, bypassing the
/// caches, after the words.
template <int kGroups>
__device__ inline bool look_for_requests(const ChainQueue& queue, unsigned first, int passes,
                                         unsigned char* seen, unsigned long long& published) {
    const auto slots = static_cast<unsigned>(queue.slot_count);
    unsigned long long words[kGroups];
#pragma unroll
    for (unsigned g = 0; g < kGroups; ++g) {
        const unsigned slot = first + g * kLanes + threadIdx.x;
        words[g] = slot < slots ? look_at(queue.requests + slot) : 0;
    }
    bool found = false;
#pragma unroll
    for (unsigned g = 0; g < kGroups; ++g) {
        const unsigned slot = first + g * kLanes + threadIdx.x;
        const bool is_new = slot < slots && ChainRequestWord::number(words[g]) != seen[slot];
        unsigned lanes = __ballot_sync(~0u, is_new);
        if (lanes == 0) continue;
        found = true;
        if (is_new) {
            seen[slot] = static_cast<unsigned char>(ChainRequestWord::number(words[g]));
            queue.left[slot] = ChainRequestWord::parts(words[g]);
        }
        __threadfence();
        __syncwarp();
        for (; lanes != 0; lanes &= lanes - 1) {
            const int lane = __ffs(static_cast<int>(lanes)) - 1;
            publish(queue, first + g * kLanes + static_cast<unsigned>(lane),
                    __shfl_sync(~0u, words[g], lane), passes, published);
        }
    }
    return found;
}

/// Of one warp: publishes requests until there have been none for a while, the host says so, or
/// others that use the GPU should have a turn. Then ends all CTAs. `seen`: [kMaxSlots] in shared
/// memory.
__device__ inline void watch_requests(const ChainQueue& queue, int passes, unsigned char* seen) {
    // A look takes about 1.3 us, the latency of the host's memory.
    constexpr unsigned kMaxLooks = 4000, kMaxIdleLooks = 64;
    constexpr int kGroups = 4;
    const auto slots = static_cast<unsigned>(queue.slot_count);
    for (unsigned slot = threadIdx.x; slot < slots; slot += kLanes) seen[slot] = queue.seen[slot];
    __syncwarp();
    unsigned long long published = *queue.published;
    unsigned idle = 0;
    for (unsigned looks = 0; looks < kMaxLooks && idle < kMaxIdleLooks; ++looks) {
        const bool ends = __any_sync(~0u, look_at(queue.has_to_end) != 0) != 0;
        bool found = false;
        for (unsigned first = 0; first < slots; first += kGroups * kLanes)
            found |= look_for_requests<kGroups>(queue, first, passes, seen, published);
        idle = found ? 0 : idle + 1;
        if (ends) break;
    }
    const unsigned others = gridDim.x - 1;
    for (unsigned n = threadIdx.x; n < others; n += kLanes)
        put_item(queue, published + n, 0, ItemWord::end, 0);
    for (unsigned slot = threadIdx.x; slot < slots; slot += kLanes) queue.seen[slot] = seen[slot];
    if (threadIdx.x == 0) *queue.published = published + others;
    __threadfence_system();
    __syncwarp();
    if (threadIdx.x == 0) *static_cast<volatile unsigned*>(queue.ended) = queue.kernel;
}

/// An item and its input, in shared memory.
struct ChainItem {
    ItemWord::Kind kind;
    int pass;
    unsigned slot;
    Index part;
    ChainSlot of;
    ChainCta cta;
    ChainJob job;
    ChainMove move;
};

/// Waits for the next item, and for its input. Called by one thread.
__device__ inline void take_item(const ChainQueue& queue, int passes, ChainItem& item) {
    const unsigned long long number = atomicAdd(queue.taken, 1ull);
    const unsigned long long* const at = queue.items + (number & ((1ull << queue.item_bits) - 1));
    const unsigned lap = ItemWord::lap(queue, number);
    unsigned long long word = look_at(at);
    while (ItemWord::lap_of(word) != lap) word = look_at(at);
    item.kind = ItemWord::kind(word);
    if (item.kind == ItemWord::end) return;
    const unsigned slot = item.slot = ItemWord::slot(word);
    const unsigned long long n = ItemWord::number(word);
    item.of = queue.slots[slot];
    item.part = static_cast<Index>(n);
    if (item.kind == ItemWord::copy) return;
    while (look_at(queue.left + slot) != 0) {
    }
    __threadfence();  // also forgets what its first cache has of earlier requests
    item.pass = static_cast<int>(n % static_cast<unsigned>(passes));
    const ChainHeader header = *reinterpret_cast<const ChainHeader*>(item.of.table);
    const ChainCta cta = item.cta =
        reinterpret_cast<const ChainCta*>(item.of.table)[1 + n / static_cast<unsigned>(passes)];
    item.job = reinterpret_cast<const ChainJob*>(item.of.table + header.jobs)[cta.job];
    item.move = reinterpret_cast<const ChainMove*>(item.of.table + header.moves)[cta.move];
}

/// Copies a part of a request's table from the host's memory.
__device__ inline void copy_part(const ChainQueue& queue, const ChainItem& item) {
    const uint4* const from = item.of.host + item.part * kPartPieces + threadIdx.x;
    uint4* const to = item.of.table + item.part * kPartPieces + threadIdx.x;
    constexpr int kPieces = kPartPieces / kChainThreads;
    uint4 pieces[kPieces];
#pragma unroll
    for (int n = 0; n < kPieces; ++n) pieces[n] = __ldcv(from + n * kChainThreads);
#pragma unroll
    for (int n = 0; n < kPieces; ++n) to[n * kChainThreads] = pieces[n];
    __syncthreads();
    if (threadIdx.x > 0) return;
    __threadfence();
    atomicSub(queue.left + item.slot, 1u);
}

/// Computes tasks. The last CTA of a job finishes it; the last job's CTA finishes the move.
template <bool kEven>
__device__ inline void sum_item(const Scattering<float>& from, const ChainArrays& arrays,
                                const ChainItem& item, ChainWarp* warps) {
    const int warp = threadIdx.x / kLanes;
    const Index size = Index{from.channels} * (from.channels + 1) / 2 * from.q_count;
    unsigned long long* const sums = item.of.sums + item.cta.job * size;
    unsigned long long* const changes = item.of.changes + item.cta.move * size;
    for (int task = item.cta.first_task + warp; task < item.cta.last_task; task += kWarps)
        sum_chain_task<kEven>(from, arrays, item.move, arrays.tasks[task], sums, item.pass,
                              threadIdx.x % kLanes, warps[warp]);
    if (!is_last(item.of.arrived_ctas + item.cta.job,
                 static_cast<unsigned>(item.job.ctas * from.pass_count)))
        return;
    finish_job(item.job, sums, changes, size);
    if (!is_last(item.of.arrived_jobs + item.cta.move, static_cast<unsigned>(item.move.job_count)))
        return;
    finish_move(arrays, item.move, changes, size);
}

/// CTAs per multiprocessor: as many as leave each lane the registers that its sums need.
template <bool kEven>
constexpr int kChainCtas = kEven ? 4 : 3;

/// Computes requests until there are none for a while. The first CTA sees them, the others compute.
template <bool kEven>
__global__ void __launch_bounds__(kChainThreads, kChainCtas<kEven>)
    serve_chains(const Scattering<float> from, const ChainArrays arrays, const ChainQueue queue) {
    PLEAT_DYNAMIC_SHARED(ChainWarp, warps);
    static_assert(kWarps * sizeof(ChainWarp) >= kMaxSlots);
    __shared__ ChainItem item;
    if (blockIdx.x == 0) {
        if (threadIdx.x < kLanes)
            watch_requests(queue, from.pass_count, reinterpret_cast<unsigned char*>(warps));
        return;
    }
    for (;;) {
        __syncthreads();  // nobody reads the item before this one any more
        if (threadIdx.x == 0) take_item(queue, from.pass_count, item);
        __syncthreads();
        if (item.kind == ItemWord::end) return;
        if (item.kind == ItemWord::copy)
            copy_part(queue, item);
        else
            sum_item<kEven>(from, arrays, item, warps);
    }
}

}  // namespace pleat::saxs::cuda
