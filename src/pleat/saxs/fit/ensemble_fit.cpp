// Ensemble fit: validation by folds of the curve, and the choice of a model by it.
#include "pleat/saxs/fit/ensemble_fit.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <optional>
#include <thread>
#include <utility>

#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/fit/reweight.h"

namespace pleat::saxs {

namespace {

/// The fitting problem inside or outside a fold, with the data that it points to.
struct ProblemOnPoints {
    Profile curve;
    std::vector<Index> points;
    Array<double, 3> partial;
    std::optional<ObservableAxes> observables;

    ProblemOnPoints(const EnsembleProblem& whole, std::size_t fold, bool inside)
        : points(points_of_fold(whole.curve->size(), fold, inside)),
          partial(Array<double, 3>::unset(whole.partial.extent(0), whole.partial.extent(1),
                                          std::ssize(points))) {
        if (whole.observables != nullptr)
            observables.emplace(*whole.observables,
                                points_of_fold(whole.observables->target.size(), fold, inside));
        for (const Index k : points) {
            curve.q.push_back(whole.curve->q[k]);
            curve.intensity.push_back(whole.curve->intensity[k]);
            curve.sigma.push_back(whole.curve->sigma[k]);
        }
        cancellable_parallel_for(whole.context, whole.threads(), partial.extent(0),
                                 [&](Index frame, int) {
                                     double* to = partial[frame].data;
                                     for (Index pair = 0; pair < partial.extent(1); ++pair) {
                                         const double* const from = whole.partial[frame][pair].data;
                                         for (const Index k : points) *to++ = from[k];
                                     }
                                 });
    }
    EnsembleProblem problem(const EnsembleProblem& whole) const {
        EnsembleProblem own = whole;
        own.curve = &curve;
        own.partial = partial;
        own.points = &points;
        own.warnings = nullptr;
        own.observables = observables ? &*observables : nullptr;
        return own;
    }
};

/// chi^2 per point, and observable, of a fit on those that were left out of it (cross-validation).
double test(const Weighted& fitted, const Array<double, 2>& mean, const ProblemOnPoints& unseen,
            double mean_radius) {
    const std::vector<double> model =
        intensity(mean, unseen.curve.q, mean_radius, fitted.fit.contrast);
    double chi2 = 0;
    for (std::size_t k = 0; k < model.size(); ++k) {
        const double left =
            (unseen.curve.intensity[k] - fitted.fit.scale * model[k] - fitted.fit.background) /
            unseen.curve.sigma[k];
        chi2 += left * left;
    }
    auto count = static_cast<double>(model.size());
    if (unseen.observables) {
        const auto observed = static_cast<double>(unseen.observables->size());
        chi2 += observed * unseen.observables->fit(fitted.weights, 0).chi2;
        count += observed;
    }
    return chi2 / count;
}

}  // namespace

double effective_count(std::span<const double> weights) {
    double entropy = 0;
    for (const double w : weights) entropy -= w > 0 ? w * std::log(w) : 0;
    return std::exp(entropy);
}

std::vector<Index> points_of_fold(std::size_t points, std::size_t fold, bool inside) {
    const std::size_t blocks = std::min(4 * kFolds, points);
    std::vector<Index> chosen;
    for (std::size_t k = 0; k < points; ++k) {
        const std::size_t block = k * blocks / points;
        if ((block % kFolds == fold) == inside) chosen.push_back(static_cast<Index>(k));
    }
    return chosen;
}

void set_validation(std::span<const double> of_folds, Weighted& model) {
    const auto count = static_cast<double>(of_folds.size());
    double sum = 0, squares = 0;
    for (const double value : of_folds) sum += value / count;
    for (const double value : of_folds) squares += (value - sum) * (value - sum);
    model.validation = sum;
    model.validation_error = std::sqrt(squares / std::max(1.0, count - 1) / count);
}

Array<double, 2> weighted_partial(View<const double, 3> partial, std::span<const Index> frames,
                                  std::span<const double> weights) {
    Array<double, 2> mean(partial.extent(1), partial.extent(2));
    for (std::size_t m = 0; m < frames.size(); ++m) {
        const double* const one = partial[frames[m]].data;
        for (Index n = 0; n < mean.size(); ++n) mean.data()[n] += weights[m] * one[n];
    }
    return mean;
}

Array<double, 2> frame_profiles(const EnsembleProblem& problem, const Contrast& contrast) {
    auto all = Array<double, 2>::unset(problem.partial.extent(0), problem.partial.extent(2));
    const Array<double, 2> factors = channel_pair_factors(
        problem.partial.extent(1), problem.curve->q, problem.mean_radius, contrast);
    cancellable_parallel_for(
        problem.context, problem.threads(), all.extent(0), [&](Index frame, int) {
            std::ranges::copy(intensity(problem.partial[frame], factors), all[frame].begin());
        });
    return all;
}

std::vector<Weighted> cross_validate(const EnsembleProblem& problem, const Fitter& fitter,
                                     const MeanOfModel& mean, const Context& context,
                                     const char* stage) {
    StageProgress progress(context, stage, kFolds + 1, "fits");
    progress.advance_to(0);
    std::vector<Weighted> models;
    std::array<std::vector<double>, kFolds> tested;  // [fold][model]
    std::atomic<std::int64_t> done = 0;
    const std::thread::id caller = std::this_thread::get_id();
    const auto fit_one = [&](Index n, const EnsembleProblem& own) {
        if (n == 0) {
            models = fitter(own);
        } else {
            const std::size_t fold = static_cast<std::size_t>(n) - 1;
            const ProblemOnPoints seen(own, fold, false);
            const ProblemOnPoints left(own, fold, true);
            for (const Weighted& fitted : fitter(seen.problem(own)))
                tested[fold].push_back(
                    test(fitted, mean(left.partial, fitted), left, problem.mean_radius));
        }
        ++done;
        if (std::this_thread::get_id() == caller) progress.advance_to(done);
    };
    // Only the caller's thread reports progress and checks for a cancel. When it has no fit left,
    // it waits for the other threads without doing either.
    share_threads(resolve_threads(context), kFolds + 1, [&](Index n, const ThreadShare& share) {
        EnsembleProblem own = problem;
        own.context = share.context(problem.context);
        own.share = &share;
        fit_one(n, own);
    });
    progress.advance_to(kFolds + 1);
    std::vector<std::vector<double>> unseen(models.size());  // [model][fold]
    for (const std::vector<double>& of_fold : tested)
        for (std::size_t m = 0; m < std::min(models.size(), of_fold.size()); ++m)
            unseen[m].push_back(of_fold[m]);
    for (std::size_t m = 0; m < models.size(); ++m) {
        set_validation(unseen[m], models[m]);
        models[m].effective_frames = effective_count(models[m].weights);
    }
    // A size that was not fitted in some fold is not validated, nor is any larger size.
    while (!models.empty() && unseen[models.size() - 1].size() < kFolds) models.pop_back();
    return models;
}

std::vector<bool> are_within_error_of_best(const std::vector<Weighted>& ensembles) {
    if (ensembles.empty()) return {};
    const Weighted& best = *std::ranges::min_element(ensembles, {}, &Weighted::validation);
    std::vector<bool> near;
    near.reserve(ensembles.size());
    for (const Weighted& one : ensembles)
        near.push_back(!(one.validation > best.validation + best.validation_error));
    return near;
}

std::size_t choose_simplest(const std::vector<Weighted>& ensembles) {
    const std::vector<bool> near = are_within_error_of_best(ensembles);
    return near.empty() ? 0 : std::ranges::find(near, true) - near.begin();
}

std::size_t choose_simplest(const std::vector<Reweighted>& scan) {
    std::vector<Weighted> all;
    all.reserve(scan.size());
    for (const Reweighted& one : scan) all.push_back(one.result);
    return choose_simplest(all);
}

}  // namespace pleat::saxs
