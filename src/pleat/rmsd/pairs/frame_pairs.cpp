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
#include "pleat/rmsd/pairs/block_kernel.h"
#include "pleat/rmsd/pairs/pairs_run.h"

namespace pleat::rmsd {

namespace {

constexpr Index kBandStep = 48;        // rows that the CPU kernel computes at once
constexpr Index kBandPairs = 500'000;  // few enough that a visitor finds them in the cache
constexpr Index kMaxRows = 960;
// Columns that a GPU superposes rows with, at least.
constexpr Index kGpuColumns = Index{1} << 17;
// Columns of few rows between two looks at whether to stop.
constexpr Index kFewColumns = Index{1} << 16;

Index rows_of_band(const FrameSource& source) {
    const Index frames = std::max<Index>(source.frame_count(), 1);
    if (source.in_memory() == nullptr) return block_band_rows(frames);
    return std::clamp(kBandPairs / frames / kBandStep * kBandStep, kBandStep, kMaxRows);
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

FramePairs::FramePairs(std::shared_ptr<const FrameSource> frames, Precision precision, bool reduces,
                       std::string hash, const Context& context)
    : frames_(std::move(frames)),
      precision_(precision),
      reduces_(reduces),
      hash_(std::move(hash)),
      context_(context) {
    context_.comm = nullptr;
    kernel_ =
        frames_->in_memory() != nullptr ? make_kernel(problem(), context_) : kernel_of(frames_);
}

Problem FramePairs::problem() const {
    Problem all{.frames = frames_->in_memory(), .precision = precision_};
    if (all.frames == nullptr) all.source = frames_;
    return all;
}

Index FramePairs::band_rows() const { return rows_of_band(*frames_); }

std::unique_ptr<Kernel> FramePairs::kernel_of(
    const std::shared_ptr<const FrameSource>& source) const {
    const Accuracy accuracy{.precision = precision_};
    if (source->in_memory() != nullptr) return kernel_for(*source->in_memory(), accuracy, context_);
    if (is_copied_to_gpu(precision_, context_))
        return make_kernel({.precision = precision_, .source = source}, context_);
    return make_block_kernel(*source, accuracy, context_);
}

void FramePairs::among(std::span<const Index> items, const BandVisitor& visit) const {
    const std::shared_ptr<const FrameSource> some =
        frames_->narrowed(items, resolve_threads(context_));
    const std::unique_ptr<Kernel> kernel = kernel_of(some);
    std::vector<float> band;
    for (const Tile& tile : cut_into_bands(some->frame_count(), rows_of_band(*some))) {
        throw_if_cancelled(context_, "superpose");
        band.resize(static_cast<std::size_t>(tile.items));
        kernel->band(tile.side[0], band.data());
        visit(tile.side[0], band.data());
    }
}

void FramePairs::rows(std::span<const Index> items, float* values) const {
    between(items, consecutive(0, count()), values);
}

void FramePairs::between(std::span<const Index> items, std::span<const Index> others,
                         float* values) const {
    const auto chosen = static_cast<Index>(items.size()), all = static_cast<Index>(others.size());
    constexpr Index kFew = 4;  // packing their columns takes longer than superposing them
    const bool is_few = chosen <= kFew && context_.device.kind != Device::Kind::reference;
    const bool has_gpu = context_.device.kind == Device::Kind::cuda;
    // Enough columns at a time that packing the rows again with each block costs little.
    const Index step =
        is_few ? kFewColumns : std::max<Index>(8 * chosen, has_gpu ? kGpuColumns : 4096);
    for (Index first = 0; first < all; first += step) {
        throw_if_cancelled(context_, "superpose");
        const std::span<const Index> columns = others.subspan(first, std::min(step, all - first));
        if (is_few)
            superpose_few(*frames_, items, columns, resolve_threads(context_), values + first, all);
        else
            superpose_between(*frames_, items, columns, {.precision = precision_}, context_,
                              values + first, all);
    }
    // A frame has no distance to itself.
    for (Index n = 0; n < chosen; ++n) {
        const auto own = std::lower_bound(others.begin(), others.end(), items[n]);
        if (own != others.end() && *own == items[n])
            values[n * all + (own - others.begin())] = 0.0f;
    }
}

double FramePairs::error(double cutoff) const { return error_near(cutoff, precision_); }

bool FramePairs::is_below(Index i, Index j, double cutoff) const {
    if (frames_->in_memory() != nullptr)
        return is_below_in_float64(*frames_->in_memory(), i, j, cutoff);
    const Index both[] = {i, j};
    return is_below_in_float64(frames_->subset(both, 1), 0, 1, cutoff);
}

void FramePairs::count(Block rows, double bin_width, double cutoff, PairCounts& counts) const {
    if (counting_ == nullptr || bin_width != bin_width_ || cutoff != cutoff_) {
        Problem counted = problem();
        counted.precision = Precision::mixed;
        counted.cutoff = cutoff;
        counted.bin_width = bin_width;
        counting_ = make_kernel(counted, context_);
        bin_width_ = bin_width;
        cutoff_ = cutoff;
    }
    counting_->counter()->count(rows, counts);
}

DeviceClusters FramePairs::gromos(double cutoff, const Context& context) const {
    counting_.reset();  // clustering needs its memory
    return cluster_on_cuda(*frames_, cutoff, context);
}

std::unique_ptr<PairSource> superposed_pairs(const FrameStore& xyz, std::span<const double> weights,
                                             const Parameters& parameters, bool reduces,
                                             const Context& context) {
    check_input(xyz, parameters);
    const AtomSets sets{{}, {}, {weights.begin(), weights.end()}};
    check(sets, xyz.atom_count());
    Parameters own = parameters;
    own.nearest = 0;
    own.cutoff.reset();
    const int threads = resolve_threads(context);
    std::shared_ptr<const FrameSource> frames;
    if (needs_blocks(xyz, own, context))
        frames = block_source(xyz, sets.weights, threads);
    else
        frames = memory_source(owned(centre(xyz.in_memory(), weights, threads)));
    const bool is_kept = !context.checkpoint.empty();
    return std::make_unique<FramePairs>(
        std::move(frames), own.precision, reduces,
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
