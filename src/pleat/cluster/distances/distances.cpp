// Distances: the condensed matrix in memory, and keeping it where it is small.
#include "pleat/cluster/distances/distances.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "pleat/cluster/distances/neighbours.h"
#include "pleat/core/hardware/memory.h"

namespace pleat::cluster {

namespace {

constexpr Index kBandPairs = 500'000;

std::size_t pair_count(Index count) { return static_cast<std::size_t>(pairs_before(count, count)); }

}  // namespace

std::unique_ptr<Neighbours> Distances::listed_neighbours(double) const { return nullptr; }

std::optional<PairTotals> Distances::listed_totals(double) const { return std::nullopt; }

StoredDistances::StoredDistances(Index count, std::vector<float> condensed)
    : count_(count), condensed_(std::move(condensed)) {}

float StoredDistances::at(Index i, Index j) const {
    if (i == j) return 0.0f;
    if (i > j) std::swap(i, j);
    return condensed_[static_cast<std::size_t>(pairs_before(i, count_) + j - i - 1)];
}

void StoredDistances::for_each_band(std::string_view, const BandVisitor& visit) const {
    const Index step = std::max<Index>(1, kBandPairs / std::max<Index>(count_, 1));
    for (Index first = 0; first < count_ - 1; first += step)
        visit({first, std::min(step, count_ - first)},
              condensed_.data() + pairs_before(first, count_));
}

void StoredDistances::for_each_band_among(std::span<const Index> items,
                                          const BandVisitor& visit) const {
    const auto count = static_cast<Index>(items.size());
    std::vector<float> row;
    for (Index a = 0; a < count - 1; ++a) {
        row.resize(static_cast<std::size_t>(count - 1 - a));
        for (Index b = a + 1; b < count; ++b) row[b - a - 1] = at(items[a], items[b]);
        visit({a, 1}, row.data());
    }
}

void StoredDistances::rows(std::span<const Index> items, float* distances) const {
    const auto chosen = static_cast<Index>(items.size());
    for (Index n = 0; n < chosen; ++n) {
        const Index i = items[n];
        distances[n * count_ + i] = 0.0f;
        std::copy_n(condensed_.data() + pairs_before(i, count_), count_ - 1 - i,
                    distances + n * count_ + i + 1);
    }
    // Pairs of an earlier item with neighbouring ones lie side by side.
    for (Index j = 0; j < count_; ++j) {
        const Index before = pairs_before(j, count_) - j - 1;
        for (Index n = 0; n < chosen; ++n)
            if (items[n] > j) distances[n * count_ + j] = condensed_[before + items[n]];
    }
}

bool StoredDistances::is_below(Index i, Index j, double cutoff) const {
    return at(i, j) < static_cast<float>(cutoff);
}

KeptDistances::KeptDistances(const Distances& source, std::int64_t most_bytes)
    : source_(source),
      keeps_(static_cast<std::int64_t>(pair_count(source.count()) * sizeof(float)) <= most_bytes) {}

std::unique_ptr<Neighbours> KeptDistances::listed_neighbours(double cutoff) const {
    return source_.listed_neighbours(cutoff);
}

const Distances& KeptDistances::now() const {
    if (is_kept_) return stored_;
    return source_;
}

void KeptDistances::for_each_band(std::string_view stage, const BandVisitor& visit) const {
    if (is_kept_ || !keeps_) return now().for_each_band(stage, visit);
    std::vector<float> pairs;
    pairs.reserve(pair_count(count()));
    source_.for_each_band(stage, [&](Block rows, const float* distances) {
        const Index end = rows.first + rows.count;
        pairs.insert(pairs.end(), distances,
                     distances + pairs_before(end, count()) - pairs_before(rows.first, count()));
        visit(rows, distances);
    });
    stored_ = StoredDistances(count(), std::move(pairs));
    is_kept_ = true;
}

void KeptDistances::for_each_band_among(std::span<const Index> items,
                                        const BandVisitor& visit) const {
    now().for_each_band_among(items, visit);
}

void KeptDistances::rows(std::span<const Index> items, float* distances) const {
    now().rows(items, distances);
}

CondensedPairs::CondensedPairs(Index count) : count_(count) {
    const std::size_t size = pair_count(count);
    require_memory(static_cast<std::int64_t>(size * sizeof(float)),
                   fmt::format("the distances of all pairs of {} items", count),
                   "take fewer of them, or a method that needs no matrix: daura, dbscan");
    pairs_.reserve(size);
}

void CondensedPairs::add(Block rows, const float* distances) {
    const Index end = rows.first + rows.count;
    pairs_.insert(pairs_.end(), distances,
                  distances + pairs_before(end, count_) - pairs_before(rows.first, count_));
}

}  // namespace pleat::cluster
