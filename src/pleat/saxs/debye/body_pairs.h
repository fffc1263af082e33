// Body pairs: partial profiles between groups of scatterers, for many sets of positions at once.
#pragma once

#include <memory>
#include <span>

#include "pleat/core/context.h"
#include "pleat/saxs/debye/debye.h"
#include "pleat/saxs/debye/sorted_scatterers.h"

namespace pleat::saxs {

/// The pairs of a scatterer of body `a` and one of body `b` >= a of one set of positions (a frame,
/// a chain); those inside the body where both are the same.
struct PairJob {
    std::int32_t set = 0, a = 0, b = 0;
};

/// Sums over pairs of bodies. Each job's sums depend on the positions of its bodies alone.
class BodyPairs {
public:
    virtual ~BodyPairs() = default;
    /// What the pairs of each job give, in either order and without self terms: [job, channel pair,
    /// q]. `xyz` [set, axis, slot], `scales` [set, channel with scales, slot]: in the order of
    /// runs.
    virtual void evaluate(View<const float, 3> xyz, View<const float, 3> scales,
                          std::span<const PairJob> jobs, View<double, 3> partial) = 0;
    /// Seconds that a GPU computed in the last call, without transfers, where it measured them.
    virtual double device_seconds() const { return 0.0; }
};

/// The model and the context's progress must outlive them; `runs` sorted by body. evaluate() throws
/// Cancelled.
std::unique_ptr<BodyPairs> make_cpu_body_pairs(const Model& model, const SortedScatterers& sorted,
                                               Precision precision, const Context& context);
/// DeviceError where the GPU is absent or has not the memory.
std::unique_ptr<BodyPairs> make_cuda_body_pairs(const Model& model, const SortedScatterers& sorted, int index);
/// On the device of `context`. UsageError for float64 on a GPU.
std::unique_ptr<BodyPairs> make_body_pairs(const Model& model, const SortedScatterers& sorted,
                                           Precision precision, const Context& context);

/// `from` [set, row, scatterer] in the order of slots; sets first, ..., first + count - 1.
Array<float, 3> arranged(const SortedScatterers& sorted, View<const float, 3> from, Index first, Index count);

/// What scatterers give by themselves: [channel pair, q]; `scales` [channel with scales,
/// scatterer].
Array<double, 2> self_profile(const Model& model, const SortedScatterers& sorted, View<const float, 2> scales);

/// Profiles of frames by pairs of the one body of `runs`.
class FrameProfiles {
public:
    /// The model and the runs must outlive it.
    FrameProfiles(const Model& model, const SortedScatterers& sorted);
    /// As Kernel::profiles(), `at_once` frames at a time.
    void compute(BodyPairs& pairs, Index at_once, View<const float, 3> xyz,
                 View<const float, 3> scales, View<double, 3> partial) const;

private:
    const Model& model_;
    const SortedScatterers& sorted_;
    Array<double, 2> self_;  ///< where scatterers have no scales
};

/// Sums of amplitudes at the first q over each body, and of their products over its scatterers.
struct ForwardSums {
    Array<double, 2> amplitude;  ///< [body, channel]
    Array<double, 3> square;     ///< [body, channel, channel]
};
/// `scales` [channel with scales, slot].
ForwardSums forward_sums(const Model& model, const SortedScatterers& sorted, View<const float, 2> scales);

/// Sets what a job gives at the first q where that is 0, which needs no positions.
void set_forward(const ForwardSums& sums, const PairJob& job, View<double, 2> partial);

}  // namespace pleat::saxs
