// Describe: sums of distances within clusters and to other clusters.
#include "pleat/cluster/describe.h"

#include <algorithm>
#include <cmath>

#include "pleat/core/array.h"
#include "pleat/core/error.h"
#include "pleat/core/parallel.h"

namespace pleat::cluster {

namespace {

/// The place of the least sum of distances among these items.
Index medoid_of(const Distances& distances, const std::vector<Index>& items) {
    const auto count = static_cast<Index>(items.size());
    if (count < 3) return 0;  // of one or two the first is as good
    std::vector<double> sums(items.size(), 0.0);
    distances.for_each_band_among(items, [&](Block rows, const float* values) {
        for (Index i = rows.first; i < rows.first + rows.count; ++i) {
            double own[4] = {};
            double* const others = sums.data() + i + 1;
            const Index later = count - 1 - i;
            for (Index n = 0; n < later; ++n) {
                others[n] += values[n];
                own[n % 4] += values[n];
            }
            sums[i] += own[0] + own[1] + own[2] + own[3];
            values += later;
        }
    });
    return std::min_element(sums.begin(), sums.end()) - sums.begin();
}

void check_going(const Context& context) {
    if (context.cancelled()) throw Cancelled("describe: stopped; nothing of it was kept");
}

/// Mean and radius about medoids, of whose rows some are computed at a time.
void measure_spread(const Distances& distances, const std::vector<std::vector<Index>>& members,
                    std::vector<Description>& clusters) {
    constexpr Index kValues = 16'000'000;
    const Index count = distances.count();
    const Index batch = std::clamp<Index>(kValues / count, 1, 256);
    std::vector<Index> chosen, medoids;
    Array<float, 2> rows(batch, count);
    const auto settle = [&] {
        if (chosen.empty()) return;
        distances.rows(medoids, rows.data());
        for (std::size_t n = 0; n < chosen.size(); ++n) {
            Description& cluster = clusters[chosen[n]];
            double sum = 0.0;
            for (const Index item : members[chosen[n]]) {
                const double distance = rows(static_cast<Index>(n), item);
                sum += distance;
                cluster.radius = std::max(cluster.radius, distance);
            }
            cluster.mean = sum / static_cast<double>(cluster.size - 1);
        }
        chosen.clear();
        medoids.clear();
    };
    for (std::size_t c = 0; c < clusters.size(); ++c) {
        if (clusters[c].size < 2) continue;
        chosen.push_back(static_cast<Index>(c));
        medoids.push_back(clusters[c].medoid);
        if (static_cast<Index>(chosen.size()) == batch) settle();
    }
    settle();
}

/// The silhouette of an item of cluster `own` from its distances to all.
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

std::vector<Description> describe(const Distances& distances, const Clustering& clustering,
                                  const Context& context) {
    const std::vector<std::vector<Index>> members = clustering.members();
    std::vector<Description> clusters(members.size());
    for (std::size_t c = 0; c < members.size(); ++c) {
        clusters[c].size = static_cast<Index>(members[c].size());
        clusters[c].medoid = members[c][medoid_of(distances, members[c])];
        if (c % 16 == 0) {
            context.update("describe", static_cast<Index>(c), static_cast<Index>(members.size()));
            check_going(context);
        }
    }
    measure_spread(distances, members, clusters);
    const auto all = static_cast<Index>(members.size());
    context.update("describe", all, all);
    return clusters;
}

std::vector<double> silhouettes(const Distances& distances, const Clustering& clustering,
                                const Context& context) {
    const Index count = distances.count(), clusters = clustering.cluster_count();
    std::vector<double> values(static_cast<std::size_t>(count),
                               std::numeric_limits<double>::quiet_NaN());
    if (clusters < 2) return values;
    std::vector<double> sizes(static_cast<std::size_t>(clusters), 0.0);
    for (const std::int32_t cluster : clustering.assignment)
        if (cluster != kNoise) ++sizes[cluster];
    const int threads = resolve_threads(context);
    std::vector<std::vector<double>> sums(static_cast<std::size_t>(threads), sizes);
    const Index batch = std::clamp<Index>(16'000'000 / count, 16, 256);
    auto rows = Array<float, 2>::unset(batch, count);
    std::vector<Index> items;
    for (Index first = 0; first < count; first += batch) {
        context.update("silhouettes", first, count);
        check_going(context);
        items.clear();
        for (Index i = first; i < std::min(first + batch, count); ++i)
            if (clustering.assignment[i] != kNoise) items.push_back(i);
        if (items.empty()) continue;
        distances.rows(items, rows.data());
        parallel_for(threads, static_cast<Index>(items.size()), [&](Index n, int thread) {
            values[items[n]] = silhouette_of(rows[n].data, clustering.assignment[items[n]],
                                             clustering, sizes, sums[thread]);
        });
    }
    context.update("silhouettes", count, count);
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
                     std::vector<Description>& clusters) {
    const std::vector<std::vector<Index>> members = clustering.members();
    for (std::size_t c = 0; c < clusters.size(); ++c) {
        double sum = 0.0;
        for (const Index item : members[c]) sum += silhouettes[item];
        clusters[c].silhouette = sum / static_cast<double>(members[c].size());
    }
}

}  // namespace pleat::cluster
