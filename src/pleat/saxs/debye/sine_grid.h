// Sine grid: the spacing of q, and the order of sums of sines over it.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "pleat/core/view.h"

namespace pleat::saxs {

/// Values of q on either side of a centre, whose sines are products of the centre's and a step's.
inline constexpr int kMaxOffset = 8;
inline constexpr int kOffsetCount = 2 * kMaxOffset + 1;

inline constexpr double kTurn = 6.283185307179586476925;

/// A number as the sum of a number of few digits and a remainder, such that products with it round
/// without a bias, with and without fused multiply-adds.
template <class Real>
struct SplitNumber {
    Real high, low;
};

/// Turns (angle / 2 pi) per unit of distance. Evenly spaced q are grouped around centres: q of
/// centre m and offset t is first + (kSpan m + kReach + t) step, for t from -kReach to kReach;
/// those past the last q are not used. Other q are not grouped.
struct SineGrid {
    explicit SineGrid(std::span<const double> q);

    bool even = false;
    bool starts_at_zero = false;  ///< even, and the first q is 0
    Index count = 0;
    double first = 0, step = 0;  ///< 1/angstrom
    Index centres = 0;           ///< 0 if q are not evenly spaced
    std::vector<double> q;

    /// Number of sums of a pass: kSpan per centre, or one per q.
    Index sum_count() const { return even ? centres * kOffsetCount : count; }
    /// The largest q of any sum.
    double largest() const {
        return even ? first + static_cast<double>(centres * kOffsetCount) * step : q.back();
    }
    template <class Real>
    static SplitNumber<Real> turns(double wave) {
        constexpr double kDigits = 4096.0;
        const double exact = wave / kTurn;
        int exponent = 0;
        const double fraction = std::frexp(exact, &exponent);
        const Real high =
            static_cast<Real>(std::ldexp(std::round(fraction * kDigits) / kDigits, exponent));
        return {high, static_cast<Real>(exact - static_cast<double>(high))};
    }
};

}  // namespace pleat::saxs
