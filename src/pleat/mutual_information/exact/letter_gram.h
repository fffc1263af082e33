// Letter Gram: how the letters of one column share the orders of the null's expansion.
#pragma once

#include <span>
#include <vector>

#include "pleat/core/view.h"

namespace pleat::mutual_information {

/// For each order m the matrix rho_m(a, a') over the letters of a column with counts r: 1 for a =
/// a', and for two letters, which never share a row,
///     (-1)^m sqrt([r]_m [r']_m / ([N-r]_m [N-r']_m)),
/// the inner product of the two letters' unit vectors in the m-th part of all functions of a
/// permutation. It is a diagonal plus a dyad, so that it is applied in O(letters).
class LetterGram {
public:
    /// `margin` sums to `rows`; orders 1 to `orders`.
    LetterGram(std::span<const Index> margin, Index rows, int orders);

    Index letters() const { return letters_; }
    /// Replaces f by rho_m f, where f has `width` values for each letter a, from f[a * stride] on.
    void apply(int m, double* f, Index stride, Index width) const;

private:
    Index letters_, largest_;
    std::vector<double> dyad_;          // [order - 1, letter]: sqrt([r]_m / [N-r]_m), at most 1
    std::vector<double> with_largest_;  // [order - 1, letter]: |rho| with the largest letter
};

}  // namespace pleat::mutual_information
