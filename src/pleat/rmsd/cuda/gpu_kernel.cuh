// The kernel's work on a GPU: values of bands to the host, and tallies that stay there until the
// end.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "pleat/core/loops/parallel_sort.h"
#include "pleat/rmsd/cuda/tile_work.cuh"
#include "pleat/rmsd/kernel/kernel.h"

namespace pleat::rmsd::cuda {

/// Angstrom, of values that the caller gets: less than what is promised, since they are rounded to
/// float32 after this; and of others, which are only counted and added.
constexpr float kTolerance = 8e-6f, kCountedTolerance = 1e-4f;
/// Values that are on the GPU at a time.
constexpr Index kMostValues = Index{1} << 26;
/// Room at first for pairs below the cut-off.
constexpr Index kLeastNear = Index{1} << 20;

/// What the pairs of `frames` can be away from each other at most, angstrom.
inline double largest_rmsd(const Frames& frames) {
    double self = 0.0;
    for (const double own : frames.self) self = std::max(self, own);
    return 2 * std::sqrt(self / frames.weight);
}

/// The power of two by which values are multiplied before they are rounded and added, so that none
/// is above 2^31 and their sum not above 2^62.
inline double sum_scale(const Frames& frames) {
    const Index count = frames.frame_count();
    const double most = std::max(largest_rmsd(frames), 1e-30);
    const auto pairs = static_cast<double>(std::max<Index>(pairs_before(count, count), 1));
    return std::exp2(std::floor(std::min(30.0 - std::log2(most), 61.0 - std::log2(most * pairs))));
}

template <class Gpu, class Machine>
class GpuKernel final : public Kernel {
public:
    /// `format` is for measurements: float32 is the fastest one for values and tallies.
    GpuKernel(const Problem& problem, std::optional<TileFormat> format, int threads, Gpu gpu,
              Index least_near = kLeastNear)
        : frames_(*problem.frames),
          options_(problem.tally),
          format_(format),
          threads_(threads),
          least_near_(least_near),
          sum_scale_(sum_scale(frames_)),
          gpu_(std::move(gpu)) {}

    void band(Block rows, float* rmsd) override {
        TileWork<Gpu, Machine>& work = work_as(TileFormat::floats);
        const Index frames = work.frames(), end = rows.first + rows.count;
        for (Block part = rows_of(rows.first, end, frames, kMostValues); part.count > 0;
             part = rows_of(part.first + part.count, end, frames, kMostValues)) {
            const Index first = pairs_before(part.first, frames);
            const Index pairs = pairs_before(part.first + part.count, frames) - first;
            if (pairs == 0) continue;
            grow(values_, pairs);
            work.run(part, ValueSink{values_.data(), frames, first, edges(kTolerance)});
            values_.download(rmsd + first - pairs_before(rows.first, frames), 0, pairs);
        }
    }

    bool can_tally() const override { return true; }

    void tally(Block rows, BandTally& to) override {
        prepare();
        const Index wanted = run(rows);
        if (wanted > near_.size()) {
            const std::int64_t room = gpu_.free_bytes() - kReserve;
            const auto bytes = static_cast<std::int64_t>(sizeof(NearPair)) * wanted;
            if (bytes > room && rows.count > 1) {
                const Index half = rows.count / 2;
                tally({rows.first, half}, to);
                tally({rows.first + half, rows.count - half}, to);
                return;
            }
            near_ = {};
            near_ = Array<NearPair>(wanted);
            prepare();
            run(rows);
        }
        add_to(to, wanted);
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;

    template <class T>
    static void grow(Array<T>& array, Index count) {
        if (array.size() >= count) return;
        array = Array<T>();
        array = Array<T>(count);
    }

    Edges edges(float far) const {
        return {kTolerance, far, static_cast<float>(options_.cutoff),
                static_cast<float>(options_.bin),
                options_.bin > 0 ? static_cast<float>(1 / options_.bin) : 0.0f};
    }

    TileWork<Gpu, Machine>& work_as(TileFormat format) {
        format = format_.value_or(format);
        if (!work_ || work_->format() != format) {
            work_.reset();
            work_.emplace(frames_, format, threads_, gpu_);
        }
        return *work_;
    }

    void prepare() {
        grow(histogram_, kMaxBins);
        grow(totals_, 2);
        grow(extremes_, 2);
        if (options_.cutoff > 0) grow(near_, least_near_);
        gpu_.clear(histogram_, kMaxBins);
        gpu_.clear(totals_, 2);
        const unsigned none[2] = {std::bit_cast<unsigned>(INFINITY), 0};
        extremes_.upload(none);
    }

    /// Returns how many pairs are below the cut-off; they are listed where there is room for all.
    Index run(Block rows) {
        work_as(TileFormat::floats)
            .run(rows, TallySink{edges(kCountedTolerance), options_.bin,
                                 static_cast<float>(sum_scale_), histogram_.data(), totals_.data(),
                                 extremes_.data(), near_.data(), totals_.data() + 1, near_.size()});
        unsigned long long totals[2];
        totals_.download(totals, 0, 2);
        sum_ = totals[0];
        return static_cast<Index>(totals[1]);
    }

    void add_to(BandTally& to, Index found) {
        std::vector<unsigned long long> counts(kMaxBins);
        histogram_.download(counts.data(), 0, kMaxBins);
        while (!counts.empty() && counts.back() == 0) counts.pop_back();
        to.histogram.resize(std::max(to.histogram.size(), counts.size()));
        for (std::size_t bin = 0; bin < counts.size(); ++bin)
            to.histogram[bin] += static_cast<std::int64_t>(counts[bin]);
        to.sum += static_cast<double>(sum_) / sum_scale_;
        unsigned extremes[2];
        extremes_.download(extremes, 0, 2);
        to.least = std::min(to.least, std::bit_cast<float>(extremes[0]));
        to.most = std::max(to.most, std::bit_cast<float>(extremes[1]));
        // The list, its copy while it is sorted, and its place among those of other bands.
        require_memory(static_cast<std::int64_t>(3 * sizeof(NearPair)) * found,
                       "the list of " + std::to_string(found) + " pairs within the cut-off",
                       "take a smaller --cutoff");
        std::vector<NearPair> near(static_cast<std::size_t>(found));
        if (found > 0) near_.download(near.data(), 0, found);
        parallel_sort(near, threads_, [](const NearPair& a, const NearPair& b) {
            return a.i != b.i ? a.i < b.i : a.j < b.j;
        });
        to.near.insert(to.near.end(), near.begin(), near.end());
    }

    const Frames& frames_;
    TallyOptions options_;
    std::optional<TileFormat> format_;
    int threads_;
    Index least_near_;
    double sum_scale_;
    Gpu gpu_;
    unsigned long long sum_ = 0;
    std::optional<TileWork<Gpu, Machine>> work_;
    Array<float> values_;
    Array<unsigned long long> histogram_, totals_;  ///< totals: sum, pairs below the cut-off
    Array<unsigned> extremes_;
    Array<NearPair> near_;
};

}  // namespace pleat::rmsd::cuda
