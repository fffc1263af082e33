// Memory estimate: upper bounds of what is kept at a time, and computing time by counting.
#include "pleat/saxs/memory_estimate.h"

#include <algorithm>
#include <cmath>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/components.h"
#include "pleat/saxs/fit/ensemble_fit.h"
#include "pleat/saxs/fit/set_fit.h"
#include "pleat/saxs/fit/shape.h"
#include "pleat/saxs/input_checks.h"
#include "pleat/saxs/kernel/kernel.h"
#include "pleat/saxs/kernel/multipole_table.h"
#include "pleat/saxs/model/scatterer_positions.h"

namespace pleat::saxs {

namespace {

constexpr Index kNeutronPairs = kNeutronChannels * (kNeutronChannels + 1) / 2;

Index points_of(const Profile* curve) { return curve == nullptr ? 0 : std::ssize(*curve); }

/// Whether surface atoms also scatter as a hydration layer.
bool has_hydration(const Parameters& parameters, bool with_curve) {
    return parameters.c2.value_or(with_curve ? 1 : 0) != 0;
}

Index channel_count(const Parameters& parameters, bool with_curve) {
    return with_curve ? kAtomChannels : has_hydration(parameters, with_curve) ? 2 : 1;
}

/// The sizes of the run's model.
ModelSize model_size(const ComponentSize& size, Index channels, bool with_curve,
                     const Parameters& parameters) {
    constexpr Index kTypes = 19;
    const bool with_hydration = has_hydration(parameters, with_curve);
    ModelSize model;
    // About every second protein atom touches water. Atoms and water scatter in different channels.
    model.scatterers = size.atoms * (with_hydration ? 3 : 2) / 2;
    model.types = kTypes + 1;
    model.channels = channels;
    model.scale_count = with_hydration ? 1 : 0;
    model.q_count = static_cast<Index>(grid_points(parameters, with_curve, size.diameter));
    model.q_max = parameters.q_max;
    model.is_even = model.q_count >= 4;
    model.segments = kTypes + model.scale_count;
    model.type_classes = static_cast<double>(std::min(model.segments, model.scatterers));
    return model;
}

/// Maximum number of grid values in fits of sets of frames.
std::int64_t grid_values(double min, double max, double step) {
    return std::min<std::int64_t>(kMaxGridValues,
                                  static_cast<std::int64_t>(std::ceil((max - min) / step)) + 1);
}

/// Bytes needed to fit frames to a curve.
std::int64_t fit_memory(Index frames, Index curve_points, const Parameters& parameters) {
    // Partial profiles at the curve's points; amounts along axes, coordinates in each of the fits
    // for validation, which run at once; products of each frame at the nodes of the contrast.
    // Partial profiles of the mean and the axes: those found, those kept, and for each fold the
    // points that its fit sees and those that it does not; profiles of them in each fit. Each fit
    // has partial profiles of some frames, and products of all pairs of representatives at the
    // nodes and at the contrasts of a grid.
    constexpr std::int64_t kFits = kFolds + 1, kNodes = kMaxC1Nodes * kC2Nodes, kSome = 512;
    constexpr std::int64_t kPairs = kRepresentatives * (kRepresentatives + 1) / 2;
    const std::int64_t of_frame = curve_points * kMaxChannelPairs;
    const std::int64_t axes =
        std::min<std::int64_t>({static_cast<std::int64_t>(kMaxProfileAxes), of_frame, frames});
    const std::int64_t contrasts = grid_values(parameters.c1_min, parameters.c1_max, 0.01) *
                                   grid_values(parameters.c2_min, parameters.c2_max, 0.5);
    std::int64_t bytes = 8 * frames * (of_frame + curve_points + axes * (kFits + 2) + 2 * kNodes);
    bytes += 8 * (axes + 1) * (of_frame * (std::int64_t{kFolds} + 2) + curve_points * kFits);
    if (parameters.max_members > 0)
        bytes += 8 * kFits * std::min<std::int64_t>(kSome, frames) *
                 (of_frame + 2 * (kNodes + contrasts));
    if (parameters.max_members > 1)
        bytes += 8 * kFits * std::min<std::int64_t>(kPairs, frames * (frames + 1) / 2) *
                 (kNodes + contrasts);
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

std::vector<ComponentSize> sizes_of(std::span<const Ensemble> components, int threads) {
    std::vector<ComponentSize> sizes;
    for (const Ensemble& ensemble : components)
        sizes.push_back(
            {ensemble.frame_count(), ensemble.atom_count(), max_diameter(ensemble.xyz, threads)});
    return sizes;
}

std::size_t grid_points(const Parameters& parameters, bool with_curve, double diameter) {
    constexpr double kMaxPhase = 0.5;
    const auto points = static_cast<std::size_t>(parameters.q_points);
    if (!with_curve) return points;
    constexpr std::size_t kMinPoints = 51;
    const double needed = std::ceil(parameters.q_max * diameter / kMaxPhase) + 1;
    return std::max({points, kMinPoints, static_cast<std::size_t>(std::min(needed, 5001.0))});
}

std::int64_t kernel_memory(const ModelSize& size, const Options& options, const Device& device) {
    constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
    const std::int64_t coordinates = size.scatterers * (3 + 2 * size.scale_count);
    if (device.kind == Device::Kind::cuda)
        return 64 * coordinates + (options.method == Method::debye ? 256 : 1024) * kMebibyte;
    const std::int64_t profile = 4 * size.channels * (size.channels + 1) * size.q_count;
    // Batches of frames take 64 MiB at most; a frame has a profile for each 128 rows.
    // Waves and bins of distances take 32 MiB at most.
    const std::int64_t rows = size.scatterers / 128 + std::min(size.scatterers, size.types);
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

std::int64_t component_memory(Index frames, Index scatterers, Index points, Index channel_pairs) {
    return frames * points * (2 * channel_pairs + 1) * 8 + frames * scatterers * 64 +
           scatterers * 400;
}

namespace {

std::int64_t memory_of(std::span<const ComponentSize> components, Index curve_points,
                       const Parameters& parameters, const Context& context,
                       std::span<const FurtherCurve> further) {
    const Index channels = channel_count(parameters, curve_points > 0);
    const Index channel_pairs = channels * (channels + 1) / 2;
    double diameter = 0;
    Index frames = 0;
    for (const ComponentSize& size : components) {
        diameter = std::max(diameter, size.diameter);
        frames += size.frames;
    }
    const auto points =
        static_cast<std::int64_t>(grid_points(parameters, curve_points > 0, diameter));
    std::int64_t bytes = histogram_memory(frames, diameter, parameters.bin_width, context);
    for (const ComponentSize& size : components)
        bytes += component_memory(size.frames, size.atoms, points, channel_pairs);
    // Two blocks of frames whose exposed points a GPU finds, one component after another.
    std::int64_t blocks = 0;
    for (const ComponentSize& size : components)
        if (has_hydration(parameters, curve_points > 0) &&
            finds_surfaces_on_gpu(size.frames, context))
            blocks = std::max(blocks, 2 * std::max(kSurfaceBytes, surface_frame_bytes(size.atoms)));
    bytes += blocks;
    // Partial profiles of neutrons besides those of X-rays, and their copy at one D2O fraction.
    if (Probes(parameters, further).d2o.size() > 1 || !further.empty())
        bytes += 8 * frames * points * (kNeutronPairs + kMaxChannelPairs);
    // Bytes of the buffers for messages between ranks.
    if (context.ranks() > 1) bytes += 3 * 8 * frames * channel_pairs * points;
    if (curve_points > 0) bytes += fit_memory(frames, curve_points, parameters);
    return bytes;
}

/// The channels of each Debye sum: of X-rays, and of neutrons.
std::vector<Index> channels_of_sums(const Parameters& parameters, bool with_curve,
                                    std::span<const FurtherCurve> further) {
    const Probes probes(parameters, further);
    const Index few = channel_count(parameters, with_curve);
    std::vector<Index> channels;
    if (probes.xrays) channels.push_back(few);
    if (probes.has_neutrons()) channels.push_back(probes.d2o.size() > 1 ? kNeutronChannels : few);
    return channels;
}

/// Cost of the pair sums, and bytes of a CPU kernel with this number of threads.
struct SumsCost {
    Effort effort;
    std::int64_t cpu_bytes = 0;
};

SumsCost cost_of_sums(std::span<const ComponentSize> components, bool with_curve,
                      const Parameters& parameters, std::span<const FurtherCurve> further,
                      int threads) {
    const Options options{parameters.precision, parameters.method};
    SumsCost sum;
    Effort& effort = sum.effort;
    effort.gpu_bytes = 0;
    for (const ComponentSize& size : components) {
        const double radius = size.diameter / 2;
        for (const Index channels : channels_of_sums(parameters, with_curve, further)) {
            const ModelSize model = model_size(size, channels, with_curve, parameters);
            const FrameCost cost = frame_cost(model, options, radius);
            effort.cpu_seconds += static_cast<double>(size.frames) * cost.seconds;
            const double at_once =
                std::max(cost.multipole_bytes,
                         std::min(threads * cost.multipole_bytes, kMultipoleBytesAtOnce));
            sum.cpu_bytes =
                std::max(sum.cpu_bytes, kernel_memory(model, {.method = Method::debye}, {}) +
                                            static_cast<std::int64_t>(at_once));
            const bool is_for_gpus =
                options.method != Method::multipole ||
                (options.precision != Precision::float64 &&
                 cuda::fits_multipoles(multipole_size(model.q_max, rounded_radius(radius))));
            if (!is_for_gpus) effort.gpu_bytes.reset();
            if (effort.gpu_bytes)
                effort.gpu_bytes = std::max(*effort.gpu_bytes,
                                            kernel_memory(model, options, {Device::Kind::cuda, 0}));
        }
    }
    return sum;
}

/// CPU seconds of fits to a curve: of each frame, of minimal ensembles, and of all weights.
double fit_seconds(Index frames, Index curve_points, const Parameters& parameters) {
    // For 200 points. 10,000 frames and a curve of 505 points take 4, 8 (of up to five members) and
    // 5 s (docs/decisions/0035).
    constexpr double kFrame = 2e-4, kReweight = 2e-4, kMember = 0.8, kPoints = 200;
    if (curve_points == 0) return 0;
    const auto count = static_cast<double>(frames);
    const double full = std::min(1.0, count / static_cast<double>(kRepresentatives));
    double seconds = kFrame * count;
    if (frames > 1 && parameters.reweight) seconds += kReweight * count;
    if (frames > 1 && parameters.max_members > 1)
        seconds += kMember * full * full * static_cast<double>(parameters.max_members - 1);
    return seconds * static_cast<double>(curve_points) / kPoints;
}

}  // namespace

std::int64_t memory_needed(std::span<const Ensemble> components, const Profile* curve,
                           const Parameters& parameters, const Context& context,
                           std::span<const FurtherCurve> further) {
    return memory_of(sizes_of(components, resolve_threads(context)), points_of(curve), parameters,
                     context, further);
}

Effort effort(std::span<const Ensemble> components, const Profile* curve,
              const Parameters& parameters, std::span<const FurtherCurve> further) {
    return cost_of_sums(sizes_of(components, 1), curve != nullptr, parameters, further, 1).effort;
}

std::int64_t disk_needed(Index frames, const Parameters& parameters) {
    constexpr Index kRow = 80;  // of frames.tsv
    return frames * (kRow + 8 * static_cast<Index>(parameters.q_points));
}

Estimate estimate(std::span<const ComponentSize> components, Index curve_points,
                  const Parameters& parameters, const Context& context,
                  std::span<const FurtherCurve> further) {
    const int threads = resolve_threads(context);
    const auto [effort, cpu_bytes] =
        cost_of_sums(components, curve_points > 0, parameters, further, threads);
    const bool has_gpu = context.device.kind == Device::Kind::cuda;
    if (has_gpu && !effort.gpu_bytes)
        throw UsageError(
            "GPUs compute multipoles in float32, of small enough frames; give the device cpu");
    Estimate all;
    all.host_bytes = memory_of(components, curve_points, parameters, context, further);
    Index frames = 0;
    for (const ComponentSize& size : components) {
        frames += size.frames;
        all.host_bytes += 24 * size.frames * size.atoms;  // as read, and as scatterers
    }
    all.disk_bytes = disk_needed(frames, parameters);
    if (has_gpu)
        all.gpu_bytes = all.min_gpu_bytes = *effort.gpu_bytes;
    else
        all.host_bytes += cpu_bytes;
    if (context.device.kind == Device::Kind::reference) return all;
    constexpr double kReadSeconds = 2e-4;  // per frame, to read it and to write its profile
    all.seconds = 0.05 + kReadSeconds * static_cast<double>(frames) +
                  (has_gpu ? effort.gpu_seconds() : effort.cpu_seconds / threads) +
                  fit_seconds(frames, curve_points, parameters) / threads;
    return all;
}

}  // namespace pleat::saxs
