// The choice of a kernel for saxs: by device, and by counting the operations of each method.
#include "pleat/saxs/kernel/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/debye/sine_grid.h"
#include "pleat/saxs/debye/sorted_scatterers.h"
#include "pleat/saxs/kernel/multipole_table.h"
#include "pleat/saxs/model/scatterer_positions.h"

namespace pleat::saxs {

namespace {

/// Vector operations in float32, per scatterer and in total.
struct Cost {
    double pairs, multipole;
    double multipole_bytes;
};

Cost count(const ModelSize& of, bool with_moments, double radius) {
    const double q = static_cast<double>(of.q_count),
                 scatterers = static_cast<double>(of.scatterers);
    const double classes =
        static_cast<double>(of.scale_count + (of.scale_count < of.channels ? 1 : 0));
    const double mean_classes = of.mean_classes, type_classes = of.type_classes,
                 weightings = of.weightings(), all_pairs = of.pairs();
    const double sines =
        all_pairs * (of.is_even ? 1.3 * q * weightings + 80.0 : (12.0 + weightings) * q);
    const MultipoleSize size = multipole_size(of.q_max, rounded_radius(radius));
    const double degrees = static_cast<double>(size.degrees),
                 nodes = static_cast<double>(size.nodes);
    const double harmonics = degrees * degrees;
    const double types = std::min(static_cast<double>(of.types), scatterers);
    // Measured costs. The sums by moments are limited by memory: each bin has 8 powers, and is
    // about 1.5 / q wide.
    const double bins = radius * of.q_max / 0.75 + 3.0;
    const double moments =
        all_pairs * (90.0 + 55.0 * weightings) + 0.5 * type_classes * type_classes * 8.0 * bins * q;
    const double pairs = with_moments ? std::min(sines, moments) : sines;
    // Float64 has half the lanes. Degrees rise with q, so a third of q and harmonics is needed.
    const double spreading = 2.0 * scatterers * harmonics * (mean_classes * nodes + 8.0);
    const double projecting = 2.0 * type_classes * (nodes + 4.0) * q * harmonics / 3.0;
    const double table = 16.0 * 3.0 * q * nodes * degrees;
    // A copy of the nodes' harmonics for each type and each piece that a thread spreads.
    const double bytes = 8.0 * (kMultipolePieces + types) * classes * nodes * harmonics;
    return {pairs, spreading + projecting + table, bytes};
}

/// The largest q R for which multipoles are considered; beyond it their tables would need too much
/// memory.
constexpr double kMaxWaves = 300.0;
constexpr double kMaxBytes = 4e9;

bool prefers_pairs(const ModelSize& of, const Cost& cost, double radius) {
    return radius * of.q_max > kMaxWaves || cost.multipole_bytes > kMaxBytes ||
           cost.pairs <= cost.multipole;
}

void refuse_unless(bool is_known, const Device& device, const char* known, const char* found) {
    if (!is_known)
        throw UsageError(
            fmt::format("expected {} on the device {}, found {}", known, device.name(), found));
}

/// Whether a frame of this radius is computed from pairs rather than multipoles.
using PrefersPairs = std::function<bool(double radius)>;

/// Uses the cheaper of two kernels for each frame.
class AutomaticKernel final : public Kernel {
public:
    AutomaticKernel(std::unique_ptr<Kernel> pairs, std::unique_ptr<Kernel> multipole,
                    PrefersPairs prefers_pairs, int threads)
        : pairs_(std::move(pairs)),
          multipole_(std::move(multipole)),
          prefers_pairs_(std::move(prefers_pairs)),
          threads_(threads) {}

    void profiles(View<const float, 3> xyz, View<const float, 3> scales,
                  View<double, 3> partial) override {
        std::vector<double> radii(xyz.extent(0));
        parallel_for(threads_, xyz.extent(0),
                     [&](Index frame, int) { radii[frame] = 0.5 * box_diagonal(xyz[frame]); });
        const auto prefers_pairs = [&](Index frame) { return prefers_pairs_(radii[frame]); };
        for (Index frame = 0; frame < xyz.extent(0);) {
            const bool by_pairs = prefers_pairs(frame);
            Index count = 1;
            while (frame + count < xyz.extent(0) && prefers_pairs(frame + count) == by_pairs)
                ++count;
            (by_pairs ? *pairs_ : *multipole_)
                .profiles(frames_of(xyz, frame, count), frames_of(scales, frame, count),
                          frames_of(partial, frame, count));
            frame += count;
        }
    }

    void gradient(View<const float, 2> xyz, View<const float, 2> scales,
                  View<const double, 2> weight, View<double, 2> gradient) override {
        pairs_->gradient(xyz, scales, weight, gradient);
    }

private:
    std::unique_ptr<Kernel> pairs_, multipole_;
    PrefersPairs prefers_pairs_;
    int threads_;
};

/// For a GPU: counts the instructions of a lane, and considers where multipoles fit in memory.
PrefersPairs gpu_prefers_pairs(const Model& model) {
    const ModelSize counts(model);
    const double q = static_cast<double>(model.q_count());
    // Measured: relative to operation counts, multipoles reach half the speed of pair sums.
    constexpr double kPairInstructions = 2.6, kMultipoleInstructions = 2.0;
    return [=, known = std::map<double, bool>()](double radius) mutable {
        const double rounded = rounded_radius(radius);
        const auto found = known.find(rounded);
        if (found != known.end()) return found->second;
        bool& prefers = known[rounded] = true;
        const MultipoleSize size = multipole_size(counts.q_max, rounded);
        if (!cuda::fits_multipoles(size)) return true;
        const double harmonics = static_cast<double>(size.degrees * size.degrees),
                     nodes = static_cast<double>(size.nodes) + 6.0;
        const double multipole = nodes * harmonics *
                                 (static_cast<double>(counts.scatterers) * counts.mean_classes +
                                  counts.type_classes * q / 3.0);
        const double pairs = counts.pairs() * counts.weightings() * q;
        prefers = kPairInstructions * pairs <= kMultipoleInstructions * multipole;
        return prefers;
    };
}

std::unique_ptr<Kernel> make_gpu_kernel(const Model& model, const Options& options,
                                        const Context& context) {
    const bool is_double = options.precision == Precision::float64;
    if (is_double && options.method == Method::multipole)
        throw UsageError(fmt::format("expected float32 for multipoles on the device {}, found {}",
                                     context.device.name(), "float64"));
    auto pairs = make_cuda_kernel(model, options.precision, context);
    if (options.method == Method::debye || (options.method == Method::automatic && is_double))
        return pairs;
    const Index segments = ModelSize(model).segments;
    if (options.method == Method::automatic && !cuda::fits_multipoles(model, segments))
        return pairs;
    if (options.method == Method::automatic)
        return std::make_unique<AutomaticKernel>(
            std::move(pairs), make_cuda_multipole_kernel(model, context, nullptr),
            gpu_prefers_pairs(model), resolve_threads(context));
    return make_cuda_multipole_kernel(model, context, std::move(pairs));
}

}  // namespace

ModelSize::ModelSize(const Model& model)
    : scatterers(model.scatterer_count()),
      types(model.type_count()),
      channels(model.channel_count()),
      scale_count(model.scale_count()),
      q_count(model.q_count()),
      q_max(model.q.back()),
      is_even(SineGrid(model.q).even) {
    const ScaleClasses used(model);
    std::vector<Index> of_type(types, 0);
    for (Index type = 0; type < types; ++type)
        for (Index of = 0; of < used.count; ++of)
            of_type[type] += used.scatters(of, static_cast<std::int32_t>(type)) ? 1 : 0;
    Index scattering = 0;
    for (const std::int32_t type : model.types) scattering += of_type[type];
    segments = std::accumulate(of_type.begin(), of_type.end(), Index{0});
    mean_classes = static_cast<double>(scattering) / std::max(static_cast<double>(scatterers), 1.0);
    type_classes = static_cast<double>(std::min(segments, scattering));
}

FrameCost frame_cost(const ModelSize& size, const Options& options, double radius) {
    constexpr double kProductsASecond = 5e10;  // of float32, or half as many of float64
    const bool is_double = options.precision == Precision::float64;
    const Cost cost = count(size, !is_double, radius);
    const bool by_pairs = options.method == Method::debye || (options.method == Method::automatic &&
                                                              prefers_pairs(size, cost, radius));
    if (by_pairs) return {cost.pairs * (is_double ? 2.0 : 1.0) / kProductsASecond, 0};
    return {cost.multipole / kProductsASecond, cost.multipole_bytes};
}

std::unique_ptr<Kernel> make_kernel(const Model& model, const Options& options,
                                    const Context& context) {
    const Device& device = context.device;
    refuse_unless(device.kind != Device::Kind::reference || options.method != Method::multipole,
                  device, "sums over pairs", "multipoles");
    switch (context.device.kind) {
        case Device::Kind::reference: return make_reference_kernel(model, context);
        case Device::Kind::cpu: break;
        case Device::Kind::cuda: return make_gpu_kernel(model, options, context);
    }
    switch (options.method) {
        case Method::debye: return make_cpu_kernel(model, options.precision, context);
        case Method::multipole: return make_multipole_kernel(model, options.precision, context);
        case Method::automatic: break;
    }
    const bool with_moments = options.precision != Precision::float64;
    return std::make_unique<AutomaticKernel>(
        make_cpu_kernel(model, options.precision, context),
        make_multipole_kernel(model, options.precision, context),
        [size = ModelSize(model), with_moments](double radius) {
            return prefers_pairs(size, count(size, with_moments, radius), radius);
        },
        resolve_threads(context));
}

}  // namespace pleat::saxs
