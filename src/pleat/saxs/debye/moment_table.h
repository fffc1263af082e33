// Moment table: bins of distances, and how the moments in them become sums of sines.
#pragma once

#include "pleat/core/array.h"
#include "pleat/saxs/debye/sine_grid.h"

namespace pleat::saxs {

/// Moments of a bin: powers 0 to 7 of the position within it.
inline constexpr Index kMoments = 8;

/// Bin b holds distances about b * width. With x = r / width - b, from -1/2 to 1/2,
///     sin(q r) = sin(q b width) cos(q width x) + cos(q b width) sin(q width x)
/// where the waves of x are series of Chebyshev polynomials, cut off after the powers kept:
/// Abramowitz and Stegun, 9.1.42 to 9.1.45. The width is such that the remainder is at most
/// 2 J_8(3/4) = 1.9e-8 at the last q, and falls with the eighth power of q.
class MomentTable {
public:
    /// The grid must outlive it.
    explicit MomentTable(const SineGrid& grid);

    /// Makes waves for distances up to `reach`, in angstrom, unless they would be too large to save
    /// time. Not thread-safe.
    void extend_to(double reach);
    /// Number of bins for distances up to `reach`; 0 if there are no waves for them.
    Index bins(double reach) const;
    /// Whether moments take less time than sums of sines, for so many distances and weightings.
    bool is_faster(double pairs, double reach, Index weightings) const;

    const SineGrid* grid;
    float bins_per_angstrom;  ///< bins per angstrom: has few digits, so that r times it is exact
    Index q_stride;           ///< q rounded up to whole vectors
    Array<float, 2> waves;    ///< [bin, 2 q_stride]: sin(q b width), then cos(q b width)
    Array<double, 2>
        powers;  ///< [power, q_stride]: of x in sin and cos of q width x, divided by q; 0 at q = 0

private:
    Index needed_bins(double reach) const;
};

}  // namespace pleat::saxs
