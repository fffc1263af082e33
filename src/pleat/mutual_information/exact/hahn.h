// Hahn: the expansion of a cell's F(n) = n lg n in the Hahn polynomials of its distribution.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "pleat/mutual_information/exact/differences.h"
#include "pleat/mutual_information/exact/hypergeometric.h"

namespace pleat::mutual_information {

/// C_m^2 of a cell with margins r and c (README.md, section 3), one order after the other.
class HahnFactor {
public:
    HahnFactor(Index rows, Index r, Index c)
        : rows_(static_cast<double>(rows)),
          r_(static_cast<double>(r)),
          c_(static_cast<double>(c)) {}

    double square() const { return square_; }
    void next() {
        const double m = ++order_;
        const double falling =
            m == 1 ? rows_ : (rows_ - 2 * m + 3) * (rows_ - 2 * m + 2) / (rows_ - m + 2);
        square_ *= (r_ - m + 1) * (c_ - m + 1) / (m * (rows_ - 2 * m + 2)) *
                   ((rows_ - r_ - m + 1) * (rows_ - c_ - m + 1) / ((rows_ - 2 * m + 1) * falling));
    }

private:
    double rows_, r_, c_;
    int order_ = 0;
    double square_ = 1;
};

/// The distribution of order m, Hyp(N - 2m, r - m, c - m), one order after the other.
class HahnDistribution {
public:
    HahnDistribution(Index rows, Index r, Index c) : rows_(rows), r_(r), c_(c) {}

    /// The highest order: the smallest of r, c, N - r and N - c.
    Index max_order() const { return std::min(std::min(r_, c_), std::min(rows_ - r_, rows_ - c_)); }
    /// Starts at order 0, in a window wide enough for all orders up to `orders`.
    void start(Index orders);
    /// Moves from order m to m + 1, which must be at most max_order().
    void next();
    const ProbabilityWindow& window() const { return window_; }

private:
    Index rows_, r_, c_;
    Index order_ = 0;
    ProbabilityWindow window_;
};

/// Coefficients of one cell's F(n) = n lg n.
struct CellExpansion {
    double mean = 0;   ///< E[n lg(n/e)], e = r c / N, bits; never negative
    double slope = 0;  ///< E[Delta F(X_1)]: order 1 without its factor C_1
    int orders = 1;    ///< orders 2, ..., orders are kept; higher ones are below 1e-15 of order 2
    /// [m]: |<F, Q_m>| with Q_m the orthonormal polynomial of degree m: C_m |E Delta^m F|.
    std::array<double, Differences::kMaxOrder + 1> coefficient{};
};

/// The expansion for 1 <= r, c <= N - 1, up to the order from which on it is negligible; with
/// `all_orders`, up to Differences::orders().
CellExpansion expand_cell(Index rows, Index r, Index c, const Differences& differences,
                          bool all_orders = false);

/// For all n of a distribution with expectation e: n lg(n/e) - (n - e)/ln 2, which is not negative.
void cell_information(double expectation, const ProbabilityWindow& law,
                      const Differences& differences, std::vector<double>& information);

}  // namespace pleat::mutual_information
