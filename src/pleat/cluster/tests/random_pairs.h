// Random pairs for tests: with few values, so that ties abound, or with none.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/pairs/pair_source.h"

namespace pleat::cluster::test {

/// Distances 1, 2, ..., `levels`, or with `levels` 0 any from 0 to 1.
inline StoredPairs random_pairs(Index count, int levels, std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    std::vector<float> pairs(static_cast<std::size_t>(pairs_before(count, count)));
    for (float& pair : pairs)
        pair = levels > 0 ? static_cast<float>(1 + generator() % static_cast<std::uint64_t>(levels))
                          : static_cast<float>(generator() >> 40) / 16777216.0f;
    return {count, std::move(pairs)};
}

/// Points in a plane around `groups` places.
inline StoredPairs grouped_pairs(Index count, int groups, std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    std::vector<double> x, y;
    for (Index i = 0; i < count; ++i) {
        const int group = static_cast<int>(generator() % static_cast<std::uint64_t>(groups));
        x.push_back(10 * (group % 3) + normal(generator));
        const auto row = group / 3;
        y.push_back(10.0 * row + normal(generator));
    }
    std::vector<float> pairs;
    for (Index i = 0; i < count; ++i)
        for (Index j = i + 1; j < count; ++j)
            pairs.push_back(static_cast<float>(std::hypot(x[i] - x[j], y[i] - y[j])));
    return {count, std::move(pairs)};
}

/// The same distances as if they were computed, in bands of `rows` rows; if `noise` is not 0 values
/// are off by up to as much, and only is_below() knows them. `is_metric`: they say that they are a
/// metric.
class OddBands final : public PairSource {
public:
    OddBands(const StoredPairs& from, Index rows, float noise = 0, bool is_metric = false)
        : from_(from), rows_(rows), noise_(noise), is_metric_(is_metric) {}
    bool is_metric() const override { return is_metric_; }
    Index count() const override { return from_.count(); }
    void band(Block rows, float* values) const override {
        ++bands;
        for (Index i = rows.first; i < rows.first + rows.count; ++i)
            for (Index j = i + 1; j < count(); ++j) *values++ = off(i, j);
    }
    Index band_rows() const override { return rows_; }
    void among(std::span<const Index> items, const BandVisitor& visit) const override {
        from_.among(items, visit);
    }
    void rows(std::span<const Index> items, float* values) const override {
        for (const Index i : items)
            for (Index j = 0; j < count(); ++j) *values++ = i == j ? 0.0f : off(i, j);
    }
    std::string hash() const override { return from_.hash(); }
    double error(double) const override { return 1.001 * noise_; }
    bool is_below(Index i, Index j, double cutoff) const override {
        return from_.is_below(i, j, cutoff);
    }

    mutable std::atomic<int> bands = 0;  ///< that were computed

private:
    float off(Index i, Index j) const {
        return from_.at(i, j) + noise_ * static_cast<float>((i * 7 + j * 13) % 3 - 1);
    }
    const StoredPairs& from_;
    Index rows_;
    float noise_;
    bool is_metric_;
};

/// All pairs in condensed order.
inline std::vector<float> condensed_pairs(const PairSource& distances) {
    std::vector<float> all;
    for (const Tile& tile : cut_into_bands(distances.count(), distances.band_rows())) {
        std::vector<float> band(static_cast<std::size_t>(tile.items));
        distances.band(tile.side[0], band.data());
        all.insert(all.end(), band.begin(), band.end());
    }
    return all;
}

inline Context threads(int count) {
    Context context;
    context.threads = count;
    return context;
}

}  // namespace pleat::cluster::test
