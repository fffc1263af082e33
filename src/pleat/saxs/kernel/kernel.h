// Kernels of saxs: who sums over the pairs of scatterers, chosen by device.
#pragma once

#include <memory>

#include "pleat/core/context.h"
#include "pleat/saxs/debye/debye.h"

namespace pleat::saxs {

/// Each frame's profile depends on that frame alone, whatever frames are asked for beside it and
/// however many threads there are. CPU kernels ask between pieces of a frame whether to stop, and
/// then throw Cancelled: the progress of their context must outlive them.
class Kernel {
public:
    virtual ~Kernel() = default;

    /// Partial profiles [frame, channel pair, q] of `xyz` [frame, axis, scatterer]; `scales`
    /// [frame, channel with scales, scatterer].
    virtual void profiles(View<const float, 3> xyz, View<const float, 3> scales,
                          View<double, 3> partial) = 0;

    /// The gradient [axis, scatterer] of sum_{ab, q} weight_ab(q) I_ab(q) with respect to the
    /// positions of one frame: a vector times the Jacobian of its profile. `weight` [channel pair,
    /// q]. Coincident scatterers pull at each other with no force.
    virtual void gradient(View<const float, 2> xyz, View<const float, 2> scales,
                          View<const double, 2> weight, View<double, 2> gradient) = 0;
};

/// The one place where a device and a method are chosen. The model must outlive the kernel.
/// UsageError for what a device has not (multipoles on other devices than CPUs, float64 on a GPU;
/// the reference is float64 whatever is asked for), DeviceError.
std::unique_ptr<Kernel> make_kernel(const Model& model, const Options& options,
                                    const Context& context);

/// Seconds that one core takes for a frame of such scatterers, roughly, within `radius` of a
/// centre: measured on AVX-512, for choices between devices. Of `model` sizes alone count.
double frame_seconds(const Model& model, Method method, double radius);

/// Every pair and q by sin in float64, one after another; one thread.
std::unique_ptr<Kernel> make_reference_kernel(const Model& model, const Context& context = {});

/// Every pair, in vectors of distances.
std::unique_ptr<Kernel> make_cpu_kernel(const Model& model, Precision precision,
                                        const Context& context);

/// Spherical harmonics; gradients by pairs.
std::unique_ptr<Kernel> make_multipole_kernel(const Model& model, Precision precision,
                                              const Context& context);

/// Every pair, on the GPU `context.device.index`. DeviceError where that GPU is absent or has not
/// the memory.
std::unique_ptr<Kernel> make_cuda_kernel(const Model& model, const Context& context);

}  // namespace pleat::saxs
