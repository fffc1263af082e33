// The kernel's work on a GPU: values of bands copied to the host, and counts made on the GPU.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pleat/core/cuda/grow.h"
#include "pleat/core/loops/threads.h"
#include "pleat/rmsd/cuda/tile_work.cuh"
#include "pleat/rmsd/kernel/kernel.h"

namespace pleat::rmsd::cuda {

using pleat::cuda::grow;

/// Tolerances in angstrom: of values that the caller gets, smaller than what is promised, since
/// they are rounded to float32 afterwards; and of values that are only counted and added.
constexpr float kTolerance = 8e-6f, kCountedTolerance = 1e-4f;
/// Values that are on the GPU at a time.
constexpr Index kMaxValues = Index{1} << 26;
/// Initial capacity of the list of pairs below the cutoff.
constexpr Index kInitialNear = Index{1} << 20;

/// The power of two by which RMSDs of `count` frames, up to `bound` angstrom, are multiplied before
/// they are rounded and added, so that none is above 2^31 and their sum not above 2^62.
inline double sum_scale(Index count, double bound) {
    bound = std::max(bound, 1e-30);
    const auto pairs = static_cast<double>(std::max<Index>(pairs_before(count, count), 1));
    return std::exp2(
        std::floor(std::min(30.0 - std::log2(bound), 61.0 - std::log2(bound * pairs))));
}

template <class Gpu>
class GpuKernel final : public Kernel, public BandCounter {
public:
    /// `format` is for measurements: float32 is the fastest one for values and counts.
    GpuKernel(const Problem& problem, std::optional<TileFormat> format, int threads, Gpu gpu,
              Index initial_near = kInitialNear)
        : frames_(problem.source ? problem.source : memory_source(borrowed(*problem.frames))),
          bin_width_(problem.bin_width),
          cutoff_(problem.cutoff),
          format_(format),
          threads_(threads),
          initial_near_(initial_near),
          gpu_(std::move(gpu)) {}

    void band(Block rows, float* rmsd) override {
        TileWork<Gpu>& work = work_as(TileFormat::floats);
        const Index frames = work.frames(), end = rows.first + rows.count;
        for (Block some = rows_of(rows.first, end, frames, kMaxValues); some.count > 0;
             some = rows_of(some.first + some.count, end, frames, kMaxValues)) {
            const Index first = pairs_before(some.first, frames);
            const Index pairs = pairs_before(some.first + some.count, frames) - first;
            if (pairs == 0) continue;
            grow(values_, pairs);
            work.run(some, ValueSink{values_.data(), frames, first, edges(kTolerance)});
            values_.download(rmsd + first - pairs_before(rows.first, frames), 0, pairs);
        }
    }

    BandCounter* counter() override { return this; }

    void prepare() override { work_as(TileFormat::floats); }

    void count(Block rows, PairCounts& counts) override {
        clear_counts();
        const Index wanted = run(rows);
        if (wanted > near_pairs_.size()) {
            const std::int64_t free = gpu_.free_bytes() - kReserve;
            const auto bytes = static_cast<std::int64_t>(sizeof(NearPair)) * wanted;
            if (bytes > free && rows.count > 1) {
                const Index half = rows.count / 2;
                count({rows.first, half}, counts);
                count({rows.first + half, rows.count - half}, counts);
                return;
            }
            near_pairs_ = {};
            near_pairs_ = Array<NearPair>(wanted);
            clear_counts();
            run(rows);
        }
        add_to(counts, wanted);
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;

    Edges edges(float far) const {
        return {kTolerance, far, static_cast<float>(cutoff_), static_cast<float>(bin_width_),
                bin_width_ > 0 ? static_cast<float>(1 / bin_width_) : 0.0f};
    }

    TileWork<Gpu>& work_as(TileFormat format) {
        format = format_.value_or(format);
        if (!work_ || work_->format() != format) {
            work_.reset();
            work_.emplace(*frames_, format, threads_, gpu_);
            sum_scale_ = sum_scale(work_->frames(), work_->largest_rmsd());
        }
        return *work_;
    }

    void clear_counts() {
        grow(histogram_, kMaxBins);
        grow(totals_, 2);
        grow(extremes_, 2);
        if (cutoff_ > 0) grow(near_pairs_, initial_near_);
        gpu_.clear(histogram_, kMaxBins);
        gpu_.clear(totals_, 2);
        const unsigned none[2] = {std::bit_cast<unsigned>(INFINITY), 0};
        extremes_.upload(none);
    }

    /// Returns how many pairs are below the cutoff; they are listed if the list has room for all.
    Index run(Block rows) {
        TileWork<Gpu>& work = work_as(TileFormat::floats);
        work.run(rows,
                 CountSink{edges(kCountedTolerance), bin_width_, static_cast<float>(sum_scale_),
                           histogram_.data(), totals_.data(), extremes_.data(), near_pairs_.data(),
                           totals_.data() + 1, near_pairs_.size()});
        unsigned long long totals[2];
        totals_.download(totals, 0, 2);
        sum_ = totals[0];
        return static_cast<Index>(totals[1]);
    }

    void add_to(PairCounts& counts, Index listed) {
        std::vector<unsigned long long> bins(kMaxBins);
        histogram_.download(bins.data(), 0, kMaxBins);
        while (!bins.empty() && bins.back() == 0) bins.pop_back();
        unsigned extremes[2];
        extremes_.download(extremes, 0, 2);
        counts.statistics.add(0, {bin_width_,
                                  {bins.begin(), bins.end()},
                                  static_cast<double>(sum_) / sum_scale_,
                                  std::bit_cast<float>(extremes[0]),
                                  std::bit_cast<float>(extremes[1])});
        // The list, its copy while it is sorted, and its copy among those of other bands.
        require_memory(static_cast<std::int64_t>(3 * sizeof(NearPair)) * listed,
                       "the list of " + std::to_string(listed) + " pairs below the cutoff",
                       "take a smaller --cutoff");
        std::vector<NearPair> near(static_cast<std::size_t>(listed));
        if (listed > 0) near_pairs_.download(near.data(), 0, listed);
        parallel_sort(near, threads_, [](const NearPair& a, const NearPair& b) {
            return a.i != b.i ? a.i < b.i : a.j < b.j;
        });
        counts.near.insert(counts.near.end(), near.begin(), near.end());
    }

    std::shared_ptr<const FrameSource> frames_;
    double bin_width_, cutoff_;
    std::optional<TileFormat> format_;
    int threads_;
    Index initial_near_;
    double sum_scale_ = 1.0;
    Gpu gpu_;
    unsigned long long sum_ = 0;
    std::optional<TileWork<Gpu>> work_;
    Array<float> values_;
    Array<unsigned long long> histogram_, totals_;  ///< totals: sum, pairs below the cutoff
    Array<unsigned> extremes_;
    Array<NearPair> near_pairs_;
};

}  // namespace pleat::rmsd::cuda
