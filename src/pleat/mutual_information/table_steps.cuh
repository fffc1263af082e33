// Tables on a GPU: cells counted by AND and population count, a warp for 32 shuffles of one table.
#pragma once

#include <cstdint>
#include <type_traits>

#include "pleat/mutual_information/null_steps.cuh"
#include "pleat/mutual_information/plane_set.cuh"

namespace pleat::mutual_information::cuda {

/// Counts kRows x kColumns cells at once and returns the sum of F over them. `rows` and `columns`
/// are planes of a slice, one kLanes behind the other, their next words a stride away.
///
/// Pairs of words go through a full adder with a running word of ones: two words give one word of
/// carries, so that one population count, which is the slow instruction, serves two words.
template <int kRows, int kColumns>
__device__ __forceinline__ long long sum_cells(const std::uint32_t* rows, Index row_stride,
                                               const std::uint32_t* columns, Index column_stride,
                                               Index words, const long long* f) {
    std::uint32_t ones[kRows][kColumns];
    int carries[kRows][kColumns] = {};
    if (words % 2 == 1) {
        std::uint32_t row[kRows], column[kColumns];
#pragma unroll
        for (int r = 0; r < kRows; ++r) row[r] = __ldg(rows + r * kLanes);
#pragma unroll
        for (int c = 0; c < kColumns; ++c) column[c] = __ldg(columns + c * kLanes);
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
#pragma unroll
            for (int c = 0; c < kColumns; ++c) ones[r][c] = row[r] & column[c];
        }
        rows += row_stride;
        columns += column_stride;
    } else {
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
#pragma unroll
            for (int c = 0; c < kColumns; ++c) ones[r][c] = 0;
        }
    }
    // Small blocks keep more loads under way.
    [[maybe_unused]] constexpr int kPairsAtOnce = kRows * kColumns <= 9 ? 2 : 1;
#pragma unroll kPairsAtOnce
    for (Index pair = words / 2; pair > 0; --pair) {
        std::uint32_t row[2][kRows], column[2][kColumns];
#pragma unroll
        for (int k = 0; k < 2; ++k) {
#pragma unroll
            for (int r = 0; r < kRows; ++r) row[k][r] = __ldg(rows + r * kLanes);
#pragma unroll
            for (int c = 0; c < kColumns; ++c) column[k][c] = __ldg(columns + c * kLanes);
            rows += row_stride;
            columns += column_stride;
        }
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
#pragma unroll
            for (int c = 0; c < kColumns; ++c) {
                const std::uint32_t x = row[0][r] & column[0][c], y = row[1][r] & column[1][c];
                const std::uint32_t one = ones[r][c];
                carries[r][c] += __popc((x & y) | (one & (x | y)));
                ones[r][c] = one ^ x ^ y;
            }
        }
    }
    long long sum = 0;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
        for (int c = 0; c < kColumns; ++c) sum += f[__popc(ones[r][c]) + 2 * carries[r][c]];
    }
    return sum;
}

/// Cells on a side of a block: 36 words of ones, 36 counts and 24 planes are what registers hold.
constexpr int kMostSide = 6;

/// Planes of one column in one slice.
struct SlicePlanes {
    const std::uint32_t* bits;
    Index stride;
    int count;
};

/// sum_cells() of the block's shape; the taller side first, since a table and its transpose sum
/// alike.
template <int kRows>
__device__ __forceinline__ long long sum_rows(const SlicePlanes& rows, const SlicePlanes& columns,
                                              Index words, const long long* f) {
    if (rows.count < kRows) return sum_rows<kRows - 1>(rows, columns, words, f);
    long long sum = 0;
    const auto call = [&](auto side) {
        if constexpr (side.value <= kRows) {
            if (columns.count == side.value) {
                sum = sum_cells<kRows, side.value>(rows.bits, rows.stride, columns.bits,
                                                   columns.stride, words, f);
            }
        }
    };
    call(std::integral_constant<int, 1>{});
    call(std::integral_constant<int, 2>{});
    call(std::integral_constant<int, 3>{});
    call(std::integral_constant<int, 4>{});
    call(std::integral_constant<int, 5>{});
    call(std::integral_constant<int, 6>{});
    return sum;
}
template <>
__device__ __forceinline__ long long sum_rows<0>(const SlicePlanes&, const SlicePlanes&, Index,
                                                 const long long*) {
    return 0;
}

/// The sum of F over the cells of a slice, in blocks of nearly equal sides.
__device__ __forceinline__ long long sum_slice(const SlicePlanes& rows, const SlicePlanes& columns,
                                               Index words, const long long* f) {
    if (rows.count == 0 || columns.count == 0) return 0;
    const int row_blocks = (rows.count + kMostSide - 1) / kMostSide;
    const int column_blocks = (columns.count + kMostSide - 1) / kMostSide;
    long long sum = 0;
#pragma unroll 1
    for (int x = 0; x < row_blocks; ++x) {
        const int row = rows.count * x / row_blocks;
        const SlicePlanes across{rows.bits + row * kLanes, rows.stride,
                                 rows.count * (x + 1) / row_blocks - row};
#pragma unroll 1
        for (int y = 0; y < column_blocks; ++y) {
            const int column = columns.count * y / column_blocks;
            const SlicePlanes down{columns.bits + column * kLanes, columns.stride,
                                   columns.count * (y + 1) / column_blocks - column};
            const bool is_tall = across.count >= down.count;
            sum += sum_rows<kMostSide>(is_tall ? across : down, is_tall ? down : across, words, f);
        }
    }
    return sum;
}

/// A CTA counts the tables of 4 columns with 8 others, in one group of shuffles.
constexpr int kRowColumns = 4, kTableWarps = 8;

/// The tables of columns u < v, u of the run `rows` and v of the run `columns`, and where their
/// results go. The item of u and v is first_item[u - rows.first] + v.
struct TableTask {
    PlaneSet planes;
    PlaneCounts counts;
    const std::int32_t* first_plane;
    Slices slices;
    Block rows, columns;
    const Index* first_item;
    const long long* f;  ///< [0 ... f_size - 1]
    int f_size;          ///< elements to copy to shared memory
    Index first_group;   ///< of the planes' first group, in `largest` and among the shuffles
    Index shuffles;      ///< in all groups; the last one may have fewer than lanes
    int shift;
    long long* observed_out;    ///< [item]: where not null, only T of lane 0 is written there
    const long long* observed;  ///< [item]
    Wide* sums;                 ///< [item][kSums]
    const double* centre;       ///< [item]; null: no largest z is wanted
    const double* factor;       ///< [item]
    long long* largest;         ///< [group * kLanes + lane], ordered()
};

/// T of columns u and v in a lane's shuffle.
__device__ __forceinline__ long long sum_table(const TableTask& task, Index group, Index u, Index v,
                                               int lane, const long long* f) {
    const ColumnSet& set = task.planes.columns;
    const std::int32_t* row_count = task.counts.of(group, set.place(u));
    const std::int32_t* column_count = task.counts.of(group, set.place(v));
    const Index row_stride = (task.first_plane[u + 1] - task.first_plane[u]) * kLanes;
    const Index column_stride = (task.first_plane[v + 1] - task.first_plane[v]) * kLanes;
    const std::uint32_t* rows = task.planes.start(task.first_plane, group, u) + lane;
    const std::uint32_t* columns = task.planes.start(task.first_plane, group, v) + lane;
    long long t = 0;
#pragma unroll 1
    for (int s = 0; s < task.slices.count; ++s) {
        const Index words = task.slices.first_word[s + 1] - task.slices.first_word[s];
        t += sum_slice({rows, row_stride, row_count[s]}, {columns, column_stride, column_count[s]},
                       words, f);
        rows += words * row_stride;
        columns += words * column_stride;
    }
    return t;
}

/// blockIdx.x: a block of kRowColumns x kTableWarps tables; blockIdx.y: a group. Each warp takes
/// another column v for each u, so that a column of many symbols does not keep one warp alone busy.
template <bool kInShared>
__global__ void __launch_bounds__(kLanes* kTableWarps, 2) sum_tables(TableTask task) {
    extern __shared__ long long shared_f[];
    const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
    const Index column_blocks = (task.columns.count + kTableWarps - 1) / kTableWarps;
    const Index first_u = task.rows.first + blockIdx.x / column_blocks * kRowColumns;
    const Index first_v = task.columns.first + blockIdx.x % column_blocks * kTableWarps;
    if (first_v + kTableWarps - 1 <= first_u) return;
    if (kInShared) {
        for (int n = warp * static_cast<int>(kLanes) + lane; n < task.f_size;
             n += static_cast<int>(kLanes) * kTableWarps)
            shared_f[n] = task.f[n];
        __syncthreads();
    }
    const long long* f = kInShared ? shared_f : task.f;
    const Index group = blockIdx.y, shuffle = (task.first_group + group) * kLanes + lane;
    const bool valid = shuffle < task.shuffles;
    long long largest = kBelowAll;
#pragma unroll 1
    for (int k = 0; k < kRowColumns; ++k) {
        const Index u = first_u + k, v = first_v + (warp + 3 * k) % kTableWarps;
        if (u >= task.rows.first + task.rows.count || v <= u ||
            v >= task.columns.first + task.columns.count)
            continue;
        const long long t = sum_table(task, group, u, v, lane, f);
        const Index item = task.first_item[u - task.rows.first] + v;
        if (task.observed_out != nullptr) {
            if (lane == 0) task.observed_out[item] = t;
            continue;
        }
        const long long d =
            add_to_sums(t, task.observed[item], valid, task.shift, lane, task.sums + item * kSums);
        if (task.centre == nullptr || task.factor[item] == 0) continue;
        const double z = (static_cast<double>(d) - task.centre[item]) * task.factor[item];
        const long long place = ordered(__double_as_longlong(z));
        largest = place > largest ? place : largest;
    }
    if (task.centre != nullptr && valid) atomicMax(task.largest + shuffle, largest);
}

}  // namespace pleat::mutual_information::cuda
