// k-centres: the item farthest from all centres is the next one; then sweeps that move medoids.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <vector>

#include "pleat/cluster/methods/methods.h"
#include "pleat/cluster/stage.h"
#include "pleat/core/array.h"
#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/loops/iterate.h"
#include "pleat/core/ranks/gather_rows.h"

namespace pleat::cluster {

namespace {

constexpr Index kBlock = Index{1} << 20;  // items that are compared with a centre at once
constexpr int kCandidates = 4;            // for a medoid: itself and others; superposed together
constexpr float kIsCentre = -1.0F;        // so that it is never the farthest, nor given away

/// The nearest centre of an item.
struct Near {
    float distance;
    std::int32_t centre;
};

/// A step compares one centre with the items. In a sweep over k centres the first step chooses the
/// medoids, and all k steps give items to them. Ranks share the items, in ranges.
class CentreSearch final : public State {
public:
    CentreSearch(const PairSource& distances, const CentreOptions& options, const Context& context)
        : distances_(distances),
          options_(options),
          context_(context),
          count_(distances.count()),
          clusters_(options.clusters),
          near_(Index{context.ranks()}, (count_ + context.ranks() - 1) / context.ranks()),
          first_(std::min(context.rank() * near_.extent(1), count_)),
          end_(std::min(first_ + near_.extent(1), count_)) {
        std::ranges::fill(near_, Near{std::numeric_limits<float>::infinity(), 0});
    }

    std::string problem() const override {
        return Sha256()
            .field(distances_.hash())
            .field(options_.clusters)
            .field(options_.cutoff)
            .field(options_.sweeps)
            .field(context_.seed)
            .hex();
    }
    void save(NpzWriter& file) const override {
        const CentreClusters found = result();
        file.add("centres", centres_.data(), {std::ssize(centres_)});
        file.add("assignment", found.clustering.assignment.data(), {count_});
        file.add("distances", found.distances.data(), {count_});
        file.add_scalar("clusters", clusters_);
    }
    void load(const NpzReader& file) override {
        centres_ = file.get("centres").as<std::int64_t>(file.label("centres"));
        const auto assignment = file.get("assignment").as<std::int32_t>(file.label("assignment"));
        const auto distances = file.get("distances").as<float>(file.label("distances"));
        clusters_ = file.integer("clusters");
        const auto is_item = [&](Index i) { return i >= 0 && i < count_; };
        const auto is_centre = [&](Index c) { return c >= 0 && c < std::ssize(centres_); };
        if (std::ssize(assignment) != count_ || std::ssize(distances) != count_ ||
            !std::ranges::all_of(centres_, is_item) ||
            !std::ranges::all_of(assignment, is_centre) ||
            (clusters_ > 0 && std::ssize(centres_) > clusters_))
            throw InputError(fmt::format("expected centres of {} items, found others", count_));
        for (Index i = 0; i < count_; ++i) at(i) = {distances[i], assignment[i]};
        mark_centres();
    }
    bool reaches_limit() const override { return options_.clusters > 0; }
    std::int64_t bytes() const override { return 8 * count_; }

    Step step(std::int64_t number) {
        const bool adds = clusters_ == 0 || number < clusters_;
        const Index centre = adds ? number : number % clusters_;
        if (adds)
            centres_.push_back(farthest());
        else if (centre == 0)
            choose_medoids(number / clusters_);
        if (adds) at(centres_[centre]) = {kIsCentre, static_cast<std::int32_t>(centre)};
        compare(centre, adds);
        all_gather_rows(context_, near_.view());
        const float radius = std::max(at(farthest()).distance, 0.0F);
        if (clusters_ == 0 && radius < static_cast<float>(options_.cutoff))
            clusters_ = std::ssize(centres_);
        return {clusters_ > 0 && number + 1 == clusters_ * (1 + options_.sweeps),
                fmt::format("{} centres, radius {:.4g}", centres_.size(), radius)};
    }

    CentreClusters result() const {
        CentreClusters found;
        found.clustering.centres = centres_;
        found.clustering.assignment.reserve(count_);
        found.distances.reserve(count_);
        for (Index i = 0; i < count_; ++i) {
            found.clustering.assignment.push_back(at(i).centre);
            found.distances.push_back(std::max(at(i).distance, 0.0F));
        }
        return found;
    }

private:
    Near& at(Index item) { return near_.data()[item]; }
    const Near& at(Index item) const { return near_.data()[item]; }

    /// The first of equals.
    Index farthest() const {
        const auto is_nearer = [](Near a, Near b) { return a.distance < b.distance; };
        return std::max_element(near_.data(), near_.data() + count_, is_nearer) - near_.data();
    }

    void mark_centres() {
        for (std::size_t c = 0; c < centres_.size(); ++c)
            at(centres_[c]) = {kIsCentre, static_cast<std::int32_t>(c)};
    }

    /// By the triangle inequality, items up to this distance from their centre are not nearer to
    /// another `centre`, [centre of the items]; each value may have an error.
    std::vector<float> skipped_below(Index centre, bool is_new) const {
        std::vector<float> bounds(centres_.size(), kIsCentre);
        std::vector<Index> others = centres_;
        std::ranges::sort(others);
        if (distances_.is_metric() && others.size() > 1) {
            const std::vector<float> values = distances_to(centres_[centre], others);
            for (std::size_t n = 0; n < others.size(); ++n) {
                const double bound = values[n] / 2.0 - 2.0 * distances_.error(values[n]);
                bounds[at(others[n]).centre] = std::max(kIsCentre, static_cast<float>(bound));
            }
        }
        if (!is_new) bounds[centre] = std::numeric_limits<float>::infinity();
        return bounds;
    }

    /// Gives own items to this centre if they are nearer to it, or as near and its number is lower.
    void compare(Index centre, bool is_new) {
        const std::vector<float> bounds = skipped_below(centre, is_new);
        const auto number = static_cast<std::int32_t>(centre);
        for (Index first = first_; first < end_; first += kBlock) {
            std::vector<Index> items;
            for (Index i = first; i < std::min(first + kBlock, end_); ++i)
                if (at(i).distance > bounds[at(i).centre]) items.push_back(i);
            const std::vector<float> values = distances_to(centres_[centre], items);
            for (std::size_t n = 0; n < items.size(); ++n) {
                Near& near = at(items[n]);
                if (values[n] < near.distance ||
                    (values[n] == near.distance && number < near.centre))
                    near = {values[n], number};
            }
        }
    }

    std::vector<float> distances_to(Index centre, const std::vector<Index>& items) const {
        std::vector<float> values(items.size());
        try {
            if (!items.empty()) distances_.between({&centre, 1}, items, values.data());
        } catch (const Cancelled&) {
            throw Cancelled(
                "stopped within a step of k-centres; the same command resumes from the steps that "
                "were saved before");
        }
        return values;
    }

    /// In each cluster, the best of the centre and some members drawn by the seed becomes the
    /// medoid, the first of equals.
    void choose_medoids(std::int64_t sweep) {
        const std::vector<std::vector<Index>> members = result().clustering.members();
        std::mt19937_64 generator(context_.seed + static_cast<std::uint64_t>(sweep));
        Array<Index, 2> medoids(clusters_, Index{1});
        for (Index c = 0; c < clusters_; ++c) {
            const std::vector<Index>& items = members[c];
            std::array<Index, kCandidates> candidates = {centres_[c]};
            for (int n = 1; n < kCandidates; ++n) candidates[n] = items[generator() % items.size()];
            if (c % context_.ranks() == context_.rank())
                medoids(c, 0) = best_medoid(candidates, items);
        }
        all_gather_rows(context_, medoids.view());
        for (Index c = 0; c < clusters_; ++c) {
            if (medoids(c, 0) == centres_[c]) continue;
            centres_[c] = medoids(c, 0);
            std::vector<Index> own = members[c];
            std::erase_if(own, [&](Index item) { return item < first_ || item >= end_; });
            const std::vector<float> values = distances_to(centres_[c], own);
            for (std::size_t n = 0; n < own.size(); ++n) at(own[n]).distance = values[n];
        }
        mark_centres();
    }

    Index best_medoid(std::span<const Index> candidates, const std::vector<Index>& items) const {
        std::vector<float> values(candidates.size() * items.size());
        distances_.between(candidates, items, values.data());
        std::array<double, kCandidates> sums = {};
        for (std::size_t n = 0; n < candidates.size(); ++n)
            for (std::size_t i = 0; i < items.size(); ++i) sums[n] += values[n * items.size() + i];
        return candidates[std::min_element(sums.begin(), sums.end()) - sums.begin()];
    }

    const PairSource& distances_;
    CentreOptions options_;
    Context context_;
    Index count_;
    Index clusters_;  ///< 0 until all items are below the cutoff
    std::vector<Index> centres_;
    Array<Near, 2> near_;  ///< [rank, item of its range]
    Index first_, end_;    ///< own items
};

}  // namespace

CentreClusters k_centres(const PairSource& distances, const CentreOptions& options,
                         const Context& context) {
    CentreSearch search(distances, options, context);
    const std::int64_t limit = options.clusters > 0 ? options.clusters * (1 + options.sweeps)
                                                    : std::numeric_limits<std::int64_t>::max();
    iterate(context, "centres", search, limit,
            [&](std::int64_t number) { return search.step(number); });
    return search.result();
}

}  // namespace pleat::cluster
