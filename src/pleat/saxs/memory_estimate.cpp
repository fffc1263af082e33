// Memory estimate: upper bounds of what is kept at a time, and computing time by counting.
#include "pleat/saxs/memory_estimate.h"

#include <algorithm>
#include <cmath>

#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/components.h"
#include "pleat/saxs/fit/ensemble_fit.h"
#include "pleat/saxs/fit/set_fit.h"
#include "pleat/saxs/fit/shape.h"
#include "pleat/saxs/input_checks.h"
#include "pleat/saxs/kernel/kernel.h"
#include "pleat/saxs/model/form_factors.h"
#include "pleat/saxs/model/scatterer_positions.h"

namespace pleat::saxs {

namespace {

constexpr Index kMaxChannelPairs = kAtomChannels * (kAtomChannels + 1) / 2;
constexpr Index kNeutronPairs = kNeutronChannels * (kNeutronChannels + 1) / 2;

/// An upper bound of the largest distance between atoms of a frame, angstrom.
double max_diameter_of(std::span<const Ensemble> components) {
    double diameter = 0;
    for (const Ensemble& ensemble : components)
        diameter = std::max(diameter, max_diameter(ensemble.xyz));
    return diameter;
}

/// A model with the sizes of the run's model, but without its values.
Model model_of_sizes(const Ensemble& ensemble, Index channels, bool with_curve, bool with_hydration,
                     const Parameters& parameters, double diameter) {
    constexpr Index kTypes = 20;
    // About every second atom of a protein touches water.
    const Index count = ensemble.atom_count() * (with_hydration ? 3 : 2) / 2;
    Model model;
    model.q = even_grid(parameters.q_max, grid_points(parameters, with_curve, diameter));
    model.types.resize(static_cast<std::size_t>(count));
    model.factors = Array<double, 3>(channels, kTypes, model.q_count());
    model.scaled.assign(static_cast<std::size_t>(channels), 0);
    if (with_hydration) model.scaled.back() = 1;
    return model;
}

/// Bytes that fitting frames to a curve takes.
std::int64_t fit_memory(Index frames, Index curve_points, const Parameters& parameters) {
    // Partial profiles at the curve's points, the same in folds for validation, profiles, and
    // their coordinates along axes; then products at the nodes of the contrast: of each frame, of
    // all pairs of representatives, and these at the contrasts of a grid.
    constexpr std::int64_t kAxes = kMaxProfileAxes, kNodes = kMaxC1Nodes * kC2Nodes;
    constexpr std::int64_t kContrasts = kMaxGridValues * kMaxGridValues;
    constexpr std::int64_t kPairs = kRepresentatives * (kRepresentatives + 1) / 2;
    std::int64_t bytes =
        8 * frames * (curve_points * (2 * kMaxChannelPairs + 4) + kAxes + 2 * kNodes);
    if (parameters.max_members > 1)
        bytes += 8 * std::min(kPairs, frames * (frames + 1) / 2) * (2 * kNodes + kContrasts);
    return bytes;
}

/// Bytes of histograms of distances.
std::int64_t histogram_memory(Index frames, double diameter, double bin_width,
                              const Context& context) {
    if (bin_width == 0) return 0;
    const int threads = frames < resolve_threads(context) ? 1 : resolve_threads(context);
    const double bins = std::min(diameter / bin_width, kMaxBins) + 2;
    return 8 * static_cast<std::int64_t>(bins) * kShapeBlocks * (threads + 3 * context.ranks());
}

}  // namespace

std::size_t grid_points(const Parameters& parameters, bool with_curve, double diameter) {
    constexpr double kMaxPhase = 0.5;
    const auto points = static_cast<std::size_t>(parameters.q_points);
    if (!with_curve) return points;
    constexpr std::size_t kMinPoints = 51;
    const double needed = std::ceil(parameters.q_max * diameter / kMaxPhase) + 1;
    return std::max({points, kMinPoints, static_cast<std::size_t>(std::min(needed, 5001.0))});
}

std::int64_t kernel_memory(const Model& model, const Options& options, const Device& device) {
    constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
    const std::int64_t scatterers = model.scatterer_count();
    const std::int64_t coordinates = scatterers * (3 + 2 * model.scale_count());
    if (device.kind == Device::Kind::cuda) return 64 * coordinates + 256 * kMebibyte;
    const std::int64_t profile = 8 * model.pair_count() * model.q_count();
    // Batches of frames take 64 MiB at most; a frame has a profile for each 128 rows.
    // Waves and bins of distances take 32 MiB at most.
    const std::int64_t rows =
        scatterers / 128 + std::min<std::int64_t>(scatterers, model.type_count());
    const std::int64_t pairs =
        std::max(64 * kMebibyte, profile * (rows + 1)) + 16 * coordinates + 32 * kMebibyte;
    if (options.method == Method::debye) return pairs;
    return pairs + 32 * coordinates + 512 * kMebibyte;
}

Index frame_count(std::span<const Ensemble> components) {
    Index frames = 0;
    for (const Ensemble& ensemble : components) frames += ensemble.frame_count();
    return frames;
}

std::int64_t component_memory(Index frames, Index scatterers, Index points) {
    return frames * points * (2 * kMaxChannelPairs + 1) * 8 + frames * scatterers * 64 +
           scatterers * 400;
}

std::int64_t memory_needed(std::span<const Ensemble> components, const Profile* curve,
                           const Parameters& parameters, const Context& context,
                           std::span<const FurtherCurve> further) {
    const double diameter = max_diameter_of(components);
    const auto points =
        static_cast<std::int64_t>(grid_points(parameters, curve != nullptr, diameter));
    const Index frames = frame_count(components);
    std::int64_t bytes = histogram_memory(frames, diameter, parameters.bin_width, context);
    for (const Ensemble& ensemble : components)
        bytes += component_memory(ensemble.frame_count(), ensemble.atom_count(), points);
    // Partial profiles of neutrons beside those of X-rays, and their copy at one D2O fraction.
    if (Probes(parameters, further).d2o.size() > 1 || !further.empty())
        bytes += 8 * frames * points * (kNeutronPairs + kMaxChannelPairs);
    // Bytes of the buffers for messages between ranks.
    if (context.ranks() > 1) bytes += 3 * 8 * frames * kMaxChannelPairs * points;
    if (curve != nullptr)
        bytes += fit_memory(frames, static_cast<Index>(curve->size()), parameters);
    return bytes;
}

Effort effort(std::span<const Ensemble> components, const Profile* curve,
              const Parameters& parameters, std::span<const FurtherCurve> further) {
    const bool excludes_gpus =
        parameters.precision == Precision::float64 || parameters.method == Method::multipole;
    const bool with_curve = curve != nullptr;
    const bool with_hydration = parameters.c2.value_or(with_curve ? 1 : 0) != 0;
    const Probes probes(parameters, further);
    const Index few = with_curve ? kAtomChannels : with_hydration ? 2 : 1;
    std::vector<Index> channels_of_sums;
    if (probes.xrays) channels_of_sums.push_back(few);
    if (probes.has_neutrons())
        channels_of_sums.push_back(probes.d2o.size() > 1 ? kNeutronChannels : few);
    Effort sum;
    if (!excludes_gpus) sum.gpu_bytes = 0;
    for (const Ensemble& ensemble : components) {
        const double diameter = max_diameter(ensemble.xyz);
        for (const Index channels : channels_of_sums) {
            const Model model = model_of_sizes(ensemble, channels, with_curve, with_hydration,
                                               parameters, diameter);
            sum.cpu_seconds += static_cast<double>(ensemble.frame_count()) *
                               frame_seconds(model, parameters.method, diameter / 2);
            if (excludes_gpus) continue;
            sum.gpu_bytes =
                std::max(*sum.gpu_bytes, kernel_memory(model, {}, {Device::Kind::cuda, 0}));
        }
    }
    return sum;
}

}  // namespace pleat::saxs
