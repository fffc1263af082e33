// The CPU kernel of saxs: distances of pairs of types gathered into chunks, whose sums are
// multiplied by form factors; pieces of rows are spread over threads.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/debye/body_pairs.h"
#include "pleat/saxs/debye/distance_moments.h"
#include "pleat/saxs/debye/distance_sums.h"
#include "pleat/saxs/kernel/kernel.h"

namespace pleat::saxs {

namespace {

/// The pairs of a scatterer of `row` and a scatterer of `column`; if `same_segment`, the pairs
/// inside `row`.
struct SegmentPair {
    TypeSegment row, column;
    bool same_segment = false;

    double pair_count() const {
        const double rows = static_cast<double>(row.count);
        return same_segment ? 0.5 * rows * (rows - 1.0) : rows * static_cast<double>(column.count);
    }
};

/// The positions and scales of one set in the order of SortedScatterers.
template <class Real>
struct Points {
    Points() = default;
    Points(Index count, Index scale_count)
        : stride(count + kSlack),
          xyz(Index{3}, stride),
          scales(scale_count, stride),
          scale_sums(scale_count, count + 1) {}

    Index stride = 0;
    Array<Real, 2> xyz;           ///< [axis, sorted scatterer]
    Array<Real, 2> scales;        ///< [scale, sorted scatterer]
    Array<double, 2> scale_sums;  ///< [scale, sorted scatterer]: sum of those before
    double reach = 0;             ///< angstrom: an upper bound of all distances

    /// Copies scatterer order[n] of `xyz` [axis, scatterer] and `from_scales` [scale, scatterer] to
    /// index n.
    void fill(View<const float, 2> from_xyz, View<const float, 2> from_scales,
              std::span<const Index> order) {
        const Index count = std::ssize(order);
        double squared = 0.0;
        for (Index axis = 0; axis < 3; ++axis) {
            Real smallest = 0, largest = 0;
            for (Index n = 0; n < count; ++n) {
                const Real x = from_xyz(axis, order[n]);
                xyz(axis, n) = x;
                smallest = n == 0 ? x : std::min(smallest, x);
                largest = n == 0 ? x : std::max(largest, x);
            }
            squared += std::pow(static_cast<double>(largest) - static_cast<double>(smallest), 2);
        }
        reach = std::sqrt(squared);
        for (Index s = 0; s < scales.extent(0); ++s) {
            for (Index n = 0; n < count; ++n) {
                scales(s, n) = from_scales(s, order[n]);
                scale_sums(s, n + 1) = scale_sums(s, n) + static_cast<double>(scales(s, n));
            }
        }
    }
};

/// Sums over pairs on one thread, by moments if they take less time (float32 only). The model, the
/// grid and the table must outlive it; without a table (null) it uses no moments.
template <class Real>
class PairSums {
public:
    PairSums(const Model& model, const SineGrid& grid, const MomentTable* table = nullptr)
        : model_(model),
          classes_(model),
          sums_(grid, {classes_.count * classes_.count, classes_.has_unscaled_class}),
          weighted_(classes_.count * classes_.count, model.q_count()),
          weight_sums_(classes_.count * classes_.count),
          slopes_(Index{2}, kChunk + kSlack) {
        if (std::is_same_v<Real, float> && table != nullptr)
            moments_.emplace(*table, sums_.weightings);
    }

    /// Adds the pairs, in both orders, to `partial` [channel pair, q]. All rows must have one type,
    /// and all columns one type.
    void add(const Points<Real>& points, std::span<const SegmentPair> pairs,
             View<double, 2> partial) {
        double count = 0.0;
        for (const SegmentPair& pair : pairs) count += pair.pair_count();
        if (count == 0.0) return;
        const Index used = set_used_weightings(pairs.front());
        const bool by_moments = moments_ && moments_->table->is_faster(count, points.reach, used);
        if (by_moments) begin_moments(*moments_, points.reach);
        const auto flush = [&] {
            measure(points);
            row_pairs_.clear();
            if constexpr (std::is_same_v<Real, float>)
                if (by_moments) return add_chunk(*moments_, sums_.chunk);
            add_chunk(sums_);
        };
        row_pairs_.clear();
        for (const SegmentPair& pair : pairs) gather(points, pair, flush);
        flush();
        if (model_.q.front() == 0.0) sum_pair_weights(points, pairs);
        if (by_moments)
            take_sums(*moments_, weight_sums_.data(), weighted_.view());
        else
            take_sums(sums_, weight_sums_.data(), weighted_.view());
        add_weighted(pairs.front().row.type, pairs.front().column.type, partial);
    }

    /// Adds, to `gradient` [axis, sorted scatterer], the gradient of the sum of `weight` [channel
    /// pair, q] times partial profiles over pairs of a row and a column of the same points;
    /// `same_segment`: row_segment is column_segment.
    void add_gradient(const Points<Real>& points, const TypeSegment& row_segment,
                      const TypeSegment& column_segment, bool same_segment,
                      View<const double, 2> weight, View<double, 2> gradient) {
        std::vector<SlopeWeights<Real>> of_weighting;
        std::vector<double> values(model_.q_count());
        for (Index u = 0; u < classes_.count; ++u) {
            for (Index v = 0; v < classes_.count; ++v) {
                slope_weight(row_segment.type, column_segment.type, u, v, weight, values.data());
                of_weighting.push_back(slope_weights<Real>(*sums_.grid, values.data()));
            }
        }
        const auto flush = [&] {
            measure(points);
            DistanceChunk<Real>& chunk = sums_.chunk;
            Real* const one = slopes_.data();
            Real* const all = one + kChunk + kSlack;
            std::fill_n(all, chunk.count, Real{0});
            for (Index w = 0; w < sums_.weightings.count; ++w) {
                if (!chunk.is_used(w)) continue;
                const bool plain = w == 0 && sums_.weightings.first_is_one;
                pair_slopes(sums_, of_weighting[w], one);
                for (Index n = 0; n < chunk.count; ++n)
                    all[n] += plain ? one[n] : one[n] * chunk.weight(w)[n];
            }
            add_forces(points, all, gradient);
            chunk.count = 0;
        };
        row_pairs_.clear();
        const SegmentPair pair{row_segment, column_segment, same_segment};
        set_used_weightings(pair);
        gather(points, pair, flush);
        flush();
    }

private:
    /// Appends the distances of all pairs to the chunk, calling flush() whenever it is full.
    template <class Flush>
    void gather(const Points<Real>& points, const SegmentPair& pair, const Flush& flush) {
        const Index last = pair.column.first + pair.column.count;
        for (Index row = pair.row.first; row < pair.row.first + pair.row.count; ++row) {
            for (Index column = pair.same_segment ? row + 1 : pair.column.first; column < last;) {
                Index& gathered = sums_.chunk.count;
                const Index count = std::min(last - column, kChunk - gathered);
                row_pairs_.push_back({row, column, count});
                gathered += count;
                column += count;
                if (gathered == kChunk) flush();
            }
        }
    }

    /// Computes the squared distances and the weights of the gathered pairs.
    void measure(const Points<Real>& points) {
        squared_distances<Real>(points.xyz.data(), points.stride, row_pairs_,
                                sums_.chunk.squared.data());
        const auto scales = [&](Index row) -> const Real* {
            return row < 0 ? nullptr : &points.scales(row, 0);
        };
        for (const ScaleProduct& product : products_)
            scale_products<Real>(scales(product.row), scales(product.column), row_pairs_,
                                 sums_.chunk.weight(product.weighting));
    }

    /// Leaves out weightings of pairs of these types that scatter in none of their channels, and
    /// lists those that need weights. Returns how many remain.
    Index set_used_weightings(const SegmentPair& pair) {
        const std::int32_t row = pair.row.type, column = pair.column.type;
        Index used = 0;
        products_.clear();
        for (Index u = 0; u < classes_.count; ++u) {
            for (Index v = 0; v < classes_.count; ++v) {
                const bool is_used = classes_.scatters(u, row) && classes_.scatters(v, column);
                sums_.chunk.used[u * classes_.count + v] = is_used;
                used += is_used;
                const ScaleProduct product{u * classes_.count + v, classes_.scale_of(u),
                                           classes_.scale_of(v)};
                if (is_used && (product.row >= 0 || product.column >= 0))
                    products_.push_back(product);
            }
        }
        return used;
    }

    void sum_pair_weights(const Points<Real>& points, std::span<const SegmentPair> pairs) {
        const Index classes = classes_.count;
        for (Index u = 0; u < classes; ++u) {
            for (Index v = 0; v < classes; ++v) {
                double& total = weight_sums_[u * classes + v];
                total = 0.0;
                for (const SegmentPair& pair : pairs) total += pair_weight_sum(points, pair, u, v);
            }
        }
    }

    double scale_sum(const Points<Real>& points, Index of_class, Index first, Index last) const {
        const Index scale = classes_.scale_of(of_class);
        if (scale < 0) return static_cast<double>(last - first);
        return points.scale_sums(scale, last) - points.scale_sums(scale, first);
    }

    double pair_weight_sum(const Points<Real>& points, const SegmentPair& pair, Index u,
                           Index v) const {
        const Index first = pair.row.first, end = first + pair.row.count;
        const Index last = pair.column.first + pair.column.count;
        if (!pair.same_segment)
            return scale_sum(points, u, first, end) * scale_sum(points, v, pair.column.first, last);
        double sum = 0.0;
        for (Index row = first; row < last; ++row)
            sum += scale_sum(points, u, row, row + 1) * scale_sum(points, v, row + 1, last);
        return sum;
    }

    /// Adds the sums of sines times form factors.
    void add_weighted(std::int32_t row_type, std::int32_t column_type,
                      View<double, 2> partial) const {
        const Index classes = classes_.count, channels = model_.channel_count();
        const auto factor = [&](Index channel, std::int32_t type) {
            return &model_.factors(channel, type, 0);
        };
        const std::int32_t s = row_type, t = column_type;
        for (Index a = 0; a < channels; ++a) {
            const Index u = classes_.class_of_channel[a];
            for (Index b = a; b < channels; ++b) {
                const Index v = classes_.class_of_channel[b];
                // Factors of unused sums are 0.
                if (!sums_.chunk.is_used(u * classes + v) && !sums_.chunk.is_used(v * classes + u))
                    continue;
                double* const to = &partial(channel_pair(a, b, channels), 0);
                const double* const one = &weighted_(u * classes + v, 0);
                const double* const other = &weighted_(v * classes + u, 0);
                const double *as = factor(a, s), *bt = factor(b, t), *bs = factor(b, s),
                             *at = factor(a, t);
                for (Index k = 0; k < model_.q_count(); ++k)
                    to[k] += a == b ? 2.0 * as[k] * at[k] * one[k]
                                    : 2.0 * (as[k] * bt[k] * one[k] + bs[k] * at[k] * other[k]);
            }
        }
    }

    /// [q]: weights of the sines of pairs with scale classes u of the row and v of the column.
    void slope_weight(std::int32_t row_type, std::int32_t column_type, Index u, Index v,
                      View<const double, 2> weight, double* to) const {
        const Index channels = model_.channel_count();
        std::fill_n(to, model_.q_count(), 0.0);
        for (Index a = 0; a < channels; ++a) {
            for (Index b = 0; b < channels; ++b) {
                if (classes_.class_of_channel[a] != u || classes_.class_of_channel[b] != v)
                    continue;
                const double* const of =
                    &weight(channel_pair(std::min(a, b), std::max(a, b), channels), 0);
                for (Index k = 0; k < model_.q_count(); ++k)
                    to[k] += 2.0 * of[k] * model_.factors(a, row_type, k) *
                             model_.factors(b, column_type, k);
            }
        }
    }

    void add_forces(const Points<Real>& points, const Real* slopes, View<double, 2> gradient) {
        for (const RowPairs& pairs : row_pairs_) {
            for (Index axis = 0; axis < 3; ++axis) {
                const Real x = points.xyz(axis, pairs.row);
                const Real* const other = &points.xyz(axis, pairs.column);
                double* const to = &gradient(axis, pairs.column);
                double sum = 0.0;
                for (Index n = 0; n < pairs.count; ++n) {
                    const double force = static_cast<double>(slopes[n] * (x - other[n]));
                    to[n] -= force;
                    sum += force;
                }
                gradient(axis, pairs.row) += sum;
            }
            slopes += pairs.count;
        }
        row_pairs_.clear();
    }

    const Model& model_;
    ScaleClasses classes_;
    DistanceSums<Real> sums_;
    std::optional<DistanceMoments> moments_;
    Array<double, 2> weighted_;        ///< [weighting, q]
    std::vector<double> weight_sums_;  ///< [weighting]
    /// A weighting by products of the scales of row and column; -1: no scales.
    struct ScaleProduct {
        Index weighting, row, column;
    };
    std::vector<ScaleProduct> products_;  ///< of the pairs that are added
    std::vector<RowPairs> row_pairs_;
    Array<Real, 2> slopes_;  ///< [2, kChunk + kSlack]: of one weighting, and of all
};

/// Rows of one type in a task.
constexpr Index kBodyRows = 128;

template <class Real>
class CpuBodyPairs final : public BodyPairs {
public:
    CpuBodyPairs(const Model& model, const SortedScatterers& sorted, const Context& context)
        : model_(model),
          grid_(model.q),
          table_(grid_),
          sorted_(sorted),
          context_(context),
          threads_(resolve_threads(context)) {
        for (int n = 0; n < threads_; ++n)
            sums_.push_back(std::make_unique<PairSums<Real>>(model_, grid_, &table_));
        identity_.resize(sorted.order.size());
        std::iota(identity_.begin(), identity_.end(), Index{0});
    }

    void evaluate(View<const float, 3> xyz, View<const float, 3> scales,
                  std::span<const PairJob> jobs, View<double, 3> partial) override {
        fill(xyz, scales, jobs);
        std::vector<Task> tasks;
        for (std::size_t job = 0; job < jobs.size(); ++job) add_tasks(job, jobs[job], tasks);
        Array<double, 3> sums(std::ssize(tasks), model_.pair_count(), model_.q_count());
        const auto task_count = std::ssize(tasks);
        cancellable_parallel_for(context_, threads_, task_count, [&](Index n, int thread) {
            const Task& task = tasks[n];
            PairSums<Real>& pair_sums = *sums_[thread];
            const PairJob& job = jobs[task.job];
            if (job.a == job.b)
                add_inside(job, task, pair_sums, sums[n]);
            else
                add_between(job, task, pair_sums, sums[n]);
        });
        for (double& value : partial) value = 0.0;
        for (std::size_t n = 0; n < tasks.size(); ++n) {
            const View<double, 2> from = sums[static_cast<Index>(n)];
            const View<double, 2> to = partial[static_cast<Index>(tasks[n].job)];
            for (Index k = 0; k < from.size(); ++k) to.data[k] += from.data[k];
        }
    }

private:
    /// Rows of one type for a task: a piece of a segment of body a and, if b is another body, the
    /// same piece of a segment of body b. If a body has no segment of the type, the iterator is the
    /// end of its segments.
    struct Task {
        std::size_t job;
        const TypeSegment *a, *b;
        Index piece;
    };

    const TypeSegment* begin_of(Index body) const {
        return sorted_.segments.data() + sorted_.first_segment[body];
    }
    const TypeSegment* end_of(Index body) const { return begin_of(body + 1); }

    static Index piece_count(const TypeSegment& segment) {
        return (segment.count + kBodyRows - 1) / kBodyRows;
    }
    static TypeSegment piece_of(const TypeSegment& segment, Index piece) {
        const Index count = piece_count(segment), size = (segment.count + count - 1) / count;
        const Index first = std::min(piece * size, segment.count);
        return {segment.type, segment.first + first, std::min(size, segment.count - first)};
    }

    /// Calls body(segment of a or its end, segment of b or its end) for each type in either, from
    /// segments a and b on.
    template <class Body>
    void for_types(const PairJob& job, const TypeSegment* a, const TypeSegment* b,
                   const Body& body) const {
        const TypeSegment *const end_a = end_of(job.a), *const end_b = end_of(job.b);
        while (a != end_a || b != end_b) {
            const bool has_a = a != end_a && (b == end_b || a->type <= b->type);
            const bool has_b = b != end_b && (a == end_a || b->type <= a->type);
            body(has_a ? a : end_a, has_b ? b : end_b);
            a += has_a ? 1 : 0;
            b += has_b ? 1 : 0;
        }
    }

    void add_tasks(std::size_t at, const PairJob& job, std::vector<Task>& tasks) const {
        const auto add = [&](const TypeSegment* a, const TypeSegment* b) {
            const Index pieces = std::max(a == end_of(job.a) ? 0 : piece_count(*a),
                                          b == end_of(job.b) ? 0 : piece_count(*b));
            for (Index piece = 0; piece < pieces; ++piece) tasks.push_back({at, a, b, piece});
        };
        if (job.a != job.b) return for_types(job, begin_of(job.a), begin_of(job.b), add);
        for (const TypeSegment* segment = begin_of(job.a); segment != end_of(job.a); ++segment)
            add(segment, end_of(job.b));
    }

    /// Copies the positions of the sets of all jobs.
    void fill(View<const float, 3> xyz, View<const float, 3> scales,
              std::span<const PairJob> jobs) {
        points_.resize(xyz.extent(0));
        std::vector<bool> filled(points_.size());
        for (const PairJob& job : jobs) {
            const auto set = static_cast<std::size_t>(job.set);
            if (filled[set]) continue;
            filled[set] = true;
            if (points_[set].stride == 0)
                points_[set] = Points<Real>(model_.scatterer_count(), model_.scale_count());
            points_[set].fill(xyz[job.set],
                              scales.size() > 0 ? scales[job.set] : View<const float, 2>{},
                              identity_);
            if (std::is_same_v<Real, float>) table_.extend_to(points_[set].reach);
        }
    }

    /// Adds the pairs of the task's rows and later scatterers of the same body.
    void add_inside(const PairJob& job, const Task& task, PairSums<Real>& sums,
                    View<double, 2> to) const {
        const Points<Real>& points = points_[job.set];
        const TypeSegment row = piece_of(*task.a, task.piece);
        const Index first = row.first + row.count;
        const TypeSegment later{row.type, first, task.a->first + task.a->count - first};
        const SegmentPair same[] = {{row, row, true}, {row, later}};
        sums.add(points, same, to);
        for (const TypeSegment* segment = task.a + 1; segment != end_of(job.a); ++segment) {
            const SegmentPair pair{row, *segment};
            sums.add(points, {&pair, 1}, to);
        }
    }

    /// Adds the pairs of the task's rows and scatterers of the other body of the same or a later
    /// type: both orders of two types at a time, since their form factors are the same.
    void add_between(const PairJob& job, const Task& task, PairSums<Real>& sums,
                     View<double, 2> to) const {
        const Points<Real>& points = points_[job.set];
        const TypeSegment *const end_a = end_of(job.a), *const end_b = end_of(job.b);
        const std::int32_t type = task.a != end_a ? task.a->type : task.b->type;
        const TypeSegment of_a = task.a != end_a ? piece_of(*task.a, task.piece) : TypeSegment{};
        const TypeSegment of_b = task.b != end_b ? piece_of(*task.b, task.piece) : TypeSegment{};
        const auto from = [&](Index body) {
            return std::lower_bound(
                begin_of(body), end_of(body), type,
                [](const TypeSegment& segment, std::int32_t t) { return segment.type < t; });
        };
        for_types(job, from(job.a), from(job.b), [&](const TypeSegment* a, const TypeSegment* b) {
            SegmentPair pairs[2];
            std::size_t count = 0;
            if (of_a.count > 0 && b != end_b) pairs[count++] = {of_a, *b};
            if (of_b.count > 0 && a != end_a && a->type > type) pairs[count++] = {of_b, *a};
            sums.add(points, {pairs, count}, to);
        });
    }

    const Model& model_;
    SineGrid grid_;
    MomentTable table_;
    SortedScatterers sorted_;
    Context context_;
    int threads_;
    std::vector<std::unique_ptr<PairSums<Real>>> sums_;
    std::vector<Index> identity_;
    std::vector<Points<Real>> points_;  ///< [set]
};

/// Number of rows of one type that a thread processes at a time.
constexpr Index kRows = 64;
/// Number of partial sums of gradients, added in order, whatever the number of threads.
constexpr Index kGradientGroups = 16;
constexpr std::int64_t kBatchBytes = std::int64_t{64} << 20;

template <class Real>
class CpuKernel final : public Kernel {
public:
    CpuKernel(const Model& model, const Context& context)
        : model_(model),
          grid_(model.q),
          sorted_(sort_by_type(model)),
          frames_(model_, sorted_, resolve_threads(context)),
          pieces_(split_segments(sorted_.segments, kRows)),
          context_(context),
          threads_(resolve_threads(context)),
          pairs_(make_cpu_body_pairs(
              model, sorted_,
              std::is_same_v<Real, double> ? Precision::float64 : Precision::float32, context)) {
        sums_.resize(threads_);
    }

    void profiles(View<const float, 3> xyz, View<const float, 3> scales,
                  View<double, 3> partial) override {
        const Index profile_bytes = 8 * model_.pair_count() * model_.q_count();
        const Index pieces = std::ssize(pieces_);
        const Index batch_size = std::clamp<Index>(kBatchBytes / (profile_bytes * pieces), 1, 64);
        frames_.compute(*pairs_, batch_size, xyz, scales, partial);
    }

    void gradient(View<const float, 2> xyz, View<const float, 2> scales,
                  View<const double, 2> weight, View<double, 2> gradient) override {
        const Index count = model_.scatterer_count(), pieces = std::ssize(pieces_);
        Points<Real> points(count, model_.scale_count());
        points.fill(xyz, scales, sorted_.order);
        const Index group_count = std::min(kGradientGroups, pieces);
        std::vector<Array<double, 2>> sums(group_count);
        parallel_for(threads_, group_count, [&](Index group, int thread) {
            Array<double, 2>& sum = sums[group];
            sum = Array<double, 2>(Index{3}, count);
            std::unique_ptr<PairSums<Real>>& pair_sums = sums_[thread];
            if (!pair_sums) pair_sums = std::make_unique<PairSums<Real>>(model_, grid_);
            for (Index piece = group; piece < pieces; piece += group_count) {
                throw_if_stopped(context_, thread);
                for_pairs(piece, [&](const TypeSegment& row, const TypeSegment& column,
                                     bool same_segment) {
                    pair_sums->add_gradient(points, row, column, same_segment, weight, sum);
                });
            }
        });
        for (Index axis = 0; axis < 3; ++axis) {
            for (Index n = 0; n < count; ++n) {
                double sum = 0.0;
                for (const Array<double, 2>& of_group : sums) sum += of_group(axis, n);
                gradient(axis, sorted_.order[n]) = sum;
            }
        }
    }

private:
    /// The pairs of a piece with itself, with later scatterers of its segment, and with each later
    /// segment.
    template <class Body>
    void for_pairs(Index piece, const Body& body) const {
        const TypeSegment& row = pieces_[piece];
        body(row, row, true);
        for (const TypeSegment& segment : sorted_.segments) {
            const Index end = segment.first + segment.count, first = row.first + row.count;
            if (end <= first) continue;
            const Index from = std::max(segment.first, first);
            body(row, TypeSegment{segment.type, from, end - from}, false);
        }
    }

    const Model& model_;
    SineGrid grid_;
    SortedScatterers sorted_;
    FrameProfiles frames_;
    std::vector<TypeSegment> pieces_;
    Context context_;
    int threads_;
    std::unique_ptr<BodyPairs> pairs_;
    std::vector<std::unique_ptr<PairSums<Real>>> sums_;  ///< of gradients, by thread
};

}  // namespace

std::unique_ptr<BodyPairs> make_cpu_body_pairs(const Model& model, const SortedScatterers& sorted,
                                               Precision precision, const Context& context) {
    if (precision == Precision::float64)
        return std::make_unique<CpuBodyPairs<double>>(model, sorted, context);
    return std::make_unique<CpuBodyPairs<float>>(model, sorted, context);
}

std::unique_ptr<Kernel> make_cpu_kernel(const Model& model, Precision precision,
                                        const Context& context) {
    if (precision == Precision::float64) return std::make_unique<CpuKernel<double>>(model, context);
    return std::make_unique<CpuKernel<float>>(model, context);
}

}  // namespace pleat::saxs
