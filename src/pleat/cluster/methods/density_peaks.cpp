// Density peaks: nearest denser items in one pass, then assignment in the order of density.
#include "pleat/cluster/methods/density_peaks.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "pleat/core/array.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/core/ranks/gather_rows.h"

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

/// The nearest denser item of an item, and of the densest item the distance to the farthest one.
struct Nearest {
    std::int64_t nearest_denser;
    float distance, farthest;

    /// Keeps the nearer item; of equally near ones the earlier, in whatever order they are offered.
    void offer(std::int64_t item, float value) {
        if (value < distance || (value == distance && item < nearest_denser)) {
            distance = value;
            nearest_denser = item;
        }
    }
};

}  // namespace

std::vector<Peak> find_peaks(const PairSource& distances, const std::vector<std::int32_t>& degrees,
                             const Context& context) {
    const Index count = distances.count();
    std::vector<Peak> peaks(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i)
        peaks[i] = {degrees[i] - 1, -1, std::numeric_limits<float>::infinity()};
    const Index densest = densest_first(peaks).front();
    Array<Nearest, 2> found(Index{context.ranks()}, count);  // [rank, item]
    found.fill({-1, std::numeric_limits<float>::infinity(), 0.0f});
    Nearest* const own = found[context.rank()].data;
    std::vector<float> values;
    const auto visit = [&](const Tile& tile) {
        const Block rows = tile.side[0];
        values.resize(static_cast<std::size_t>(tile.items));
        distances.band(rows, values.data());
        const float* value = values.data();
        for (Index i = rows.first; i < rows.first + rows.count; ++i) {
            for (Index j = i + 1; j < count; ++j, ++value) {
                is_denser(peaks, i, j) ? own[j].offer(i, *value) : own[i].offer(j, *value);
                if (i == densest || j == densest)
                    own[densest].farthest = std::max(own[densest].farthest, *value);
            }
        }
    };
    for_each_tile(context, "peaks", cut_into_bands(count, distances.band_rows()),
                  {.compute = visit});
    all_gather_rows(context, found.view());
    for (Index rank = 1; rank < found.extent(0); ++rank)
        for (Index i = 0; i < count; ++i) {
            if (found(rank, i).nearest_denser >= 0)
                found(0, i).offer(found(rank, i).nearest_denser, found(rank, i).distance);
            found(0, i).farthest = std::max(found(0, i).farthest, found(rank, i).farthest);
        }
    for (Index i = 0; i < count; ++i) {
        peaks[i].nearest_denser = found(0, i).nearest_denser;
        peaks[i].separation = i == densest ? found(0, i).farthest : found(0, i).distance;
    }
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
            result.assignment[i] = result.assignment[peaks[i].nearest_denser];
    number_by_size(result);
    return result;
}

}  // namespace pleat::cluster
