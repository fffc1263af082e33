// Pair source: the values of all pairs of items, computed or read when they are asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
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

/// Into what pairs are counted: the width of the bins of a histogram, and the cutoff below which
/// (scores: above which) pairs are listed, or only counted for each item; 0: none.
struct Bins {
    double width = 0.05, cutoff = 0.0;
    bool is_score = false;
    bool counts_neighbours = false;  ///< instead of a list; only for the source of gromos()
};

/// Results that a device computed from the pairs of some rows instead of returning their values.
struct PairCounts {
    PairStatistics statistics{1, 0.05};
    std::vector<NearPair> near;  ///< sorted by i, then j, within each call of count()
    /// [item]: pairs below the cutoff in the last call of count(), if Bins::counts_neighbours.
    std::vector<std::int32_t> neighbours = {};
};

struct DeviceClusters {
    std::vector<std::int32_t> assignment;  ///< [item]: its cluster
    std::vector<std::int32_t> centres;     ///< [cluster]: its item with the most neighbours
};

/// Counts pairs on a GPU, where their values are computed. Not thread-safe.
class PairCounter {
public:
    virtual ~PairCounter() = default;
    /// Adds the pairs of these rows with all later items.
    virtual void count(Block rows, const Bins& bins, PairCounts& counts) = 0;
    /// Sets the sum and the maximum of each item's values with all other of these `items`
    /// (ascending); the result does not depend on the order of the pairs. Returns false, and
    /// changes nothing, if the device cannot do this. Throws Cancelled.
    virtual bool sum_among(std::span<const Index> items, const Context& context,
                           std::vector<double>& sums, std::vector<float>& maxima);
};

/// Receives the values of items `rows` with all later items, in condensed order; valid during the
/// call.
using BandVisitor = std::function<void(Block rows, const float* values)>;

/// The values, distances or scores, of all pairs of count() items. They are symmetric and finite; a
/// pair's value does not depend on the band or thread that computes it. Only is_below() is
/// thread-safe.
class PairSource {
public:
    virtual ~PairSource() = default;
    virtual Index count() const = 0;
    /// The values of each item of `rows` with all later items, in condensed order.
    virtual void band(Block rows, float* values) const = 0;
    /// The best number of rows per band: so few that its values stay in the cache.
    virtual Index band_rows() const;
    /// The values of each of `items` with every item, [item of `items`, count()]; 0 for an item
    /// with itself. May differ from those of band() by twice error().
    virtual void rows(std::span<const Index> items, float* values) const = 0;
    /// Like rows(), for each of `items` with each of `others` (ascending), [item, other].
    virtual void between(std::span<const Index> items, std::span<const Index> others,
                         float* values) const;
    /// Whether values are distances of a metric: d(i, k) <= d(i, j) + d(j, k).
    virtual bool is_metric() const { return false; }
    /// Computes the pairs among these items; `visit` numbers them by their positions in the list.
    /// Values may differ from those of band() by twice error().
    virtual void among(std::span<const Index> items, const BandVisitor& visit) const = 0;
    /// Whether values are stored, so that nothing is recomputed.
    virtual bool is_stored() const { return false; }
    /// Identifies everything that the values depend on, for checkpoints.
    virtual std::string hash() const = 0;

    /// The error of values near `cutoff`: values within this distance of it may be on the wrong
    /// side, and is_below() decides.
    virtual double error(double cutoff) const = 0;
    /// Whether the pair i < j is below the cutoff. Thread-safe if error() is above 0.
    virtual bool is_below(Index i, Index j, double cutoff) const = 0;
    /// The object that counts the pairs on the device, valid until gromos() is called; null if the
    /// device can neither count nor cluster them.
    virtual PairCounter* counter() const { return nullptr; }
    /// GROMOS clusters below this cutoff (cluster/methods/methods.h), found on a device that counts
    /// pairs. `neighbours`: each item's number of neighbours (PairCounts); empty: not yet counted.
    /// Resumes from `context.checkpoint`. Throws DeviceError if memory is short, InputError for
    /// another problem's checkpoint, Cancelled.
    virtual DeviceClusters gromos(double cutoff, std::vector<std::int32_t> neighbours,
                                  const Context& context) const;
};

/// Tiles of whole rows: [first, first + rows) with all later of `count` items.
std::vector<Tile> cut_into_bands(Index count, Index rows);

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

/// Pairs in memory: condensed values or a square matrix. Float64 values are rounded to float32,
/// except in is_below().
template <class Real>
class MatrixPairs : public PairSource {
public:
    MatrixPairs() = default;
    /// `owner` keeps the values alive; null if the caller does.
    MatrixPairs(std::shared_ptr<const void> owner, const Real* values, Index count,
                bool is_square = false)
        : owner_(std::move(owner)), values_(values), count_(count), is_square_(is_square) {}

    Index count() const override { return count_; }
    void band(Block rows, float* values) const override;
    void rows(std::span<const Index> items, float* values) const override;
    void among(std::span<const Index> items, const BandVisitor& visit) const override;
    bool is_stored() const override { return true; }
    std::string hash() const override;
    double error(double cutoff) const override { return sizeof(Real) == 4 ? 0.0 : 1.3e-7 * cutoff; }
    bool is_below(Index i, Index j, double cutoff) const override {
        return at(i, j) < static_cast<Real>(cutoff);
    }
    Real at(Index i, Index j) const {
        if (i == j) return 0;
        return i < j ? later(i)[j - i - 1] : later(j)[i - j - 1];
    }

private:
    /// The values of i with i + 1, i + 2, ...
    const Real* later(Index i) const {
        return values_ + (is_square_ ? i * count_ + i + 1 : pairs_before(i, count_));
    }

    std::shared_ptr<const void> owner_;
    const Real* values_ = nullptr;
    Index count_ = 0;
    bool is_square_ = false;
};

/// Pairs in memory that this object owns, in condensed order.
class StoredPairs final : public MatrixPairs<float> {
public:
    StoredPairs() = default;
    /// `condensed`: pairs_before(count, count) values.
    StoredPairs(Index count, std::vector<float> condensed)
        : StoredPairs(count, std::make_shared<const std::vector<float>>(std::move(condensed))) {}
    const std::vector<float>& condensed() const { return *condensed_; }

private:
    StoredPairs(Index count, std::shared_ptr<const std::vector<float>> condensed)
        : MatrixPairs(condensed, condensed->data(), count), condensed_(std::move(condensed)) {}

    std::shared_ptr<const std::vector<float>> condensed_;
};

/// Stored values that are too inexact to decide on which side of a cutoff a pair is; the functions
/// `error` and `is_below` decide as in PairSource.
class DecidedPairs final : public PairSource {
public:
    DecidedPairs(std::shared_ptr<const PairSource> values, std::function<double(double)> error,
                 std::function<bool(Index, Index, double)> is_below)
        : values_(std::move(values)), error_(std::move(error)), is_below_(std::move(is_below)) {}
    Index count() const override { return values_->count(); }
    void band(Block rows, float* values) const override { values_->band(rows, values); }
    Index band_rows() const override { return values_->band_rows(); }
    void rows(std::span<const Index> items, float* values) const override {
        values_->rows(items, values);
    }
    void among(std::span<const Index> items, const BandVisitor& visit) const override {
        values_->among(items, visit);
    }
    bool is_stored() const override { return true; }
    std::string hash() const override { return values_->hash(); }
    double error(double cutoff) const override { return error_(cutoff); }
    bool is_below(Index i, Index j, double cutoff) const override {
        return is_below_(i, j, cutoff);
    }

private:
    std::shared_ptr<const PairSource> values_;
    std::function<double(double)> error_;
    std::function<bool(Index, Index, double)> is_below_;
};

}  // namespace pleat

#pragma GCC visibility pop
