// Vector loops: the inner loops of the moments of triples, with vector instructions.
#pragma once

#include "pleat/core/view.h"

namespace pleat::mutual_information::loops {

/// out[third] = the scalar product of `pair` and each of four vectors, `count` long.
void products(const double* pair, const double* const* thirds, Index count, double* out);

/// sum[f] = sum over rows of weight[row] rows[row, f]; `width` is a multiple of 8.
void weighted_sum(const double* weight, const double* rows, Index count, Index width, double* sum);

/// matrix[f, g] += sum over rows of left[row, f] right[row, g], for g <= f at least; `width` is a
/// multiple of 8.
void add_products(const double* left, const double* right, Index rows, Index width, double* matrix);

/// Subtracts from `vector` its component along each of `others` (orthonormal rows, `count` long).
void make_orthogonal(const double* others, Index rows, Index count, double* vector);

/// A matrix over letters with 1 on its diagonal. The element of letters a and b is
/// sign dyad[a] dyad[b], or sign with_largest[a] if b is `largest`.
struct GramFactors {
    Index letters, largest;
    double sign;
    const double* dyad;
    const double* with_largest;
};
/// Multiplies f by the matrix of `factors`. Letter a has `width` values, starting at f[a * stride].
void apply_gram(const GramFactors& factors, double* f, Index stride, Index width);

}  // namespace pleat::mutual_information::loops
