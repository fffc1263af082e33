// Field Newton: minimises over the fields of one column at given couplings by damped Newton steps.
#pragma once

#include <functional>

namespace pleat::couplings {

/// Maximum number of letters with free fields: one less than the largest alphabet with its gap.
inline constexpr int kMaxFreeLetters = 23;

/// One pass over the sequences for one column: gives the data term of f at fields `e`, its
/// gradient, and, unless `hessian` is null, its Hessian (free x free, row-major, both triangles).
using FieldPass = std::function<double(const double* e, double* gradient, double* hessian)>;

/// Minimises data(e) + lambda |e|^2 over the `free` first letters of one column, starting at and
/// writing to `e`, until the squared gradient norm is at most `target2` or steps no longer improve
/// it. The last pass is always at the final `e`, so that what the pass stores (probabilities)
/// belongs to it. The Hessian is computed again only if convergence with the old one is slow, since
/// a pass without it costs half. Returns the data term.
double minimise_fields(int free, double lambda, double target2, double* e, const FieldPass& pass);

}  // namespace pleat::couplings
