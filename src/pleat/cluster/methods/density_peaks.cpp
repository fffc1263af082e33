// Density peaks: nearest denser items in one pass, then assignment in the order of density.
#include "pleat/cluster/methods/density_peaks.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace pleat::cluster {

namespace {

bool is_denser(const std::vector<Peak>& peaks, Index a, Index b) {
    return peaks[a].density != peaks[b].density ? peaks[a].density > peaks[b].density : a < b;
}

std::vector<Index> densest_first(const std::vector<Peak>& peaks) {
    std::vector<Index> order(peaks.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return is_denser(peaks, a, b); });
    return order;
}

}  // namespace

std::vector<Peak> find_peaks(const Distances& distances, const std::vector<std::int32_t>& degrees) {
    const Index count = distances.count();
    std::vector<Peak> peaks(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i)
        peaks[i] = {degrees[i] - 1, -1, std::numeric_limits<float>::infinity()};
    const Index densest = densest_first(peaks).front();
    float farthest = 0.0f;
    // Pairs of one item come with the other ascending, so that an equal one later changes nothing.
    const auto follow = [&](Index item, Index denser, float distance) {
        if (!(distance < peaks[item].separation)) return;
        peaks[item].separation = distance;
        peaks[item].denser = denser;
    };
    distances.for_each_band("peaks", [&](Block rows, const float* values) {
        for (Index i = rows.first; i < rows.first + rows.count; ++i) {
            for (Index j = i + 1; j < count; ++j, ++values) {
                is_denser(peaks, i, j) ? follow(j, i, *values) : follow(i, j, *values);
                if (i == densest || j == densest) farthest = std::max(farthest, *values);
            }
        }
    });
    peaks[densest].separation = farthest;
    return peaks;
}

Clustering density_peaks(const std::vector<Peak>& peaks, Index clusters) {
    const std::vector<Index> order = densest_first(peaks);
    const auto product = [&](Index i) {
        return static_cast<double>(peaks[i].density) * peaks[i].separation;
    };
    std::vector<Index> ranked(order.begin() + 1, order.end());
    std::sort(ranked.begin(), ranked.end(), [&](Index a, Index b) {
        return product(a) != product(b) ? product(a) > product(b) : a < b;
    });
    ranked.insert(ranked.begin(), order.front());
    Clustering result;
    result.centres.assign(ranked.begin(), ranked.begin() + clusters);
    result.assignment.assign(peaks.size(), kNoise);
    for (std::size_t n = 0; n < result.centres.size(); ++n)
        result.assignment[result.centres[n]] = static_cast<std::int32_t>(n);
    for (const Index i : order)
        if (result.assignment[i] == kNoise)
            result.assignment[i] = result.assignment[peaks[i].denser];
    number_by_size(result);
    return result;
}

}  // namespace pleat::cluster
