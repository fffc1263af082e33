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

/// {"size", "diagonal", "least", "most", "data"}: a symmetric matrix [size, size] of which `upper` holds
/// row by row what lies above the diagonal, and the diagonal too where `diagonal` is set. A value v
/// becomes round((v - least) / (most - least) * 65534), two bytes, the low one first; 65535 stands for
/// NaN and infinities. The error is at most (most - least) / 131068.
Json pack_symmetric(std::span<const double> upper, Index size, bool diagonal);

/// A matrix of distances between frames, made small: cell [a, b] is the mean over the pairs of block a
/// and block b, NaN where it has none.
struct DistanceCells {
    std::vector<double> upper;  ///< row by row, the diagonal included
    Index size = 0;             ///< cells along a side
    Index frames = 0;           ///< along a side of the file
    Index block = 1;            ///< frames a cell
};

/// Reads distances from an .npy file, condensed (as SciPy's) or square, float32 or float64, row by row:
/// memory is that of the cells. InputError for any other shape or type. `most`: cells along a side.
DistanceCells read_distances(const std::filesystem::path& path, Index most);

}  // namespace pleat::report
