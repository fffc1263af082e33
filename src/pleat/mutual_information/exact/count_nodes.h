// Count nodes: a few counts that stand for all, for functions that vary smoothly with a count.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pleat/core/view.h"

namespace pleat::mutual_information {

/// Nodes among the counts 0, ..., N: all of the lowest and highest 32, and 20 per panel [x, 2x) in
/// between. Interpolated expectations are right to 1e-15 of their scale: README.md, section 6.
class CountNodes {
public:
    explicit CountNodes(Index rows);

    /// An upper bound of size(), and of the object's bytes, for this many rows.
    static Index max_size(Index rows);
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
    std::vector<Index> first_, begin_;  // [count]: first node of its panel; start of its weights
    std::vector<double> weights_;
};

}  // namespace pleat::mutual_information
