// Cases for tests of clustering: every method, items on a line, and comparing results.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "pleat/cluster/cluster.h"
#include "pleat/cluster/methods/methods.h"
#include "pleat/cluster/neighbours/neighbours.h"
#include "pleat/cluster/tests/random_pairs.h"

namespace pleat::cluster::test {

inline Parameters with(Method method, CutoffRange cutoff, CountRange k) {
    Parameters parameters;
    parameters.method = method;
    parameters.cutoff = cutoff;
    parameters.k = k;
    return parameters;
}

inline std::string shown(const Parameters& parameters) {
    const auto method = static_cast<std::size_t>(parameters.method);
    return std::string(names_of(Method())[method]) + ' ' + parameters.cutoff.text() + ' ' +
           parameters.k.text();
}

inline const std::vector<Parameters>& every_method() {
    static const std::vector<Parameters> all = {with(Method::gromos, 3, {}),
                                                with(Method::gmx, 3, {}),
                                                with(Method::single, 1.5, {}),
                                                with(Method::complete, 8, {}),
                                                with(Method::average, {}, 4),
                                                with(Method::ward, {}, {2, 8, 2}),
                                                with(Method::kmedoids, {}, 4),
                                                with(Method::kmedoids, {}, {2, 6}),
                                                with(Method::dbscan, {1, 3, 0.5}, {}),
                                                with(Method::dbscan, 1.5, {}),
                                                with(Method::density_peaks, {}, 4),
                                                with(Method::density_peaks, 2, {2, 5}),
                                                with(Method::density_peaks, {1, 3, 1}, 4),
                                                with(Method::jarvis_patrick, {}, {}),
                                                with(Method::jarvis_patrick, {1, 5, 1}, {}),
                                                with(Method::gromos, {1, 5, 1}, {})};
    return all;
}

inline void expect_same(const Result& found, const Result& expected) {
    EXPECT_EQ(found.clustering.assignment, expected.clustering.assignment);
    EXPECT_EQ(found.clustering.centres, expected.clustering.centres);
    EXPECT_EQ(found.statistics.histogram(), expected.statistics.histogram());
    EXPECT_EQ(found.statistics.mean(), expected.statistics.mean());
    EXPECT_EQ(found.statistics.min(), expected.statistics.min());
    EXPECT_EQ(found.statistics.max(), expected.statistics.max());
    ASSERT_EQ(found.clusters.size(), expected.clusters.size());
    for (std::size_t c = 0; c < found.clusters.size(); ++c) {
        EXPECT_EQ(found.clusters[c].medoid, expected.clusters[c].medoid);
        EXPECT_EQ(found.clusters[c].mean, expected.clusters[c].mean);
        EXPECT_EQ(found.clusters[c].radius, expected.clusters[c].radius);
    }
    ASSERT_EQ(found.sweep.size(), expected.sweep.size());
    for (std::size_t n = 0; n < found.sweep.size(); ++n) {
        const double a = found.sweep[n].silhouette, b = expected.sweep[n].silhouette;
        EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << a << ' ' << b;
    }
    ASSERT_EQ(found.peaks.size(), expected.peaks.size());
    for (std::size_t i = 0; i < found.peaks.size(); ++i) {
        EXPECT_EQ(found.peaks[i].nearest_denser, expected.peaks[i].nearest_denser);
        EXPECT_EQ(found.peaks[i].separation, expected.peaks[i].separation);
    }
}

/// Items around positions on a line, too many for their pairs to be kept; and a device that counts
/// them.
class OnALine final : public PairSource, public PairCounter {
public:
    OnALine(Index count, bool reduces) : count_(count), reduces_(reduces) {
        for (Index i = 0; i < count; ++i)
            positions_.push_back(static_cast<float>(10 * (i * i % 7) + (i * 37 % 101) / 50.0));
    }

    Index count() const override { return count_; }
    Index band_rows() const override { return 100; }
    void band(Block rows, float* values) const override {
        if (reduces_) throw std::logic_error("expected no bands to be asked for");
        ++bands;
        compute(rows, values);
    }
    void among(std::span<const Index> items, const BandVisitor& visit) const override {
        ++lists;
        visit_among(items, visit, [&](Index i, Index j) { return at(i, j); });
    }
    void rows(std::span<const Index> items, float* values) const override {
        for (const Index i : items)
            for (Index j = 0; j < count_; ++j) *values++ = at(i, j);
    }
    std::string hash() const override { return "on a line"; }
    double error(double) const override { return 0.0; }
    bool is_below(Index i, Index j, double cutoff) const override {
        return at(i, j) < static_cast<float>(cutoff);
    }
    PairCounter* counter() const override {
        return reduces_ ? const_cast<OnALine*>(this) : nullptr;
    }
    void count(Block rows, const Bins& bins, PairCounts& counts) override {
        std::vector<float> values(static_cast<std::size_t>(
            pairs_before(rows.first + rows.count, count_) - pairs_before(rows.first, count_)));
        compute(rows, values.data());
        PairStatistics statistics(count_, bins.width);
        statistics.add_band(rows, count_, values.data(), 1);
        counts.statistics.add(0, statistics);
        if (!bins.counts_neighbours) return;
        counts.neighbours.assign(static_cast<std::size_t>(count_), 0);
        for (Index i = rows.first; i < rows.first + rows.count; ++i)
            for (Index j = i + 1; j < count_; ++j)
                if (is_below(i, j, bins.cutoff)) ++counts.neighbours[i], ++counts.neighbours[j];
    }
    bool sum_among(std::span<const Index> items, const Context&, std::vector<double>& sums,
                   std::vector<float>& maxima) override {
        for (std::size_t a = 0; a < items.size(); ++a)
            for (const Index other : items) {
                sums[a] += at(items[a], other);
                maxima[a] = std::max(maxima[a], at(items[a], other));
            }
        return true;
    }
    DeviceClusters gromos(double cutoff, std::vector<std::int32_t> neighbours,
                          const Context&) const override {
        ++clusterings;
        given_neighbours = std::move(neighbours);
        const OnALine plain(count_, false);
        const auto near = find_neighbours(plain, cutoff, threads(1), std::int64_t{1} << 30);
        Clustering found = cluster::gromos(*near, threads(1));
        return {found.assignment, {found.centres.begin(), found.centres.end()}};
    }

    mutable std::atomic<int> clusterings = 0, bands = 0, lists = 0;
    mutable std::vector<std::int32_t> given_neighbours;

private:
    float at(Index i, Index j) const { return std::fabs(positions_[i] - positions_[j]); }
    void compute(Block rows, float* values) const {
        for (Index i = rows.first; i < rows.first + rows.count; ++i)
            for (Index j = i + 1; j < count_; ++j) *values++ = at(i, j);
    }

    Index count_;
    bool reduces_;
    std::vector<float> positions_;
};

inline constexpr Index kTooMany = 11'700;  // for their pairs to be kept

}  // namespace pleat::cluster::test
