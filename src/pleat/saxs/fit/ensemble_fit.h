// Ensemble fit: weights of conformers whose mean profile agrees with a measured curve.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/saxs/fit/fit.h"

#pragma GCC visibility push(default)

namespace pleat::saxs {

/// Partial profiles [frame, channel pair, q of the curve] and what turns them into profiles.
struct EnsembleProblem {
    const Profile* curve = nullptr;
    View<const double, 3> partial;
    double mean_radius = 0;
    FitOptions options;
    Context context = {};  ///< asked whether to stop
};

/// Weights of conformers, with the fit of their mean.
struct Weighted {
    std::vector<Index> frames;    ///< ascending
    std::vector<double> weights;  ///< of those frames, not negative, sum 1
    Fit fit;
    double validation = 0;        ///< chi^2 a point on points left out of the fit
    double validation_error = 0;  ///< standard error of that over the parts left out
    double effective = 0;         ///< exp(entropy of the weights): conformers that count
    bool is_exhaustive = false;   ///< minimal ensembles: all sets of up to as many were fitted
};

/// The best ensembles of 1, 2, ..., `most` conformers. Weights are not negative (Lawson and Hanson
/// 1974), and weights and contrast of each set are fitted together. All sets of a size are fitted
/// where there are at most `kMostTried`. Otherwise the search is heuristic: all pairs of
/// `kRepresentatives` different frames, or the `kKept` best sets of the size before with one more
/// frame; then members are exchanged one at a time while that helps. No member has a weight below
/// `kMinWeight`: a size is left out where no set of that size fits better than a smaller one with
/// such weights. All of this is done again with each fifth of the curve left out, which validates
/// each size. Throws Cancelled.
std::vector<Weighted> minimal_ensembles(const EnsembleProblem& problem, Index max_size,
                                        const Context& context);
/// The same without validation: [size - 1], the best ensemble of at most as many conformers. Throws
/// Cancelled.
std::vector<Weighted> best_ensembles(const EnsembleProblem& problem, Index max_size, int threads);
inline constexpr Index kMaxTried = 5000, kRepresentatives = 100, kKept = 20;
inline constexpr double kMinWeight = 1e-3;

/// The smallest ensemble whose validation is within a standard error of the best one's.
std::size_t choose(const std::vector<Weighted>& ensembles);

/// Weights of all frames that minimise  sum_k ((I_k - model_k) / sigma_k)^2 / 2 + theta * sum_i w_i
/// ln(M w_i)  (Rozycki, Kim and Hummer 2011), validated in the same way.
struct Reweighted {
    double theta = 0;
    Weighted result;
};
/// For theta = 10, 10^0.5, ..., 10^-4 times the number of points, in this order. Cancelled.
std::vector<Reweighted> maximum_entropy(const EnsembleProblem& problem, const Context& context);

/// The largest theta whose validation is within a standard error of the best one's.
std::size_t choose(const std::vector<Reweighted>& scan);

/// exp(-sum w ln w).
double effective_count(std::span<const double> weights);

/// Partial profiles [channel pair, q] of the weighted mean.
Array<double, 2> weighted_partial(View<const double, 3> partial, std::span<const Index> frames,
                                  std::span<const double> weights);

/// Profiles [frame, q] at a contrast.
Array<double, 2> frame_profiles(const EnsembleProblem& problem, const Contrast& contrast);

/// Fits all models of a family (sizes, values of theta) to a problem, in a fixed order.
using Fitter = std::function<std::vector<Weighted>(const EnsembleProblem&)>;

/// Runs `fitter` on the whole curve, then on it without each of `kParts` parts: the curve is cut
/// into 4 * kParts blocks of equal numbers of points, which belong to the parts in turn. Sets the
/// validation of each model by the points that it did not see.
std::vector<Weighted> validated(const EnsembleProblem& problem, const Fitter& fitter,
                                const Context& context, const char* stage);
inline constexpr std::size_t kParts = 5;

}  // namespace pleat::saxs

#pragma GCC visibility pop
