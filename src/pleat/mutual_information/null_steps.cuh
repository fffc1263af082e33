// Sums over shuffles on a GPU: what a warp's 32 values of T add to the null sums of an item.
#pragma once

#include <cstdint>
#include <limits>

#include "pleat/mutual_information/plane_set.cuh"

namespace pleat::mutual_information::cuda {

using Wide =
    unsigned long long;  // what atomicAdd takes; sums of negative numbers wrap around in it

/// The members of NullSums of an item: less, equal, first, second, third_low, third_high.
constexpr int kSums = 6;

/// moment_difference() of statistic.h.
__device__ __forceinline__ long long shifted_difference(long long difference, int shift) {
    return shift == 0 ? difference : (difference + (1LL << (shift - 1))) >> shift;
}

constexpr long long kBelowAll = std::numeric_limits<long long>::min();  ///< of ordered() numbers

/// Doubles as integers of the same order, so that a maximum is one of integers; and back.
__host__ __device__ inline long long ordered(long long bits) {
    return bits < 0 ? bits ^ 0x7fffffffffffffffLL : bits;
}

/// The sum of a value over a warp, in pieces of `kBits` bits that do not overflow 32 bits together.
template <int kBits>
__device__ __forceinline__ long long sum_over_warp(long long value) {
    static_assert(kBits <= 26, "32 of the low pieces must fit");
    const unsigned low = __reduce_add_sync(~0u, static_cast<unsigned>(value & ((1 << kBits) - 1)));
    const int high = __reduce_add_sync(~0u, static_cast<int>(value >> kBits));
    return (static_cast<long long>(high) << kBits) + low;
}

/// Adds a warp's shuffles to the sums of one item. `t`: of this lane's shuffle; lanes that are not
/// `valid` count nothing. Returns d.
__device__ __forceinline__ long long add_to_sums(long long t, long long observed, bool valid,
                                                 int shift, int lane, Wide* sums) {
    const long long difference = t - observed;
    const long long d = valid ? shifted_difference(difference, shift) : 0;
    const unsigned less = __ballot_sync(~0u, valid && difference < 0);
    const unsigned equal = __ballot_sync(~0u, valid && difference == 0);
    // d is below 2^20, d^2 below 2^40 and d^3 below 2^60 in size.
    const long long cube = d * d * d;
    const long long first = __reduce_add_sync(~0u, static_cast<int>(d));
    const long long second = sum_over_warp<20>(d * d);
    const long long third_low = sum_over_warp<20>(cube & 0xffffffffLL);
    const long long third_high = sum_over_warp<16>(cube >> 32);
    long long mine = lane == 0 ? __popc(less) : __popc(equal);
    if (lane == 2) mine = first;
    if (lane == 3) mine = second;
    if (lane == 4) mine = third_low;
    if (lane == 5) mine = third_high;
    if (lane < kSums && mine != 0) atomicAdd(sums + lane, static_cast<Wide>(mine));
    return d;
}

}  // namespace pleat::mutual_information::cuda
