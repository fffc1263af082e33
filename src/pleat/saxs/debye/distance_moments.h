// Distance moments: sums of sines over a list of distances, by their moments in bins, on SIMD.
#pragma once

#include "pleat/saxs/debye/distance_sums.h"
#include "pleat/saxs/debye/moment_table.h"

namespace pleat::saxs {

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
