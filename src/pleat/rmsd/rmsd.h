// RMSD: every pair of an ensemble after optimal superposition, to a matrix, a histogram and
// neighbours.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/rmsd/pairs/band_tally.h"

#pragma GCC visibility push(default)

namespace pleat::rmsd {

/// The options; fields() describes each.
struct Parameters {
    std::string metric = "rmsd";       ///< "rmsd", "drmsd", "tm", "gdt_ts": see metric.h
    std::string precision = "mixed";   ///< "mixed", "float64"
    std::string matrix = "condensed";  ///< "condensed", "full", "none"
    double cutoff = std::numeric_limits<double>::quiet_NaN();
    std::int64_t best = 0;
    double bin = 0.05;

    bool has_cutoff() const { return cutoff == cutoff; }
};
std::vector<Field> fields(Parameters& parameters);

/// Frames near each other (below the cut-off, scores above it), in compressed rows: those of frame
/// i are indices[starts[i]], ..., indices[starts[i + 1] - 1], ascending, itself left out; each pair
/// stands in both rows.
struct Neighbours {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> indices;
    std::vector<float> rmsd;  ///< or what the metric is
};

/// The nearest other frames of each, nearest first, the earlier frame first where two are as near.
struct Best {
    Array<std::int32_t, 2> indices;  ///< [frame, rank]
    Array<float, 2> rmsd;            ///< [frame, rank]; or what the metric is
};

/// Where the matrix goes: to a file, or into memory of the caller's.
struct MatrixPlace {
    MatrixPlace() = default;
    MatrixPlace(std::filesystem::path path) : file(std::move(path)) {}
    MatrixPlace(std::span<float> values) : memory(values) {}

    std::filesystem::path file;
    std::span<float> memory;
};
/// Numbers that the matrix of `frames` with themselves has: condensed or full.
Index matrix_size(Index frames, const Parameters& parameters);

struct Result {
    Index frames = 0, atoms = 0, pairs = 0;
    double least = 0, most = 0, mean = 0;  ///< angstrom, over all pairs; 0 where there is none
    /// Pairs by RMSD: count n of bin n from n * bin up to but without (n + 1) * bin; the last one
    /// holds all beyond where there are kMaxBins of them.
    std::vector<std::int64_t> histogram;
    Neighbours neighbours;  ///< RMSD below the cut-off; empty without one
    Best best;              ///< empty unless asked for
};

/// Superposes all pairs of `xyz` [frame, atom, axis], angstrom, with weights of atoms (empty: all
/// 1). The matrix, where one is wanted, is written to `matrix` as float32 .npy: condensed, (0, 1),
/// (0, 2), ..., as SciPy's; or full; or the same numbers go to memory of matrix_size(), on one
/// rank, and no tiles are kept. Tiles of a file are kept in the file Context::checkpoint (beside
/// `matrix` without one), from which a stopped run goes on; without a matrix sums are kept in files
/// beside Context::checkpoint. Ranks share the tiles: the leading one gets the result, the others
/// one without values, and the files are in a folder that all see. UsageError, InputError (shape,
/// weights, coordinates), DeviceError, OutputError, Cancelled.
Result run(View<const float, 3> xyz, std::span<const double> weights, const Parameters& parameters,
           const Context& context, const MatrixPlace& matrix);

/// How far, in angstrom, values of this precision may be from the truth, beside their rounding to
/// float32.
inline double error_of(const Parameters& parameters) {
    return parameters.precision == "float64" ? 1e-6 : 1e-5;
}

/// Bytes of memory that run() needs beside the coordinates; for `cuda` the GPU's.
std::int64_t memory_needed(Index frames, Index atoms, const Parameters& parameters,
                           const Device& device);

}  // namespace pleat::rmsd

#pragma GCC visibility pop
