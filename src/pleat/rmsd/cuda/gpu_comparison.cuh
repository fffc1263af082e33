// GPU comparison: a measure on a GPU as a Comparison, and counts of its values made there.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/cuda/grow.h"
#include "pleat/rmsd/cuda/count_values.cuh"
#include "pleat/rmsd/measures/comparison.h"

namespace pleat::rmsd::cuda {

using pleat::cuda::Sides;

/// Sizes in GpuComparison, which tests reduce.
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
class GpuComparison final : public Comparison, public PairCounter {
public:
    /// `frames`: of the columns.
    GpuComparison(Measure measure, Index frames, int threads, Gpu gpu, ComparisonSizes sizes = {})
        : measure_(std::move(measure)),
          sizes_(sizes),
          gpu_(std::move(gpu)),
          frames_(frames),
          counts_{gpu_, sizes.near_pairs, threads} {}

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
    PairCounter* counter() const override { return const_cast<GpuComparison*>(this); }

    void count(Block rows, const Bins& bins, PairCounts& counts) override {
        rows.count = std::min(rows.count, frames_ - 1 - rows.first);
        if (rows.count <= 0) return;
        counts_.clear(bins);
        pleat::cuda::grow(near_count_, 1);
        pleat::cuda::grow(row_sums_, rows.count);
        for_each_part(rows, frames_ - 1 - rows.first, frames_, [&](Block some) {
            const Block columns{some.first + 1, frames_ - 1 - some.first};
            run(some, columns);
            double* const row_sums = row_sums_.data() + (some.first - rows.first);
            const Index listed = launch_counts(some, columns, bins, row_sums);
            if (listed > counts_.near.size()) {
                counts_.near = {};
                counts_.near = Array<NearPair>(listed);
                launch_counts(some, columns, bins, nullptr);
            }
            counts_.add_near(counts, bins, listed);
        });
        std::vector<double> sums(rows.count);
        row_sums_.download(sums.data(), 0, rows.count);
        double sum = 0.0;
        for (const double of_row : sums) sum += of_row;
        counts_.add_statistics(counts, bins, sum);
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;

    /// The number of rows whose values fit in memory. `later`: only pairs with later frames are
    /// needed; blocks are then narrow, because half of a square block would be wasted, but large
    /// enough to keep the GPU busy.
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

    /// Counts pairs, and lists near pairs if they all fit in the list; returns the number of near
    /// pairs. Without `row_sums` only near pairs are counted.
    Index launch_counts(Block rows, Block columns, const Bins& bins, double* row_sums) {
        gpu_.clear(near_count_, 1);
        gpu_.launch("count values", &count_values, Sides{rows.count}, Sides{kCountThreads}, 0,
                    ValueCounts{values_.data(), rows, columns, bins, counts_.histogram.data(),
                                row_sums, counts_.extremes.data(), counts_.near.data(),
                                near_count_.data(), counts_.near.size()});
        unsigned long long listed = 0;
        near_count_.download(&listed, 0, 1);
        return static_cast<Index>(listed);
    }

    mutable Measure measure_;
    ComparisonSizes sizes_;
    Gpu gpu_;
    Index frames_;
    DeviceCounts<Gpu> counts_;
    mutable Array<float> values_;
    mutable typename Gpu::template Pinned<float> pinned_;
    Array<unsigned long long> near_count_;
    Array<double> row_sums_;
};

}  // namespace pleat::rmsd::cuda
