// Fits minimal ensembles to curves made of known numbers of states, and validates every size.
//
// bench_ensemble_sizes FRAMES.dcd TOPOLOGY CURVE MIXTURES SEED [ERROR POINTS]: a quarter of the
// frames, drawn at random, are states. A curve is made of 1 to 5 states in turn (weights of at
// least 0.1; any two states differ by a chi^2 per point of at least 5), with the relative errors of
// CURVE (medians of 11 points) at 250 of its points or fewer up to q = 0.32. The states are in the
// pool or not, and the curve has the noise that its errors say, or 1.2 times that noise and smooth
// errors of 1 %; with ERROR all have smooth errors of this relative size, with POINTS as many
// points. Each line of JSON has, for every size, chi^2 per point of the fit, its deviation from the
// curve without errors in the same unit, and for two divisions of the points into fifths (20
// blocks, or point by point) the squared residual of every point by the fit that did not see it.
// With 0 MIXTURES the only line is that of CURVE itself, all points of it, with all frames as the
// pool.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/saxs/components.h"
#include "pleat/saxs/fit/ensemble_fit.h"
#include "pleat/saxs/fit/resampling.h"
#include "pleat/saxs/input_checks.h"
#include "pleat/saxs/memory_estimate.h"
#include "pleat/saxs/saxs.h"

namespace {

using namespace pleat;
using namespace pleat::saxs;

constexpr double kLastQ = 0.32, kMinWeightOfState = 0.1, kMinDifference = 5;
constexpr double kModelError = 0.01;
constexpr Index kMaxSize = 5;
constexpr std::size_t kMaxPoints = 250;

/// Partial profiles of frames at the points of a curve.
struct Frames {
    Array<double, 3> partial;
    double mean_radius = 0;
};

Frames profiles_of(const Ensemble& ensemble, const Profile& curve, const Context& context) {
    Parameters parameters;
    parameters.q_max = kLastQ;
    const Probes probes(parameters, {});
    Result result;
    std::vector<Component> components = make_components(std::span<const Ensemble>(&ensemble, 1),
                                                        probes, true, parameters, context, result);
    const double radius = components[0].scatterers.mean_radius;
    result.q = even_grid(curve.q.back(), grid_points(parameters, true, 250));
    ProbeProfiles computed = compute_profiles(components, probes, nullptr, parameters, radius,
                                              false, true, context, result);
    const Array<double, 3> all = computed.all(std::nullopt);
    Frames frames{Array<double, 3>(all.extent(0), all.extent(1), std::ssize(curve.q)), radius};
    for (Index frame = 0; frame < all.extent(0); ++frame) {
        const Array<double, 2> one = profiles_at_curve(all[frame], result.q, curve);
        std::copy(one.begin(), one.end(), frames.partial[frame].begin());
    }
    return frames;
}

double median(std::vector<double> numbers) {
    std::nth_element(numbers.begin(), numbers.begin() + std::ssize(numbers) / 2, numbers.end());
    return numbers[numbers.size() / 2];
}

/// The errors of a curve relative to its intensities.
std::vector<double> relative_errors(const Profile& curve) {
    std::vector<double> errors;
    const auto n = std::ssize(curve.q);
    for (std::ptrdiff_t k = 0; k < n; ++k) {
        const auto from = std::max<std::ptrdiff_t>(0, k - 5), to = std::min(n, k + 6);
        const auto among = [&](const std::vector<double>& all) {
            return median({all.begin() + from, all.begin() + to});
        };
        errors.push_back(among(curve.sigma) / std::max(among(curve.intensity), 1e-300));
    }
    return errors;
}

/// Smooth errors of relative size 1, correlated over pi / 100 angstrom.
std::vector<double> smooth_errors(const std::vector<double>& q, std::mt19937_64& random) {
    constexpr int kWaves = 64;
    std::normal_distribution<double> normal;
    std::vector<double> errors(q.size(), 0);
    for (int wave = 0; wave < kWaves; ++wave) {
        const double frequency = normal(random) * 100 / std::numbers::pi;
        const double a = normal(random), b = normal(random);
        for (std::size_t k = 0; k < q.size(); ++k)
            errors[k] += (a * std::cos(frequency * q[k]) + b * std::sin(frequency * q[k])) /
                         std::sqrt(static_cast<double>(kWaves));
    }
    return errors;
}

/// The squared residuals, in units of the errors, of fits that saw four fifths of the points:
/// [size][point]. `fold` is the fifth of a point.
std::vector<std::vector<double>> validate(const EnsembleProblem& whole,
                                          const std::vector<std::size_t>& fold, std::size_t sizes) {
    const auto points = static_cast<Index>(fold.size());
    std::vector<std::vector<double>> squares(sizes, std::vector<double>(fold.size(), NAN));
    for (std::size_t left = 0; left < kFolds; ++left) {
        std::vector<Index> seen;
        for (Index k = 0; k < points; ++k)
            if (fold[static_cast<std::size_t>(k)] != left) seen.push_back(k);
        Profile curve;
        Array<double, 3> partial(whole.partial.extent(0), whole.partial.extent(1),
                                 std::ssize(seen));
        for (std::size_t n = 0; n < seen.size(); ++n) {
            const auto k = static_cast<std::size_t>(seen[n]);
            curve.q.push_back(whole.curve->q[k]);
            curve.intensity.push_back(whole.curve->intensity[k]);
            curve.sigma.push_back(whole.curve->sigma[k]);
            for (Index frame = 0; frame < partial.extent(0); ++frame)
                for (Index pair = 0; pair < partial.extent(1); ++pair)
                    partial(frame, pair, static_cast<Index>(n)) =
                        whole.partial(frame, pair, seen[n]);
        }
        const std::vector<Weighted> fits = best_ensembles(
            {&curve, partial, whole.mean_radius, whole.options, whole.context}, kMaxSize);
        for (std::size_t size = 0; size < std::min(sizes, fits.size()); ++size) {
            const Fit& fit = fits[size].fit;
            const std::vector<double> model =
                intensity(weighted_partial(whole.partial, fits[size].frames, fits[size].weights),
                          whole.curve->q, whole.mean_radius, fit.contrast);
            for (std::size_t k = 0; k < fold.size(); ++k)
                if (fold[k] == left)
                    squares[size][k] = std::pow(
                        (whole.curve->intensity[k] - fit.scale * model[k] - fit.background) /
                            whole.curve->sigma[k],
                        2);
        }
    }
    return squares;
}

nlohmann::json rounded(const std::vector<double>& numbers) {
    nlohmann::json list = nlohmann::json::array();
    for (const double x : numbers) list.push_back(std::round(x * 1e4) / 1e4);
    return list;
}

/// Curves made of frames that are in the pool or not.
class Trial {
public:
    Trial(const Frames& frames, const Profile& measured, std::vector<double> errors,
          double model_error, std::uint64_t seed)
        : measured_(measured),
          errors_(std::move(errors)),
          radius_(frames.mean_radius),
          model_error_(model_error) {
        std::vector<Index> order(static_cast<std::size_t>(frames.partial.extent(0)));
        std::iota(order.begin(), order.end(), Index{0});
        std::mt19937_64 random(seed);
        std::shuffle(order.begin(), order.end(), random);
        const Index states = std::ssize(order) / 4;
        states_ = some(frames.partial, {order.begin(), order.begin() + states});
        pool_ = some(frames.partial, {order.begin() + states, order.end()});
        all_ = some(frames.partial, {order.begin(), order.end()});
    }

    nlohmann::json mixture(std::size_t count, bool is_in_pool, bool has_model_errors,
                           std::uint64_t seed) const {
        std::mt19937_64 random(seed);
        std::uniform_real_distribution<double> uniform;
        std::normal_distribution<double> normal;
        const Contrast contrast{0.98 + 0.06 * uniform(random), 0.5 + 2 * uniform(random)};
        const std::vector<Index> members = distinct(count, contrast, random);
        const std::vector<double> weights = draw_weights(members.size(), random);
        Profile truth = measured_;
        truth.intensity =
            intensity(weighted_partial(states_, members, weights), truth.q, radius_, contrast);
        for (std::size_t k = 0; k < truth.size(); ++k)
            truth.sigma[k] = errors_[k] * truth.intensity[k];
        Profile curve = truth;
        const std::vector<double> smooth = smooth_errors(curve.q, random);
        for (std::size_t k = 0; k < curve.size(); ++k)
            curve.intensity[k] +=
                (has_model_errors ? model_error_ : 0.0) * smooth[k] * truth.intensity[k] +
                (has_model_errors ? 1.2 : 1.0) * truth.sigma[k] * normal(random);
        nlohmann::json line = fits(is_in_pool ? all_ : pool_, curve, truth);
        line["in_pool"] = is_in_pool;
        line["model_errors"] = has_model_errors;
        line["states"] = members.size();
        line["weights"] = rounded(weights);
        return line;
    }

    /// The curve itself, with all frames; its deviations are from the curve with its noise.
    nlohmann::json measured() const {
        nlohmann::json line = fits(all_, measured_, measured_);
        line["q_max"] = measured_.q.back();
        return line;
    }

private:
    static Array<double, 3> some(View<const double, 3> all, const std::vector<Index>& chosen) {
        Array<double, 3> partial(std::ssize(chosen), all.extent(1), all.extent(2));
        for (std::size_t n = 0; n < chosen.size(); ++n)
            std::copy(all[chosen[n]].begin(), all[chosen[n]].end(),
                      partial[static_cast<Index>(n)].begin());
        return partial;
    }

    /// States any two of which differ sufficiently for the errors.
    std::vector<Index> distinct(std::size_t count, const Contrast& contrast,
                                std::mt19937_64& random) const {
        std::uniform_int_distribution<Index> any(0, states_.extent(0) - 1);
        std::vector<Index> members;
        for (int trial = 0; members.size() < count; ++trial) {
            if (trial > 10000) throw std::runtime_error("too few distinct states");
            const Index next = any(random);
            const std::vector<double> model =
                intensity(states_[next], measured_.q, radius_, contrast);
            if (std::all_of(members.begin(), members.end(), [&](Index other) {
                    Profile curve = measured_;
                    curve.intensity = intensity(states_[other], curve.q, radius_, contrast);
                    for (std::size_t k = 0; k < curve.size(); ++k)
                        curve.sigma[k] = errors_[k] * curve.intensity[k];
                    return fit_scale(curve, model, false).chi2 >
                           kMinDifference * static_cast<double>(curve.size());
                }))
                members.push_back(next);
        }
        std::sort(members.begin(), members.end());
        return members;
    }

    /// Uniform among the weights of at least kMinWeightOfState.
    static std::vector<double> draw_weights(std::size_t count, std::mt19937_64& random) {
        std::exponential_distribution<double> exponential;
        std::vector<double> weights;
        for (std::size_t n = 0; n < count; ++n) weights.push_back(exponential(random));
        const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
        for (double& weight : weights)
            weight = kMinWeightOfState +
                     weight / sum * (1 - kMinWeightOfState * static_cast<double>(count));
        return weights;
    }

    nlohmann::json fits(View<const double, 3> pool, const Profile& curve,
                        const Profile& truth) const {
        EnsembleProblem problem{&curve, pool, radius_, FitOptions{}, Context{}};
        problem.context.threads = 1;
        const std::vector<Weighted> sizes = best_ensembles(problem, kMaxSize);
        nlohmann::json line;
        for (const Weighted& one : sizes) {
            double deviation = 0;
            for (std::size_t k = 0; k < truth.size(); ++k)
                deviation += std::pow((truth.intensity[k] - one.fit.model[k]) / truth.sigma[k], 2) /
                             static_cast<double>(truth.size());
            line["frames"].push_back(one.frames.size());
            line["chi2"].push_back(one.fit.chi2);
            line["deviation"].push_back(deviation);
        }
        const std::size_t points = curve.size();
        for (const auto& [name, blocks] :
             {std::pair{"wide", std::size_t{20}}, {"points", points}}) {
            std::vector<std::size_t> fold;
            for (std::size_t k = 0; k < points; ++k)
                fold.push_back(k * std::min(blocks, points) / points % kFolds);
            for (const std::vector<double>& squares : validate(problem, fold, sizes.size()))
                line[name].push_back(rounded(squares));
        }
        return line;
    }

    Profile measured_;
    std::vector<double> errors_;
    double radius_, model_error_;
    Array<double, 3> states_, pool_, all_;
};

int run_trial(const std::vector<std::string>& arguments) {
    if (arguments.size() < 5) {
        std::cerr << "usage: bench_ensemble_sizes FRAMES.dcd TOPOLOGY CURVE MIXTURES SEED "
                     "[ERROR POINTS]\n";
        return 2;
    }
    const Profile whole = cut_curve(read_profile(arguments[2]).profile, kLastQ);
    const std::size_t count = std::stoull(arguments[3]);
    const std::vector<double> all_errors = relative_errors(whole);
    Profile curve;
    std::vector<double> errors;
    const std::size_t points = arguments.size() > 6 ? std::stoull(arguments[6]) : kMaxPoints;
    const std::size_t step = count == 0 ? 1 : (whole.size() + points - 1) / points;
    for (std::size_t k = 0; k < whole.size(); k += step) {
        curve.q.push_back(whole.q[k]);
        curve.intensity.push_back(whole.intensity[k]);
        curve.sigma.push_back(whole.sigma[k]);
        errors.push_back(all_errors[k]);
    }
    EnsembleOptions reading;
    reading.topology = arguments[1];
    const Frames frames = profiles_of(read_ensemble({arguments[0]}, reading), curve, Context{});
    const auto seed = static_cast<std::uint64_t>(std::stoull(arguments[4]));
    const bool all_have_errors = arguments.size() > 5;
    const Trial trial(frames, curve, std::move(errors),
                      all_have_errors ? std::stod(arguments[5]) : kModelError, seed);
    if (count == 0) std::cout << trial.measured().dump() << std::endl;
    for (std::size_t n = 0; n < count; ++n) {
        nlohmann::json line =
            trial.mixture(n % kMaxSize + 1, n / kMaxSize % 2 == 0,
                          all_have_errors || n / kMaxSize / 2 % 2 == 1, seed * 1000 + n);
        line["q_max"] = curve.q.back();
        std::cout << line.dump() << std::endl;
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run_trial({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
