// Triple vectors: a pair (i, j) and a third column k as vectors whose scalar products are the
// moments of MI_ijk.
#pragma once

#include <span>
#include <vector>

#include "pleat/mutual_information/exact/hypergeometric.h"
#include "pleat/mutual_information/exact/letter_gram.h"
#include "pleat/mutual_information/exact/triple_basis.h"

namespace pleat::mutual_information {

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
    /// `terms` has room for space.terms() values; returns the pair's own mean of T.
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
    double own_mean_ = 0;
    int orders_ = 1;
    std::vector<double> information_;
    std::vector<double> expected_;                       // [count]: B
    std::vector<std::pair<Index, Index>> count_ranges_;  // ranges of counts with expected_ != 0
    std::vector<double> polynomial_, root_;              // [order, count]; [count], in the window
    std::vector<std::vector<double>> coefficient_;       // [order][cell, function]
    std::vector<double> image_, weight_;
    std::vector<double> covariance_, sum_;  // [function, function]; [function]
};

/// `letters` are the expansions of the column's letters.
ThirdColumnVectors make_third_column_vectors(const TripleSpace& space,
                                             std::span<const Index> margin,
                                             std::span<const LetterExpansion* const> letters);

}  // namespace pleat::mutual_information
