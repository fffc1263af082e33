// Interactions: the information that three columns share beyond their pairs.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/count/tiles.h"

namespace pleat::mutual_information {

/// Differences between MI_ijk and the MI of its pairs, in bits; without a null model.
struct Interaction {
    /// I(i;j;k) = MI_ij + MI_ik + MI_jk - MI_ijk (McGill, Psychometrika 19:97, 1954, with the sign
    /// of I(i;j) - I(i;j|k)): above 0 if the third column repeats what two share, below 0 if only
    /// all three show it. j xor k beside j and k gives -1.
    double co_information;
    double ij_with_k;  ///< I(ij;k) = MI_ijk - MI_ij, of i and j together with k
    double ik_with_j;  ///< MI_ijk - MI_ik
    double jk_with_i;  ///< MI_ijk - MI_jk
};

constexpr Interaction pairwise_interaction(double mi_ij, double mi_ik, double mi_jk,
                                           double mi_ijk) {
    return {mi_ij + mi_ik + mi_jk - mi_ijk, mi_ijk - mi_ij, mi_ijk - mi_ik, mi_ijk - mi_jk};
}

/// The information of a triple that its pairs do not explain: connected information of order 3
/// (Schneidman, Still, Berry, Bialek, PRL 91:238701, 2003), i.e. the Kullback-Leibler divergence in
/// bits of the triple's frequencies from the distribution of largest entropy that has the same
/// three tables of pairs. At least 0; 0 for independent columns, a chain i - j - k, and all other
/// distributions with only interactions of pairs; 1 for a planted exclusive or. Finite samples bias
/// it upwards: by (q_i - 1)(q_j - 1)(q_k - 1) / (2 N ln 2) bits if every cell has many rows, by
/// less if most cells have none.
struct Excess {
    double bits = 0;
    double margin_error = 0;  ///< maximum error of a pair table's cell in the last round, rows
    int rounds = 0;           ///< of fitting; 0 if the pair tables determine all cells
    bool converged = true;    ///< margin_error is below the tolerance; else `bits` is too high
};

struct ExcessOptions {
    double tolerance = 1e-7;  ///< rows
    int max_rounds = 1000;
};

/// Precision for lists of triples: at least four digits of the bits, in a tenth of the time if
/// columns have many symbols.
inline constexpr ExcessOptions kListedExcess{1e-4, 300};

/// The excess of each listed triple; bit-identical for any number of threads. Progress stage
/// "interactions". Throws Cancelled.
void third_order_excess(const CodedColumns& columns, std::span<const std::array<Index, 3>> triples,
                        std::span<Excess> excess, const Context& context,
                        const ExcessOptions& options = {});

/// The triples of a tile in its order. The excess of a triple takes 1 to 10 microseconds on one
/// core at 140 to 753 rows.
std::vector<std::array<Index, 3>> triples_of(const TripleTile& tile);

}  // namespace pleat::mutual_information
