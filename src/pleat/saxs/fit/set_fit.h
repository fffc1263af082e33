// Set fit: weights and contrast of sets of frames, fitted together.
#pragma once

#include <functional>
#include <vector>

#include "pleat/saxs/fit/product_table.h"

namespace pleat::saxs {

/// Values of c1 or c2 in a grid at most.
inline constexpr int kMaxGridValues = 61;

using Members = std::vector<Index>;  ///< frames of a set, ascending

/// A set of frames with the weights and the contrast that minimise chi^2 together.
struct FittedSet {
    Members members;
    Contrast contrast;
    std::vector<double> weights;  ///< 0 or more, of sum 1; equal where the scale is 0
    double chi2 = 0;              ///< sum over the points
};

/// Fits each set by the Newton steps of search_contrast() from the contrast that `start` returns
/// for its index, until chi^2 would fall by less than the fraction `precision`. The table must have
/// pairs unless every set is one frame. Throws Cancelled.
std::vector<FittedSet> fit_from(const ProductTable& table, const std::vector<Members>& sets,
                                const std::function<Contrast(std::size_t)>& start, double precision,
                                int threads);

/// Like fit_from(), starting at the best contrast of a grid: steps of at most 0.01 in c1 and 0.5 in
/// c2, for sets of more than two frames 0.025 and 1; at most 61 values of each. All sets have one
/// size.
std::vector<FittedSet> fit_from_grid(const ProductTable& table, const std::vector<Members>& sets,
                                     double precision, int threads);

}  // namespace pleat::saxs
