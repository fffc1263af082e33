// Frame pairs: kernels over bands of rows, and over some frames of an ensemble as an ensemble;
// pairs in place and over permutations, and those of a finished run.
#include "pleat/rmsd/pairs/frame_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/pairs/pairs_run.h"

namespace pleat::rmsd {

namespace {

constexpr Index kBandStep = 48;        // rows that the CPU kernel computes at once
constexpr Index kBandPairs = 500'000;  // few enough that a visitor finds them in the cache
constexpr Index kMaxRows = 960;
// Minimum number of columns with which a GPU superposes rows.
constexpr Index kGpuColumns = Index{1} << 17;
// Number of columns, with few rows, between two checks for a cancel.
constexpr Index kFewColumns = Index{1} << 16;

Index rows_of_band(const FrameSource& source) {
    const Index frames = std::max<Index>(source.frame_count(), 1);
    if (source.in_memory() == nullptr) return block_band_rows(frames);
    return std::clamp(kBandPairs / frames / kBandStep * kBandStep, kBandStep, kMaxRows);
}

/// The kernel's error bound plus the rounding to float32.
double error_near(double cutoff, FitPrecision precision) {
    return error_of(precision) + 1.3e-7 * cutoff;
}

bool is_below_in_float64(const Frames& frames, Index i, Index j, double cutoff) {
    return static_cast<float>(rmsd_in_float64(frames, i, j)) < static_cast<float>(cutoff);
}

class PermutedPairs final : public PairSource {
public:
    PermutedPairs(std::unique_ptr<const Comparison> rmsd, Index count, std::string hash,
                  const Context& context)
        : rmsd_(*rmsd),
          kernel_(make_pair_kernel(std::move(rmsd), count, resolve_threads(context))),
          count_(count),
          hash_(std::move(hash)),
          context_(context) {
        context_.comm = nullptr;
    }

    Index count() const override { return count_; }
    Index band_rows() const override {
        constexpr Index kValues = Index{1} << 24;
        return is_on_gpu() ? std::clamp<Index>(kValues / std::max<Index>(count_, 1), 1, 1024) : 16;
    }
    std::string hash() const override { return hash_; }

    void band(Block rows, float* values) const override { kernel_->band(rows, values); }
    void rows(std::span<const Index> items, float* values) const override {
        throw_if_cancelled(context_, "superpose");
        for (const Index item : items) {
            fill_row(item, values);
            values += count_;
        }
    }

    void among(std::span<const Index> items, const BandVisitor& visit) const override {
        std::vector<float> row, whole(static_cast<std::size_t>(is_on_gpu() ? count_ : 0));
        for (std::size_t a = 0; a + 1 < items.size(); ++a) {
            throw_if_cancelled(context_, "superpose");
            row.resize(items.size() - a - 1);
            if (is_on_gpu()) {
                fill_row(items[a], whole.data());
                for (std::size_t b = 0; b < row.size(); ++b) row[b] = whole[items[a + 1 + b]];
            } else {
                parallel_for(resolve_threads(context_), std::ssize(row), [&](Index n, int) {
                    const auto b = static_cast<std::size_t>(n);
                    row[b] = at(items[a], items[a + 1 + b]);
                });
            }
            visit({static_cast<Index>(a), 1}, row.data());
        }
    }

    /// Every value is computed with a fixed order of its frames, so its bits never vary.
    double error(double) const override { return 0.0; }
    bool is_below(Index i, Index j, double cutoff) const override {
        return at(i, j) < static_cast<float>(cutoff);
    }

private:
    bool is_on_gpu() const { return rmsd_.is_on_gpu(); }

    /// The values of one frame with all, each of the earlier frame with the later one.
    void fill_row(Index i, float* values) const {
        const int threads = resolve_threads(context_);
        if (i > 0) compare(rmsd_, {0, i}, {i, 1}, threads, values);
        values[i] = 0.0F;
        if (i + 1 < count_)
            compare(rmsd_, {i, 1}, {i + 1, count_ - i - 1}, threads, values + i + 1);
    }

    float at(Index i, Index j) const {
        if (i == j) return 0.0F;
        float value = 0.0F;
        rmsd_.block({std::min(i, j), 1}, {std::max(i, j), 1}, &value);
        return value;
    }

    const Comparison& rmsd_;  ///< of the kernel
    std::unique_ptr<Kernel> kernel_;
    Index count_;
    std::string hash_;
    Context context_;
};

[[noreturn]] void refuse(const std::filesystem::path& path, std::string_view text) {
    throw InputError(path.string(), 0, text);
}

void check_rows(const std::filesystem::path& path, const cluster::KnownPairs& known, Index frames) {
    const auto listed = static_cast<std::int64_t>(known.indices.size());
    if (std::ssize(known.starts) != frames + 1 || known.starts.front() != 0 ||
        known.starts.back() != listed || !std::ranges::is_sorted(known.starts) ||
        known.values.size() != known.indices.size())
        refuse(path,
               fmt::format("expected the neighbours of {} frames in compressed rows, found others",
                           frames));
    for (Index i = 0; i < frames; ++i) {
        for (std::int64_t n = known.starts[i]; n < known.starts[i + 1]; ++n) {
            const std::int32_t j = known.indices[n];
            const bool ascends = n == known.starts[i] || known.indices[n - 1] < j;
            if (j < 0 || j >= frames || j == i || !ascends)
                refuse(path,
                       fmt::format("expected ascending other frames as neighbours of frame {}, "
                                   "found {}",
                                   i, j));
        }
    }
}

/// The third column of "from to pairs".
std::vector<std::int64_t> read_histogram(const std::filesystem::path& path) {
    const std::vector<std::uint8_t> bytes = read_file(path);
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    std::vector<std::int64_t> counts;
    for (std::int64_t line = 1; !text.empty(); ++line) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view row = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line == 1) continue;
        const std::string_view last = row.substr(row.rfind('\t') + 1);
        std::int64_t count = 0;
        const auto [stop, problem] = std::from_chars(last.data(), last.data() + last.size(), count);
        if (problem != std::errc() || stop != last.data() + last.size() || count < 0)
            throw InputError(path.string(), line,
                             fmt::format("expected a number of pairs, found '{}'", last));
        counts.push_back(count);
    }
    return counts;
}

}  // namespace

FramePairs::FramePairs(std::shared_ptr<const FrameSource> frames, FitPrecision precision,
                       bool reduces, std::string hash, const Context& context)
    : frames_(std::move(frames)),
      problem_{.precision = precision, .source = frames_},
      has_counter_(reduces),
      hash_(std::move(hash)),
      context_(context) {
    context_.comm = nullptr;
    kernel_ = make_kernel(problem_of(frames_), context_);
}

Problem FramePairs::problem_of(const std::shared_ptr<const FrameSource>& source) const {
    if (source->in_memory() != nullptr) return problem_.of(*source->in_memory());
    return {.precision = problem_.precision, .source = source};
}

Index FramePairs::band_rows() const { return rows_of_band(*frames_); }

void FramePairs::among(std::span<const Index> items, const BandVisitor& visit) const {
    const std::shared_ptr<const FrameSource> some =
        frames_->subset_source(items, resolve_threads(context_));
    const Problem problem = problem_of(some);
    const std::unique_ptr<Kernel> kernel =
        problem.frames != nullptr ? kernel_for(problem, context_) : make_kernel(problem, context_);
    std::vector<float> band;
    for (const Tile& tile : cut_into_bands(some->frame_count(), rows_of_band(*some))) {
        throw_if_cancelled(context_, "superpose");
        band.resize(tile.items);
        kernel->band(tile.side[0], band.data());
        visit(tile.side[0], band.data());
    }
}

void FramePairs::rows(std::span<const Index> items, float* values) const {
    between(items, consecutive(0, count()), values);
}

void FramePairs::between(std::span<const Index> items, std::span<const Index> others,
                         float* values) const {
    const auto chosen = std::ssize(items), all = std::ssize(others);
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
            superpose_between(problem_, items, columns, context_, values + first, all);
    }
    // A frame has no distance to itself.
    for (Index n = 0; n < chosen; ++n) {
        const auto own = std::ranges::lower_bound(others, items[n]);
        if (own != others.end() && *own == items[n])
            values[n * all + (own - others.begin())] = 0.0f;
    }
}

double FramePairs::error(double cutoff) const { return error_near(cutoff, problem_.precision); }

bool FramePairs::is_below(Index i, Index j, double cutoff) const {
    if (frames_->in_memory() != nullptr)
        return is_below_in_float64(*frames_->in_memory(), i, j, cutoff);
    const Index both[] = {i, j};
    return is_below_in_float64(frames_->subset(both, 1), 0, 1, cutoff);
}

PairCounter* FramePairs::counter() const {
    if (!has_counter_) return nullptr;
    if (counting_kernel_ == nullptr) {
        Problem counted = problem_of(frames_);
        counted.precision = FitPrecision::mixed;
        counting_kernel_ = make_kernel(counted, context_);
    }
    return counting_kernel_->counter();
}

DeviceClusters FramePairs::gromos(double cutoff, std::vector<std::int32_t> neighbours,
                                  const Context& context) const {
    counting_kernel_.reset();  // clustering needs its memory
    return cluster_on_cuda(*frames_, {cutoff, std::move(neighbours), hash_}, context);
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

std::unique_ptr<PairSource> superposed_rows(const FrameStore& xyz, std::span<const double> weights,
                                            const Parameters& parameters, const Context& context) {
    if (context.device.kind == Device::Kind::cuda)
        throw UsageError("kcenters computes on CPUs: leave --device out");
    check_input(xyz, parameters);
    const AtomSets sets{{}, {}, {weights.begin(), weights.end()}};
    check(sets, xyz.atom_count());
    const bool is_kept = !context.checkpoint.empty();
    return std::make_unique<FramePairs>(
        block_source(xyz, sets.weights, resolve_threads(context)), parameters.precision, false,
        is_kept ? problem_hash(xyz, xyz, sets, parameters, context) : std::string(), context);
}

std::unique_ptr<PairSource> recompute_near_cutoffs(std::unique_ptr<PairSource> matrix,
                                                   View<const float, 3> xyz,
                                                   std::span<const double> weights,
                                                   const Parameters& parameters,
                                                   const Context& context) {
    const AtomSets sets{{}, {}, {weights.begin(), weights.end()}};
    check(sets, xyz.extent(1));
    require_frame_memory(8 * xyz.size(), xyz.extent(0), xyz.extent(1));
    const auto frames = owned(centre(xyz, weights, resolve_threads(context)));
    return std::make_unique<DecidedPairs>(
        std::move(matrix),
        [precision = parameters.precision](double cutoff) { return error_near(cutoff, precision); },
        [frames](Index i, Index j, double cutoff) {
            return is_below_in_float64(*frames, i, j, cutoff);
        });
}

std::unique_ptr<PairSource> permuted_pairs(View<const float, 3> xyz, const AtomSets& sets,
                                           const Parameters& parameters, const Context& context) {
    check_input(xyz, parameters);
    check_sets(sets, xyz.extent(1), parameters);
    require_frame_memory(comparison_memory(xyz.extent(0), xyz.extent(1), Metric::rmsd, true),
                         xyz.extent(0), xyz.extent(1));
    auto rmsd =
        make_comparison({xyz, xyz}, sets, parameters.metric, {parameters.precision}, context);
    const bool is_kept = !context.checkpoint.empty();
    return std::make_unique<PermutedPairs>(
        std::move(rmsd), xyz.extent(0),
        is_kept ? problem_hash(xyz, xyz, sets, parameters, context) : std::string(), context);
}

cluster::KnownPairs read_known_pairs(const std::filesystem::path& folder, Index frames,
                                     double bin_width, double min, double mean, double max) {
    const std::filesystem::path path = folder / "neighbours.npz";
    const NpzReader file(path);
    cluster::KnownPairs known;
    known.starts = file.get("starts").as<std::int64_t>(file.label("starts"));
    known.indices = file.get("indices").as<std::int32_t>(file.label("indices"));
    known.values = file.get("rmsd").as<float>(file.label("rmsd"));
    known.cutoff = file.scalar("cutoff");
    check_rows(path, known, frames);
    const Index pairs = pairs_before(frames, frames);
    known.statistics = {bin_width, read_histogram(folder / "histogram.tsv"),
                        mean * static_cast<double>(pairs), min, max};
    if (known.statistics.pairs() != pairs)
        refuse(folder / "histogram.tsv",
               fmt::format("expected {} pairs, found {}", pairs, known.statistics.pairs()));
    return known;
}

}  // namespace pleat::rmsd
