// Reweight: observables as axes of the dual problem, and the choice of theta.
#include "pleat/saxs/fit/reweight.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "pleat/core/error.h"
#include "pleat/core/loops/steps.h"
#include "pleat/core/loops/threads.h"
#include "pleat/saxs/fit/ensemble_fit.h"
#include "pleat/saxs/fit/least_squares.h"

namespace pleat::saxs {

std::span<const std::string_view> names_of(ObservableKind) {
    static constexpr std::string_view kNames[] = {"gaussian", "upper", "lower"};
    return kNames;
}

std::span<const std::string_view> names_of(Averaging) {
    static constexpr std::string_view kNames[] = {"mean", "r^-3", "r^-6"};
    return kNames;
}

namespace {

double power_of(Averaging averaging) {
    return averaging == Averaging::mean ? 1 : averaging == Averaging::r3 ? -3 : -6;
}

[[noreturn]] void refuse(const Observable& one, const std::string& wanted,
                         const std::string& found) {
    throw InputError(
        fmt::format("observable '{}': expected {}, found {}", one.name, wanted, found));
}

/// Throws InputError for what is wrong with a measured value.
void check_measured(const Observable& one) {
    if (!std::isfinite(one.value)) refuse(one, "a finite value", fmt::to_string(one.value));
    if (!(one.error > 0) || !std::isfinite(one.error))
        refuse(one, "an error above 0", fmt::to_string(one.error));
    if (one.averaging != Averaging::mean && !(one.value > 0))
        refuse(one, "a distance above 0", fmt::to_string(one.value));
}

/// Throws InputError for observables of one name that are the same or contradict each other.
void check_names(const std::vector<Observable>& list) {
    for (std::size_t n = 0; n < list.size(); ++n)
        for (std::size_t m = 0; m < n; ++m) {
            if (list[n].name != list[m].name) continue;
            if (list[n].kind == list[m].kind)
                refuse(list[n], "it once", fmt::format("it twice as {}", name_of(list[n].kind)));
            const bool is_lower_first = list[m].kind == ObservableKind::lower;
            const Observable &low = list[is_lower_first ? m : n],
                             &high = list[is_lower_first ? n : m];
            if (low.kind == ObservableKind::lower && high.kind == ObservableKind::upper &&
                low.value > high.value)
                refuse(list[n],
                       fmt::format("a lower bound of at most the upper bound {}", high.value),
                       fmt::to_string(low.value));
        }
}

}  // namespace

ObservableAxes::ObservableAxes(const std::vector<Observable>& list, View<const double, 2> values)
    : x(std::ssize(list), values.extent(0)), list_(list) {
    if (list.empty()) throw UsageError("expected at least 1 observable, found none");
    if (values.extent(0) < 1 || values.extent(1) != std::ssize(list))
        throw UsageError(fmt::format(
            "expected values [frame, observable] of {} observables, found shape [{}, {}]",
            list.size(), values.extent(0), values.extent(1)));
    check_names(list);
    for (const Observable& one : list) {
        check_measured(one);
        const Index n = std::ssize(target), frames = values.extent(0);
        const double power = power_of(one.averaging), measured = std::pow(one.value, power),
                     error = std::abs(power * measured / one.value) * one.error;
        errors_.push_back(one.averaging == Averaging::mean ? one.error : error);
        for (Index i = 0; i < frames; ++i) {
            x(n, i) = std::pow(values(i, n), power) / errors_.back();
            if (!std::isfinite(values(i, n)) || (power < 0 && !(values(i, n) > 0)) ||
                !std::isfinite(x(n, i)))
                refuse(one,
                       power < 0 ? "a finite number above 0 in each frame"
                                 : "a finite number in each frame",
                       fmt::format("{} in frame {}", values(i, n), i));
        }
        centres_.push_back(std::accumulate(x[n].begin(), x[n].end(), 0.0) /
                           static_cast<double>(frames));
        for (double& value : x[n]) value -= centres_.back();
        target.push_back(measured / errors_.back() - centres_.back());
        // A bound of distances is the other bound of their powers.
        const int sign = one.kind == ObservableKind::gaussian ? 0
                         : one.kind == ObservableKind::upper  ? 1
                                                              : -1;
        signs.push_back(power < 0 ? -sign : sign);
    }
}

ObservableAxes::ObservableAxes(const ObservableAxes& all, std::span<const Index> rows)
    : x(std::ssize(rows), all.x.extent(1)) {
    for (const Index row : rows) {
        std::ranges::copy(all.x[row], x[std::ssize(target)].begin());
        target.push_back(all.target[row]);
        signs.push_back(all.signs[row]);
        list_.push_back(all.list_[row]);
        errors_.push_back(all.errors_[row]);
        centres_.push_back(all.centres_[row]);
    }
}

ObservableFit ObservableAxes::fit(std::span<const double> weights, double theta) const {
    ObservableFit found;
    for (Index n = 0; n < size(); ++n) {
        const double mean = dot(x[n].data, weights.data(), weights.size());
        double deviation = mean - target[n];
        if (signs[n] * deviation < 0) deviation = 0;
        found.chi2 += deviation * deviation / static_cast<double>(size());
        // Where the gradient of the dual problem is 0.
        found.multipliers.push_back(theta > 0 ? deviation / theta : 0);
        const double power = power_of(list_[n].averaging);
        found.means.push_back(std::pow((mean + centres_[n]) * errors_[n], 1 / power));
    }
    return found;
}

namespace {

/// The weights for each theta, which fall.
std::vector<Weighted> weigh(const ObservableAxes& axes, const std::vector<double>& thetas,
                            const Context& context) {
    FrameCoordinates at;
    at.add_observables(axes.x, axes.signs);
    const std::function<int()> threads = [count = resolve_threads(context)] { return count; };
    WeightDual dual(at, threads, context);
    std::vector<double> multipliers(axes.target.size(), 0);
    std::vector<Weighted> all;
    // Newton steps from far away need too many line searches at a small theta.
    const double ratio = std::sqrt(10.0);
    double last = 10 * static_cast<double>(axes.size());
    for (const double theta : thetas) {
        while (last > ratio * theta) {
            dual.minimize(1, axes.target, last, multipliers);
            last /= ratio;
        }
        last = theta;
        Weighted& one = all.emplace_back();
        one.weights = dual.minimize(1, axes.target, theta, multipliers);
        one.frames.resize(one.weights.size());
        std::iota(one.frames.begin(), one.frames.end(), Index{0});
        one.fit.chi2 = axes.fit(one.weights, theta).chi2;
        one.fit.points = axes.size();
        one.effective_frames = effective_count(one.weights);
    }
    return all;
}

/// Adds the validation of each theta by observables that its weights did not see.
void validate(const ObservableAxes& axes, const std::vector<double>& thetas, const Context& context,
              std::vector<Weighted>& models) {
    StageProgress progress(context, "maximum entropy", kFolds, "fits");
    std::vector<std::vector<double>> unseen(thetas.size());  // [theta][fold]
    for (std::size_t fold = 0; fold < kFolds; ++fold) {
        progress.advance_to(static_cast<std::int64_t>(fold));
        const ObservableAxes seen(axes, points_of_fold(axes.size(), fold, false)),
            left(axes, points_of_fold(axes.size(), fold, true));
        std::vector<double> of_seen = thetas;
        for (double& theta : of_seen)
            theta *= static_cast<double>(seen.size()) / static_cast<double>(axes.size());
        const std::vector<Weighted> fitted = weigh(seen, of_seen, context);
        for (std::size_t n = 0; n < fitted.size(); ++n)
            unseen[n].push_back(left.fit(fitted[n].weights, 0).chi2);
    }
    progress.advance_to(kFolds);
    for (std::size_t n = 0; n < models.size(); ++n) set_validation(unseen[n], models[n]);
}

/// The largest theta that explains the observables within their errors or, if none does, nearly as
/// well as the smallest one.
std::size_t choose_by_errors(const std::vector<Reweighted>& scan, double before) {
    constexpr double kPart = 0.9;
    const double lowest = scan.back().result.fit.chi2;
    const double enough = lowest <= 1 ? 1 : before - kPart * (before - lowest);
    std::size_t chosen = 0;
    while (chosen + 1 < scan.size() && scan[chosen].result.fit.chi2 > enough) ++chosen;
    return chosen;
}

}  // namespace

ObservableFits fits_of(const std::vector<Observable>& list, const ObservableAxes& axes,
                       const std::vector<Reweighted>& scan) {
    const std::vector<double> equal(axes.x.extent(1), 1 / static_cast<double>(axes.x.extent(1)));
    ObservableFits all{list, axes.fit(equal, 0), {}};
    for (const Reweighted& one : scan) all.fits.push_back(axes.fit(one.result.weights, one.theta));
    return all;
}

std::vector<std::string> warnings_of(const Weighted& chosen) {
    if (chosen.effective_frames >= kMinEffectiveFrames) return {};
    return {fmt::format(
        "the weights leave {:.1f} effective frames of {}, fewer than {}: they are no ensemble. "
        "More frames like those that agree with the data, or a larger theta, keep more",
        chosen.effective_frames, chosen.weights.size(), kMinEffectiveFrames)};
}

Reweighting reweight(const std::vector<Observable>& list, View<const double, 2> values,
                     std::vector<double> thetas, const Context& context) {
    const ObservableAxes axes(list, values);
    for (const double theta : thetas)
        if (!(theta > 0) || !std::isfinite(theta))
            throw UsageError(fmt::format("theta: expected numbers above 0, found {}", theta));
    if (thetas.empty()) thetas = theta_scan(list.size());
    std::ranges::sort(thetas, std::greater());
    std::vector<Weighted> models = weigh(axes, thetas, context);
    const bool is_validated = thetas.size() > 1 && list.size() >= kMinValidated;
    if (is_validated) validate(axes, thetas, context, models);
    Reweighting result;
    for (std::size_t n = 0; n < thetas.size(); ++n)
        result.scan.push_back({thetas[n], std::move(models[n])});
    result.observables = fits_of(list, axes, result.scan);
    if (is_validated) {
        result.chosen = choose_simplest(result.scan);
    } else if (thetas.size() > 1) {
        result.chosen = choose_by_errors(result.scan, result.observables.before.chi2);
        result.notes.push_back(
            {NoteKind::assumption,
             fmt::format("{} observables are too few for leaving some out: theta is the largest "
                         "with chi^2 of at most 1 per observable or, if none has, with nine tenths "
                         "of the largest decrease",
                         list.size())});
    }
    result.warnings = warnings_of(result.scan[result.chosen].result);
    return result;
}

}  // namespace pleat::saxs
