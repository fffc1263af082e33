// Count nodes: a few counts that stand for all, for functions that vary smoothly with a count.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pleat/core/view.h"

namespace pleat::mutual_information {

/// Counts 0, ..., N in panels: each count of the lowest and the highest 32 is a node, and in
/// between every panel [x, 2x) has 20 nodes near the zeros of a Chebyshev polynomial. Expectations
/// over cells of given size are analytic in that size away from 0, so interpolation in a panel is
/// right to 1e-15 of their scale.
class CountNodes {
public:
    explicit CountNodes(Index rows);

    /// At least size(), and the bytes held at most, for so many rows.
    static Index most(Index rows);
    static std::int64_t bytes(Index rows);

    Index size() const { return static_cast<Index>(counts_.size()); }
    Index count(Index node) const { return counts_[node]; }

    /// Interpolates at `count`: the sum of weight[at] f(count(first + at)).
    struct Weights {
        Index first;
        std::span<const double> weight;
    };
    Weights weights(Index count) const;

private:
    void add_panel(Index first, Index last, bool all);

    std::vector<Index> counts_;
    std::vector<Index> first_, begin_;  // [count]: its panel's first node; where its weights begin
    std::vector<double> weights_;
};

}  // namespace pleat::mutual_information
