// Count steps: contingency tables on a GPU by one-bit matrix products, their differences from the
// observed, and the sums of these.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "pleat/core/cuda/grow.h"
#include "pleat/mutual_information/count/tiles.h"
#include "pleat/mutual_information/cuda/cuda_layout.h"
#include "pleat/mutual_information/cuda/shuffle_steps.cuh"
#include "pleat/mutual_information/kernel/kernel.h"

namespace pleat::mutual_information::cuda {

using Wide = unsigned long long;  // the type of atomicAdd; sums of negative numbers wrap around

/// The members of NullSums of an item: less, equal, first, second, third_low, third_high.
constexpr int kSums = 6;

/// moment_difference() of statistic.h.
__device__ __forceinline__ long long shifted_difference(long long difference, int shift) {
    return shift == 0 ? difference : (difference + (1LL << (shift - 1))) >> shift;
}

constexpr long long kBelowAll =
    std::numeric_limits<long long>::min();  ///< below all ordered() numbers

/// Converts the bits of a double to an integer with the same order, and back, so that atomicMax can
/// be used.
__host__ __device__ inline long long ordered(long long bits) {
    return bits < 0 ? bits ^ 0x7fffffffffffffffLL : bits;
}

/// Packs a shuffle's difference of T: d, at most 2^20 in magnitude, and whether the unrounded
/// difference is negative or zero.
__device__ __forceinline__ std::int32_t pack_difference(long long difference, int shift) {
    const auto d = static_cast<std::int32_t>(shifted_difference(difference, shift));
    return d * 4 + (difference < 0 ? 1 : 0) + (difference == 0 ? 2 : 0);
}

constexpr int kSumThreads = 256;

/// [arrangement][item]: packed differences (see pack_difference()) of items in some shuffles.
struct PackedDifferences {
    const std::int32_t* packed;
    Index items, arrangements;
};

/// Adds the differences to the items' sums, [item][kSums]. blockIdx.x: kSumThreads items;
/// blockIdx.y: `share` arrangements.
static __global__ void __launch_bounds__(kSumThreads)
    sum_differences(PackedDifferences from, Index share, Wide* sums) {
    const Index item = static_cast<Index>(blockIdx.x) * kSumThreads + threadIdx.x;
    if (item >= from.items) return;
    const Index first = blockIdx.y * share;
    const Index end = first + share < from.arrangements ? first + share : from.arrangements;
    unsigned less_count = 0, equal_count = 0;
    long long sum = 0, second = 0, third_low = 0, third_high = 0;
#pragma unroll 4
    for (Index arrangement = first; arrangement < end; ++arrangement) {
        const std::int32_t packed = __ldg(from.packed + arrangement * from.items + item);
        less_count += packed & 1;
        equal_count += packed >> 1 & 1;
        // The magnitudes of d, d^2 and d^3 are at most 2^20, 2^40 and 2^60.
        const long long d = packed >> 2, cube = d * d * d;
        sum += d;
        second += d * d;
        third_low += cube & 0xffffffffLL;
        third_high += cube >> 32;
    }
    const Wide found[kSums] = {less_count,
                               equal_count,
                               static_cast<Wide>(sum),
                               static_cast<Wide>(second),
                               static_cast<Wide>(third_low),
                               static_cast<Wide>(third_high)};
#pragma unroll
    for (int n = 0; n < kSums; ++n) {
        if (found[n] != 0) atomicAdd(sums + item * kSums + n, found[n]);
    }
}

/// Raises max_z_of_shuffles[arrangement], in the order of ordered(), to the largest (d - z_centre)
/// z_factor over the arrangement's items. A z_factor of 0 leaves an item out. blockIdx.x is the
/// arrangement.
static __global__ void __launch_bounds__(kSumThreads)
    find_largest(PackedDifferences from, const double* z_centre, const double* z_factor,
                 long long* max_z_of_shuffles) {
    long long max_z = kBelowAll;
    for (Index item = threadIdx.x; item < from.items; item += kSumThreads) {
        if (z_factor[item] == 0) continue;
        const std::int32_t d = from.packed[blockIdx.x * from.items + item] >> 2;
        const double z = (static_cast<double>(d) - z_centre[item]) * z_factor[item];
        const long long ordered_z = ordered(__double_as_longlong(z));
        max_z = ordered_z > max_z ? ordered_z : max_z;
    }
    if (max_z != kBelowAll) atomicMax(max_z_of_shuffles + blockIdx.x, max_z);
}

// Defined in kernel_cuda.cu, or by a test that runs on the host.
__device__ __forceinline__ void multiply_bits(int (&c)[4], const std::uint32_t (&a)[2],
                                              const std::uint32_t (&b)[1]);
__device__ __forceinline__ void multiply_bits(int (&c)[4], const std::uint32_t (&a)[4],
                                              const std::uint32_t (&b)[2]);

constexpr int kCountWarps = 8;

/// For two counts below kPairCounts, F(m) + F(n) is looked up at pairs[m + kPairStride n]. With
/// this stride the sixteen pairs of counts below 4 are in different memory banks.
constexpr int kPairCounts = 16, kPairStride = 20;
constexpr int kPairTable = kPairCounts * kPairStride;

/// The scratch memory of a warp: sums of F by row plane and pair of column planes, 64 bits each.
constexpr int kPlanePairs = kStripPlanes / 2, kScratch = kStripPlanes * kPlanePairs;

/// The tables to count: columns j of `row_strips` with columns k of `column_strips`, j < k, beside
/// each column i < j of a block, or without i. The item of i, j, k is
/// first_item[i - first_i][j - first_j] + k.
struct CountTask {
    const std::uint32_t* planes;  ///< [arrangement][plane][word]
    Index arrangement_stride;     ///< words
    int stride;                   ///< words
    const Strip *row_strips, *column_strips;
    int rows, columns;          ///< number of strips on each side
    int cta_rows, cta_columns;  ///< number of them per CTA
    /// Columns i. A single -1 means no i: all rows are one slice.
    Index first_i, count_i;
    bool i_of_arrangement;             ///< arrangement s belongs to column first_i + s
    const std::int32_t* first_symbol;  ///< [column + 1]
    const std::int32_t* slices;        ///< [column]: symbols of two rows and more
    const std::uint32_t* margin;       ///< [symbol]
    std::uint32_t alignment_rows;
    const Index* first_item;
    Index first_j, count_j;
    const long long* f;  ///< [0 ... f_size - 1]
    int f_size;
    long long* t;               ///< [item]: receives T unless null
    const long long* observed;  ///< [item]
    std::int32_t* differences;  ///< [arrangement][item]
    Index items;
    int shift;
};

/// Lookup tables of F for one count, and of the sum for two small counts.
struct Logarithms {
    const long long *single, *pair;
};

/// A mask of the bits of a word whose rows are in [first, end); bit 0 is row `row`.
__device__ __forceinline__ std::uint32_t rows_of_word(int row, int first, int end) {
    const int before = first - row, behind = row + static_cast<int>(kWordRows) - end;
    std::uint32_t mask = before > 0 ? ~0u << before : ~0u;
    if (behind > 0) mask &= behind < kWordRows ? ~0u >> behind : 0;
    return mask;
}

/// The planes of a strip of rows and a strip of columns that a warp counts at once, from this
/// lane's position in the first fragment on. Words after a strip's last plane are counted too, and
/// ignored.
struct StripPlanes {
    const std::uint32_t *rows, *columns;
    int stride;
    unsigned present;  ///< bit 4 r + c: the strips have planes in fragment r, c
};

/// StripPlanes::present for strips with these numbers of planes.
__device__ __forceinline__ unsigned fragments_of(int row_planes, int column_planes) {
    const unsigned of_row = (1u << (column_planes + 7) / 8) - 1;
    return row_planes > 16 ? of_row | of_row << 4 : of_row;
}

/// Adds the counts in 32 * 4 kWords rows from this word on to `counts`, without the rows outside
/// [first, end), which are masked. It has no branches, so that all products run at the same time.
template <int kWords>
__device__ __forceinline__ void count_words(const StripPlanes& sides, int word, int first, int end,
                                            int lane, int (&counts)[2][4][4]) {
    std::uint32_t a[2][2 * kWords], b[4][kWords];
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
        const std::uint32_t mask = rows_of_word(32 * (word + lane % 4 + 4 * w), first, end);
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const std::uint32_t* from = sides.rows + 16 * r * sides.stride + word + 4 * w;
            a[r][2 * w] = from[0] & mask;
            a[r][2 * w + 1] = from[8 * sides.stride] & mask;
        }
#pragma unroll
        for (int c = 0; c < 4; ++c) b[c][w] = sides.columns[8 * c * sides.stride + word + 4 * w];
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
#pragma unroll
        for (int c = 0; c < 4; ++c) multiply_bits(counts[r][c], a[r], b[c]);
    }
}

/// Calls count_words() for words [word, last], at most eight.
__device__ __forceinline__ void count_next_words(const StripPlanes& sides, int word, int last,
                                                 int first, int end, int lane,
                                                 int (&counts)[2][4][4]) {
    if (last - word >= 4) {
        count_words<2>(sides, word, first, end, lane, counts);
    } else {
        count_words<1>(sides, word, first, end, lane, counts);
    }
}

/// Bit 4 r + c of the result: fragment r, c has a count of at least 2 on any lane. Bit kHasLarge: a
/// count is too large for the table of pairs.
constexpr unsigned kHasLarge = 1u << 8;
__device__ __forceinline__ unsigned fragments_to_look_up(const int (&counts)[2][4][4]) {
    unsigned found = 0;
    int all = 0;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            const int(&n)[4] = counts[r][c];
            const int any = n[0] | n[1] | n[2] | n[3];
            all |= any;
            if (any >= 2) found |= 1u << (4 * r + c);
        }
    }
    if (all >= kPairCounts) found |= kHasLarge;
    return __reduce_or_sync(~0u, found);
}

/// Adds F of the counts of rows [first, end) to this lane's sums, by row plane l / 4 + 8 r and pair
/// of column planes l % 4 + 4 c.
__device__ __forceinline__ void add_slice(const StripPlanes& sides, int first, int end, int lane,
                                          const Logarithms& f, long long (&sums)[4][4]) {
    const int last = (end - 1) / static_cast<int>(kWordRows);
    int word = first / static_cast<int>(kWordRows);
    // Most slices have few words; the first products start from zeros, which need no registers.
    int counts[2][4][4] = {};
    count_next_words(sides, word, last, first, end, lane, counts);
#pragma unroll 1
    for (word += 8; word <= last; word += 8)
        count_next_words(sides, word, last, first, end, lane, counts);
    const unsigned found = fragments_to_look_up(counts) & (sides.present | kHasLarge);
    const bool has_large = (found & kHasLarge) != 0;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            if ((found >> (4 * r + c) & 1) == 0) continue;
            const int(&n)[4] = counts[r][c];
            const int any = n[0] | n[1] | n[2] | n[3];
            if (!has_large || __any_sync(~0u, any >= kPairCounts) == 0) {
                sums[2 * r][c] += f.pair[n[0] + kPairStride * n[1]];
                sums[2 * r + 1][c] += f.pair[n[2] + kPairStride * n[3]];
            } else {
                sums[2 * r][c] += f.single[n[0]] + f.single[n[1]];
                sums[2 * r + 1][c] += f.single[n[2]] + f.single[n[3]];
            }
        }
    }
}

/// Scratch position of the sum of a row plane and a pair of column planes. Neither writing a
/// fragment nor reading 32 rows has bank conflicts.
__device__ __forceinline__ int scratch_index(int row, int pair) {
    return row * kPlanePairs + (pair ^ (4 * (row % 4) + row / 4 % 4));
}

/// Adds a warp's sums up to one for each row plane and column: [row][column], in `scratch`.
__device__ __forceinline__ void gather_columns(const long long (&sums)[4][4], const Strip& columns,
                                               int lane, long long* scratch) {
#pragma unroll
    for (int r = 0; r < 4; ++r) {
#pragma unroll
        for (int c = 0; c < 4; ++c)
            scratch[scratch_index(8 * r + lane / 4, 4 * c + lane % 4)] = sums[r][c];
    }
    __syncwarp();
    // Each lane reads and writes only its own row.
    long long row[kPlanePairs], sum = 0;
#pragma unroll
    for (int pair = 0; pair < kPlanePairs; ++pair) row[pair] = scratch[scratch_index(lane, pair)];
    int column = 0;
#pragma unroll
    for (int pair = 0; pair < kPlanePairs; ++pair) {
        sum += row[pair];
        if ((columns.column_end_bits >> pair & 1) == 0) continue;
        scratch[scratch_index(lane, column++)] = sum;
        sum = 0;
    }
    __syncwarp();
}

/// Writes T of each table of two strips, or its difference from the observed T, from the sums that
/// gather_columns() stored.
__device__ __forceinline__ void write_tables(const CountTask& task, Index arrangement, Index i,
                                             const Strip& rows, const Strip& columns, int lane,
                                             const long long* scratch) {
    const int tables = rows.columns * columns.columns;
    for (int table = lane; table < tables; table += static_cast<int>(kLanes)) {
        const int row = table / columns.columns, column = table - row * columns.columns;
        const Index j = rows.first_column + row, k = columns.first_column + column;
        if (j <= i || k <= j) continue;
        long long t = 0;
        for (int plane = rows.plane_start[row]; plane < rows.plane_start[row + 1]; ++plane)
            t += scratch[scratch_index(plane, column)];
        const Index item =
            task.first_item[(i - task.first_i) * task.count_j + j - task.first_j] + k;
        if (task.t != nullptr) {
            task.t[item] = t;
        } else {
            task.differences[arrangement * task.items + item] =
                pack_difference(t - task.observed[item], task.shift);
        }
    }
}

/// Counts the tables of two strips beside column i in one arrangement.
__device__ __forceinline__ void count_strips(const CountTask& task, Index arrangement, Index i,
                                             const Strip& rows, const Strip& columns,
                                             const StripPlanes& sides, int lane,
                                             const Logarithms& f, long long* scratch) {
    long long sums[4][4] = {};
    const std::uint32_t* margin = i < 0 ? nullptr : task.margin + task.first_symbol[i];
    const int slices = i < 0 ? 1 : task.slices[i];
    int first = 0;
    auto rows_of_next = static_cast<int>(i < 0 ? task.alignment_rows : margin[0]);
#pragma unroll 1
    for (int a = 0; a < slices; ++a) {
        const int end = first + rows_of_next;
        rows_of_next = a + 1 < slices ? static_cast<int>(margin[a + 1]) : 0;
        add_slice(sides, first, end, lane, f, sums);
        first = end;
    }
    gather_columns(sums, columns, lane, scratch);
    write_tables(task, arrangement, i, rows, columns, lane, scratch);
    __syncwarp();
}

/// Offset in 64-bit words of the bit planes in a CTA's shared memory, after the tables of F and the
/// scratch memory of its warps. Fragments may read beyond the last plane.
__host__ __device__ constexpr Index shared_planes_at(int f_size) {
    return (kPairTable + f_size + kCountWarps * kScratch + 1) / 2 * 2;
}
constexpr Index count_shared_bytes(int f_size, int strips, int stride) {
    return 8 * shared_planes_at(f_size) +
           (strips > 0 ? 4 * (strips * kStripPlanes * stride + 8) : 0);
}

/// Copies the planes of strips to shared memory, [strip][kStripPlanes][word]; missing planes are
/// zero.
__device__ __forceinline__ void load_strips(const CountTask& task, Index arrangement,
                                            const Strip* strips, int count, std::uint32_t* to) {
    const int thread = static_cast<int>(threadIdx.y * kLanes + threadIdx.x);
    const int strip_words = kStripPlanes * task.stride;
    const std::uint32_t* from = task.planes + arrangement * task.arrangement_stride;
    for (int strip = 0; strip < count; ++strip) {
        const std::uint32_t* planes =
            from + static_cast<Index>(strips[strip].first_bit_plane) * task.stride;
        const int present = strips[strip].plane_start[strips[strip].columns] * task.stride;
        for (int word = 4 * thread; word < strip_words;
             word += 4 * kCountWarps * static_cast<int>(kLanes)) {
            FourWords four{};
            if (word < present) four = *reinterpret_cast<const FourWords*>(planes + word);
            *reinterpret_cast<FourWords*>(to + strip * strip_words + word) = four;
        }
    }
}

/// blockIdx.x is (arrangement, share of both sides' strips), the share varying faster. A warp
/// counts two strips and a column i at a time.
template <bool kPlanesInShared, bool kFInShared>
__global__ void __launch_bounds__(kLanes* kCountWarps, 2) count_tables(CountTask task) {
    PLEAT_DYNAMIC_SHARED(FourWords, shared_memory);
    auto* const tables = reinterpret_cast<long long*>(shared_memory);
    const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
    const int row_shares = (task.rows + task.cta_rows - 1) / task.cta_rows;
    const int column_shares = (task.columns + task.cta_columns - 1) / task.cta_columns;
    const auto share = static_cast<int>(blockIdx.x % (row_shares * column_shares));
    const Index arrangement = blockIdx.x / (row_shares * column_shares);
    const Strip* row_strips = task.row_strips + share / column_shares * task.cta_rows;
    const Strip* column_strips = task.column_strips + share % column_shares * task.cta_columns;
    const auto min = [](int a, int b) { return a < b ? a : b; };
    const int rows = min(task.cta_rows, task.rows - share / column_shares * task.cta_rows);
    const int columns =
        min(task.cta_columns, task.columns - share % column_shares * task.cta_columns);
    const auto last_column = [](const Strip& strip) {
        return strip.first_column + strip.columns - 1;
    };
    if (last_column(column_strips[columns - 1]) <= row_strips[0].first_column) return;

    const int thread = warp * static_cast<int>(kLanes) + lane;
    constexpr int kThreads = kCountWarps * static_cast<int>(kLanes);
    for (int n = thread; n < kPairTable; n += kThreads) {
        const int m = n % kPairStride, with = n / kPairStride;
        const bool is_count = m < kPairCounts && m < task.f_size && with < task.f_size;
        tables[n] = is_count ? task.f[m] + task.f[with] : 0;
    }
    const int f_size = kFInShared ? task.f_size : 0;
    for (int n = thread; n < f_size; n += kThreads) tables[kPairTable + n] = task.f[n];
    const Logarithms f{kFInShared ? tables + kPairTable : task.f, tables};
    long long* const scratch = tables + kPairTable + f_size + warp * kScratch;
    auto* const planes = reinterpret_cast<std::uint32_t*>(tables + shared_planes_at(f_size));
    const int strip_words = kStripPlanes * task.stride;
    if (kPlanesInShared) {
        load_strips(task, arrangement, row_strips, rows, planes);
        load_strips(task, arrangement, column_strips, columns, planes + rows * strip_words);
    }
    __syncthreads();

    const int start = lane / 4 * task.stride + lane % 4;
    const auto start_of = [&](const Strip& strip, int number) -> const std::uint32_t* {
        if (kPlanesInShared) return planes + number * strip_words + start;
        return task.planes + arrangement * task.arrangement_stride +
               static_cast<Index>(strip.first_bit_plane) * task.stride + start;
    };
    const Index first_i = task.first_i + (task.i_of_arrangement ? arrangement : 0);
    const int blocks = rows * columns;
    const int tasks = (task.i_of_arrangement ? 1 : static_cast<int>(task.count_i)) * blocks;
    for (int n = warp; n < tasks; n += kCountWarps) {
        const Index i = first_i + n / blocks;
        const int block = n % blocks, row = block / columns, column = block % columns;
        const Strip& across = row_strips[row];
        const Strip& down = column_strips[column];
        if (last_column(across) <= i || last_column(down) <= across.first_column) continue;
        const StripPlanes sides{
            start_of(across, row), start_of(down, rows + column), task.stride,
            fragments_of(across.plane_start[across.columns], down.plane_start[down.columns])};
        count_strips(task, arrangement, i, across, down, sides, lane, f, scratch);
    }
}

using pleat::cuda::grow;

/// `Gpu` as in gpu_kernel.cuh.
template <class Gpu>
struct ItemSums {
    template <class T>
    using Array = typename Gpu::template Array<T>;

    Array<long long> observed;         ///< [item]
    Array<Wide> sums;                  ///< [item][kSums]
    Array<double> z_centre, z_factor;  ///< [item]
    Array<long long> max_z;            ///< [shuffle], ordered()

    std::int64_t bytes() const { return 8 * (observed.size() + sums.size()); }

    /// Uploads the observed T of the items, and clears their sums.
    void begin(const Gpu& gpu, View<const std::int64_t, 1> t, Index items) {
        grow(observed, items);
        observed.upload(reinterpret_cast<const long long*>(t.data), 0, items);
        grow(sums, items * kSums);
        gpu.clear(sums, items * kSums);
    }

    void add_to(NullSums& to) const {
        std::vector<Wide> found(static_cast<std::size_t>(to.items() * kSums));
        sums.download(found.data(), 0, to.items() * kSums);
        for (Index item = 0; item < to.items(); ++item) {
            const Wide* of = found.data() + item * kSums;
            to.less_count[item] += static_cast<std::uint32_t>(of[0]);
            to.equal_count[item] += static_cast<std::uint32_t>(of[1]);
            to.first[item] += static_cast<std::int64_t>(of[2]);
            to.second[item] += static_cast<std::int64_t>(of[3]);
            to.third_low[item] += static_cast<std::int64_t>(of[4]);
            to.third_high[item] += static_cast<std::int64_t>(of[5]);
        }
    }

    void upload(const LargestZ& from, Index items, Index shuffles) {
        grow(z_centre, items);
        grow(z_factor, items);
        z_centre.upload(from.z_centre.data, 0, items);
        z_factor.upload(from.z_factor.data, 0, items);
        std::vector<long long> numbers(static_cast<std::size_t>(shuffles));
        for (Index s = 0; s < shuffles; ++s)
            numbers[s] = ordered(std::bit_cast<long long>(from.max_z[s]));
        grow(max_z, shuffles);
        max_z.upload(numbers.data(), 0, shuffles);
    }

    void download(const LargestZ& to, Index shuffles) const {
        std::vector<long long> numbers(static_cast<std::size_t>(shuffles));
        max_z.download(numbers.data(), 0, shuffles);
        for (Index s = 0; s < shuffles; ++s)
            to.max_z[s] = std::bit_cast<double>(ordered(numbers[s]));
    }
};

/// [column][row]: for each column of a block, the alignment's rows sorted by code.
inline std::vector<std::int32_t> sorted_rows(const CodedColumns& columns, Block block) {
    const Index rows = columns.row_count();
    std::vector<std::int32_t> order(static_cast<std::size_t>(block.count * rows));
    for (Index n = 0; n < block.count; ++n) {
        const Index column = block.first + n;
        Index next[kMaxSymbols] = {};
        for (int a = 1; a < columns.symbol_count(column); ++a)
            next[a] = next[a - 1] + columns.margin(column)[a - 1];
        for (Index row = 0; row < rows; ++row)
            order[n * rows + next[columns.codes(column, row)]++] = static_cast<std::int32_t>(row);
    }
    return order;
}

/// [i][j] of the tile's first two sides: plus k, the position in the tile of the triple i, j, k.
inline std::vector<Index> first_items(const TripleTile& tile) {
    std::vector<Index> first(static_cast<std::size_t>(tile.side[0].count * tile.side[1].count), 0);
    for (const TripleTile::Row& row : tile.rows) {
        first[(row.i - tile.side[0].first) * tile.side[1].count + row.j - tile.side[1].first] =
            row.offset - row.first_k;
    }
    return first;
}

/// The data that a CTA keeps in shared memory while counting, and its number of strips per side.
struct CountShare {
    bool f_in_shared = false, planes_in_shared = false;
    int rows = 1, columns = 1;
    Index bytes = 0;
};

/// Chooses a CTA's share of `rows` and `columns` strips for at most `max_bytes` of shared memory.
/// If enough strips remain, two CTAs share a multiprocessor.
inline CountShare plan_share(int rows, int columns, int f_size, int stride, Index max_bytes) {
    constexpr Index kMaxBytesOfF = 48 << 10, kHalf = 112 << 10;
    constexpr int kEnough = 4, kMaxStrips = 20;
    CountShare share;
    share.f_in_shared = 8 * Index{f_size} <= kMaxBytesOfF;
    const int f_in_cta = share.f_in_shared ? f_size : 0;
    const auto max_strips = [&](Index bytes) {
        int strips = kMaxStrips;
        while (strips >= 2 && count_shared_bytes(f_in_cta, strips, stride) > bytes) --strips;
        return strips;
    };
    int strips = max_strips(std::min(kHalf, max_bytes));
    if (strips < kEnough) strips = max_strips(max_bytes);
    share.planes_in_shared = strips >= 2;
    if (!share.planes_in_shared) strips = kEnough;
    const auto even = [](int all, int max_share) {
        const int shares = (all + max_share - 1) / max_share;
        return (all + shares - 1) / shares;
    };
    share.rows = even(rows, std::min(rows, strips / 2));
    share.columns = even(columns, std::min(columns, strips - share.rows));
    share.bytes = count_shared_bytes(
        f_in_cta, share.planes_in_shared ? share.rows + share.columns : 0, stride);
    return share;
}

}  // namespace pleat::mutual_information::cuda
