// Field Newton: the best fields of one column at given couplings, by damped Newton steps.
#pragma once

#include <functional>

namespace pleat::couplings {

/// Letters that fields can be free for; one less than the largest alphabet with its gap.
inline constexpr int kMostFreeLetters = 23;

/// One pass over the sequences for one column: gives the data term of f at fields `e`, its
/// gradient, and, unless `hessian` is null, its Hessian (free x free, row-major, both triangles).
using FieldPass = std::function<double(const double* e, double* gradient, double* hessian)>;

/// Where the fields of a column ended.
struct FieldMinimum {
    double data_term = 0;  ///< without the regulariser
    double gradient2 = 0;  ///< squared norm of the gradient, regulariser included
};

/// Minimises data(e) + lambda |e|^2 over the `free` first letters of one column, starting at and
/// writing to `e`, until the squared gradient norm is at most `target2` or steps stop helping. The
/// last pass made is always the one at the `e` that is left behind, so that what a pass stores
/// besides (probabilities) belongs to it. The Hessian is taken again only where convergence with
/// the old one is slow: a pass without it costs half.
FieldMinimum minimise_fields(int free, double lambda, double target2, double* e,
                             const FieldPass& pass);

}  // namespace pleat::couplings
