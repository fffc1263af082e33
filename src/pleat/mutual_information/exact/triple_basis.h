// Triple basis: functions of a cell's count that span what any third column needs (README.md,
// section 6).
#pragma once

#include <span>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/mutual_information/exact/count_nodes.h"
#include "pleat/mutual_information/exact/differences.h"

namespace pleat::mutual_information {

/// A letter with t rows in the third column beside a cell with x rows in the table of the first
/// two, at the nodes x. README.md, section 5, defines mean and reach.
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
    static constexpr Index kMaxSize = 96;

    /// Makes the basis from the expansions of a representative set of letters.
    TripleBasis(Index rows, const CountNodes& nodes, std::span<const LetterExpansion> letters);

    Index size() const { return size_; }    ///< functions, with F; at most kMaxSize
    Index width() const { return width_; }  ///< the size, rounded up to a multiple of 8
    /// Orders above this one couple no two cells of a table, which have at most N rows together, by
    /// more than 1e-13.
    int orders() const { return orders_; }
    Index packed_size() const { return size_ * (size_ + 1) / 2; }
    /// The functions' values at a count, width() of them (0 in place of function 0).
    const double* at(Index count) const { return values_.data() + count * width_; }
    /// The approximate upper bound of each function's coefficients: from 10 down to 1e-11.
    const double* importance() const { return importance_.data(); }
    /// The coefficients, width() of them, of a function that is given at the nodes.
    void project_onto_basis(const double* at_nodes, double* coefficient) const;

private:
    Index size_ = 1, width_ = 0;
    int orders_ = 1;
    std::vector<double> importance_;
    Array<double, 2> at_nodes_;  // [function, node]
    Array<double, 2> values_;    // [count, function]
};

}  // namespace pleat::mutual_information
