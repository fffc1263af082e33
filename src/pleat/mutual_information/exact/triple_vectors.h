// Triple vectors: a pair (i, j) and a third column k as vectors whose scalar products are the
// moments of MI_ijk.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/view.h"
#include "pleat/mutual_information/exact/hahn.h"

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
    /// Higher orders couple no two cells of a table, which together have at most N rows, by more
    /// than 1e-13.
    int orders() const { return orders_; }
    Index packed_size() const { return size_ * (size_ + 1) / 2; }
    /// The width() values of the functions at a count (0 in place of function 0).
    const double* at(Index count) const { return values_.data() + count * width_; }
    /// The approximate upper bound of each function's coefficients: from 10 down to 1e-11.
    const double* importance() const { return importance_.data(); }
    /// Computes the width() coefficients of a function given at the nodes.
    void project_onto_basis(const double* at_nodes, double* coefficient) const;

private:
    Index size_ = 1, width_ = 0;
    int orders_ = 1;
    std::vector<double> importance_;
    Array<double, 2> functions_at_nodes_;  // [function, node]
    Array<double, 2> values_;              // [count, function]
};

/// The vectors of a third column. With T as N times MI_ijk in bits,
///     E T = (own mean of the pair) + pair vector . mean,  over the nodes;
///     Var T = pair vector . variance,
/// where a pair vector is B (at the nodes), M and m m^T of README.md, section 5. Symmetric matrices
/// are packed, row by row of their lower half.
struct ThirdColumnVectors {
    std::vector<double> mean, variance;
};

/// What the vectors of all pairs and columns share; `basis` is null if only means are computed.
struct TripleSpace {
    Index rows;
    const CountNodes* nodes;
    const Differences* differences;
    const TripleBasis* basis;

    /// Length of a pair vector.
    Index terms() const {
        return nodes->size() + (basis == nullptr ? 0 : 2 * basis->packed_size());
    }
};

/// Makes pair vectors; one for each thread.
class PairVectorMaker {
public:
    explicit PairVectorMaker(const TripleSpace& space);
    /// Fills `terms`, with room for space.terms() values; returns the mean of T of the pair alone.
    double make(std::span<const Index> margin_i, std::span<const Index> margin_j, double* terms);

private:
    void count_cells(std::span<const Index> margin_i, std::span<const Index> margin_j);
    void interpolate_at_nodes(double* terms);
    bool next_polynomial(int m, double centre, double rise, double fall);
    void expand(Index cell, Index cells, Index r, Index c);
    void add_first_order(std::span<const Index> margin_i, std::span<const Index> margin_j);
    void add_covariance(int m, const LetterGram& gram_i, const LetterGram& gram_j);
    void finish(double* terms);

    TripleSpace space_;
    Index width_;  // of the basis
    ProbabilityWindow window_;
    double pair_mean_ = 0;
    int orders_ = 1;
    std::vector<double> information_;
    std::vector<double> expected_information_;  // [count]: B
    std::vector<std::pair<Index, Index>>
        count_ranges_;                       // ranges of counts with expected_information_ != 0
    std::vector<double> polynomial_, root_;  // [order, count]; [count], in the window
    std::vector<std::vector<double>> coefficient_;  // [order][cell, function]
    std::vector<double> image_, weight_;
    std::vector<double> covariance_, sum_;  // [function, function]; [function]
};

/// `letters` are the expansions of the column's letters.
ThirdColumnVectors make_third_column_vectors(const TripleSpace& space,
                                             std::span<const Index> margin,
                                             std::span<const LetterExpansion* const> letters);

}  // namespace pleat::mutual_information
