// Triple basis: functions of a cell's count that carry all that a third column can ask of a pair.
#pragma once

#include <span>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/mutual_information/exact/count_nodes.h"
#include "pleat/mutual_information/exact/differences.h"

namespace pleat::mutual_information {

/// What a letter of t rows in the third column expects of a cell of x rows in the table of the
/// first two, at the nodes x. Order m of the third column's null couples two cells by
///     (-1)^m reach_m(x) reach_m(x'),  reach_m(x) = sqrt([x]_m / [N-x]_m) coefficient_m(x).
struct LetterExpansion {
    int orders = 1;
    std::vector<double> mean;      ///< [node]: E[n lg(n N/(x t))]
    std::vector<double> slope;     ///< [node]: order 1, less its value at x = N - 1
    Array<double, 2> coefficient;  ///< [m, node], from m = 2
    Array<double, 2> reach;        ///< [m, node]
};

LetterExpansion expand_letter(Index rows, Index t, const CountNodes& nodes,
                              const Differences& differences);

/// Functions 1, 2, ... are orthonormal over the nodes and span all mean, slope and reach to 1e-12
/// of their scale; function 0 stands for F itself, which depends on the cell it is expanded in.
class TripleBasis {
public:
    static constexpr Index kMost = 96;

    /// From the expansions of letters that represent all.
    TripleBasis(Index rows, const CountNodes& nodes, std::span<const LetterExpansion> letters);

    Index size() const { return size_; }    ///< functions, with F; at most kMost
    Index width() const { return width_; }  ///< the size, rounded up to a multiple of 8
    /// Orders above this one couple no two cells of a table (of together at most N rows) by more
    /// than 1e-13, although their reach is large for a cell of nearly N rows.
    int orders() const { return orders_; }
    Index packed_size() const { return size_ * (size_ + 1) / 2; }
    /// The functions' values at a count, width() of them (0 in place of function 0).
    const double* at(Index count) const { return values_.data() + count * width_; }
    /// How large a coefficient of a function is at most, about: from 10 down to 1e-11.
    const double* importance() const { return importance_.data(); }
    /// Coefficients of a function given at the nodes; width() of them.
    void project(const double* at_nodes, double* coefficient) const;

private:
    Index size_ = 1, width_ = 0;
    int orders_ = 1;
    std::vector<double> importance_;
    Array<double, 2> at_nodes_;  // [function, node]
    Array<double, 2> values_;    // [count, function]
};

}  // namespace pleat::mutual_information
