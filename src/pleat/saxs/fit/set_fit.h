// Set fit: weights and contrast of sets of frames, fitted together, from products of profiles.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "pleat/saxs/fit/ensemble_fit.h"

namespace pleat::saxs {

/// Nodes of the contrast: maximum number of values of c1, and number of values of c2.
inline constexpr std::size_t kMaxC1Nodes = 64, kC2Nodes = 5;

/// Interpolates functions of the contrast from their values at nodes. Products of two profiles are
/// polynomials of degree 4 in c2, so 5 nodes are exact there; in c1 the number of Chebyshev nodes
/// is chosen such that the factor of the excluded volume to the power of 4 is accurate to 1e-12.
class ContrastNodes {
public:
    /// `largest_q` in 1/angstrom; profiles of beads (`is_atomic` false) do not depend on c1.
    ContrastNodes(const FitOptions& options, bool is_atomic, double mean_radius, double largest_q);

    std::size_t size() const { return c1_.size() * c2_.size(); }
    std::size_t c1_count() const { return c1_.size(); }
    std::size_t c2_count() const { return c2_.size(); }
    /// Node c1 * c2_count() + c2.
    Contrast node(std::size_t c1, std::size_t c2) const { return {c1_[c1], c2_[c2]}; }
    /// Sets `weights` [node] such that the sum of weights * values at the nodes is the value at
    /// `contrast`.
    void interpolation_weights(const Contrast& contrast, std::span<double> weights) const;

private:
    std::vector<double> c1_, c2_;
    std::vector<double> c1_factors_, c2_factors_;  ///< of the barycentric formula
};

/// Products of the profiles of frames, sum_k I_ak I_bk / sigma_k^2, at all nodes of the contrast.
/// With a background, profiles and curve are first made orthogonal to a constant.
class ProductTable {
public:
    /// Without `with_pairs`, only the products of each frame with itself and with the curve.
    /// `problem` is copied; its curve and partial profiles must outlive the table. Throws
    /// Cancelled.
    ProductTable(const EnsembleProblem& problem, bool with_pairs, int threads);

    const EnsembleProblem& problem() const { return problem_; }
    Index frame_count() const { return problem_.partial.extent(0); }
    const ContrastNodes& nodes() const { return nodes_; }
    /// [node]: the product of two frames; in a table without pairs `a` equals `b`.
    const double* products(Index a, Index b) const { return products_.data() + row(a, b); }
    /// [node]: the product of a frame and the curve.
    const double* products_with_curve(Index frame) const {
        return products_with_curve_.data() + static_cast<std::size_t>(frame) * nodes_.size();
    }
    /// The product of the curve with itself: chi^2 of no model.
    double curve_square() const { return curve_square_; }

private:
    void scale(double* profile) const;
    static constexpr Index kParts = 3;  ///< powers of c2 in a profile

    /// Sets rows [0, kParts) of `parts`.
    void compute_parts(Index frame, std::size_t c1, View<double, 2> parts) const;
    void add_pairs();
    void add_frames();
    std::size_t row(Index a, Index b) const {
        const auto larger = static_cast<std::size_t>(a > b ? a : b),
                   smaller = static_cast<std::size_t>(a > b ? b : a);
        return (has_frame_pairs_ ? larger * (larger + 1) / 2 + smaller : larger) * nodes_.size();
    }

    const EnsembleProblem problem_;
    const bool has_frame_pairs_;
    const int threads_;
    const ContrastNodes nodes_;
    std::vector<double> inverse_sigma_;  ///< [point]: 1 / sigma
    double inverse_variance_sum_ = 0;    ///< sum of 1 / sigma^2
    std::vector<double> curve_;          ///< [point], by sigma
    double curve_square_ = 0;
    std::vector<Array<double, 2>> factors_;    ///< [c1]: of partial profiles [channel pair, point]
    std::vector<double> products_;             ///< [pair of frames or frame, node]
    std::vector<double> products_with_curve_;  ///< [frame, node]
};

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

/// Fits each set by the Newton steps of search_contrast(), starting from the contrast that `start`
/// returns for its index, until the expected relative decrease of chi^2 is below `precision`. The
/// table must have pairs unless every set is a single frame. Throws Cancelled.
std::vector<FittedSet> fit_from(const ProductTable& table, const std::vector<Members>& sets,
                                const std::function<Contrast(std::size_t)>& start, double precision,
                                int threads);

/// Like fit_from(), starting at the best contrast of a grid: steps of at most 0.01 in c1 and 0.5 in
/// c2, for sets of more than two frames 0.025 and 1; at most 61 values of each. All sets have one
/// size.
std::vector<FittedSet> fit_from_grid(const ProductTable& table, const std::vector<Members>& sets,
                                     double precision, int threads);

}  // namespace pleat::saxs
