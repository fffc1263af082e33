// Reduced data: matrices, curves and labels of any length reduced to what a page can show.
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

/// {"size", "diagonal", "least", "most", "data"}: a symmetric matrix [size, size]. `upper` holds
/// its values above the diagonal row by row, and those on the diagonal if `diagonal` is true. A
/// value v becomes round((v - least) / (most - least) * 65534), two bytes, the low one first; 65535
/// stands for NaN and infinities. The error is at most (most - least) / 131068.
Json encode_symmetric(std::span<const double> upper, Index size, bool diagonal);

/// {"rows", "columns", "least", "most", "data"}: a matrix row by row, its values as in
/// encode_symmetric().
Json encode_rectangle(std::span<const double> values, Index rows, Index columns);

/// A coarse matrix of distances or scores between frames: cell [a, b] is the mean over pairs of
/// block a and block b, NaN if there is no pair. Pairs of a frame with itself are not included.
struct DistanceCells {
    /// Row by row; for a symmetric matrix only values on and above the diagonal.
    std::vector<double> values;
    Index rows = 0, columns = 0;   ///< cells
    Index frames = 0, others = 0;  ///< rows and columns of the matrix in the file
    Index block = 1;               ///< frames along a side of a cell
    bool symmetric = false;
};

/// Reads distances or scores from an .npy file, float32 or float64: condensed (as SciPy's), square,
/// or of one set of frames against another. Reads row by row, so memory is that of the cells.
/// `max_cells`: along a side. `self`: the value of a frame and itself, 0 or 1, which a condensed
/// file omits and a symmetric matrix has on its diagonal. Throws InputError for other shapes and
/// types.
DistanceCells read_distances(const std::filesystem::path& path, Index max_cells, double self);

/// Maximum number of positions of a curve or strip: more than the width of a screen.
constexpr Index kMaxPositions = 4000;

/// A curve with at most `max_positions` positions. For longer curves, each block of positions is
/// replaced by its minimum and maximum, in their order. NaN is ignored.
struct ReducedCurve {
    std::vector<double> positions, values;
    Index block = 1;  ///< positions per block; 1: nothing was left out
    /// A remark for the page; empty if the curve is complete.
    std::string note(const std::string& item) const;
};
ReducedCurve reduce_curve(std::span<const double> positions, std::span<const double> values,
                          Index max_positions = kMaxPositions);

/// Stretches of equal labels. If there are more than `max_positions`, each block of labels becomes
/// its most frequent label, the lowest of several.
struct ReducedSteps {
    std::vector<std::int64_t> labels, lengths;
    Index block = 1;
    std::string note(const std::string& item) const;
};
ReducedSteps reduce_steps(std::span<const std::int64_t> labels,
                          Index max_positions = kMaxPositions);

}  // namespace pleat::report
