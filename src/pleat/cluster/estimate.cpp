// Estimate: bytes of kept pairs, neighbour bits and trees, and seconds by passes over the pairs.
#include "pleat/cluster/estimate.h"

#include <algorithm>
#include <numeric>

#include "pleat/cluster/methods/methods.h"
#include "pleat/cluster/stage.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/pairs/pair_order.h"

namespace pleat::cluster {

namespace {

/// How often a method goes through all pairs if none are kept. Measured runs find again about half
/// of the pairs, those within clusters, for medoids, means and radii.
double passes_of(const Trials& trials, const Parameters& parameters) {
    const auto tried = static_cast<double>(trials.values().size());
    double passes = 1.5;
    switch (trials.family) {
        case MethodFamily::greedy:
        case MethodFamily::dbscan: passes += tried > 1 ? tried : 0; break;
        case MethodFamily::shared: passes += tried > 1 && !trials.uses_nearest ? tried : 0; break;
        case MethodFamily::tree: break;
        case MethodFamily::medoids: passes += 10 * tried; break;  // rounds of all rows
        case MethodFamily::peaks: passes += trials.cutoffs.empty() ? 3 : 1; break;
        case MethodFamily::rounds: passes += 2; break;
        case MethodFamily::centres: passes = 0; break;
    }
    if (trials.has_several() || parameters.silhouettes) passes += 2 * tried;
    return passes;
}

}  // namespace

bool keeps_pairs(Index items, bool is_stored) {
    return !is_stored && 4 * pairs_before(items, items) <= kKeptBytes;
}

Estimate estimate(Index items, const DistanceCost& distances, const Parameters& parameters,
                  const Context& context) {
    constexpr double kStoredPair = 1.5e-9, kTreePair = 15e-9, kGreedyPair = 0.5e-9;
    // Assignments, descriptions, the histogram, a band of values and what its threads sum.
    constexpr std::int64_t kItemBytes = 200, kBandBytes = std::int64_t{16} << 20;
    const Trials trials = trials_of(parameters);
    const Index pairs = pairs_before(items, items);
    const bool has_centres = trials.family == MethodFamily::centres;
    const bool is_kept = !has_centres && keeps_pairs(items, distances.is_stored);
    Estimate all;
    all.host_bytes = kItemBytes * items + kBandBytes + (is_kept ? 4 * pairs : 0);
    double of_method = 0;
    switch (trials.family) {
        case MethodFamily::tree:
            all.host_bytes += 4 * pairs;
            of_method = kTreePair;
            break;
        case MethodFamily::medoids: {
            const double k = trials.counts.empty() ? 1 : *std::ranges::max_element(trials.counts);
            all.host_bytes += medoid_bytes(items, static_cast<Index>(k));
            break;
        }
        case MethodFamily::centres: break;
        case MethodFamily::rounds: all.host_bytes += std::int64_t{128} << 20; break;
        case MethodFamily::shared:
            if (trials.uses_nearest) {
                all.host_bytes += 20 * items * std::min<Index>(parameters.nearest, items - 1);
                break;
            }
            [[fallthrough]];
        case MethodFamily::greedy:
        case MethodFamily::dbscan:
        case MethodFamily::peaks:
            // Above this size bits are not stored; rows are recomputed.
            if (!distances.reduces)
                all.host_bytes += std::min(items * ((items + 63) / 64) * 8, available_memory() / 2);
            of_method = kGreedyPair;
    }
    if (context.device.kind == Device::Kind::reference) return all;
    const double passes = passes_of(trials, parameters);
    if (has_centres) {
        if (trials.counts.empty()) return all;  // a cutoff does not say how many centres
        const double centres = std::accumulate(trials.counts.begin(), trials.counts.end(), 0.0);
        const double compared = static_cast<double>(items) * centres *
                                static_cast<double>(1 + parameters.medoid_sweeps);
        all.seconds = 0.05 + (compared + passes * static_cast<double>(pairs)) *
                                 (distances.is_stored ? kStoredPair : distances.pair_seconds);
        return all;
    }
    const bool is_read = is_kept || distances.is_stored;
    const double per_pair = distances.is_stored ? kStoredPair * passes
                            : is_kept ? distances.pair_seconds + kStoredPair * (passes - 1)
                                      : distances.pair_seconds * passes;
    const double on_host = distances.reduces ? 0 : of_method + (is_read ? 0 : kStoredPair);
    all.seconds = 0.05 + static_cast<double>(pairs) * (per_pair + on_host);
    return all;
}

}  // namespace pleat::cluster
