// Triple parts: a pair's and a third column's share of the moments of MI_ijk, as vectors to
// multiply.
#pragma once

#include <span>
#include <vector>

#include "pleat/mutual_information/exact/hypergeometric.h"
#include "pleat/mutual_information/exact/letter_gram.h"
#include "pleat/mutual_information/exact/triple_basis.h"

namespace pleat::mutual_information {

/// With B(x) the expected number of cells of x rows in the table of columns i and j, and T as N
/// times MI_ijk in bits:
///     E T = (pair's own mean) + pair . third.mean,  over the nodes (B, brought to the nodes);
///     Var T = pair . third.variance,  over all: B, then M, then m m^T,
/// where m_r = E of the sum over cells u of phi_r(x_u), and M_rr' the covariance of two such sums.
/// Symmetric matrices are packed, row by row of their lower half.
struct PairPart {
    double own_mean = 0;
    std::vector<double> terms;
};
struct ThirdPart {
    std::vector<double> mean, variance;
};

/// What all parts share; `basis` is null where means alone are wanted.
struct TripleSpace {
    Index rows;
    const CountNodes* nodes;
    const Differences* differences;
    const TripleBasis* basis;

    Index terms() const {
        return nodes->size() + (basis == nullptr ? 0 : 2 * basis->packed_size());
    }
};

/// Makes pair parts; one for each thread.
class PairPartMaker {
public:
    explicit PairPartMaker(const TripleSpace& space);
    /// `terms` holds space.terms() values; returns the pair's own mean of T.
    double make(std::span<const Index> margin_i, std::span<const Index> margin_j, double* terms);

private:
    void count_cells(std::span<const Index> margin_i, std::span<const Index> margin_j);
    void bring_to_nodes(double* terms);
    bool next_polynomial(int m, double centre, double rise, double fall);
    void expand(Index cell, Index cells, Index r, Index c);
    void add_first_order(std::span<const Index> margin_i, std::span<const Index> margin_j);
    void add_covariance(int m, const LetterGram& gram_i, const LetterGram& gram_j);
    void finish(double* terms);

    TripleSpace space_;
    Index width_;  // of the basis
    Window law_;
    double own_mean_ = 0;
    int orders_ = 1;
    std::vector<double> information_;
    std::vector<double> expected_;                  // [count]: B
    std::vector<std::pair<Index, Index>> touched_;  // ranges of counts that are not 0 in it
    std::vector<double> polynomial_, root_;         // [order, count of the law]; [count of the law]
    std::vector<std::vector<double>> coefficient_;  // [order][cell, function]
    std::vector<double> image_, weight_;
    std::vector<double> covariance_, sum_;  // [function, function]; [function]
};

/// The part of a third column; `letters` are the expansions of its letters.
ThirdPart make_third_part(const TripleSpace& space, std::span<const Index> margin,
                          std::span<const LetterExpansion* const> letters);

}  // namespace pleat::mutual_information
