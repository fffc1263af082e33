// Reweight: weights of frames by maximum entropy, from the means of any observables.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/notes.h"
#include "pleat/saxs/fit/weight_dual.h"
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {

/// Fewer effective frames than this are no ensemble.
inline constexpr double kMinEffectiveFrames = 20;
/// With fewer observables theta is not chosen by observables that were left out.
inline constexpr std::size_t kMinValidated = 10;

/// Observables in units of their errors: x(n, i) = a(n, i) / error - its mean over the frames, with
/// a the values or, of distances, their power.
class ObservableAxes {
public:
    /// `values`: [frame, observable]. Throws UsageError for shapes that do not agree, InputError
    /// for errors that are not above 0, numbers that are not finite, distances that are not above
    /// 0, and bounds of one name that contradict each other.
    ObservableAxes(const std::vector<Observable>& list, View<const double, 2> values);
    /// Some of the rows.
    ObservableAxes(const ObservableAxes& all, std::span<const Index> rows);

    Array<double, 2> x;          ///< [observable, frame]
    std::vector<double> target;  ///< [observable]: what was measured, as x
    std::vector<int> signs;      ///< [observable], as in FrameCoordinates

    Index size() const { return x.extent(0); }
    /// How the means with these weights [frame] agree; `theta` of the weights: 0 without one.
    ObservableFit fit(std::span<const double> weights, double theta) const;

private:
    std::vector<Observable> list_;
    std::vector<double> errors_, centres_;  // [observable]: of a; mean of a over its error
};

/// Weights of frames by observables alone.
struct Reweighting {
    ObservableFits observables;
    std::vector<Reweighted> scan;  ///< [theta]; Fit has chi^2 and the number of observables only
    std::size_t chosen = 0;
    Notes notes;
    std::vector<std::string> warnings;
};

/// The weights w of frames that minimise chi^2 / 2 + theta sum w ln(M w), with chi^2 the sum over
/// the observables, as BME does (Bottaro, Bengtsen, Lindorff-Larsen, Methods Mol. Biol. 2112:219,
/// 2020), for each of `thetas`; if there are none, for 10, 10^0.5, ..., 10^-4 times the number of
/// observables. Several values are validated by leaving out each fifth of the observables; chosen
/// is the largest whose validation is within a standard error of the best or, with fewer than
/// kMinValidated observables, the largest with chi^2 of at most 1 per observable. `values`: [frame,
/// observable]. Memory: 8 bytes times observables^2 for 512 frames, and three copies of the values.
/// Throws as ObservableAxes, UsageError for theta, Cancelled.
Reweighting reweight(const std::vector<Observable>& list, View<const double, 2> values,
                     std::vector<double> thetas, const Context& context);

/// The fits of the observables with the weights of each theta.
ObservableFits fits_of(const std::vector<Observable>& list, const ObservableAxes& axes,
                       const std::vector<Reweighted>& scan);

/// A warning if too few frames are effective, else none.
std::vector<std::string> warnings_of(const Weighted& chosen);

}  // namespace pleat::saxs
