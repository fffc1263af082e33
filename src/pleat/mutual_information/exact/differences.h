// Differences: forward differences of n lg n, to full precision, of many orders.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/core/view.h"

namespace pleat::mutual_information {

/// |Delta^m F(x)| for F(x) = x lg x, where Delta f(x) = f(x + 1) - f(x), to full precision:
/// README.md, section 3.
class Differences {
public:
    static constexpr int kMaxOrder = 48;

    /// For counts 0, ..., `rows`.
    explicit Differences(Index rows);

    /// Bytes of the object for this many rows.
    static std::int64_t bytes(Index rows);

    /// The order's values at x = 0, ..., length(order) - 1; order 1 to kMaxOrder. High orders are
    /// kept for small x only, because cells with a large expectation do not need them.
    const double* order(int m) const { return values_[m].data(); }
    Index length(int m) const { return static_cast<Index>(values_[m].size()); }

    /// The number of orders that a cell with this expectation needs at most.
    static int orders(double expectation);

private:
    void fill(int lowest, int highest, Index length);

    std::vector<double> values_[kMaxOrder + 1];
};

}  // namespace pleat::mutual_information
