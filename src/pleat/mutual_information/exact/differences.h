// Differences: forward differences of n lg n, to full precision, of many orders.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/core/view.h"

namespace pleat::mutual_information {

/// |Delta^m F(x)| for F(x) = x lg x, where Delta f(x) = f(x + 1) - f(x). From order 2 on
///     Delta^m F(x) = (-1)^m / ln 2  times  the integral over s > 0 of e^(-x s) (1 - e^-s)^m / s^2,
/// so that orders alternate in sign; Delta F itself is not negative. The highest order of each
/// table comes from this integral, the lower ones from sums of positive terms,
///     |Delta^(m-1) F(x)| = |Delta^(m-1) F(x + 1)| + |Delta^m F(x)|,
/// which lose no digits (differences taken one by one lose all of them by the fifth).
class Differences {
public:
    static constexpr int kMost = 48;

    /// For counts 0, ..., `rows`.
    explicit Differences(Index rows);

    /// What one of so many rows holds.
    static std::int64_t bytes(Index rows);

    /// The order's values at x = 0, ..., length(order) - 1; order 1 to kMost. High orders are kept
    /// for small x only, as cells of large expectation do not need them.
    const double* order(int m) const { return values_[m].data(); }
    Index length(int m) const { return static_cast<Index>(values_[m].size()); }

    /// The orders that a cell of this expectation needs at most: the square of the coefficient of
    /// order m falls as m! / expectation^m.
    static int orders(double expectation);

private:
    void fill(int lowest, int highest, Index length);

    std::vector<double> values_[kMost + 1];
};

}  // namespace pleat::mutual_information
