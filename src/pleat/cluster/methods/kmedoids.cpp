// k-medoids: eager swaps, with the nearest and the second nearest medoid of each item at hand.
#include "pleat/cluster/methods/kmedoids.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"

namespace pleat::cluster {

namespace {

constexpr Index kBatch = 64;

std::vector<Index> drawn(Index count, Index clusters, std::uint64_t seed) {
    std::vector<Index> items(static_cast<std::size_t>(count));
    std::iota(items.begin(), items.end(), Index{0});
    std::mt19937_64 generator(seed);
    for (Index n = 0; n < clusters; ++n) {
        const auto others = static_cast<std::uint64_t>(count - n);
        std::swap(items[n], items[n + static_cast<Index>(generator() % others)]);
    }
    items.resize(static_cast<std::size_t>(clusters));
    std::sort(items.begin(), items.end());
    return items;
}

class Search {
public:
    Search(const Distances& distances, std::vector<Index> medoids)
        : distances_(distances),
          count_(distances.count()),
          clusters_(static_cast<Index>(medoids.size())),
          medoids_(std::move(medoids)),
          to_medoids_(Array<float, 2>::unset(clusters_, count_)),
          places_(static_cast<std::size_t>(count_)),
          is_medoid_(static_cast<std::size_t>(count_), false),
          losses_(static_cast<std::size_t>(clusters_)) {
        for (Index first = 0; first < clusters_; first += kBatch)
            distances_.rows(std::span(medoids_).subspan(first, std::min(kBatch, clusters_ - first)),
                            to_medoids_[first].data);
        for (const Index medoid : medoids_) is_medoid_[medoid] = true;
        for (Index item = 0; item < count_; ++item) place(item);
        sum_losses();
    }

    /// Lets the item, whose row this is, replace a medoid if the cost falls.
    bool try_item(Index item, const float* row) {
        if (is_medoid_[item]) return false;
        gains_ = losses_;
        double shared = 0.0;
        for (Index o = 0; o < count_; ++o) {
            const Place& at = places_[o];
            const float distance = row[o];
            if (distance < at.to_nearest || clusters_ == 1) {
                shared += double{distance} - at.to_nearest;
                gains_[at.nearest] += double{at.to_nearest} - at.to_second;
            } else if (distance < at.to_second) {
                gains_[at.nearest] += double{distance} - at.to_second;
            }
        }
        const auto best = std::min_element(gains_.begin(), gains_.end());
        // Less than rounding of the sums is no gain, and could go round in circles.
        if (!(*best + shared < -1e-9 * cost_)) return false;
        replace(best - gains_.begin(), item, row);
        return true;
    }

    Medoids result() const {
        Medoids found;
        found.clustering.centres = medoids_;
        found.cost = cost_;
        for (const Place& place : places_) found.clustering.assignment.push_back(place.nearest);
        for (Index n = 0; n < clusters_; ++n)  // also where another medoid lies at the same place
            found.clustering.assignment[medoids_[n]] = static_cast<std::int32_t>(n);
        number_by_size(found.clustering);
        return found;
    }

private:
    struct Place {
        std::int32_t nearest = 0, second = 0;
        float to_nearest = 0, to_second = 0;
    };

    void place(Index item) {
        constexpr float kFar = std::numeric_limits<float>::max();
        Place at{0, 0, kFar, kFar};
        for (Index n = 0; n < clusters_; ++n) {
            const float distance = to_medoids_(n, item);
            if (distance < at.to_nearest) {
                at.second = at.nearest;
                at.to_second = at.to_nearest;
                at.nearest = static_cast<std::int32_t>(n);
                at.to_nearest = distance;
            } else if (distance < at.to_second) {
                at.second = static_cast<std::int32_t>(n);
                at.to_second = distance;
            }
        }
        // Behind the only medoid there is none: an item in its place takes all, however far.
        if (clusters_ == 1) at.to_second = at.to_nearest;
        places_[item] = at;
    }

    void sum_losses() {
        std::fill(losses_.begin(), losses_.end(), 0.0);
        cost_ = 0.0;
        for (const Place& at : places_) {
            losses_[at.nearest] += double{at.to_second} - at.to_nearest;
            cost_ += at.to_nearest;
        }
    }

    void replace(Index medoid, Index item, const float* row) {
        is_medoid_[medoids_[medoid]] = false;
        is_medoid_[item] = true;
        medoids_[medoid] = item;
        std::copy_n(row, count_, to_medoids_[medoid].data);
        const auto changed = static_cast<std::int32_t>(medoid);
        for (Index o = 0; o < count_; ++o) {
            const Place& at = places_[o];
            if (at.nearest == changed || at.second == changed || row[o] <= at.to_second) place(o);
        }
        sum_losses();
    }

    const Distances& distances_;
    Index count_, clusters_;
    std::vector<Index> medoids_;
    Array<float, 2> to_medoids_;  // [medoid, item]
    std::vector<Place> places_;
    std::vector<bool> is_medoid_;
    std::vector<double> losses_, gains_;  // of removing each medoid
    double cost_ = 0.0;
};

}  // namespace

void require_medoids(Index count, Index clusters) {
    require_memory(4 * (clusters + kBatch) * count,
                   fmt::format("{} medoids of {} items", clusters, count), "take fewer clusters");
}

Medoids k_medoids(const Distances& distances, Index clusters, const Context& context) {
    const Index count = distances.count();
    require_medoids(count, clusters);
    Search search(distances, drawn(count, clusters, context.seed));
    auto rows = Array<float, 2>::unset(kBatch, count);
    std::vector<Index> items;
    Index idle = 0, swaps = 0;
    for (Index first = 0; idle < count; first = first + kBatch < count ? first + kBatch : 0) {
        const Index many = std::min(kBatch, count - first);
        items.resize(static_cast<std::size_t>(many));
        std::iota(items.begin(), items.end(), first);
        distances.rows(items, rows.data());
        for (Index n = 0; n < many && idle < count; ++n) {
            const bool has_swapped = search.try_item(items[n], rows[n].data);
            swaps += has_swapped;
            idle = has_swapped ? 0 : idle + 1;
        }
        context.update("medoids", std::min(idle, count), count, fmt::format("{} swaps", swaps));
        if (context.cancelled()) throw Cancelled("medoids: stopped; nothing of it was kept");
    }
    Medoids found = search.result();
    found.swaps = swaps;
    return found;
}

}  // namespace pleat::cluster
