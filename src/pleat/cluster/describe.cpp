// Describe: sums of distances within clusters and to other clusters.
#include "pleat/cluster/describe.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pleat/cluster/stage.h"
#include "pleat/core/array.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"

namespace pleat::cluster {

namespace {

/// Position of a cluster's medoid, and the mean and maximum distance of the other members from it.
struct Middle {
    Index position = 0;  ///< among the members
    double mean = 0.0, radius = 0.0;
};

/// The member with the minimum sum of distances, the first of equals.
Middle middle_of(const PairSource& distances, const std::vector<Index>& items,
                 const Context& context) {
    const auto count = static_cast<Index>(items.size());
    if (count < 2) return {};
    std::vector<double> sums(items.size(), 0.0);
    std::vector<float> furthest(items.size(), 0.0f);
    PairCounter* const device = distances.counter();
    const auto sum_bands = [&](Block rows, const float* values) {
        throw_if_cancelled(context, "describe");
        for (Index i = rows.first; i < rows.first + rows.count; ++i) {
            double own[4] = {};
            float own_max[4] = {};
            double* const others = sums.data() + i + 1;
            float* const bounds = furthest.data() + i + 1;
            const Index later = count - 1 - i;
            for (Index n = 0; n < later; ++n) {
                others[n] += values[n];
                own[n % 4] += values[n];
                bounds[n] = std::max(bounds[n], values[n]);
                own_max[n % 4] = std::max(own_max[n % 4], values[n]);
            }
            sums[i] += own[0] + own[1] + own[2] + own[3];
            furthest[i] = std::max({furthest[i], own_max[0], own_max[1], own_max[2], own_max[3]});
            values += later;
        }
    };
    if (device == nullptr || !device->sum_among(items, context, sums, furthest))
        distances.among(items, sum_bands);
    const Index position = std::min_element(sums.begin(), sums.end()) - sums.begin();
    return {position, sums[position] / static_cast<double>(count - 1), furthest[position]};
}

std::string problem_of(const PairSource& distances, const Clustering& clustering) {
    const std::vector<std::int32_t>& assignment = clustering.assignment;
    return Sha256()
        .field(distances.hash())
        .field(
            View<const std::int32_t, 1>(assignment.data(), static_cast<Index>(assignment.size())))
        .hex();
}

/// The silhouette of an item in cluster `own` from its distances to all.
double silhouette_of(const float* row, std::int32_t own, const Clustering& clustering,
                     const std::vector<double>& sizes, std::vector<double>& sums) {
    if (sizes[own] < 2) return 0.0;
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t i = 0; i < clustering.assignment.size(); ++i)
        if (clustering.assignment[i] != kNoise) sums[clustering.assignment[i]] += row[i];
    const double within = sums[own] / (sizes[own] - 1);
    double without = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < sums.size(); ++c)
        if (static_cast<std::int32_t>(c) != own) without = std::min(without, sums[c] / sizes[c]);
    const double larger = std::max(within, without);
    return larger > 0 ? (without - within) / larger : 0.0;
}

}  // namespace

std::vector<ClusterDescription> describe(const PairSource& distances, const Clustering& clustering,
                                         const Context& context) {
    const std::vector<std::vector<Index>> members = clustering.members();
    const std::size_t count = members.size();
    constexpr double kUnset = -1.0;
    std::vector<double> positions(count, kUnset), means(count, kUnset), radii(count, kUnset);
    Middle middle;
    sum_over_tiles(
        context, "describe", tiles_of(static_cast<Index>(count), 1),
        [&] { return problem_of(distances, clustering); },
        [&](AdditiveCheckpoint& sums) {
            sums.raise("positions", positions);
            sums.raise("means", means);
            sums.raise("radii", radii);
        },
        [&](const Tile& tile, View<float, 2>) {
            middle = middle_of(distances, members[tile.id], context);
        },
        [&](const Tile& tile, View<const float, 2>) {
            positions[tile.id] = static_cast<double>(middle.position);
            means[tile.id] = middle.mean;
            radii[tile.id] = middle.radius;
        });
    std::vector<ClusterDescription> clusters(count);
    for (std::size_t c = 0; c < count; ++c) {
        clusters[c].size = static_cast<Index>(members[c].size());
        clusters[c].medoid = members[c][positions[c]];
        clusters[c].mean = means[c];
        clusters[c].radius = radii[c];
    }
    return clusters;
}

std::vector<ClusterDescription> describe_by_centres(const Clustering& clustering,
                                                    const std::vector<float>& distances) {
    std::vector<ClusterDescription> clusters(clustering.centres.size());
    for (std::size_t i = 0; i < distances.size(); ++i) {
        ClusterDescription& one = clusters[clustering.assignment[i]];
        ++one.size;
        one.mean += distances[i];  // a sum until the end
        one.radius = std::max<double>(one.radius, distances[i]);
    }
    for (std::size_t c = 0; c < clusters.size(); ++c) {
        clusters[c].medoid = clustering.centres[c];
        clusters[c].mean /= static_cast<double>(std::max<Index>(clusters[c].size - 1, 1));
    }
    return clusters;
}

std::vector<double> silhouettes(const PairSource& distances, const Clustering& clustering,
                                const Context& context) {
    constexpr double kNone = -2.0;  // lower than any silhouette
    const Index count = distances.count(), clusters = clustering.cluster_count();
    std::vector<double> values(static_cast<std::size_t>(count), kNone);
    const auto nan = std::numeric_limits<double>::quiet_NaN();
    if (clusters < 2) return std::vector<double>(values.size(), nan);
    std::vector<double> sizes(static_cast<std::size_t>(clusters), 0.0);
    for (const std::int32_t cluster : clustering.assignment)
        if (cluster != kNoise) ++sizes[cluster];
    const int threads = resolve_threads(context);
    std::vector<std::vector<double>> sums(static_cast<std::size_t>(threads), sizes);
    const Index batch = std::clamp<Index>(16'000'000 / count, 16, 256);
    auto rows = Array<float, 2>::unset(batch, count);
    std::vector<Index> items;
    sum_over_tiles(
        context, "silhouettes", tiles_of(count, batch),
        [&] { return problem_of(distances, clustering); },
        [&](AdditiveCheckpoint& saved) { saved.raise("silhouettes", values); },
        [&](const Tile& tile, View<float, 2>) {
            items.clear();
            for (Index i = tile.side[0].first; i < tile.side[0].first + tile.side[0].count; ++i)
                if (clustering.assignment[i] != kNoise) items.push_back(i);
            if (!items.empty()) distances.rows(items, rows.data());
        },
        [&](const Tile&, View<const float, 2>) {
            parallel_for(threads, static_cast<Index>(items.size()), [&](Index n, int thread) {
                values[items[n]] = silhouette_of(rows[n].data, clustering.assignment[items[n]],
                                                 clustering, sizes, sums[thread]);
            });
        });
    for (double& value : values)
        if (value == kNone) value = nan;
    return values;
}

double mean_silhouette(const std::vector<double>& silhouettes) {
    double sum = 0.0, count = 0.0;
    for (const double value : silhouettes) {
        if (std::isnan(value)) continue;
        sum += value;
        ++count;
    }
    return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

void add_silhouettes(const std::vector<double>& silhouettes, const Clustering& clustering,
                     std::vector<ClusterDescription>& clusters) {
    const std::vector<std::vector<Index>> members = clustering.members();
    for (std::size_t c = 0; c < clusters.size(); ++c) {
        double sum = 0.0;
        for (const Index item : members[c]) sum += silhouettes[item];
        clusters[c].silhouette = sum / static_cast<double>(members[c].size());
    }
}

}  // namespace pleat::cluster
