// GPU comparison: a measure on a GPU as a Comparison, and counts of its values made there.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/cuda/grow.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/threads.h"
#include "pleat/core/pairs/pair_order.h"
#include "pleat/rmsd/cuda/count_values.cuh"
#include "pleat/rmsd/kernel/kernel.h"

namespace pleat::rmsd::cuda {

using pleat::cuda::Sides;

/// Settings of GpuComparison, which tests make smaller.
struct ComparisonSizes {
    Index values = Index{1} << 26;      ///< on the GPU at a time
    Index downloaded = Index{1} << 22;  ///< at a time
    Index near_pairs = Index{1} << 20;  ///< of the list, which grows
};

/// `Measure` has the frames of both sides on the `Gpu`:
///     void run(Block rows, Block columns, float* values)   launches what computes [row, column];
///         a value depends on its two frames only, whatever block asks for it
///     double cost() const                                  nanoseconds a pair
/// `Gpu`: CudaGpu, or the host in its place. Made and used by one thread.
template <class Gpu, class Measure>
class GpuComparison final : public Comparison {
public:
    /// `frames`: of the columns.
    GpuComparison(Measure measure, Index frames, int threads, Gpu gpu, ComparisonSizes sizes = {})
        : measure_(std::move(measure)),
          sizes_(sizes),
          gpu_(std::move(gpu)),
          counter_(*this, frames, threads) {}

    void block(Block rows, Block columns, float* values) const override {
        for_each_part(rows, columns.count, 0, [&](Block some) {
            run(some, columns);
            download(some.count * columns.count,
                     values + (some.first - rows.first) * columns.count);
        });
    }
    bool is_on_gpu() const override { return true; }
    Index block_rows() const override { return 128; }
    Index block_columns() const override { return Index{1} << 16; }
    double cost() const override { return measure_.cost(); }
    BandCounter* counter(const Bins& bins) const override {
        counter_.bins = bins;
        return &counter_;
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;

    /// The pairs of each frame of some rows with all later frames.
    struct Counter final : BandCounter {
        Counter(const GpuComparison& comparison, Index frame_count, int thread_count)
            : of(comparison), frames(frame_count), threads(thread_count) {}
        void count(Block rows, PairCounts& counts) override { of.count(rows, *this, counts); }

        const GpuComparison& of;
        Index frames;
        int threads;
        Bins bins;
    };

    /// Rows whose values fit. `later`: of all frames with later ones only, where half of a square
    /// would be in vain, so that parts are narrow, but not so short that they leave the GPU idle.
    template <class Work>
    void for_each_part(Block rows, Index columns, Index later, const Work& work) const {
        constexpr double kShortest = 2e7;  // nanoseconds
        Index height = std::max<Index>(1, sizes_.values / std::max<Index>(columns, 1));
        if (later > 0) {
            const double busy = kShortest / (cost() * static_cast<double>(later));
            const Index narrow = std::max(later / 16, block_rows());
            height = std::min(height, std::max(narrow, static_cast<Index>(std::min(busy, 1e9))));
        }
        // In whole tiles, if that is at least one.
        const Index step = height < block_rows() ? height : height / block_rows() * block_rows();
        const Index end = rows.first + rows.count;
        for (Index first = rows.first; first < end; first += step)
            work(Block{first, std::min(step, end - first)});
    }

    void run(Block rows, Block columns) const {
        pleat::cuda::grow(values_, rows.count * columns.count);
        measure_.run(rows, columns, values_.data());
    }

    /// Through pinned memory, which is several times as fast.
    void download(Index count, float* to) const {
        pleat::cuda::grow(pinned_, std::min(count, sizes_.downloaded));
        for (Index first = 0; first < count; first += sizes_.downloaded) {
            const Index some = std::min(sizes_.downloaded, count - first);
            values_.download(pinned_.data(), first, some);
            std::copy_n(pinned_.data(), some, to + first);
        }
    }

    void count(Block rows, const Counter& counter, PairCounts& counts) const {
        rows.count = std::min(rows.count, counter.frames - 1 - rows.first);
        if (rows.count <= 0) return;
        clear_counts(rows.count, counter.bins);
        for_each_part(rows, counter.frames - 1 - rows.first, counter.frames, [&](Block some) {
            const Block columns{some.first + 1, counter.frames - 1 - some.first};
            run(some, columns);
            double* const row_sums = row_sums_.data() + (some.first - rows.first);
            const Index listed = launch_counts(some, columns, counter.bins, row_sums);
            if (listed > near_.size()) {
                near_ = {};
                near_ = Array<NearPair>(listed);
                launch_counts(some, columns, counter.bins, nullptr);
            }
            if (listed > 0) add_near(counts, counter, listed);
        });
        add_statistics(counts, rows.count, counter.bins);
    }

    void clear_counts(Index rows, const Bins& bins) const {
        pleat::cuda::grow(histogram_, kMaxBins);
        pleat::cuda::grow(near_count_, 1);
        pleat::cuda::grow(extremes_, 2);
        pleat::cuda::grow(row_sums_, rows);
        if (bins.cutoff > 0) pleat::cuda::grow(near_, sizes_.near_pairs);
        gpu_.clear(histogram_, kMaxBins);
        const unsigned none[2] = {std::bit_cast<unsigned>(INFINITY), 0};
        extremes_.upload(none);
    }

    /// Returns how many pairs are near; they are listed if the list has room for all. Without
    /// `row_sums` nothing else is counted.
    Index launch_counts(Block rows, Block columns, const Bins& bins, double* row_sums) const {
        gpu_.clear(near_count_, 1);
        gpu_.launch("count values", &count_values, Sides{rows.count}, Sides{kCountThreads}, 0,
                    ValueCounts{values_.data(), rows, columns, bins, histogram_.data(), row_sums,
                                extremes_.data(), near_.data(), near_count_.data(), near_.size()});
        unsigned long long listed = 0;
        near_count_.download(&listed, 0, 1);
        return static_cast<Index>(listed);
    }

    void add_statistics(PairCounts& counts, Index rows, const Bins& of) const {
        std::vector<unsigned long long> bins(kMaxBins);
        histogram_.download(bins.data(), 0, kMaxBins);
        while (!bins.empty() && bins.back() == 0) bins.pop_back();
        unsigned extremes[2];
        extremes_.download(extremes, 0, 2);
        std::vector<double> sums(static_cast<std::size_t>(rows));
        row_sums_.download(sums.data(), 0, rows);
        double sum = 0.0;
        for (const double of_row : sums) sum += of_row;
        const PairStatistics counted(of.width, {bins.begin(), bins.end()}, sum,
                                     std::bit_cast<float>(extremes[0]),
                                     std::bit_cast<float>(extremes[1]));
        counts.statistics.add(0, counted);
    }

    void add_near(PairCounts& counts, const Counter& counter, Index listed) const {
        // The list, its copy while it is sorted, and its copy among those of other bands.
        require_memory(
            static_cast<std::int64_t>(3 * sizeof(NearPair)) * listed,
            "the list of " + std::to_string(listed) + " pairs by the cutoff",
            counter.bins.is_score ? "take a larger --cutoff" : "take a smaller --cutoff");
        std::vector<NearPair> near(static_cast<std::size_t>(listed));
        near_.download(near.data(), 0, listed);
        parallel_sort(near, counter.threads, [](const NearPair& a, const NearPair& b) {
            return a.i != b.i ? a.i < b.i : a.j < b.j;
        });
        counts.near.insert(counts.near.end(), near.begin(), near.end());
    }

    mutable Measure measure_;
    ComparisonSizes sizes_;
    Gpu gpu_;
    mutable Counter counter_;
    mutable Array<float> values_;
    mutable typename Gpu::template Pinned<float> pinned_;
    mutable Array<unsigned long long> histogram_, near_count_;
    mutable Array<double> row_sums_;
    mutable Array<unsigned> extremes_;
    mutable Array<NearPair> near_;
};

}  // namespace pleat::rmsd::cuda
