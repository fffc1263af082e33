// Ensemble fit: validation by parts of the curve left out, and the choice that rests on it.
#include "pleat/saxs/fit/ensemble_fit.h"

#include <algorithm>
#include <cmath>

#include "pleat/saxs/cancellable_parallel.h"

namespace pleat::saxs {

namespace {

/// The points of a curve that a part holds, or those that it does not.
std::vector<Index> points_of(std::size_t points, std::size_t part, bool inside) {
    std::vector<Index> chosen;
    for (std::size_t k = 0; k < points; ++k) {
        const std::size_t block = k * 4 * kParts / points;
        if ((block % kParts == part) == inside) chosen.push_back(static_cast<Index>(k));
    }
    return chosen;
}

/// A problem on some of the points of a curve, with the storage that it points into.
struct Part {
    Profile curve;
    Array<double, 3> partial;

    Part(const EnsembleProblem& whole, const std::vector<Index>& points)
        : partial(whole.partial.extent(0), whole.partial.extent(1),
                  static_cast<Index>(points.size())) {
        for (const Index k : points) {
            const auto at = static_cast<std::size_t>(k);
            curve.q.push_back(whole.curve->q[at]);
            curve.intensity.push_back(whole.curve->intensity[at]);
            curve.sigma.push_back(whole.curve->sigma[at]);
        }
        for (Index frame = 0; frame < partial.extent(0); ++frame) {
            for (Index pair = 0; pair < partial.extent(1); ++pair) {
                for (std::size_t n = 0; n < points.size(); ++n)
                    partial(frame, pair, static_cast<Index>(n)) =
                        whole.partial(frame, pair, points[n]);
            }
        }
    }
    EnsembleProblem problem(const EnsembleProblem& whole) const {
        return {&curve, partial, whole.mean_radius, whole.options, whole.context};
    }
};

/// chi^2 a point of a fit on points that it has not seen.
double test(const Weighted& fitted, const Part& unseen, double mean_radius) {
    const Array<double, 2> mean = weighted_partial(unseen.partial, fitted.frames, fitted.weights);
    const std::vector<double> model =
        intensity(mean, unseen.curve.q, mean_radius, fitted.fit.contrast);
    double chi2 = 0;
    for (std::size_t k = 0; k < model.size(); ++k) {
        const double left =
            (unseen.curve.intensity[k] - fitted.fit.scale * model[k] - fitted.fit.background) /
            unseen.curve.sigma[k];
        chi2 += left * left;
    }
    return chi2 / static_cast<double>(model.size());
}

/// Index of the first model (the simplest) within a standard error of the best.
template <class Models, class Get>
std::size_t first_good(const Models& models, Get get) {
    std::size_t best = 0;
    for (std::size_t m = 1; m < models.size(); ++m) {
        if (get(models[m]).validation < get(models[best]).validation) best = m;
    }
    if (models.empty()) return 0;
    const double limit = get(models[best]).validation + get(models[best]).validation_error;
    std::size_t first = 0;
    while (get(models[first]).validation > limit) ++first;
    return first;
}

}  // namespace

double effective_count(std::span<const double> weights) {
    double entropy = 0;
    for (const double w : weights) entropy -= w > 0 ? w * std::log(w) : 0;
    return std::exp(entropy);
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
    Array<double, 2> all(problem.partial.extent(0), problem.partial.extent(2));
    for (Index frame = 0; frame < all.extent(0); ++frame) {
        const std::vector<double> one =
            intensity(problem.partial[frame], problem.curve->q, problem.mean_radius, contrast);
        std::copy(one.begin(), one.end(), all[frame].begin());
    }
    return all;
}

std::vector<Weighted> validated(const EnsembleProblem& problem, const Fitter& fitter,
                                const Context& context, const char* stage) {
    const auto tell = [&](std::size_t done) {
        context.update(stage, static_cast<std::int64_t>(done), kParts + 1, "fits");
        stop_if_asked(context);
    };
    tell(0);
    std::vector<Weighted> models = fitter(problem);
    std::vector<std::vector<double>> unseen(models.size());
    for (std::size_t part = 0; part < kParts; ++part) {
        tell(part + 1);
        const Part seen(problem, points_of(problem.curve->size(), part, false));
        const Part left(problem, points_of(problem.curve->size(), part, true));
        const std::vector<Weighted> fitted = fitter(seen.problem(problem));
        for (std::size_t m = 0; m < std::min(models.size(), fitted.size()); ++m)
            unseen[m].push_back(test(fitted[m], left, problem.mean_radius));
    }
    tell(kParts + 1);
    for (std::size_t m = 0; m < models.size(); ++m) {
        const auto count = static_cast<double>(unseen[m].size());
        double sum = 0, squares = 0;
        for (const double value : unseen[m]) sum += value / count;
        for (const double value : unseen[m]) squares += (value - sum) * (value - sum);
        models[m].validation = sum;
        models[m].validation_error = std::sqrt(squares / std::max(1.0, count - 1) / count);
        models[m].effective = effective_count(models[m].weights);
    }
    // A size that some part found no use for has not been validated, nor has any above it.
    while (!models.empty() && unseen[models.size() - 1].size() < kParts) models.pop_back();
    return models;
}

std::size_t choose(const std::vector<Weighted>& ensembles) {
    return first_good(ensembles, [](const Weighted& one) -> const Weighted& { return one; });
}

std::size_t choose(const std::vector<Reweighted>& scan) {
    return first_good(scan, [](const Reweighted& one) -> const Weighted& { return one.result; });
}

}  // namespace pleat::saxs
