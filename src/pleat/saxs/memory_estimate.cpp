// Memory estimate: upper bounds of what is kept at a time, and computing time by counting.
#include "pleat/saxs/memory_estimate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/kernel/kernel.h"
#include "pleat/saxs/model/scatterer_positions.h"

namespace pleat::saxs {

namespace {

constexpr Index kMaxChannelPairs = kAtomChannels * (kAtomChannels + 1) / 2;

/// An upper bound of the largest distance between atoms of a frame, angstrom.
double diameter_of(std::span<const Ensemble> components) {
    double largest = 0;
    for (const Ensemble& ensemble : components) largest = std::max(largest, max_diameter(ensemble.xyz));
    return largest;
}

/// Sizes alone, on the grid that a run would take.
Model outline(const Ensemble& ensemble, bool with_curve, bool hydrates,
              const Parameters& parameters, double diameter) {
    constexpr Index kTypes = 20;
    const Index channels = with_curve ? kAtomChannels : hydrates ? 2 : 1;
    // About every second atom of a protein touches water.
    const Index count = ensemble.atom_count() * (hydrates ? 3 : 2) / 2;
    const std::size_t points = grid_points(parameters, with_curve, diameter);
    Model model;
    for (std::size_t k = 0; k < points; ++k)
        model.q.push_back(parameters.q_max * static_cast<double>(k) /
                          static_cast<double>(points - 1));
    model.types.resize(static_cast<std::size_t>(count));
    model.factors = Array<double, 3>(channels, kTypes, model.q_count());
    model.scaled.assign(static_cast<std::size_t>(channels), 0);
    if (hydrates) model.scaled.back() = 1;
    return model;
}

}  // namespace

std::size_t grid_points(const Parameters& parameters, bool with_curve, double diameter) {
    constexpr double kMaxPhase = 0.5;
    const auto points = static_cast<std::size_t>(parameters.points);
    if (!with_curve) return points;
    constexpr std::size_t kMinPoints = 51;
    const double needed = std::ceil(parameters.q_max * diameter / kMaxPhase) + 1;
    return std::max({points, kMinPoints, static_cast<std::size_t>(std::min(needed, 5001.0))});
}

std::int64_t memory_needed(const Model& model, const Options& options, const Device& device) {
    constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
    const std::int64_t scatterers = model.scatterer_count();
    const std::int64_t coordinates = scatterers * (3 + 2 * model.scale_count());
    if (device.kind == Device::Kind::cuda) return 64 * coordinates + 256 * kMebibyte;
    const std::int64_t profile = 8 * model.pair_count() * model.q_count();
    // Batches of frames take 64 MiB at the most; a frame has a profile for each 128 rows.
    // Waves and bins of distances take 32 MiB at the most.
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

std::int64_t memory_needed(Index frames, Index scatterers, const Parameters& parameters) {
    const std::int64_t profiles = frames * parameters.points * (2 * kMaxChannelPairs + 1) * 8;
    return profiles + frames * scatterers * 64 + scatterers * 400;
}

std::int64_t memory_needed(std::span<const Ensemble> components, const Profile* curve,
                           const Parameters& parameters, const Context& context) {
    Parameters sized = parameters;
    const double diameter = diameter_of(components);
    sized.points = static_cast<std::int64_t>(grid_points(parameters, curve != nullptr, diameter));
    std::int64_t needed = 0;
    const Index frames = frame_count(components);
    for (const Ensemble& ensemble : components)
        needed += memory_needed(ensemble.frame_count(), ensemble.atom_count(), sized);
    // What ranks send each other, and get.
    if (context.comm != nullptr && context.comm->size() > 1)
        needed += 3 * 8 * frames * kMaxChannelPairs * sized.points;
    if (curve != nullptr) {
        // At the curve's points, in parts for validation, as profiles, and what is left of them
        // along axes; then products at the nodes of the contrast: of each frame, of all pairs of
        // representatives, and these at the contrasts of a grid.
        constexpr std::int64_t kMaxAxes = 100, kMaxNodes = 64 * 5, kMaxContrasts = 61 * 61;
        constexpr std::int64_t kPairs = kRepresentatives * (kRepresentatives + 1) / 2;
        needed += 8 * frames *
                  (static_cast<std::int64_t>(curve->size()) * (2 * kMaxChannelPairs + 4) +
                   kMaxAxes + 2 * kMaxNodes);
        if (parameters.members > 1)
            needed +=
                8 * std::min(kPairs, frames * (frames + 1) / 2) * (2 * kMaxNodes + kMaxContrasts);
    }
    if (parameters.bin == 0) return needed;
    constexpr std::int64_t kHistograms = 64;  // of a frame, and frames of a block
    const int ranks = context.comm != nullptr ? context.comm->size() : 1;
    const int threads = frames < resolve_threads(context) ? 1 : resolve_threads(context);
    const double bins = std::min(diameter / parameters.bin, kMaxBins) + 2;
    return needed + 8 * static_cast<std::int64_t>(bins) * kHistograms * (threads + 3 * ranks);
}

Effort effort(std::span<const Ensemble> components, const Profile* curve,
              const Parameters& parameters) {
    const bool keeps_to_cpu = parameters.precision == "float64" || parameters.method == "multipole";
    const bool hydrates = curve != nullptr ? parameters.c2 != 0 : std::abs(parameters.c2) > 0;
    const Method method = parameters.method == "debye"       ? Method::debye
                          : parameters.method == "multipole" ? Method::multipole
                                                             : Method::automatic;
    Effort sum;
    if (keeps_to_cpu) sum.gpu_bytes = -1;
    for (const Ensemble& ensemble : components) {
        const double diameter = diameter_of({&ensemble, 1});
        const Model model = outline(ensemble, curve != nullptr, hydrates, parameters, diameter);
        sum.cpu_seconds += static_cast<double>(ensemble.frame_count()) *
                           frame_seconds(model, method, diameter / 2);
        if (keeps_to_cpu) continue;
        sum.gpu_bytes = std::max(sum.gpu_bytes, memory_needed(model, {}, {Device::Kind::cuda, 0}));
    }
    return sum;
}

}  // namespace pleat::saxs
