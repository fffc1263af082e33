// Letter Gram: the matrix rho_m of the letters of one column, for each order m.
#pragma once

#include <span>
#include <vector>

#include "pleat/core/view.h"

namespace pleat::mutual_information {

/// rho_m(a, a') of README.md, section 2: 1 for a = a', else
///     (-1)^m sqrt([r]_m [r']_m / ([N-r]_m [N-r']_m)).
/// A diagonal plus a dyad, applied in O(letters).
class LetterGram {
public:
    /// `margin` sums to `rows`; orders 1 to `orders`.
    LetterGram(std::span<const Index> margin, Index rows, int orders);

    Index letters() const { return letters_; }
    /// Replaces f by rho_m f, where f has `width` values for each letter a, from f[a * stride] on.
    void apply_to(int m, double* f, Index stride, Index width) const;

private:
    Index letters_, largest_;
    std::vector<double> dyad_;          // [order - 1, letter]: sqrt([r]_m / [N-r]_m), at most 1
    std::vector<double> with_largest_;  // [order - 1, letter]: |rho| with the largest letter
};

}  // namespace pleat::mutual_information
