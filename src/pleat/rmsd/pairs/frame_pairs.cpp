// Frame pairs: kernels over bands of rows, and over some frames of an ensemble as an ensemble.
#include "pleat/rmsd/pairs/frame_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "pleat/core/files/hash.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/rmsd/pairs/pairs_run.h"

namespace pleat::rmsd {

namespace {

constexpr Index kBandStep = 48;        // rows that the CPU kernel computes at once
constexpr Index kBandPairs = 500'000;  // few enough that a visitor finds them in the cache
constexpr Index kMaxRows = 960;
// Fewer frames are not worth a GPU's copies and launches.
constexpr Index kMinOnGpu = 1000;
// Columns that a GPU superposes rows with, at least.
constexpr Index kGpuColumns = Index{1} << 17;

Index rows_of_band(Index frames) {
    return std::clamp(kBandPairs / std::max<Index>(frames, 1) / kBandStep * kBandStep, kBandStep,
                      kMaxRows);
}

/// An ensemble of the frames `chosen`, then `more`.
Frames subset(const Frames& frames, std::span<const Index> chosen, Block more) {
    const auto count = static_cast<Index>(chosen.size());
    const Index size = 3 * frames.atom_count();
    Frames some;
    some.weight = frames.weight;
    some.xyz = Array<double, 3>::unset(count + more.count, Index{3}, frames.atom_count());
    some.square_sum = Array<double, 1>(count + more.count);
    for (Index n = 0; n < count + more.count; ++n) {
        const Index from = n < count ? chosen[n] : more.first + n - count;
        std::copy_n(frames.frame(from), size, some.xyz.data() + n * size);
        some.square_sum[n] = frames.square_sum[from];
    }
    return some;
}

/// The error bound of the kernel, plus the rounding to float32.
double error_near(double cutoff, Precision precision) {
    return error_of(precision) + 1.3e-7 * cutoff;
}

bool is_below_in_float64(const Frames& frames, Index i, Index j, double cutoff) {
    return static_cast<float>(rmsd_in_float64(frames, i, j)) < static_cast<float>(cutoff);
}

/// A matrix whose values near a cutoff are computed again.
class RecomputedMatrix final : public PairSource {
public:
    RecomputedMatrix(std::unique_ptr<PairSource> matrix, Frames frames, Precision precision)
        : matrix_(std::move(matrix)), frames_(std::move(frames)), precision_(precision) {}
    Index count() const override { return matrix_->count(); }
    void band(Block rows, float* values) const override { matrix_->band(rows, values); }
    Index band_rows() const override { return matrix_->band_rows(); }
    void rows(std::span<const Index> items, float* values) const override {
        matrix_->rows(items, values);
    }
    void among(std::span<const Index> items, const BandVisitor& visit) const override {
        matrix_->among(items, visit);
    }
    bool is_stored() const override { return true; }
    std::string hash() const override { return matrix_->hash(); }
    double error(double cutoff) const override { return error_near(cutoff, precision_); }
    bool is_below(Index i, Index j, double cutoff) const override {
        return is_below_in_float64(frames_, i, j, cutoff);
    }

private:
    std::unique_ptr<PairSource> matrix_;
    Frames frames_;
    Precision precision_;
};

}  // namespace

FramePairs::FramePairs(FrameSet frames, Precision precision, bool reduces, std::string hash,
                       const Context& context)
    : frames_(std::move(frames)),
      precision_(precision),
      reduces_(reduces),
      hash_(std::move(hash)),
      context_(context) {
    context_.comm = nullptr;
    kernel_ = make_kernel({.frames = frames_.get(), .precision = precision}, context_);
}

Index FramePairs::band_rows() const { return rows_of_band(count()); }

std::unique_ptr<Kernel> FramePairs::kernel_for(const Frames& some) const {
    const Problem problem{.frames = &some, .precision = precision_};
    if (context_.device.kind == Device::Kind::cuda && some.frame_count() < kMinOnGpu)
        return make_cpu_kernel(problem, context_);
    return make_kernel(problem, context_);
}

void FramePairs::among(std::span<const Index> items, const BandVisitor& visit) const {
    const Frames some = subset(*frames_, items, {});
    const std::unique_ptr<Kernel> kernel = kernel_for(some);
    const Index count = some.frame_count();
    std::vector<float> band;
    for (const Tile& tile : cut_into_bands(count, rows_of_band(count))) {
        throw_if_cancelled(context_, "superpose");
        band.resize(static_cast<std::size_t>(tile.items));
        kernel->band(tile.side[0], band.data());
        visit(tile.side[0], band.data());
    }
}

void FramePairs::rows(std::span<const Index> items, float* values) const {
    const Index all = count(), chosen = static_cast<Index>(items.size());
    const bool has_gpu = context_.device.kind == Device::Kind::cuda;
    // Enough columns at a time that packing the rows again with each block costs little.
    const Index step = std::max<Index>(8 * chosen, has_gpu ? kGpuColumns : 4096);
    std::vector<float> band;
    for (Index first = 0; first < all; first += step) {
        throw_if_cancelled(context_, "superpose");
        const Block columns{first, std::min(step, all - first)};
        const Frames some = subset(*frames_, items, columns);
        const std::unique_ptr<Kernel> kernel = kernel_for(some);
        const Index count = some.frame_count(), height = rows_of_band(count);
        for (Index row = 0; row < std::min(chosen, count - 1); row += height) {
            const Block rows{row, std::min(height, chosen - row)};
            band.resize(static_cast<std::size_t>(pairs_before(row + rows.count, count) -
                                                 pairs_before(row, count)));
            kernel->band(rows, band.data());
            const float* at = band.data();
            for (Index n = row; n < row + rows.count; ++n) {
                std::copy_n(at + chosen - n - 1, columns.count, values + n * all + first);
                at += count - 1 - n;
            }
        }
    }
    for (Index n = 0; n < chosen; ++n) values[n * all + items[n]] = 0.0f;
}

double FramePairs::error(double cutoff) const { return error_near(cutoff, precision_); }

bool FramePairs::is_below(Index i, Index j, double cutoff) const {
    return is_below_in_float64(*frames_, i, j, cutoff);
}

void FramePairs::count(Block rows, double bin_width, double cutoff, PairCounts& counts) const {
    if (counting_ == nullptr || bin_width != bin_width_ || cutoff != cutoff_) {
        counting_ = make_kernel({frames_.get(), Precision::mixed, cutoff, bin_width}, context_);
        bin_width_ = bin_width;
        cutoff_ = cutoff;
    }
    counting_->counter()->count(rows, counts);
}

DeviceClusters FramePairs::gromos(double cutoff, const Context& context) const {
    counting_.reset();  // clustering needs its memory
    return cluster_on_cuda(*frames_, cutoff, context);
}

std::unique_ptr<PairSource> superposed_pairs(View<const float, 3> xyz,
                                             std::span<const double> weights,
                                             const Parameters& parameters, bool reduces,
                                             const Context& context) {
    const Index frames = xyz.extent(0), atoms = xyz.extent(1);
    check_input(xyz, parameters);
    const AtomSets sets{{}, {}, {weights.begin(), weights.end()}};
    check(sets, atoms);
    Parameters own = parameters;
    own.nearest = 0;
    own.cutoff.reset();
    require_memory(memory_needed(frames, atoms, own, {Device::Kind::cpu, 0}),
                   fmt::format("{} frames of {} atoms", frames, atoms),
                   "take fewer frames or atoms");
    const bool is_kept = !context.checkpoint.empty();
    return std::make_unique<FramePairs>(
        owned(centre(xyz, weights, resolve_threads(context))), own.precision, reduces,
        is_kept ? problem_hash(xyz, xyz, sets, own, context) : std::string(), context);
}

std::unique_ptr<PairSource> recompute_near_cutoffs(std::unique_ptr<PairSource> matrix,
                                                   View<const float, 3> xyz,
                                                   std::span<const double> weights,
                                                   const Parameters& parameters,
                                                   const Context& context) {
    const AtomSets sets{{}, {}, {weights.begin(), weights.end()}};
    check(sets, xyz.extent(1));
    require_memory(8 * xyz.size(),
                   fmt::format("{} frames of {} atoms", xyz.extent(0), xyz.extent(1)),
                   "take fewer frames or atoms");
    return std::make_unique<RecomputedMatrix>(
        std::move(matrix), centre(xyz, weights, resolve_threads(context)), parameters.precision);
}

}  // namespace pleat::rmsd
