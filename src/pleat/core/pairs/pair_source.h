// Pair source: the values of all pairs of items, computed or read when they are asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/core/pairs/pair_order.h"
#include "pleat/core/pairs/pair_statistics.h"

#pragma GCC visibility push(default)

namespace pleat {

/// A pair i < j whose value was below a cutoff.
struct NearPair {
    std::int32_t i = 0, j = 0;
    float value = 0;
};

/// What a device computed from the pairs of some rows instead of returning their values.
struct PairCounts {
    PairStatistics statistics{1, 0.05};
    std::vector<NearPair> near;  ///< sorted by i, then j, within each call of count()
};

/// Clusters found on a device.
struct DeviceClusters {
    std::vector<std::int32_t> assignment;  ///< [item]: its cluster
    std::vector<std::int32_t> centres;     ///< [cluster]: its item with the most neighbours
};

/// Reductions of the pairs of a source where their values arise, on a GPU. Not thread-safe.
class PairReductions {
public:
    virtual ~PairReductions() = default;
    /// Adds the pairs of these rows with all later items. `cutoff` 0: no pairs are listed.
    virtual void count(Block rows, double bin_width, double cutoff, PairCounts& counts) const = 0;
    /// GROMOS clusters below this cutoff; see cluster/methods/greedy.h. Throws DeviceError if the
    /// device lacks the memory, Cancelled.
    virtual DeviceClusters gromos(double cutoff, const Context& context) const = 0;
};

/// Receives the values of items `rows` with all later items, in condensed order; valid during the
/// call.
using BandVisitor = std::function<void(Block rows, const float* values)>;

/// The values of all pairs of count() items: distances or scores. They are symmetric and finite,
/// and a pair's value does not depend on the band or the threads that compute it. Not thread-safe,
/// except is_below().
class PairSource {
public:
    virtual ~PairSource() = default;
    virtual Index count() const = 0;
    /// The values of each item of `rows` with all later items, in condensed order.
    virtual void band(Block rows, float* values) const = 0;
    /// How many rows a band should have: few enough that its values stay in the cache.
    virtual Index band_rows() const = 0;
    /// The values of each of `items` with every item, [item of `items`, count()]; 0 for an item
    /// with itself. May differ from those of band() by twice error().
    virtual void rows(std::span<const Index> items, float* values) const = 0;
    /// The values of each of `items` with each of `others`, which ascend, [item, other]; as rows().
    virtual void between(std::span<const Index> items, std::span<const Index> others,
                         float* values) const;
    /// Whether values are distances of a metric: d(i, k) <= d(i, j) + d(j, k).
    virtual bool is_metric() const { return false; }
    /// Computes the pairs among these items; `visit` numbers them by their positions in the list.
    /// Values may differ from those of band() by twice error().
    virtual void among(std::span<const Index> items, const BandVisitor& visit) const = 0;
    /// True if values are stored and nothing is computed again.
    virtual bool is_stored() const { return false; }
    /// Identifies everything that the values depend on, for checkpoints.
    virtual std::string hash() const = 0;

    /// Values this close to `cutoff` do not decide on which side of it a pair is: is_below() does.
    virtual double error(double cutoff) const = 0;
    /// i < j. Several threads may call it at a time, if error() is above 0.
    virtual bool is_below(Index i, Index j, double cutoff) const = 0;
    /// The functions that count and cluster pairs on the device; null if the device cannot do that.
    virtual const PairReductions* reductions() const { return nullptr; }
};

/// Tiles of whole rows: [first, first + rows) with all later of `count` items.
std::vector<Tile> cut_into_bands(Index count, Index rows);

/// Computes all pairs, band by band in ascending order, on this rank alone. Throws Cancelled.
void for_each_band(const PairSource& source, const Context& context, std::string_view stage,
                   const BandVisitor& visit);

/// Visits the pairs among `items` row by row; `value(i, j)` is that of a pair.
template <class Value>
void visit_among(std::span<const Index> items, const BandVisitor& visit, const Value& value) {
    std::vector<float> row;
    for (std::size_t a = 0; a + 1 < items.size(); ++a) {
        row.clear();
        for (std::size_t b = a + 1; b < items.size(); ++b)
            row.push_back(static_cast<float>(value(items[a], items[b])));
        visit({static_cast<Index>(a), 1}, row.data());
    }
}

/// Pairs in memory, in condensed order.
class StoredPairs final : public PairSource {
public:
    StoredPairs() = default;
    /// `condensed`: pairs_before(count, count) values.
    StoredPairs(Index count, std::vector<float> condensed);

    Index count() const override { return count_; }
    void band(Block rows, float* values) const override;
    Index band_rows() const override;
    void rows(std::span<const Index> items, float* values) const override;
    void among(std::span<const Index> items, const BandVisitor& visit) const override;
    bool is_stored() const override { return true; }
    std::string hash() const override;
    double error(double) const override { return 0.0; }
    bool is_below(Index i, Index j, double cutoff) const override {
        return at(i, j) < static_cast<float>(cutoff);
    }
    float at(Index i, Index j) const;
    const std::vector<float>& condensed() const { return condensed_; }

private:
    Index count_ = 0;
    std::vector<float> condensed_;
};

}  // namespace pleat

#pragma GCC visibility pop
