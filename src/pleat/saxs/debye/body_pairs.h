// Body pairs: partial profiles between rigid bodies of scatterers, for many sets of positions at
// once.
#pragma once

#include <memory>
#include <span>

#include "pleat/core/context.h"
#include "pleat/saxs/debye/debye.h"
#include "pleat/saxs/debye/sorted_scatterers.h"

namespace pleat::saxs {

/// The pairs of a scatterer of body `a` and a scatterer of body `b` >= a in one set of positions (a
/// frame, a chain); if a == b, the pairs inside the body.
struct PairJob {
    std::int32_t set = 0, a = 0, b = 0;
};

/// Computes sums over pairs of bodies. A job's sums depend only on the positions of its two bodies.
class BodyPairs {
public:
    virtual ~BodyPairs() = default;
    /// Computes the partial profiles [job, channel pair, q] of the pairs of each job, in both
    /// orders and without terms i = j. `xyz` [set, axis, sorted scatterer], `scales` [set, channel
    /// with scales, sorted scatterer]: in the order of SortedScatterers.
    virtual void evaluate(View<const float, 3> xyz, View<const float, 3> scales,
                          std::span<const PairJob> jobs, View<double, 3> partial) = 0;
    /// GPU seconds of the last call, without transfers; 0 if not measured.
    virtual double device_seconds() const { return 0.0; }
};

/// The model and the context's progress must outlive the result; `sorted` by body. evaluate()
/// throws Cancelled.
std::unique_ptr<BodyPairs> make_cpu_body_pairs(const Model& model, const SortedScatterers& sorted,
                                               Precision precision, const Context& context);
/// Throws DeviceError if the GPU is missing or out of memory.
std::unique_ptr<BodyPairs> make_cuda_body_pairs(const Model& model, const SortedScatterers& sorted,
                                                Precision precision, int index);
/// The BodyPairs for the device of `context`.
std::unique_ptr<BodyPairs> make_body_pairs(const Model& model, const SortedScatterers& sorted,
                                           Precision precision, const Context& context);

/// The sets [first, first + count) of `from` [set, row, scatterer] in the order of
/// SortedScatterers.
Array<float, 3> sorted_positions(const SortedScatterers& sorted, View<const float, 3> from,
                                 Index first, Index count, int threads = 1);

/// The terms i = j of the partial profiles, [channel pair, q]; `scales` [channel with scales,
/// scatterer].
Array<double, 2> self_profile(const Model& model, const SortedScatterers& sorted,
                              View<const float, 2> scales);

/// Computes profiles of frames, treating all scatterers as one body.
class FrameProfiles {
public:
    /// The model and `sorted` must outlive it.
    FrameProfiles(const Model& model, const SortedScatterers& sorted, int threads);
    /// Does the same as Kernel::profiles(), `batch_size` frames at a time.
    void compute(BodyPairs& pairs, Index batch_size, View<const float, 3> xyz,
                 View<const float, 3> scales, View<double, 3> partial) const;

private:
    const Model& model_;
    const SortedScatterers& sorted_;
    const int threads_;
    Array<double, 2> self_terms_;  ///< terms i = j, if scatterers have no scales
};

/// Sums over each body of amplitudes at the first q, and of their products over its scatterers.
struct ZeroAngleSums {
    Array<double, 2> amplitude;  ///< [body, channel]
    Array<double, 3> square;     ///< [body, channel, channel]
};
/// `scales` [channel with scales, sorted scatterer].
ZeroAngleSums zero_angle_sums(const Model& model, const SortedScatterers& sorted,
                              View<const float, 2> scales);

/// Sets the sums of a job at q = 0, the first q, which do not depend on positions.
void set_zero_angle_profile(const ZeroAngleSums& sums, const PairJob& job, View<double, 2> partial);

}  // namespace pleat::saxs
