// Hahn: the distribution of a cell, and the expansion of its F(n) = n lg n in Hahn polynomials.
#pragma once

#include <array>
#include <cstdint>
#include <span>
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

    /// [x]: the values of order m (1 to kMaxOrder) for x < length(m). High orders are stored only
    /// for small x, because cells with a large expectation do not need them.
    const double* order(int m) const { return values_[m].data(); }
    Index length(int m) const { return static_cast<Index>(values_[m].size()); }

    /// The number of orders that a cell with this expectation needs at most.
    static int orders(double expectation);

private:
    void fill(int lowest, int highest, Index length);

    std::vector<double> values_[kMaxOrder + 1];
};

/// The probabilities of consecutive integers from `first` on; those of other integers are
/// negligible.
struct ProbabilityWindow {
    Index first = 0;
    std::vector<double> probability;

    Index size() const { return static_cast<Index>(probability.size()); }
};

/// Hyp(all, marked, drawn): how many of `marked` among `all` objects are in a sample of `drawn`.
/// Leaves out both tails below `cut` times the largest probability, but keeps up to `more_below`
/// further values of the lower tail. Relative error of a probability: 1e-14 (the recurrence from
/// the mode adds 2e-16 per step).
void hypergeometric(Index all, Index marked, Index drawn, double cut, Index more_below,
                    ProbabilityWindow& window);

/// A `cut` too small to change any mean or variance here.
constexpr double kTail = 1e-22;

/// C_m^2 of a cell with margins r and c (README.md, section 3), order by order.
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

/// The distribution of order m, Hyp(N - 2m, r - m, c - m), order by order.
class HahnDistribution {
public:
    HahnDistribution(Index rows, Index r, Index c) : rows_(rows), r_(r), c_(c) {}

    /// The maximum order: the minimum of r, c, N - r and N - c.
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

/// Coefficients of the polynomial expansion of F(n) = n lg n for one cell.
struct CellExpansion {
    double mean = 0;   ///< E[n lg(n/e)], e = r c / N, bits; never negative
    double slope = 0;  ///< E[Delta F(X_1)]: order 1 without its factor C_1
    int orders = 1;    ///< orders 2, ..., orders are kept; higher ones are below 1e-15 of order 2
    /// [m]: |<F, Q_m>| with Q_m the orthonormal polynomial of degree m: C_m |E Delta^m F|.
    std::array<double, Differences::kMaxOrder + 1> coefficient{};
};

/// Expands F for 1 <= r, c <= N - 1, until orders are negligible; with `all_orders`, up to
/// Differences::orders().
CellExpansion expand_cell(Index rows, Index r, Index c, const Differences& differences,
                          bool all_orders = false);

/// For all n of a distribution with expectation e: n lg(n/e) - (n - e)/ln 2, which is not negative.
void cell_information(double expectation, const ProbabilityWindow& law,
                      const Differences& differences, std::vector<double>& information);

/// rho_m(a, a') of README.md, section 2: 1 for a = a', else
///     (-1)^m sqrt([r]_m [r']_m / ([N-r]_m [N-r']_m)).
/// A diagonal plus a dyad, applied in O(letters).
class LetterGram {
public:
    /// `margin` sums to `rows`; orders 1 to `orders`.
    LetterGram(std::span<const Index> margin, Index rows, int orders);

    Index letters() const { return letters_; }
    /// Replaces f by rho_m f; f has `width` values per letter a, starting at f[a * stride].
    void apply_to(int m, double* f, Index stride, Index width) const;

private:
    Index letters_, largest_;
    std::vector<double> dyad_factors_;      // [order - 1, letter]: sqrt([r]_m / [N-r]_m), at most 1
    std::vector<double> rho_with_largest_;  // [order - 1, letter]: |rho| with the largest letter
};

}  // namespace pleat::mutual_information
