// Distance moments: sums of sines over a list of distances, by their moments in bins, on SIMD.
#pragma once

#include "pleat/core/array.h"
#include "pleat/saxs/debye/distance_sums.h"
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
    /// Whether moments take less time than sums of sines, for this many distances and weightings.
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

/// Copies of all bins, which are used in turn: shorter sums have smaller rounding errors, and a bin
/// is less often read again before its last value is stored.
inline constexpr Index kCopies = 4;

/// Scratch memory and sums of a thread. DistanceChunk holds the distances.
struct DistanceMoments {
    DistanceMoments(const MomentTable& table, Weightings weightings);

    const MomentTable* table;
    Weightings weightings;
    Array<float, 1> powers;  ///< [(kChunk + kSlack) kMoments]: a chunk's, distance by distance
    Array<std::int32_t, 1> bin_offsets;  ///< [kChunk + kSlack]: kMoments times the bin
    Array<float, 4> moments;        ///< [weighting, copy, bin, power]: sums of weight x^power / r
    Array<float, 3> all;            ///< [weighting, bin, power]: sums of the copies
    Array<float, 2> waves;          ///< [power, q_stride]: their contributions
    Index pending_count = 0;        ///< distances since copies were last added up
    Array<double, 2> float64_sums;  ///< [weighting, q_stride]

    Index copy_stride() const { return all.extent(1) * kMoments; }
};

/// Allocates bins for distances up to `reach`; the table must have waves for these. Call it before
/// the first distance.
void begin_moments(DistanceMoments& moments, double reach);

/// Adds the distances in the chunk, all within the reach, and empties it. Distances below 1e-6
/// angstrom count as that.
void add_chunk(DistanceMoments& moments, DistanceChunk<float>& chunk);

/// take_sums() for moments; the chunk must be empty.
void take_sums(DistanceMoments& moments, const double* total, View<double, 2> result);

}  // namespace pleat::saxs
