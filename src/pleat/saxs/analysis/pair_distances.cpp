// Pair distances: the evidence of every Dmax and smoothness, and the mean of P(r) over them.
#include "pleat/saxs/analysis/pair_distances.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numbers>
#include <numeric>

#include "pleat/saxs/fit/least_squares.h"

namespace pleat::saxs {

namespace {

constexpr std::size_t kNodes = 64;         ///< intervals of the grid of distances
constexpr std::size_t kSize = kNodes + 1;  ///< unknowns: values of f at the nodes
constexpr double kLevel = 5;               ///< prior standard deviation of f, units of I(0)
constexpr double kShape = 3.1, kShapeSpread = 0.3;  ///< prior of Dmax / Rg: median and d ln
/// P(r) ends as (1 - x)^power: 2 for spheres, 3 for long ellipsoids, 3.5 for cylinders, up to 5 for
/// bodies with two corners.
constexpr double kPowers[] = {2, 3};
constexpr double kEndError = 0.045;  ///< of ln Dmax, by other powers
/// Side chains that stand out at both ends are too few atoms to be seen, angstrom.
constexpr double kSideChains = 12;
/// By which errors of Rg and I(0) are too small in simulations, without it.
constexpr double kErrorFactor = 1.15;
constexpr double kPositive = 0.5;   ///< power of the chance that P(r) is positive
constexpr double kBinWidth = 0.08;  ///< of points that are averaged, in 1 / Rg

double sine_over(double x) { return x < 1e-4 ? 1 - x * x / 6 : std::sin(x) / x; }

/// The grid x = u^2 = (k / nodes)^2 of distances in units of Dmax, which is finer at short
/// distances; p(x) = window(x) f(x), and integrals are sums with `step`.
struct Grid {
    std::vector<double> x, step;
    std::vector<double> roughness;  ///< lower band [node, 3] of the integral of (d2f / du2)^2

    Grid() : x(kSize), step(kSize), roughness(3 * kSize) {
        for (std::size_t k = 0; k < kSize; ++k) {
            const double u = static_cast<double>(k) / kNodes;
            x[k] = u * u;
            step[k] = 2 * u / kNodes;
        }
        const double scale = std::pow(static_cast<double>(kNodes), 3);
        constexpr double kSecond[3] = {1, -2, 1};
        for (std::size_t k = 0; k + 2 < kSize; ++k)
            for (std::size_t i = 0; i < 3; ++i)
                for (std::size_t j = 0; j <= i; ++j)
                    roughness[3 * (k + i) + i - j] += scale * kSecond[i] * kSecond[j];
    }
};

const Grid& grid() {
    static const Grid kGrid;
    return kGrid;
}

/// x (1 - x)^power, with I(0) = 1 if f = 1.
struct Window {
    double power = 0, height = 1;
    std::vector<double> at_nodes, weight;  ///< [node]; times the step

    explicit Window(double exponent) : power(exponent) {
        height = 1 / std::inner_product(grid().x.begin(), grid().x.end(), grid().step.begin(), 0.0,
                                        std::plus<>(),
                                        [&](double x, double step) { return at(x) * step; });
        for (std::size_t k = 0; k < kSize; ++k) {
            at_nodes.push_back(at(grid().x[k]));
            weight.push_back(at_nodes[k] * grid().step[k]);
        }
    }
    double at(double x) const { return height * x * std::pow(1 - x, power); }
};
const std::vector<Window>& windows() {
    static const std::vector<Window> kWindows(std::begin(kPowers), std::end(kPowers));
    return kWindows;
}

/// Points averaged in narrow bins.
struct Bins {
    std::vector<double> q, intensity, sigma;
};
Bins bins_of(const Profile& curve, double width) {
    Bins bins;
    for (std::size_t k = 0; k < curve.size();) {
        const double end = curve.q[k] + width;
        double weight = 0, q = 0, intensity = 0;
        for (; k < curve.size() && curve.q[k] < end; ++k) {
            const double w = 1 / (curve.sigma[k] * curve.sigma[k]);
            weight += w;
            q += w * curve.q[k];
            intensity += w * curve.intensity[k];
        }
        bins.q.push_back(q / weight);
        bins.intensity.push_back(intensity / weight);
        bins.sigma.push_back(1 / std::sqrt(weight));
    }
    return bins;
}

/// The normal equations of one Dmax, for a window of 1.
struct Normal {
    double diameter = 0;
    std::vector<double> matrix, right;  ///< lower triangle [kSize, kSize]
};
Normal normal_of(const Bins& bins, double diameter) {
    Normal normal{diameter, std::vector<double>(kSize * kSize), std::vector<double>(kSize)};
    std::vector<double> row(kSize);
    for (std::size_t n = 0; n < bins.q.size(); ++n) {
        const double weight = 1 / bins.sigma[n], value = bins.intensity[n] * weight;
        for (std::size_t k = 0; k < kSize; ++k)
            row[k] = weight * grid().step[k] * sine_over(bins.q[n] * diameter * grid().x[k]);
        for (std::size_t i = 0; i < kSize; ++i) {
            double* const to = normal.matrix.data() + i * kSize;
            for (std::size_t j = 0; j <= i; ++j) to[j] += row[i] * row[j];
            normal.right[i] += row[i] * value;
        }
    }
    return normal;
}

/// The prior precision alpha * roughness + level of one alpha, as lower band.
struct Prior {
    double alpha = 0;
    std::vector<double> band;
    double log_determinant = 0;

    Prior(double strength, double forward_intensity) : alpha(strength), band(3 * kSize) {
        const double scale = 1 / (forward_intensity * forward_intensity);
        for (std::size_t k = 0; k < kSize; ++k) {
            for (std::size_t b = 0; b < 3; ++b)
                band[3 * k + b] = alpha * scale * grid().roughness[3 * k + b];
            band[3 * k] += scale / (kLevel * kLevel * kNodes);
        }
        std::vector<double> root(kSize * kSize);
        cholesky_root(
            kSize, kSize, [&](std::size_t i, std::size_t j) { return at(i, j); }, root.data());
        for (std::size_t k = 0; k < kSize; ++k)
            log_determinant += 2 * std::log(root[k * kSize + k]);
    }
    double at(std::size_t i, std::size_t j) const { return i - j < 3 ? band[3 * i + i - j] : 0; }
};

/// What one Dmax, alpha and window say.
struct Cell {
    const Window* window = nullptr;
    double diameter = 0, alpha = 0, log_evidence = 0;
    std::vector<double> f = {}, band = {};  ///< mean and band [node, 3] of the covariance of f
    double good_parameters = 0;
    double forward = 0, forward_variance = 0, gyration_radius = 0, gyration_variance = 0;
    double weight = 0;
};

/// The dot product of column k of the inverse factor with itself or a neighbour, and so on: the
/// band of the covariance inverse(root)' inverse(root).
void add_covariance(const std::vector<double>& root, const Normal& normal, const Prior& prior,
                    Cell& cell) {
    // Row k of `columns`: column k of the inverse of the lower triangle.
    std::vector<double> columns(kSize * kSize);
    for (std::size_t k = 0; k < kSize; ++k) {
        double* const column = columns.data() + k * kSize;
        column[k] = 1 / root[k * kSize + k];
        for (std::size_t i = k + 1; i < kSize; ++i) {
            double sum = 0;
            for (std::size_t j = k; j < i; ++j) sum += root[i * kSize + j] * column[j];
            column[i] = -sum / root[i * kSize + i];
        }
    }
    const auto covariance = [&](std::size_t i, std::size_t j) {
        return dot(columns.data() + i * kSize + i, columns.data() + j * kSize + i, kSize - i);
    };
    cell.band.assign(3 * kSize, 0);
    double of_prior = 0;
    for (std::size_t i = 0; i < kSize; ++i)
        for (std::size_t b = 0; b < 3 && b <= i; ++b) {
            cell.band[3 * i + b] = covariance(i, i - b);
            of_prior += (b == 0 ? 1 : 2) * prior.band[3 * i + b] * cell.band[3 * i + b];
        }
    cell.good_parameters = kSize - of_prior;
    // I(0) and the second moment are linear in f.
    const double length2 = normal.diameter * normal.diameter;
    const std::vector<double>& weight = cell.window->weight;
    std::vector<double> second(kSize);
    for (std::size_t k = 0; k < kSize; ++k)
        second[k] = weight[k] * length2 * grid().x[k] * grid().x[k] / 2;
    const double moment = dot(second.data(), cell.f.data(), kSize);
    const double square = moment / cell.forward;
    std::vector<double> gradient(kSize);
    for (std::size_t k = 0; k < kSize; ++k)
        gradient[k] = (second[k] - square * weight[k]) / cell.forward;
    const auto variance = [&](std::vector<double> g) {
        solve_lower(kSize, kSize, root.data(), g.data());
        return dot(g.data(), g.data(), kSize);
    };
    cell.forward_variance = variance(weight);
    cell.gyration_variance = variance(gradient) / (4 * square);
}

/// ln of the chance that P(r) is nowhere negative: that of independent values, of which there are
/// as many as good parameters.
double log_chance_of_positive(const Cell& cell) {
    double sum = 0;
    for (std::size_t k = 1; k + 1 < kSize; ++k) {
        const double ratio = cell.f[k] / std::sqrt(cell.band[3 * k]);
        sum += std::log(std::max(1e-12, 0.5 * std::erfc(-ratio / std::numbers::sqrt2)));
    }
    return sum * cell.good_parameters / (kSize - 2);
}

/// The evidence of one cell, with mean, Rg and I(0), without errors; its factor is in `root`.
Cell evaluate(const Normal& normal, const Prior& prior, const Window& window,
              std::vector<double>& root) {
    const std::vector<double>& w = window.at_nodes;
    Cell cell{.window = &window, .diameter = normal.diameter, .alpha = prior.alpha};
    cell.log_evidence = -INFINITY;
    const bool is_regular = cholesky_root(
        kSize, kSize,
        [&](std::size_t i, std::size_t j) {
            return normal.matrix[i * kSize + j] * w[i] * w[j] + prior.at(i, j);
        },
        root.data());
    if (!is_regular) return cell;
    cell.f = normal.right;
    for (std::size_t k = 0; k < kSize; ++k) cell.f[k] *= w[k];
    solve_lower(kSize, kSize, root.data(), cell.f.data());
    double determinant = 0;
    for (std::size_t k = 0; k < kSize; ++k) determinant += 2 * std::log(root[k * kSize + k]);
    const double explained = dot(cell.f.data(), cell.f.data(), kSize);
    solve_upper(kSize, kSize, root.data(), cell.f.data());
    double moment = 0;
    for (std::size_t k = 0; k < kSize; ++k) {
        const double p = window.weight[k] * cell.f[k];
        cell.forward += p;
        moment += p * grid().x[k] * grid().x[k] / 2;
    }
    if (!(cell.forward > 0) || !(moment > 0)) return cell;
    cell.gyration_radius = normal.diameter * std::sqrt(moment / cell.forward);
    const double shape = std::log(normal.diameter / cell.gyration_radius / kShape) / kShapeSpread;
    cell.log_evidence = (prior.log_determinant - determinant + explained - shape * shape) / 2;
    return cell;
}

std::vector<double> log_steps(double from, double to, std::size_t count) {
    std::vector<double> all(count);
    for (std::size_t k = 0; k < count; ++k)
        all[k] =
            from * std::pow(to / from, static_cast<double>(k) / static_cast<double>(count - 1));
    return all;
}

/// Evaluates all pairs; with `covariances` also errors and the chance that P(r) is positive, of
/// cells that count.
std::vector<Cell> evaluate_all(const Bins& bins, const std::vector<double>& diameters,
                               const std::vector<double>& alphas, double forward_intensity,
                               bool covariances) {
    constexpr double kReach = 14;
    std::vector<Prior> priors;
    priors.reserve(alphas.size());
    for (const double alpha : alphas) priors.emplace_back(alpha, forward_intensity);
    std::vector<Cell> cells;
    std::vector<double> root(kSize * kSize);
    double best = -INFINITY;
    for (const double diameter : diameters) {
        const Normal normal = normal_of(bins, diameter);
        for (const Prior& prior : priors)
            for (const Window& window : windows()) {
                Cell cell = evaluate(normal, prior, window, root);
                best = std::max(best, cell.log_evidence);
                if (covariances && cell.log_evidence > best - kReach) {
                    add_covariance(root, normal, prior, cell);
                    cell.log_evidence += kPositive * log_chance_of_positive(cell);
                } else if (covariances) {
                    cell.log_evidence = -INFINITY;
                }
                cells.push_back(std::move(cell));
            }
    }
    return cells;
}

double best_evidence(const std::vector<Cell>& cells) {
    double best = -INFINITY;
    for (const Cell& cell : cells) best = std::max(best, cell.log_evidence);
    return best;
}

/// The ranges of Dmax and alpha around the cells that count, one step wider on each side.
struct Ranges {
    double min_diameter = INFINITY, max_diameter = 0, min_alpha = INFINITY, max_alpha = 0;
};
Ranges ranges_that_count(const std::vector<Cell>& cells, double diameter_step, double alpha_step) {
    constexpr double kReach = 7;
    const double best = best_evidence(cells);
    Ranges ranges;
    for (const Cell& cell : cells) {
        if (cell.log_evidence < best - kReach) continue;
        ranges.min_diameter = std::min(ranges.min_diameter, cell.diameter / diameter_step);
        ranges.max_diameter = std::max(ranges.max_diameter, cell.diameter * diameter_step);
        ranges.min_alpha = std::min(ranges.min_alpha, cell.alpha / alpha_step);
        ranges.max_alpha = std::max(ranges.max_alpha, cell.alpha * alpha_step);
    }
    return ranges;
}

/// Mean and standard deviation of values with variances, over cells.
template <class Value, class Variance>
std::pair<double, double> mixed(const std::vector<Cell>& cells, Value value, Variance variance) {
    double mean = 0, square = 0;
    for (const Cell& cell : cells) {
        if (cell.weight == 0) continue;
        const double x = value(cell);
        mean += cell.weight * x;
        square += cell.weight * (x * x + variance(cell));
    }
    return {mean, std::sqrt(std::max(0.0, square - mean * mean))};
}

/// The Dmax below which a part of the weight lies; cells are in the order of Dmax.
double quantile(const std::vector<Cell>& cells, double fraction) {
    std::vector<double> diameters, middles;  // the weight up to the middle of each step
    double sum = 0;
    for (std::size_t k = 0; k < cells.size();) {
        const double diameter = cells[k].diameter;
        double weight = 0;
        for (; k < cells.size() && cells[k].diameter == diameter; ++k) weight += cells[k].weight;
        diameters.push_back(diameter);
        middles.push_back(sum + weight / 2);
        sum += weight;
    }
    std::size_t n = 1;
    while (n + 1 < middles.size() && middles[n] < fraction) ++n;
    const double t = (fraction - middles[n - 1]) / std::max(1e-12, middles[n] - middles[n - 1]);
    return diameters[n - 1] + std::clamp(t, 0.0, 1.0) * (diameters[n] - diameters[n - 1]);
}

/// P(r) and its error on an even grid of distances to the largest Dmax that counts.
void add_distribution(const std::vector<Cell>& cells, PairDistances& pairs) {
    constexpr std::size_t kSteps = 200;
    constexpr double kMinWeight = 1e-3;
    double end = 0;
    for (const Cell& cell : cells)
        if (cell.weight > kMinWeight) end = std::max(end, cell.diameter);
    for (std::size_t n = 0; n <= kSteps; ++n) {
        const double r = end * static_cast<double>(n) / kSteps;
        const auto [mean, error] = [&] {
            double sum = 0, square = 0;
            for (const Cell& cell : cells) {
                if (cell.weight == 0 || r >= cell.diameter) continue;
                const double x = r / cell.diameter, u = std::sqrt(x) * kNodes;
                const auto k = std::min(static_cast<std::size_t>(u), kNodes - 1);
                const double t = u - static_cast<double>(k);
                const double scale = cell.window->at(x) / cell.diameter / (4 * std::numbers::pi);
                const double p = scale * ((1 - t) * cell.f[k] + t * cell.f[k + 1]);
                const double variance = (1 - t) * (1 - t) * cell.band[3 * k] +
                                        2 * t * (1 - t) * cell.band[3 * k + 4] +
                                        t * t * cell.band[3 * k + 3];
                sum += cell.weight * p;
                square += cell.weight * (p * p + scale * scale * variance);
            }
            return std::pair(sum, std::sqrt(std::max(0.0, square - sum * sum)));
        }();
        pairs.r.push_back(r);
        pairs.p.push_back(mean);
        pairs.p_error.push_back(error);
    }
}

/// Everything but the number of points and chi^2.
PairDistances summarise(std::vector<Cell> cells) {
    const double best = best_evidence(cells);
    double total = 0;
    for (Cell& cell : cells) {
        cell.weight = cell.log_evidence > best - 10 ? std::exp(cell.log_evidence - best) : 0;
        total += cell.weight;
    }
    for (Cell& cell : cells) cell.weight /= total;
    PairDistances pairs;
    pairs.is_valid = true;
    const auto none = [](const Cell&) { return 0.0; };
    std::tie(pairs.gyration_radius, pairs.gyration_radius_error) = mixed(
        cells, [](const Cell& c) { return c.gyration_radius; },
        [](const Cell& c) { return c.gyration_variance; });
    std::tie(pairs.forward_intensity, pairs.forward_intensity_error) = mixed(
        cells, [](const Cell& c) { return c.forward; },
        [](const Cell& c) { return c.forward_variance; });
    pairs.diameter = quantile(cells, 0.5);
    constexpr double kWithin90 = 1.645;  // standard errors
    const double of_end = kWithin90 * kEndError * pairs.diameter;
    pairs.diameter_low =
        pairs.diameter - std::hypot(pairs.diameter - quantile(cells, 0.05), of_end);
    pairs.diameter_high =
        pairs.diameter + std::hypot(quantile(cells, 0.95) - pairs.diameter, of_end, kSideChains);
    pairs.gyration_radius_error *= kErrorFactor;
    pairs.forward_intensity_error *= kErrorFactor;
    pairs.good_parameters = mixed(
                                cells, [](const Cell& c) { return c.good_parameters; }, none)
                                .first;
    pairs.log_alpha = mixed(
                          cells, [](const Cell& c) { return std::log10(c.alpha); }, none)
                          .first;
    add_distribution(cells, pairs);
    return pairs;
}

}  // namespace

std::vector<double> intensity_of(const PairDistances& pairs, std::span<const double> q) {
    std::vector<double> intensity(q.size());
    const double step = 4 * std::numbers::pi * (pairs.r[1] - pairs.r[0]);
    for (std::size_t k = 0; k < q.size(); ++k)
        for (std::size_t n = 1; n < pairs.r.size(); ++n)
            intensity[k] += step * pairs.p[n] * sine_over(q[k] * pairs.r[n]);
    return intensity;
}

PairDistances fit_pair_distances(const Profile& curve, double gyration_radius) {
    constexpr double kMinRatio = 1.6, kMaxRatio = 8, kMinAlpha = 1e-5, kMaxAlpha = 1e3;
    constexpr std::size_t kCoarse = 24, kCoarseAlphas = 7, kFine = 32, kFineAlphas = 10;
    Bins bins = bins_of(curve, kBinWidth / gyration_radius);
    const double forward =
        bins.intensity[0] * std::exp(std::pow(bins.q[0] * gyration_radius, 2) / 3);
    if (!(forward > 0)) return {};
    const std::vector<double> diameters =
        log_steps(kMinRatio * gyration_radius, kMaxRatio * gyration_radius, kCoarse);
    const std::vector<double> alphas = log_steps(kMinAlpha, kMaxAlpha, kCoarseAlphas);
    PairDistances pairs;
    double scale = 1;
    for (int pass = 0; pass < 2; ++pass) {
        const std::vector<Cell> coarse = evaluate_all(bins, diameters, alphas, forward, false);
        if (!std::isfinite(best_evidence(coarse))) return {};
        const Ranges ranges = ranges_that_count(coarse, diameters[1] / diameters[0],
                                                std::sqrt(alphas[1] / alphas[0]));
        std::vector<Cell> fine =
            evaluate_all(bins, log_steps(ranges.min_diameter, ranges.max_diameter, kFine),
                         log_steps(ranges.min_alpha, ranges.max_alpha, kFineAlphas), forward, true);
        if (!std::isfinite(best_evidence(fine))) return {};
        pairs = summarise(std::move(fine));
        pairs.model = intensity_of(pairs, curve.q);
        double chi2 = 0;
        for (std::size_t k = 0; k < curve.size(); ++k)
            chi2 += std::pow((curve.intensity[k] - pairs.model[k]) / curve.sigma[k], 2);
        const auto points = static_cast<double>(curve.size());
        pairs.chi2 = chi2 / points;
        pairs.error_scale = scale;
        const double degrees = points - pairs.good_parameters;
        if (pass == 1 || degrees < 2 || chi2 / degrees < 1 + 3 * std::sqrt(2 / degrees)) break;
        scale = std::sqrt(chi2 / degrees);
        for (double& sigma : bins.sigma) sigma *= scale;
    }
    pairs.shannon_channels = pairs.diameter * (curve.q.back() - curve.q.front()) / std::numbers::pi;
    return pairs;
}

}  // namespace pleat::saxs
