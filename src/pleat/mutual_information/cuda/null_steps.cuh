// Null steps: sums over shuffles on a GPU, from differences of T to the null sums of items.
#pragma once

#include <cstdint>
#include <limits>

#include "pleat/mutual_information/cuda/cuda_layout.h"

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

/// Converts a double, as bits, to an integer that compares in the same order, and back, so that
/// atomicMax works on it.
__host__ __device__ inline long long ordered(long long bits) {
    return bits < 0 ? bits ^ 0x7fffffffffffffffLL : bits;
}

/// Packs a shuffle's difference of T: d, at most 2^20 in size, and whether the difference before
/// rounding is below or equal to 0.
__device__ __forceinline__ std::int32_t pack_difference(long long difference, int shift) {
    const auto d = static_cast<std::int32_t>(shifted_difference(difference, shift));
    return d * 4 + (difference < 0 ? 1 : 0) + (difference == 0 ? 2 : 0);
}

constexpr int kSumThreads = 256;

/// Differences of items in some shuffles, [arrangement][item], as pack_difference() makes them.
struct Differences {
    const std::int32_t* packed;
    Index items, arrangements;
};

/// Adds the differences to the items' sums, [item][kSums]. blockIdx.x: kSumThreads items;
/// blockIdx.y: `share` arrangements.
static __global__ void __launch_bounds__(kSumThreads)
    sum_differences(Differences from, Index share, Wide* sums) {
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
        // d is at most 2^20, d^2 2^40 and d^3 2^60 in size.
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
    find_largest(Differences from, const double* z_centre, const double* z_factor,
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

}  // namespace pleat::mutual_information::cuda
