// Distances: where the pairs of a clustering come from, in memory or computed when asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "pleat/cluster/clustering.h"
#include "pleat/core/loops/sweep.h"

#pragma GCC visibility push(default)

namespace pleat::cluster {

/// Pairs i < j of `count` items in the condensed order: (0, 1), (0, 2), ..., (1, 2), ...
constexpr Index pairs_before(Index row, Index count) { return row * count - row * (row + 1) / 2; }

/// Takes the distances of items `rows` to all later items, in condensed order: ascending bands,
/// each item in one. Valid during the call.
using BandVisitor = std::function<void(Block rows, const float* distances)>;

/// Sums over all pairs; bins as PairSummary has them.
struct PairTotals {
    std::vector<std::int64_t> histogram;
    double sum = 0.0, least = 0.0, most = 0.0;
};

/// What a source does with all pairs where their values arise, a GPU, without handing them on.
class WorkInPlace {
public:
    virtual ~WorkInPlace() = default;
    /// Cancelled, DeviceError.
    virtual PairTotals totals(double bin) const = 0;
    /// What daura() of greedy.h finds. Cancelled, DeviceError.
    virtual Clustering daura(double cutoff) const = 0;
};

class Neighbours;

/// Symmetric, finite, not negative; that of an item to itself is 0.
class Distances {
public:
    virtual ~Distances() = default;
    virtual Index count() const = 0;
    /// All pairs, once. Cancelled.
    virtual void for_each_band(std::string_view stage, const BandVisitor& visit) const = 0;
    /// The pairs among these items; `visit` counts in their list.
    virtual void for_each_band_among(std::span<const Index> items,
                                     const BandVisitor& visit) const = 0;
    /// Those of each of `items` to every item, [item, count()].
    virtual void rows(std::span<const Index> items, float* distances) const = 0;
    /// A value nearer to the cut-off than this does not decide; is_below() does.
    virtual double doubt(double cutoff) const = 0;
    virtual bool is_below(Index i, Index j, double cutoff) const = 0;
    /// Null where all is asked for pair by pair.
    virtual const WorkInPlace* in_place() const { return nullptr; }
    /// The pairs below this cutoff, if the source has a list of them; else null.
    virtual std::unique_ptr<Neighbours> listed_neighbours(double cutoff) const;
    /// Sums over all pairs, if the source has them for bins of this width.
    virtual std::optional<PairTotals> listed_totals(double bin) const;
};

/// Pairs in memory, as float32.
class StoredDistances : public Distances {
public:
    StoredDistances() = default;
    StoredDistances(Index count, std::vector<float> condensed);

    Index count() const override { return count_; }
    void for_each_band(std::string_view stage, const BandVisitor& visit) const override;
    void for_each_band_among(std::span<const Index> items, const BandVisitor& visit) const override;
    void rows(std::span<const Index> items, float* distances) const override;
    double doubt(double) const override { return 0.0; }
    bool is_below(Index i, Index j, double cutoff) const override;
    float at(Index i, Index j) const;
    const std::vector<float>& condensed() const { return condensed_; }

private:
    Index count_ = 0;
    std::vector<float> condensed_;
};

/// What another source gives, kept from its first pass on where all pairs take no more than
/// `most_bytes`. The source must outlive it.
class KeptDistances final : public Distances {
public:
    KeptDistances(const Distances& source, std::int64_t most_bytes);

    Index count() const override { return source_.count(); }
    void for_each_band(std::string_view stage, const BandVisitor& visit) const override;
    void for_each_band_among(std::span<const Index> items, const BandVisitor& visit) const override;
    void rows(std::span<const Index> items, float* distances) const override;
    double doubt(double cutoff) const override { return source_.doubt(cutoff); }
    bool is_below(Index i, Index j, double cutoff) const override {
        return source_.is_below(i, j, cutoff);
    }
    /// What is kept is wanted pair by pair.
    const WorkInPlace* in_place() const override { return keeps_ ? nullptr : source_.in_place(); }
    std::unique_ptr<Neighbours> listed_neighbours(double cutoff) const override;
    std::optional<PairTotals> listed_totals(double bin) const override {
        return source_.listed_totals(bin);
    }

private:
    const Distances& now() const;

    const Distances& source_;
    bool keeps_;
    mutable bool is_kept_ = false;
    mutable StoredDistances stored_;
};

/// Gathers all pairs in the condensed order, for methods that need them at once.
class CondensedPairs {
public:
    /// DeviceError, before any work, where they do not fit into memory.
    explicit CondensedPairs(Index count);
    void add(Block rows, const float* distances);
    std::vector<float> take() { return std::move(pairs_); }

private:
    Index count_;
    std::vector<float> pairs_;
};

}  // namespace pleat::cluster

#pragma GCC visibility pop
