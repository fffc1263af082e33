// k-medoids: eager swaps, with the nearest and the second nearest medoid of each item at hand.
#include "pleat/cluster/methods/methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "pleat/cluster/stage.h"
#include "pleat/core/array.h"
#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/iterate.h"

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

class Search final : public State {
public:
    Search(const PairSource& distances, Index clusters, const Context& context)
        : distances_(distances),
          context_(context),
          count_(distances.count()),
          clusters_(clusters),
          medoids_(drawn(count_, clusters, context.seed)),
          to_medoids_(Array<float, 2>::unset(clusters_, count_)),
          rows_(Array<float, 2>::unset(kBatch * context.ranks(), count_)),
          neighbours_(static_cast<std::size_t>(count_)),
          is_medoid_(static_cast<std::size_t>(count_), false),
          losses_(static_cast<std::size_t>(clusters_)) {}

    std::string problem() const override {
        return Sha256().field(distances_.hash()).field(clusters_).field(context_.seed).hex();
    }
    void save(NpzWriter& file) const override {
        file.add("medoids", medoids_.data(), {clusters_});
        file.add_scalar("first", first_);
        file.add_scalar("idle", idle_);
        file.add_scalar("swaps", swaps_);
    }
    void load(const NpzReader& file) override {
        medoids_ = file.get("medoids").as<std::int64_t>(file.label("medoids"));
        first_ = file.integer("first");
        idle_ = file.integer("idle");
        swaps_ = file.integer("swaps");
        const bool is_right =
            static_cast<Index>(medoids_.size()) == clusters_ && first_ >= 0 && first_ < count_ &&
            std::ranges::all_of(medoids_, [&](Index i) { return i >= 0 && i < count_; });
        if (!is_right)
            throw InputError(fmt::format("expected {} medoids, found others", clusters_));
    }
    bool reaches_limit() const override { return false; }

    /// Tries one batch of items per rank; finished if a whole round swapped no item.
    Step step() {
        if (!has_distances_) find_distances();
        const Index many = std::min(kBatch * context_.ranks(), count_ - first_);
        std::vector<Index> items(static_cast<std::size_t>(many));
        std::iota(items.begin(), items.end(), first_);
        gather_rows_of(distances_, context_, items, kBatch, rows_.data());
        for (Index n = 0; n < many && idle_ < count_; ++n) {
            const bool has_swapped = try_item(items[n], rows_[n].data);
            swaps_ += has_swapped;
            idle_ = has_swapped ? 0 : idle_ + 1;
        }
        first_ = first_ + many < count_ ? first_ + many : 0;
        return {idle_ >= count_, fmt::format("{} swaps", swaps_)};
    }

    /// Replaces a medoid by the item with this row of distances if that lowers the cost.
    bool try_item(Index item, const float* row) {
        if (is_medoid_[item]) return false;
        gains_ = losses_;
        double shared = 0.0;
        for (Index o = 0; o < count_; ++o) {
            const NearMedoids& at = neighbours_[o];
            const float distance = row[o];
            if (distance < at.to_nearest || clusters_ == 1) {
                shared += double{distance} - at.to_nearest;
                gains_[at.nearest] += double{at.to_nearest} - at.to_second;
            } else if (distance < at.to_second) {
                gains_[at.nearest] += double{distance} - at.to_second;
            }
        }
        const auto best = std::min_element(gains_.begin(), gains_.end());
        // Smaller changes may be rounding errors, with which swaps could repeat forever.
        if (!(*best + shared < -1e-9 * cost_)) return false;
        replace(best - gains_.begin(), item, row);
        return true;
    }

    Medoids result() {
        if (!has_distances_) find_distances();  // a run that was stopped after its last step
        Medoids found;
        found.clustering.centres = medoids_;
        found.cost = cost_;
        found.swaps = swaps_;
        for (const NearMedoids& near : neighbours_)
            found.clustering.assignment.push_back(near.nearest);
        for (Index n = 0; n < clusters_; ++n)  // even if another medoid is at distance 0
            found.clustering.assignment[medoids_[n]] = static_cast<std::int32_t>(n);
        number_by_size(found.clustering);
        return found;
    }

private:
    /// The nearest and the second nearest medoid of an item.
    struct NearMedoids {
        std::int32_t nearest = 0, second = 0;
        float to_nearest = 0, to_second = 0;
    };

    void find_distances() {
        gather_rows_of(distances_, context_, medoids_, kBatch, to_medoids_.data());
        for (const Index medoid : medoids_) is_medoid_[medoid] = true;
        for (Index item = 0; item < count_; ++item) find_medoids_of(item);
        sum_losses();
        has_distances_ = true;
    }

    void find_medoids_of(Index item) {
        constexpr float kFar = std::numeric_limits<float>::max();
        NearMedoids at{0, 0, kFar, kFar};
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
        // If there is only one medoid, the item that replaces it gets all items, at any distance.
        if (clusters_ == 1) at.to_second = at.to_nearest;
        neighbours_[item] = at;
    }

    void sum_losses() {
        std::fill(losses_.begin(), losses_.end(), 0.0);
        cost_ = 0.0;
        for (const NearMedoids& at : neighbours_) {
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
            const NearMedoids& at = neighbours_[o];
            if (at.nearest == changed || at.second == changed || row[o] <= at.to_second)
                find_medoids_of(o);
        }
        sum_losses();
    }

    const PairSource& distances_;
    const Context& context_;
    Index count_, clusters_;
    std::vector<Index> medoids_;
    Index first_ = 0, idle_ = 0,
          swaps_ = 0;  // next item to try; number of items tried since the last swap
    bool has_distances_ = false;
    Array<float, 2> to_medoids_;  // [medoid, item]
    Array<float, 2> rows_;        // [item of a step, item]
    std::vector<NearMedoids> neighbours_;
    std::vector<bool> is_medoid_;
    std::vector<double> losses_,
        gains_;  // increase of the cost by removing each medoid, and decrease by adding the item
    double cost_ = 0.0;
};

}  // namespace

std::int64_t medoid_bytes(Index count, Index clusters) { return 4 * (clusters + kBatch) * count; }

void require_medoids(Index count, Index clusters) {
    require_memory(medoid_bytes(count, clusters),
                   fmt::format("{} medoids of {} items", clusters, count), "take fewer clusters");
}

Medoids k_medoids(const PairSource& distances, Index clusters, const Context& context) {
    require_medoids(distances.count(), clusters);
    Search search(distances, clusters, context);
    iterate(context, "medoids", search, std::numeric_limits<std::int64_t>::max(),
            [&](std::int64_t) { return search.step(); });
    return search.result();
}

}  // namespace pleat::cluster
