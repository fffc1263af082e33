// Describe: sums of distances within clusters and to other clusters.
#include "pleat/cluster/describe.h"

#include <algorithm>
#include <cmath>

#include "pleat/core/array.h"
#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"

namespace pleat::cluster {

namespace {

/// A member of a cluster and the others' distances to it.
struct Middle {
    Index place = 0;  ///< among the members
    double mean = 0.0, radius = 0.0;
};

/// That of the least sum of distances, the first of equals.
Middle middle_of(const Distances& distances, const std::vector<Index>& items) {
    const auto count = static_cast<Index>(items.size());
    if (count < 2) return {};
    std::vector<double> sums(items.size(), 0.0);
    std::vector<float> furthest(items.size(), 0.0f);
    distances.for_each_band_among(items, [&](Block rows, const float* values) {
        for (Index i = rows.first; i < rows.first + rows.count; ++i) {
            double own[4] = {};
            float most[4] = {};
            double* const others = sums.data() + i + 1;
            float* const bounds = furthest.data() + i + 1;
            const Index later = count - 1 - i;
            for (Index n = 0; n < later; ++n) {
                others[n] += values[n];
                own[n % 4] += values[n];
                bounds[n] = std::max(bounds[n], values[n]);
                most[n % 4] = std::max(most[n % 4], values[n]);
            }
            sums[i] += own[0] + own[1] + own[2] + own[3];
            furthest[i] = std::max({furthest[i], most[0], most[1], most[2], most[3]});
            values += later;
        }
    });
    const Index place = std::min_element(sums.begin(), sums.end()) - sums.begin();
    return {place, sums[place] / static_cast<double>(count - 1), furthest[place]};
}

void check_going(const Context& context) {
    if (context.cancelled()) throw Cancelled("describe: stopped; nothing of it was kept");
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
        const Middle middle = middle_of(distances, members[c]);
        clusters[c].medoid = members[c][middle.place];
        clusters[c].mean = middle.mean;
        clusters[c].radius = middle.radius;
        if (c % 16 == 0) {
            context.update("describe", static_cast<Index>(c), static_cast<Index>(members.size()));
            check_going(context);
        }
    }
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
