// Counts on a GPU: histograms, extremes, sums and near pairs of values, and their way to the host.
#pragma once

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "pleat/core/cuda/grow.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/threads.h"
#include "pleat/core/pairs/pair_source.h"

namespace pleat::rmsd::cuda {

constexpr int kCountThreads = 256;
/// Bins that a CTA counts in shared memory; others are counted in global memory.
constexpr int kBinsOfCta = 1024;

/// Values of rows with columns, and where their counts go.
struct ValueCounts {
    const float* values;  ///< [row, column]
    Block rows, columns;
    Bins bins;
    unsigned long long* histogram;  ///< [kMaxBins]
    double* row_sums;               ///< [row]; null: near pairs are listed, no more
    unsigned* extremes;             ///< bits of the minimum and the maximum
    NearPair* near;
    unsigned long long* near_count;
    Index near_capacity;

    /// As pleat::bin_of().
    __device__ __forceinline__ int bin_of(float value) const {
        const double quotient = value / bins.width;
        return static_cast<int>(quotient < kMaxBins - 1.0 ? quotient : kMaxBins - 1.0);
    }
    __device__ __forceinline__ void list(Index i, Index j, float value) const {
        if (!(bins.cutoff > 0)) return;
        const auto cutoff = static_cast<float>(bins.cutoff);
        if (!(bins.is_score ? value > cutoff : value < cutoff)) return;
        const unsigned long long at = atomicAdd(near_count, 1ULL);
        if (at < static_cast<unsigned long long>(near_capacity))
            near[at] = {static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), value};
    }
};

/// A CTA counts the values of one row with later frames. Each thread adds its values in column
/// order, so that the sum of a row is reproducible.
static __global__ void __launch_bounds__(kCountThreads) count_values(ValueCounts counts) {
    __shared__ unsigned of_cta[kBinsOfCta];
    __shared__ double sums[kCountThreads];
    const int thread = threadIdx.x;
    for (int bin = thread; bin < kBinsOfCta; bin += kCountThreads) of_cta[bin] = 0;
    __syncthreads();
    const Index row = blockIdx.x, i = counts.rows.first + row;
    const Index from = i + 1 > counts.columns.first ? i + 1 - counts.columns.first : 0;
    const float* const values = counts.values + row * counts.columns.count;
    if (counts.row_sums == nullptr) {
        for (Index column = from + thread; column < counts.columns.count; column += kCountThreads)
            counts.list(i, counts.columns.first + column, values[column]);
        return;
    }
    double sum = 0.0;
    unsigned lowest = 0x7f800000u, highest = 0;  // bits of floats, which are not negative
    for (Index column = from + thread; column < counts.columns.count; column += kCountThreads) {
        const float value = values[column];
        const int bin = counts.bin_of(value);
        if (bin < kBinsOfCta)
            atomicAdd(of_cta + bin, 1u);
        else
            atomicAdd(counts.histogram + bin, 1ULL);
        const unsigned bits = __float_as_uint(value);
        lowest = bits < lowest ? bits : lowest;
        highest = bits > highest ? bits : highest;
        sum += value;
        counts.list(i, counts.columns.first + column, value);
    }
    sums[thread] = sum;
    lowest = __reduce_min_sync(~0u, lowest);
    highest = __reduce_max_sync(~0u, highest);
    if (thread % 32 == 0) {
        if (lowest < counts.extremes[0]) atomicMin(counts.extremes, lowest);
        if (highest > counts.extremes[1]) atomicMax(counts.extremes + 1, highest);
    }
    __syncthreads();
    for (int half = kCountThreads / 2; half > 0; half /= 2) {
        if (thread < half) sums[thread] += sums[thread + half];
        __syncthreads();
    }
    if (thread == 0) counts.row_sums[row] = sums[0];
    for (int bin = thread; bin < kBinsOfCta; bin += kCountThreads)
        if (of_cta[bin] != 0)
            atomicAdd(counts.histogram + bin, static_cast<unsigned long long>(of_cta[bin]));
}

/// What kernels count, on the GPU.
template <class Gpu>
struct DeviceCounts {
    template <class T>
    using Array = typename Gpu::template Array<T>;

    Gpu gpu;
    Index initial_near;  ///< of the list of near pairs, which grows
    int threads;
    Array<unsigned long long> histogram = {};
    Array<unsigned> extremes = {};  ///< bits of the minimum and the maximum
    Array<NearPair> near = {};

    void clear(const Bins& bins) {
        pleat::cuda::grow(histogram, kMaxBins);
        pleat::cuda::grow(extremes, 2);
        if (bins.cutoff > 0 && !bins.counts_neighbours) pleat::cuda::grow(near, initial_near);
        gpu.clear(histogram, kMaxBins);
        const unsigned none[2] = {std::bit_cast<unsigned>(INFINITY), 0};
        extremes.upload(none);
    }

    void add_statistics(PairCounts& counts, const Bins& of, double sum) const {
        std::vector<unsigned long long> bins(kMaxBins);
        histogram.download(bins.data(), 0, kMaxBins);
        while (!bins.empty() && bins.back() == 0) bins.pop_back();
        unsigned ends[2];
        extremes.download(ends, 0, 2);
        counts.statistics.add(0, {of.width,
                                  {bins.begin(), bins.end()},
                                  sum,
                                  std::bit_cast<float>(ends[0]),
                                  std::bit_cast<float>(ends[1])});
    }

    /// Adds the first `listed` of the list.
    void add_near(PairCounts& counts, const Bins& bins, Index listed) const {
        if (listed == 0) return;
        // Memory for the list, its sorted copy, and its copy among those of other bands.
        require_memory(static_cast<std::int64_t>(3 * sizeof(NearPair)) * listed,
                       "the list of " + std::to_string(listed) + " pairs by the cutoff",
                       bins.is_score ? "take a larger --cutoff" : "take a smaller --cutoff");
        std::vector<NearPair> some(listed);
        near.download(some.data(), 0, listed);
        parallel_sort(some, threads, [](const NearPair& a, const NearPair& b) {
            return a.i != b.i ? a.i < b.i : a.j < b.j;
        });
        counts.near.insert(counts.near.end(), some.begin(), some.end());
    }
};

}  // namespace pleat::rmsd::cuda
