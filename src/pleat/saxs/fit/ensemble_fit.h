// Ensemble fit: weights of frames whose mean profile agrees with a measured curve.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/threads.h"
#include "pleat/saxs/fit/fit.h"

namespace pleat::saxs {

class ObservableAxes;

/// Partial profiles [frame, channel pair, q of the curve] and the data to combine and fit them.
struct EnsembleProblem {
    const Profile* curve = nullptr;
    View<const double, 3> partial;
    double mean_radius = 0;
    FitOptions options;
    Context context = {};                ///< for cancelling
    const ThreadShare* share = nullptr;  ///< of a fit beside others; null: it has all threads
    /// Indices in the whole curve of the points of this problem's curve; null: all.
    const std::vector<Index>* points = nullptr;
    std::vector<std::string>* warnings = nullptr;  ///< where fits add theirs; null: nowhere
    /// Of maximum_entropy(): chi^2 of these means is added to that of the curve; null: none.
    const ObservableAxes* observables = nullptr;

    /// Threads for one loop at present.
    int threads() const { return share != nullptr ? share->threads() : resolve_threads(context); }
};

/// The best ensembles of 1, 2, ..., `max_size` frames. Weights are not negative (Lawson and Hanson
/// 1974), and weights and contrast of each set are fitted together. If there are at most
/// `kMaxExhaustiveSets` sets of a size, all are fitted. Otherwise the search is heuristic: all
/// pairs of `kRepresentatives` different frames, or the `kKept` best sets of the previous size with
/// one more frame; then members of the best few are exchanged one at a time while that helps. No
/// member has a weight below `kMinWeight`: a size is left out if no set of that size fits better
/// than a smaller one with such weights. All of this is repeated with each fifth of the curve left
/// out, which validates each size. Throws Cancelled.
std::vector<Weighted> minimal_ensembles(const EnsembleProblem& problem, Index max_size,
                                        const Context& context);
/// Like minimal_ensembles(), without cross-validation: element [size - 1] is the best ensemble of
/// at most `size` frames. Throws Cancelled.
std::vector<Weighted> best_ensembles(const EnsembleProblem& problem, Index max_size);
inline constexpr Index kMaxExhaustiveSets = 5000, kRepresentatives = 100, kKept = 20;
inline constexpr double kMinWeight = 1e-3;

/// [ensemble]: whether its validation is within one standard error of the best, so that the curve
/// cannot distinguish the sizes.
std::vector<bool> are_within_error_of_best(const std::vector<Weighted>& ensembles);

/// The index of the smallest ensemble whose validation is within one standard error of the best
/// (rationale: `docs/decisions/0037`).
std::size_t choose_simplest(const std::vector<Weighted>& ensembles);

/// Weights by maximum entropy for theta = 10, 10^0.5, ..., 10^-4 times the number of points and
/// observables, in this order, validated in the same way. Throws Cancelled.
std::vector<Reweighted> maximum_entropy(const EnsembleProblem& problem, const Context& context);
/// These values of theta for a number of points or observables.
std::vector<double> theta_scan(std::size_t points);
/// Maximum number of axes with which FrameAxes describes differences between profiles.
inline constexpr std::size_t kMaxProfileAxes = 400;

/// The largest theta whose validation is within a standard error of the best one's.
std::size_t choose_simplest(const std::vector<Reweighted>& scan);

/// exp(-sum w ln w): how many frames count.
double effective_count(std::span<const double> weights);

/// Partial profiles [channel pair, q] of the weighted mean of some frames.
Array<double, 2> weighted_partial(View<const double, 3> partial, std::span<const Index> frames,
                                  std::span<const double> weights);

/// Profiles [frame, q] at a contrast.
Array<double, 2> frame_profiles(const EnsembleProblem& problem, const Contrast& contrast);

/// Fits all models of a family (sizes, values of theta) to a problem, in a fixed order.
using Fitter = std::function<std::vector<Weighted>(const EnsembleProblem&)>;

/// The partial profile [channel pair, q] of a fitted model from a problem's partial profiles.
using MeanOfModel = std::function<Array<double, 2>(View<const double, 3>, const Weighted&)>;

/// Runs `fitter` on the whole curve and on the curve without each of `kFolds` folds, concurrently,
/// dividing the threads. The curve is cut into 4 * kFolds blocks of equal numbers of points (with
/// fewer points: one per block), assigned to the folds in turn. Sets the validation of each model
/// from the points that it did not see. The curve must have at least kFolds points.
std::vector<Weighted> cross_validate(const EnsembleProblem& problem, const Fitter& fitter,
                                     const MeanOfModel& mean, const Context& context,
                                     const char* stage);
inline constexpr std::size_t kFolds = 5;

/// The indices of the points inside, or outside, a fold.
std::vector<Index> points_of_fold(std::size_t points, std::size_t fold, bool inside);

/// Sets the validation of a model and its standard error from chi^2 per point of each fold.
void set_validation(std::span<const double> of_folds, Weighted& model);

}  // namespace pleat::saxs
