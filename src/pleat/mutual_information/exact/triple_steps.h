// Triple steps: the inner loops of the moments of triples, by vector instructions.
#pragma once

#include "pleat/core/view.h"

namespace pleat::mutual_information::steps {

/// out[third] = the scalar product of `pair` and each of four vectors, `count` long.
void products(const double* pair, const double* const* thirds, Index count, double* out);

/// sum[f] = sum over rows of weight[row] rows[row, f]; `width` is a multiple of 8.
void weighted_sum(const double* weight, const double* rows, Index count, Index width, double* sum);

/// matrix[f, g] += sum over rows of left[row, f] right[row, g], for g <= f at least; `width` is a
/// multiple of 8.
void add_products(const double* left, const double* right, Index rows, Index width, double* matrix);

/// Subtracts from `vector` its part along each of `others` (orthonormal rows, `count` long).
void make_orthogonal(const double* others, Index rows, Index count, double* vector);

/// For each letter but `largest`, value = own[a] value + others[a] sum + from_largest[a]
/// f[largest], where sum = sum over those letters of dyad[a] f[a]; then f[largest] += sum of
/// to_largest[a] f[a] as they were. Each f[a] has `width` values from f[a * stride] on.
struct GramFactors {
    Index letters, largest;
    double sign;
    const double* dyad;
    const double* with_largest;
};
void apply_gram(const GramFactors& factors, double* f, Index stride, Index width);

}  // namespace pleat::mutual_information::steps
