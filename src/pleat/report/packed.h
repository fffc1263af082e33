// Packing: numbers as base64 of 16-bit integers, small enough for a page.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "pleat/core/view.h"

namespace pleat::report {

using Json = nlohmann::ordered_json;

/// RFC 4648, with padding.
std::string base64(std::span<const std::uint8_t> bytes);

/// {"size", "diagonal", "least", "most", "data"}: a symmetric matrix [size, size] of which `upper`
/// holds row by row what lies above the diagonal, and the diagonal too where `diagonal` is set. A
/// value v becomes round((v - least) / (most - least) * 65534), two bytes, the low one first; 65535
/// stands for NaN and infinities. The error is at most (most - least) / 131068.
Json pack_symmetric(std::span<const double> upper, Index size, bool diagonal);

/// {"rows", "columns", "least", "most", "data"}: a matrix row by row, its numbers as in
/// pack_symmetric().
Json pack_rectangle(std::span<const double> values, Index rows, Index columns);

/// A matrix of distances or scores between frames, made small: cell [a, b] is the mean over the
/// pairs of block a and block b, NaN where it has none. A frame beside itself has no part in the
/// mean of a block.
struct DistanceCells {
    /// Row by row; of symmetric ones what lies above the diagonal, and the diagonal.
    std::vector<double> values;
    Index rows = 0, columns = 0;   ///< cells
    Index frames = 0, others = 0;  ///< along the sides of the file
    Index block = 1;               ///< frames along a side of a cell
    bool symmetric = false;
};

/// Reads distances or scores from an .npy file, condensed (as SciPy's), square, or of one set
/// against another, float32 or float64, row by row: memory is that of the cells. InputError for any
/// other shape or type. `most`: cells along a side. `self`: the value of a frame beside itself, 0
/// or 1, which a condensed file leaves out and a symmetric one has on its diagonal.
DistanceCells read_distances(const std::filesystem::path& path, Index most, double self);

}  // namespace pleat::report
