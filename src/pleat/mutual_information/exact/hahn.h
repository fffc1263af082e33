// Hahn: the expansion of a cell's term of T in the orthogonal polynomials of the cell's law.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "pleat/mutual_information/exact/differences.h"
#include "pleat/mutual_information/exact/hypergeometric.h"

namespace pleat::mutual_information {

// Why orders do not mix. Under a uniform permutation s, the count of a cell is n_ab = |s(A) and B|
// for the row sets A and B of its two letters. Functions of a permutation fall into parts that
// permutations leave in place (irreducible representations of the symmetric group); f(n_ab) has one
// component in part (N - m, m) for each order m, namely its m-th coefficient over the orthonormal
// polynomials of the hypergeometric law of n_ab, the Hahn polynomials. By Schur's orthogonality
//     Cov(f(n_ab), g(n_cd)) = sum over m >= 1 of f_m g_m rho_m(a, c) rho_m(b, d),
// rho_m(a, a) = 1 and, for two letters, which share no row, rho_m as in LetterGram. A coefficient
// is
//     f_m = C_m E[Delta^m f(X_m)],  X_m ~ Hyp(N - 2m, r - m, c - m),
// (Rodrigues), of one sign for all cells when f(n) = n lg n: nothing cancels, and a variance over
// all cells of a table costs O(letters^2) an order.

/// Factors that depend on one cell's margins r and c alone, as its orders go up: the square of
///     C_m = sqrt([r]_m [c]_m [N-r]_m [N-c]_m / (m! [N]_2m [N-m+1]_m)),
/// with [n]_m = n (n-1) ... (n-m+1); 1 at order 0, and 0 from the least of r, c, N-r, N-c on.
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

/// Carries the law of order m, Hyp(N - 2m, r - m, c - m), from one order to the next.
class HahnLaw {
public:
    HahnLaw(Index rows, Index r, Index c) : rows_(rows), r_(r), c_(c) {}

    /// The greatest order: the least of r, c, N - r and N - c.
    Index most() const { return std::min(std::min(r_, c_), std::min(rows_ - r_, rows_ - c_)); }
    /// Order 0, in a window that will serve all orders up to `orders`.
    void start(Index orders);
    /// From order m to m + 1 <= most().
    void next();
    const Window& window() const { return window_; }

private:
    Index rows_, r_, c_;
    Index order_ = 0;
    Window window_;
};

/// Coefficients of one cell's F(n) = n lg n.
struct CellExpansion {
    double mean = 0;   ///< E[n lg(n/e)], e = r c / N, bits; never negative
    double slope = 0;  ///< E[Delta F] over the law of order 1 (order 1 without its factor)
    int orders = 1;    ///< orders 2, ..., orders are kept; the rest is below 1e-15 of order 2
    /// [m]: |<F, Q_m>| with Q_m the orthonormal polynomial of degree m: C_m |E Delta^m F|.
    std::array<double, Differences::kMost + 1> coefficient{};
};

/// The expansion for 1 <= r, c <= N - 1, ended where the rest does not matter, or with all orders
/// that Differences::orders names.
CellExpansion expand_cell(Index rows, Index r, Index c, const Differences& differences,
                          bool all_orders = false);

/// For all n of a law with expectation e: n lg(n/e) - (n - e)/ln 2, which is not negative.
void cell_information(double expectation, const Window& law, const Differences& differences,
                      std::vector<double>& information);

}  // namespace pleat::mutual_information
