// Body pairs: sums on CPUs, terms i = j, and sums at q = 0.
#include "pleat/saxs/debye/body_pairs.h"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/debye/pair_sums.h"

namespace pleat::saxs {

namespace {

/// Rows of one type in a task.
constexpr Index kRows = 128;

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
        Array<double, 3> sums(static_cast<Index>(tasks.size()), model_.pair_count(),
                              model_.q_count());
        const auto task_count = static_cast<Index>(tasks.size());
        cancellable_parallel_for(context_, threads_, task_count, [&](Index n, int thread) {
            const Task& task = tasks[static_cast<std::size_t>(n)];
            PairSums<Real>& pair_sums = *sums_[static_cast<std::size_t>(thread)];
            const PairJob& job = jobs[task.job];
            if (job.a == job.b)
                add_inside(job, task, pair_sums, sums.view()[n]);
            else
                add_between(job, task, pair_sums, sums.view()[n]);
        });
        for (double& value : partial) value = 0.0;
        for (std::size_t n = 0; n < tasks.size(); ++n) {
            const View<double, 2> from = sums.view()[static_cast<Index>(n)];
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
        return sorted_.segments.data() + sorted_.first_segment[static_cast<std::size_t>(body)];
    }
    const TypeSegment* end_of(Index body) const { return begin_of(body + 1); }

    static Index piece_count(const TypeSegment& segment) {
        return (segment.count + kRows - 1) / kRows;
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
        points_.resize(static_cast<std::size_t>(xyz.extent(0)));
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
        const Points<Real>& points = points_[static_cast<std::size_t>(job.set)];
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
        const Points<Real>& points = points_[static_cast<std::size_t>(job.set)];
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

}  // namespace

std::unique_ptr<BodyPairs> make_cpu_body_pairs(const Model& model, const SortedScatterers& sorted,
                                               Precision precision, const Context& context) {
    if (precision == Precision::float64)
        return std::make_unique<CpuBodyPairs<double>>(model, sorted, context);
    return std::make_unique<CpuBodyPairs<float>>(model, sorted, context);
}

std::unique_ptr<BodyPairs> make_body_pairs(const Model& model, const SortedScatterers& sorted,
                                           Precision precision, const Context& context) {
    if (context.device.kind == Device::Kind::cuda)
        return make_cuda_body_pairs(model, sorted, precision, context.device.index);
    if (context.device.kind == Device::Kind::cpu)
        return make_cpu_body_pairs(model, sorted, precision, context);
    Context plain = context;
    plain.threads = 1;
    return make_cpu_body_pairs(model, sorted, Precision::float64, plain);
}

namespace {

/// The scale of a scatterer in a channel; `scales` [channel with scales, scatterer].
double scale_in(const ScaleClasses& classes, View<const float, 2> scales, Index channel,
                Index scatterer) {
    const Index row = classes.scale_of(classes.class_of_channel[static_cast<std::size_t>(channel)]);
    return row < 0 ? 1.0 : double{scales(row, scatterer)};
}

}  // namespace

Array<double, 2> self_profile(const Model& model, const SortedScatterers& sorted,
                              View<const float, 2> scales) {
    const ScaleClasses classes(model);
    const Index channels = model.channel_count();
    Array<double, 2> partial(model.pair_count(), model.q_count());
    for (const TypeSegment& segment : sorted.segments)
        for (Index a = 0; a < channels; ++a)
            for (Index b = a; b < channels; ++b) {
                double product = 0.0;
                for (Index n = segment.first; n < segment.first + segment.count; ++n) {
                    const Index scatterer = sorted.order[static_cast<std::size_t>(n)];
                    product += scale_in(classes, scales, a, scatterer) *
                               scale_in(classes, scales, b, scatterer);
                }
                if (a != b) product *= 2.0;
                for (Index k = 0; k < model.q_count(); ++k)
                    partial(channel_pair(a, b, channels), k) += product *
                                                                model.factors(a, segment.type, k) *
                                                                model.factors(b, segment.type, k);
            }
    return partial;
}

ZeroAngleSums zero_angle_sums(const Model& model, const SortedScatterers& sorted,
                              View<const float, 2> scales) {
    const ScaleClasses classes(model);
    const Index bodies = static_cast<Index>(sorted.first_segment.size()) - 1;
    const Index channels = model.channel_count();
    ZeroAngleSums sums{Array<double, 2>(bodies, channels),
                       Array<double, 3>(bodies, channels, channels)};
    std::vector<double> amplitudes(static_cast<std::size_t>(channels));
    for (Index body = 0; body < bodies; ++body) {
        for (Index n = sorted.first_segment[static_cast<std::size_t>(body)];
             n < sorted.first_segment[static_cast<std::size_t>(body) + 1]; ++n) {
            const TypeSegment& segment = sorted.segments[static_cast<std::size_t>(n)];
            for (Index index = segment.first; index < segment.first + segment.count; ++index) {
                for (Index c = 0; c < channels; ++c) {
                    const auto channel = static_cast<std::size_t>(c);
                    amplitudes[channel] =
                        model.factors(c, segment.type, 0) * scale_in(classes, scales, c, index);
                    sums.amplitude(body, c) += amplitudes[channel];
                }
                for (Index a = 0; a < channels; ++a)
                    for (Index b = 0; b < channels; ++b)
                        sums.square(body, a, b) += amplitudes[static_cast<std::size_t>(a)] *
                                                   amplitudes[static_cast<std::size_t>(b)];
            }
        }
    }
    return sums;
}

void set_zero_angle_profile(const ZeroAngleSums& sums, const PairJob& job,
                            View<double, 2> partial) {
    const Index channels = sums.amplitude.extent(1);
    for (Index a = 0; a < channels; ++a) {
        for (Index b = a; b < channels; ++b) {
            double both = sums.amplitude(job.a, a) * sums.amplitude(job.b, b) +
                          sums.amplitude(job.a, b) * sums.amplitude(job.b, a);
            if (job.a == job.b) both -= 2.0 * sums.square(job.a, a, b);
            const bool twice = job.a != job.b && a != b;
            const bool half = job.a == job.b && a == b;
            partial(channel_pair(a, b, channels), 0) = twice  ? 2.0 * both
                                                       : half ? 0.5 * both
                                                              : both;
        }
    }
}

Array<float, 3> sorted_positions(const SortedScatterers& sorted, View<const float, 3> from,
                                 Index first, Index count, int threads) {
    const auto scatterers = static_cast<Index>(sorted.order.size());
    if (from.size() == 0) return Array<float, 3>(count, Index{0}, scatterers);
    Array<float, 3> to = Array<float, 3>::unset(count, from.extent(1), scatterers);
    parallel_for(threads, count, [&](Index set, int) {
        float* out = to[set].data;
        for (Index row = 0; row < from.extent(1); ++row)
            for (const Index scatterer : sorted.order) *out++ = from(first + set, row, scatterer);
    });
    return to;
}

FrameProfiles::FrameProfiles(const Model& model, const SortedScatterers& sorted, int threads)
    : model_(model), sorted_(sorted), threads_(threads) {
    if (model.scale_count() == 0) self_ = self_profile(model, sorted, {});
}

void FrameProfiles::compute(BodyPairs& pairs, Index batch_size, View<const float, 3> xyz,
                            View<const float, 3> scales, View<double, 3> partial) const {
    for (Index first = 0; first < xyz.extent(0); first += batch_size) {
        const Index count = std::min(batch_size, xyz.extent(0) - first);
        std::vector<PairJob> jobs;
        for (Index n = 0; n < count; ++n) jobs.push_back({static_cast<std::int32_t>(n), 0, 0});
        pairs.evaluate(sorted_positions(sorted_, xyz, first, count, threads_),
                       sorted_positions(sorted_, scales, first, count, threads_), jobs,
                       frames_of(partial, first, count));
    }
    const bool scaled = model_.scale_count() > 0;
    parallel_for(threads_, partial.extent(0), [&](Index frame, int) {
        const Array<double, 2> of_frame =
            scaled ? self_profile(model_, sorted_, scales[frame]) : Array<double, 2>();
        const double* const self = scaled ? of_frame.data() : self_.data();
        for (Index n = 0; n < partial[frame].size(); ++n) partial[frame].data[n] += self[n];
    });
}

}  // namespace pleat::saxs
