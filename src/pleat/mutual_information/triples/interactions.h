// Interactions: what three columns share beyond their pairs.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/triples/tiles.h"

namespace pleat::mutual_information {

/// Parts of MI_ijk, bits; exact identities of entropies, no null model.
struct Interaction {
    /// I(i;j;k) = MI_ij + MI_ik + MI_jk - MI_ijk (McGill, Psychometrika 19:97, 1954, with the sign
    /// of I(i;j) - I(i;j|k)): above 0 where the third column repeats what two share, below 0 where
    /// it takes all three to see it. j xor k beside j and k gives -1.
    double co_information;
    double ij_with_k;  ///< I(ij;k) = MI_ijk - MI_ij: what i and j together tell of k
    double ik_with_j;  ///< MI_ijk - MI_ik
    double jk_with_i;  ///< MI_ijk - MI_jk
};

constexpr Interaction interaction(double mi_ij, double mi_ik, double mi_jk, double mi_ijk) {
    return {mi_ij + mi_ik + mi_jk - mi_ijk, mi_ijk - mi_ij, mi_ijk - mi_ik, mi_ijk - mi_jk};
}

/// The excess of a triple over what its pairs explain: connected information of order 3
/// (Schneidman, Still, Berry, Bialek, PRL 91:238701, 2003), i.e. the Kullback-Leibler divergence in
/// bits of the triple's frequencies from the distribution of largest entropy that has the same
/// three tables of pairs. At least 0; 0 for independent columns, a chain i - j - k, and whatever
/// else interactions of pairs explain; 1 for a planted exclusive or. Finite samples bias it
/// upwards: by (q_i - 1)(q_j - 1)(q_k - 1) / (2 N ln 2) bits where every cell has many rows, less
/// where most cells have none.
struct Excess {
    double bits = 0;
    double margin_error = 0;  ///< most rows that a cell of a pair's table was off in the last round
    int rounds = 0;           ///< of fitting; 0 where the pairs leave nothing open
    bool converged = true;  ///< margin_error is below the tolerance; else `bits` is a bit too high
};

struct ExcessOptions {
    double tolerance = 1e-7;  ///< rows
    int most_rounds = 1000;
};

/// What lists of triples need: bits to four digits and more, in a tenth of the time where columns
/// have many symbols.
inline constexpr ExcessOptions kListedExcess{1e-4, 300};

/// Computes one triple after another; the memory is kept between them. Not for two threads at once.
///
/// The distribution is found by iterative proportional fitting (Deming and Stephan, Ann. Math.
/// Stat. 11:427, 1940) over the cells that no table of pairs forbids. Cells that the tables of
/// pairs fix, because all others of a line are settled, are settled first, in integers. Whatever
/// the round, the divergence is an upper bound that falls with each: a fit that ends early, which
/// happens where the tables force cells to 0 that it only approaches, errs to the high side.
class ExcessFit {
public:
    explicit ExcessFit(const Columns& columns, const ExcessOptions& options = {});
    ~ExcessFit();
    ExcessFit(ExcessFit&&) noexcept;

    Excess operator()(Index i, Index j, Index k);

private:
    struct Work;
    std::unique_ptr<Work> work_;
};

/// The excess of each listed triple, on all threads of the context; the same bits for any number of
/// them. Stage "interactions" of the progress. Throws Cancelled.
void third_order_excess(const Columns& columns, std::span<const std::array<Index, 3>> triples,
                        std::span<Excess> excess, const Context& context,
                        const ExcessOptions& options = {});

/// The triples of a tile in its order: their excess takes 1 to 10 microseconds each on one
/// core at 140 to 753 rows, so that of all triples is within reach.
std::vector<std::array<Index, 3>> triples_of(const TripleTile& tile);

}  // namespace pleat::mutual_information
