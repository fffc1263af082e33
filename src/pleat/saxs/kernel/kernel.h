// Kernels of saxs: how the pairs of scatterers are summed, chosen by device and method.
#pragma once

#include <memory>
#include <optional>

#include "pleat/core/context.h"
#include "pleat/saxs/debye/debye.h"

namespace pleat::saxs {

/// Computes profiles of frames. A profile depends only on its frame, not on other frames of the
/// call or the number of threads. CPU kernels check for a cancel between pieces of a frame and then
/// throw Cancelled, so the progress of their context must outlive them.
class Kernel {
public:
    virtual ~Kernel() = default;

    /// Partial profiles [frame, channel pair, q] of `xyz` [frame, axis, scatterer]; `scales`
    /// [frame, channel with scales, scatterer].
    virtual void profiles(View<const float, 3> xyz, View<const float, 3> scales,
                          View<double, 3> partial) = 0;

    /// The gradient [axis, scatterer] of sum_{ab, q} weight_ab(q) I_ab(q) with respect to the
    /// positions of one frame: a vector times the Jacobian of its profile. `weight` [channel pair,
    /// q]. Coincident scatterers exert no force on each other.
    virtual void gradient(View<const float, 2> xyz, View<const float, 2> scales,
                          View<const double, 2> weight, View<double, 2> gradient) = 0;
};

/// The one function that chooses a kernel by device and method. The model must outlive the kernel.
/// Throws UsageError for what a device does not offer (multipoles on the reference device, and in
/// float64 on a GPU), DeviceError.
std::unique_ptr<Kernel> make_kernel(const Model& model, const Options& options,
                                    const Context& context);

/// The properties of a model that determine the cost of its sums.
struct ModelSize {
    ModelSize() = default;
    explicit ModelSize(const Model& model);
    double pairs() const {
        return 0.5 * static_cast<double>(scatterers) * static_cast<double>(scatterers);
    }
    double weightings() const { return mean_classes * mean_classes; }

    Index scatterers = 0, types = 0, channels = 0;
    Index scale_count = 0;  ///< channels with scales of their own
    Index q_count = 0;
    double q_max = 0;
    bool is_even = true;      ///< whether q are evenly spaced
    Index segments = 0;       ///< types times the classes (ScaleClasses) in which they scatter
    double mean_classes = 1;  ///< in which a scatterer scatters
    double type_classes = 0;  ///< `segments`, or all scatterers times their classes if that is less
};

/// What one core needs for a frame.
struct FrameCost {
    double seconds = 0;          ///< measured on AVX-512, for the choice of a device
    double multipole_bytes = 0;  ///< of tables and sums, if multipoles are used
};
/// The cost of a frame whose scatterers are within `radius` angstrom of a centre.
FrameCost frame_cost(const ModelSize& size, const Options& options, double radius);

/// Bytes that kernels need besides coordinates and results; for `cuda` the GPU's.
std::int64_t kernel_memory(const ModelSize& size, const Options& options, const Device& device);

/// Coordinates beyond this many angstrom are refused: differences of such float32 numbers are too
/// coarse for a profile.
inline constexpr float kMaxCoordinate = 1e8f;

struct WrongCoordinate {
    Index set = 0;
    float value = 0;
};
/// The first coordinate of `xyz` [set, axis, scatterer] that is beyond kMaxCoordinate or not a
/// number.
std::optional<WrongCoordinate> find_wrong_coordinate(View<const float, 3> xyz, int threads);

/// Throws unless positions and scales belong to the model: UsageError for shapes, InputError for
/// values. `xyz` [set, axis, scatterer], `scales` [set, channel with scales, scatterer]; `set`
/// names the first axis in messages ("frame", "chain").
void check_sets(const Model& model, View<const float, 3> xyz, View<const float, 3> scales,
                const char* set, int threads = 1);

/// Computes every pair and q by sin() in float64 on one thread.
std::unique_ptr<Kernel> make_reference_kernel(const Model& model, const Context& context = {});

/// Every pair, in vectors of distances.
std::unique_ptr<Kernel> make_cpu_kernel(const Model& model, Precision precision,
                                        const Context& context);

/// Spherical harmonics; gradients by pairs.
std::unique_ptr<Kernel> make_multipole_kernel(const Model& model, Precision precision,
                                              const Context& context);

/// Every pair, on the GPU `context.device.index`. Throws DeviceError if that GPU is missing or out
/// of memory.
std::unique_ptr<Kernel> make_cuda_kernel(const Model& model, Precision precision,
                                         const Context& context);

/// Spherical harmonics in float32, on the same GPU; gradients by `by_pairs`. Throws the same, and
/// UsageError for models or radii that do not fit (cuda/multipole_limits.h).
std::unique_ptr<Kernel> make_cuda_multipole_kernel(const Model& model, const Context& context,
                                                   std::unique_ptr<Kernel> by_pairs);

}  // namespace pleat::saxs
