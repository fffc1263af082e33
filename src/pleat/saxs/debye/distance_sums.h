// Distance sums: sums of sines over a list of distances, for every q at once, on SIMD.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/saxs/debye/sine_grid.h"

namespace pleat::saxs {

/// Number of distances in a chunk; their sines fit in the L1 cache.
inline constexpr Index kChunk = 256;
/// Number of elements that vectors may write after a chunk.
inline constexpr Index kSlack = 16;

/// A list of distances that is being filled. `squared` and `weights` have room for kChunk + kSlack
/// each.
template <class Real>
struct DistanceChunk {
    Array<Real, 1> squared{kChunk + kSlack};
    Array<Real, 2> weights;          ///< [weighting, kChunk + kSlack]
    std::vector<std::uint8_t> used;  ///< [weighting]: 0 leaves the sums of this one as they are
    Index count = 0;

    explicit DistanceChunk(Index weightings)
        : weights(weightings, kChunk + kSlack), used(static_cast<std::size_t>(weightings), 1) {}
    Real* weight(Index n) { return weights.data() + n * (kChunk + kSlack); }
    bool is_used(Index n) const { return used[n] != 0; }
};

/// How many weightings of the pairs are summed at the same time. If weighting 0 is 1 for all pairs,
/// it needs no memory.
struct Weightings {
    Index count = 1;
    bool first_is_one = true;
};

/// Scratch memory and sums of a thread.
template <class Real>
struct DistanceSums {
    DistanceSums(const SineGrid& grid, Weightings weightings);

    const SineGrid* grid;
    Weightings weightings;
    SplitNumber<Real> step, start,
        turn;  ///< turns of a step, of the first centre, from one to the next
    std::vector<SplitNumber<Real>> turns_of_q;  ///< turns of each q if they are not evenly spaced
    Real max_distance;                          ///< angstrom: longer distances get its phase
    DistanceChunk<Real> chunk;
    Array<Real, 2> scratch;         ///< [row, kChunk + kSlack]: phases and their sines
    Array<Real, 1> sums;            ///< [weighting, sum, kSlack]: a lane each
    Index pending_count = 0;        ///< distances since the sums were last added to `float64_sums`
    Array<double, 2> float64_sums;  ///< [weighting, sum]
};

/// Adds the distances in the chunk and empties it. Distances below 1e-6 angstrom count as that.
template <class Real>
void add_chunk(DistanceSums<Real>& sums);

/// Writes sum_p w_p sin(q r_p) / (q r_p) over all p added since the last call to `result`
/// [weighting, q], for weightings that are used.
/// `total` [weighting]: the sums of the weights, which are the result at q = 0.
template <class Real>
void take_sums(DistanceSums<Real>& sums, const double* total, View<double, 2> result);

/// Pairs of one point, the row, with points [column, column + count).
struct RowPairs {
    Index row, column, count;
};

/// Writes the squared distances of all these pairs of points `xyz` [axis][stride] consecutively to
/// `to`, which has room for kSlack more.
template <class Real>
void squared_distances(const Real* xyz, Index stride, std::span<const RowPairs> row_pairs,
                       Real* to);

/// Writes the products of the scales of row and column for all these pairs, as squared_distances()
/// does; null: 1 for all.
template <class Real>
void scale_products(const Real* of_row, const Real* of_column, std::span<const RowPairs> row_pairs,
                    Real* to);

/// Weights for pair_slopes(), in the order of the sines.
template <class Real>
struct SlopeWeights {
    /// [centre, 2 kSpan]: of cosines, then of sines divided by q; or [q, 2] if q are not evenly
    /// spaced. Of a centre: its own, the sums of +t and -t, the differences.
    Array<Real, 2> values;
};
template <class Real>
SlopeWeights<Real> slope_weights(const SineGrid& grid, const double* weight);

/// For each distance of the chunk, the slope of sum_k weight_k sin(q_k r) / (q_k r) divided by r;
/// 0 where r is below 1e-5 angstrom. Leaves the chunk as it is.
template <class Real>
void pair_slopes(DistanceSums<Real>& sums, const SlopeWeights<Real>& weights, Real* slopes);

/// What an instruction set does of the above.
template <class Real>
struct DistanceFunctions {
    void (*add)(DistanceSums<Real>&);
    void (*widen)(DistanceSums<Real>&);
    void (*squared)(const Real*, Index, const RowPairs*, Index, Real*);
    void (*products)(const Real*, const Real*, const RowPairs*, Index, Real*);
    void (*slopes)(DistanceSums<Real>&, const Real*, Real*);
};

}  // namespace pleat::saxs
