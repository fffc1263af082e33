// Statistic: T = sum of n lg n over the cells of a table, in integers that decide ties exactly.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/core/view.h"

#pragma GCC visibility push(default)

namespace pleat::mutual_information {

/// F(n) = n lg n in fixed point. With the margins of a table fixed, its mutual information grows
/// with T = sum of F(n) over the cells: MI_ij = H_i + H_j - lg N + T / N, and likewise for three
/// columns.
///
/// lg is additive over prime factors: lg n = sum of lg p, each lg p rounded once to a multiple of
/// 2^-scale. Tables of equal products of n^n, which have the same MI, therefore have the same T to
/// the last bit, whatever the order of the sum; float64 sums tell 19 to 37 % of such ties wrongly
/// or by chance in conserved alignments.
struct Statistic {
    std::vector<std::int64_t> f;  ///< [0 .. N]: F(n), in units of 2^-scale bits; F(0) = F(1) = 0
    int scale = 0;
    /// Differences of T are divided by 2^shift, rounded, before their powers are summed (NullSums):
    /// they are then below 2^20 in size.
    int shift = 0;

    Index rows() const { return static_cast<Index>(f.size()) - 1; }
    /// T in bits.
    double bits(std::int64_t t) const;
    /// A difference of T in the units of NullSums, in bits.
    double moment_unit() const;
};

/// `rows`: N, from 1 to 2^31 - 1. Takes 8 N bytes.
Statistic make_statistic(Index rows);

/// A difference of T in units of 2^shift, rounded half up.
constexpr std::int64_t moment_difference(std::int64_t difference, int shift) {
    return shift == 0 ? difference : (difference + (std::int64_t{1} << (shift - 1))) >> shift;
}

}  // namespace pleat::mutual_information

#pragma GCC visibility pop
