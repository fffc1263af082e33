// The kernel's work on a GPU: values of bands copied to the host, and counts made on the GPU.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/cuda/grow.h"
#include "pleat/core/loops/steps.h"
#include "pleat/rmsd/cuda/count_values.cuh"
#include "pleat/rmsd/cuda/tiled_frames.cuh"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/superposition/superpose.h"

namespace pleat::rmsd::cuda {

using pleat::cuda::grow;

/// Tolerances in angstrom: of values that are returned, smaller than documented because they are
/// then rounded to float32; and of values that are only counted and summed.
constexpr float kTolerance = 8e-6f, kCountedTolerance = 1e-4f;
/// Values that are on the GPU at a time.
constexpr Index kMaxValues = Index{1} << 26;
/// Initial capacity of the list of pairs below the cutoff.
constexpr Index kInitialNear = Index{1} << 20;

/// The power of two by which `count` RMSDs, up to `bound` angstrom, are multiplied before they are
/// rounded and added, so that none is above 2^31 and their sum not above 2^62.
inline double sum_scale(Index count, double bound) {
    bound = std::max(bound, 1e-30);
    const auto values = static_cast<double>(std::max<Index>(count, 1));
    return std::exp2(
        std::floor(std::min(30.0 - std::log2(bound), 61.0 - std::log2(bound * values))));
}

template <class Gpu>
class GpuKernel final : public Kernel, public PairCounter {
public:
    GpuKernel(const Problem& problem, int threads, Gpu gpu, Index initial_near = kInitialNear)
        : frames_(problem.source ? problem.source : memory_source(borrowed(*problem.frames))),
          bins_{problem.bin_width, problem.cutoff},
          threads_(threads),
          gpu_(std::move(gpu)),
          counts_{gpu_, initial_near, threads} {}

    void band(Block rows, float* rmsd) override {
        TiledFrames<Gpu>& work = packed();
        const Index frames = work.frames(), end = rows.first + rows.count;
        for (Block some = rows_of(rows.first, end, frames, kMaxValues); some.count > 0;
             some = rows_of(some.first + some.count, end, frames, kMaxValues)) {
            const Index first = pairs_before(some.first, frames);
            const Index pairs = pairs_before(some.first + some.count, frames) - first;
            if (pairs == 0) continue;
            grow(values_, pairs);
            work.run(some, ValueSink{values_.data(), frames, first, edges(bins_, kTolerance)});
            values_.download(rmsd + first - pairs_before(rows.first, frames), 0, pairs);
        }
    }

    PairCounter* counter() override { return this; }

    void prepare() override { packed(); }

    void count(Block rows, const Bins& bins, PairCounts& counts) override {
        const Index wanted = run(rows, bins);
        if (wanted > counts_.near.size()) {
            const std::int64_t free = gpu_.free_bytes() - kReserve;
            const auto bytes = static_cast<std::int64_t>(sizeof(NearPair)) * wanted;
            if (bytes > free && rows.count > 1) {
                const Index half = rows.count / 2;
                count({rows.first, half}, bins, counts);
                count({rows.first + half, rows.count - half}, bins, counts);
                return;
            }
            counts_.near = {};
            counts_.near = Array<NearPair>(wanted);
            run(rows, bins);
        }
        counts_.add_statistics(counts, bins, static_cast<double>(sum_) / sum_scale_);
        counts_.add_near(counts, bins, wanted);
        if (!bins.counts_neighbours) return;
        counts.neighbours.resize(packed().frames());
        neighbours_.download(counts.neighbours.data(), 0, packed().frames());
    }

    bool sum_among(std::span<const Index> items, const Context& context, std::vector<double>& sums,
                   std::vector<float>& maxima) override {
        TiledFrames<Gpu>& work = packed();
        const auto count = std::ssize(items);
        if (members_.size() < count) {
            members_ = {};
            if (member_memory(count, work.task().chunks) > gpu_.free_bytes() - kReserve)
                return false;
            members_ = {count, work.task().chunks, TileFormat::split};
        }
        const std::vector<std::uint32_t> ids(items.begin(), items.end());
        members_.ids.upload(ids.data(), 0, count);
        work.template gather<TileFormat::split>(members_.slots(), count);
        grow(member_sums_, count);
        grow(member_maxima_, count);
        gpu_.clear(member_sums_, count);
        gpu_.clear(member_maxima_, count);
        const double scale = sum_scale(work.frames(), work.largest_rmsd());
        const SumSink sink{edges({.width = 0.0}, kTolerance), static_cast<float>(scale),
                           member_sums_.data(), member_maxima_.data()};
        TileTask task = work.task();
        task.ids = members_.ids.data();
        for (Block some = rows_of(0, count, count, kLaunchPairs); some.count > 0;
             some = rows_of(some.first + some.count, count, count, kLaunchPairs)) {
            work.clear_doubts();
            work.run_lists(task, {members_.frames(), some.first, some.first + some.count},
                           {members_.frames(), 0, count}, sink);
            if (some.count < count) gpu_.wait();
            throw_if_cancelled(context, "describe");
        }
        std::vector<unsigned long long> totals(count);
        std::vector<unsigned> bits(count);
        member_sums_.download(totals.data(), 0, count);
        member_maxima_.download(bits.data(), 0, count);
        for (Index n = 0; n < count; ++n) {
            sums[n] = static_cast<double>(totals[n]) / scale;
            maxima[n] = std::bit_cast<float>(bits[n]);
        }
        return true;
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;

    /// Bytes of the frames of sum_among() and their sums.
    static std::int64_t member_memory(Index count, Index chunks) {
        constexpr Index kChunk = 16 * chunk_words(TileFormat::split) / kPanelFrames;
        return (count + kPanelFrames) *
               (chunks * kChunk + static_cast<Index>(sizeof(FrameTerms)) + 16);
    }

    static Edges edges(const Bins& bins, float far) {
        const float near = bins.counts_neighbours ? far : kTolerance;
        return {near, far, static_cast<float>(bins.cutoff), static_cast<float>(bins.width),
                bins.width > 0 ? static_cast<float>(1 / bins.width) : 0.0f};
    }

    TiledFrames<Gpu>& packed() {
        if (!work_) {
            work_.emplace(*frames_, TileFormat::split, threads_, gpu_);
            const Index frames = work_->frames();
            sum_scale_ = sum_scale(pairs_before(frames, frames), work_->largest_rmsd());
        }
        return *work_;
    }

    /// Returns the number of pairs below the cutoff; they are listed if they all fit in the list.
    Index run(Block rows, const Bins& bins) {
        counts_.clear(bins);
        grow(totals_, 2);
        gpu_.clear(totals_, 2);
        const Index frames = packed().frames();
        if (bins.counts_neighbours) {
            grow(neighbours_, frames);
            gpu_.clear(neighbours_, frames);
        }
        packed().run(rows, CountSink{edges(bins, kCountedTolerance), bins.width,
                                     static_cast<float>(sum_scale_), counts_.histogram.data(),
                                     totals_.data(), counts_.extremes.data(), counts_.near.data(),
                                     totals_.data() + 1, counts_.near.size(),
                                     bins.counts_neighbours ? neighbours_.data() : nullptr});
        unsigned long long totals[2];
        totals_.download(totals, 0, 2);
        sum_ = totals[0];
        return static_cast<Index>(totals[1]);
    }

    std::shared_ptr<const FrameSource> frames_;
    Bins bins_;  ///< near whose edges and cutoff values of bands are recomputed
    int threads_;
    double sum_scale_ = 1.0;
    Gpu gpu_;
    DeviceCounts<Gpu> counts_;
    unsigned long long sum_ = 0;
    std::optional<TiledFrames<Gpu>> work_;
    Array<float> values_;
    Array<unsigned long long> totals_;  ///< sum, pairs below the cutoff
    Array<int> neighbours_;             ///< [frame]
    SlotArrays<Gpu> members_;           ///< of sum_among()
    Array<unsigned long long> member_sums_;
    Array<unsigned> member_maxima_;
};

constexpr int kPairThreads = 128;

/// Computes row `blockIdx.y` of the band with later frames. Threads of a block process adjacent
/// frames, whose coordinates the L2 cache provides to all rows of the band.
static __global__ void __launch_bounds__(kPairThreads)
    superpose_band(const double* xyz, Index frames, Index atoms, double weight, Index first_row,
                   float* rmsd) {
    const Index i = first_row + blockIdx.y;
    const Index j = i + 1 + static_cast<Index>(blockIdx.x) * kPairThreads + threadIdx.x;
    if (j >= frames) return;
    const double sum = superposed_residual(xyz + i * 3 * atoms, xyz + j * 3 * atoms, atoms);
    const Index position = pairs_before(i, frames) - pairs_before(first_row, frames) + j - i - 1;
    rmsd[position] = static_cast<float>(sqrt(sum / weight));
}

template <class Gpu>
class Float64Kernel final : public Kernel {
public:
    Float64Kernel(const Frames& frames, Gpu gpu)
        : frames_(frames.frame_count()),
          atoms_(frames.atom_count()),
          weight_(frames.weight),
          gpu_(std::move(gpu)),
          xyz_(frames.xyz.size()) {
        xyz_.upload(frames.xyz.data());
    }

    void band(Block rows, float* rmsd) override {
        constexpr Index kMaxRows = 4096, kMaxPairs = Index{1} << 26;
        const Index end = rows.first + rows.count;
        for (Index first = rows.first; first < end;) {
            const Index longest = std::max<Index>(frames_ - 1 - first, 1);
            const Index count =
                std::min({end - first, kMaxRows, std::max<Index>(kMaxPairs / longest, 1)});
            const Index pairs = pairs_before(first + count, frames_) - pairs_before(first, frames_);
            if (output_.size() < pairs) output_ = Array<float>(pairs);
            if (pairs > 0) {
                const pleat::cuda::Sides grid{(longest + kPairThreads - 1) / kPairThreads, count};
                gpu_.launch("superpose frames", &superpose_band, grid,
                            pleat::cuda::Sides{kPairThreads}, 0, xyz_.data(), frames_, atoms_,
                            weight_, first, output_.data());
                output_.download(rmsd, 0, pairs);
            }
            rmsd += pairs;
            first += count;
        }
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;

    Index frames_, atoms_;
    double weight_;
    Gpu gpu_;
    Array<double> xyz_;    ///< [frame, axis, atom]
    Array<float> output_;  ///< of some rows
};

}  // namespace pleat::rmsd::cuda
