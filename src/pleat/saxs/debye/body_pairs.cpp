// Body pairs: sums on CPUs, terms i = j, and sums at q = 0.
#include "pleat/saxs/debye/body_pairs.h"

#include <algorithm>
#include <vector>

#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/cancellable_parallel.h"

namespace pleat::saxs {

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
    const Index row = classes.scale_of(classes.class_of_channel[channel]);
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
                    const Index scatterer = sorted.order[n];
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
    const Index bodies = std::ssize(sorted.first_segment) - 1;
    const Index channels = model.channel_count();
    ZeroAngleSums sums{Array<double, 2>(bodies, channels),
                       Array<double, 3>(bodies, channels, channels)};
    std::vector<double> amplitudes(channels);
    for (Index body = 0; body < bodies; ++body) {
        for (Index n = sorted.first_segment[body]; n < sorted.first_segment[body + 1]; ++n) {
            const TypeSegment& segment = sorted.segments[n];
            for (Index index = segment.first; index < segment.first + segment.count; ++index) {
                for (Index c = 0; c < channels; ++c) {
                    amplitudes[c] =
                        model.factors(c, segment.type, 0) * scale_in(classes, scales, c, index);
                    sums.amplitude(body, c) += amplitudes[c];
                }
                for (Index a = 0; a < channels; ++a)
                    for (Index b = 0; b < channels; ++b)
                        sums.square(body, a, b) += amplitudes[a] * amplitudes[b];
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
    const auto scatterers = std::ssize(sorted.order);
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
    if (model.scale_count() == 0) self_terms_ = self_profile(model, sorted, {});
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
        const double* const self = scaled ? of_frame.data() : self_terms_.data();
        for (Index n = 0; n < partial[frame].size(); ++n) partial[frame].data[n] += self[n];
    });
}

}  // namespace pleat::saxs
