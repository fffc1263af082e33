// Random distances for tests: with few values, so that ties abound, or with none.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "pleat/cluster/distances/distances.h"
#include "pleat/core/context.h"

namespace pleat::cluster::test {

/// Distances 1, 2, ..., `levels`, or with `levels` 0 any from 0 to 1.
inline StoredDistances random_distances(Index count, int levels, std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    std::vector<float> pairs(static_cast<std::size_t>(pairs_before(count, count)));
    for (float& pair : pairs)
        pair = levels > 0 ? static_cast<float>(1 + generator() % static_cast<std::uint64_t>(levels))
                          : static_cast<float>(generator() >> 40) / 16777216.0f;
    return {count, std::move(pairs)};
}

/// Points in a plane around `groups` places.
inline StoredDistances grouped_distances(Index count, int groups, std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    std::vector<double> x, y;
    for (Index i = 0; i < count; ++i) {
        const int group = static_cast<int>(generator() % static_cast<std::uint64_t>(groups));
        x.push_back(10 * (group % 3) + normal(generator));
        y.push_back(10 * (group / 3) + normal(generator));
    }
    std::vector<float> pairs;
    for (Index i = 0; i < count; ++i)
        for (Index j = i + 1; j < count; ++j)
            pairs.push_back(static_cast<float>(std::hypot(x[i] - x[j], y[i] - y[j])));
    return {count, std::move(pairs)};
}

/// The same distances from bands of `rows` rows; where `noise` is not 0 values are off by up to as
/// much, and only is_below() knows them.
class OddBands final : public Distances {
public:
    OddBands(const StoredDistances& from, Index rows, float noise = 0)
        : from_(from), rows_(rows), noise_(noise) {}
    Index count() const override { return from_.count(); }
    void for_each_band(std::string_view, const BandVisitor& visit) const override {
        for (Index first = 0; first < count() - 1; first += rows_) {
            std::vector<float> band;
            const Index last = std::min(first + rows_, count());
            for (Index i = first; i < last; ++i)
                for (Index j = i + 1; j < count(); ++j) band.push_back(off(i, j));
            visit({first, last - first}, band.data());
        }
    }
    void for_each_band_among(std::span<const Index> items,
                             const BandVisitor& visit) const override {
        from_.for_each_band_among(items, visit);
    }
    void rows(std::span<const Index> items, float* distances) const override {
        for (const Index i : items)
            for (Index j = 0; j < count(); ++j) *distances++ = i == j ? 0.0f : off(i, j);
    }
    double doubt(double) const override { return 1.001 * noise_; }
    bool is_below(Index i, Index j, double cutoff) const override {
        return from_.is_below(i, j, cutoff);
    }

private:
    float off(Index i, Index j) const {
        return from_.at(i, j) + noise_ * static_cast<float>((i * 7 + j * 13) % 3 - 1);
    }
    const StoredDistances& from_;
    Index rows_;
    float noise_;
};

/// All pairs in condensed order.
inline std::vector<float> condensed_pairs(const Distances& distances) {
    CondensedPairs pairs(distances.count());
    distances.for_each_band("test", [&](Block rows, const float* band) { pairs.add(rows, band); });
    return pairs.take();
}

inline Context threads(int count) {
    Context context;
    context.threads = count;
    return context;
}

}  // namespace pleat::cluster::test
