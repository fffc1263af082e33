// Curve comparison: runs of one sign, means and straight lines over curves.
#include "pleat/saxs/analysis/curve_comparison.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pleat::saxs {

double longest_run_probability(std::size_t points, std::size_t run) {
    if (run <= 1) return 1;
    if (run > points) return 0;
    // A run of `run` equal sides is one of run - 1 repeats among points - 1 neighbours.
    const std::size_t length = run - 1, n = points - 1;
    std::vector<double> without(n + 1, 1);  // chance that k neighbours have no such repeats
    const double whole = std::pow(0.5, static_cast<double>(length));
    for (std::size_t k = length; k <= n; ++k)
        without[k] = k == length ? 1 - whole : without[k - 1] - whole / 2 * without[k - length - 1];
    return std::clamp(1 - without[n], 0.0, 1.0);
}

void WeightedLine::add(double x, double y, double weight) {
    w += weight;
    wx += weight * x;
    wy += weight * y;
    wxx += weight * x * x;
    wxy += weight * x * y;
}
double WeightedLine::slope_error() const { return std::sqrt(w / determinant()); }
double WeightedLine::start_error() const { return std::sqrt(wxx / determinant()); }

std::vector<CurvePair> compare_curves(std::span<const Profile> curves) {
    std::vector<CurvePair> pairs;
    for (std::size_t j = 1; j < curves.size(); ++j)
        for (std::size_t i = 0; i < j; ++i) {
            CurvePair pair{.first = i, .second = j};
            std::size_t run = 0;
            double before = 0;
            for (std::size_t k = 0; k < curves[i].size(); ++k) {
                const double gap = curves[i].intensity[k] - curves[j].intensity[k];
                run = gap * before > 0 ? run + 1 : 1;
                before = gap;
                pair.longest_run = std::max(pair.longest_run, run);
            }
            pair.probability = longest_run_probability(curves[i].size(), pair.longest_run);
            pairs.push_back(pair);
        }
    std::vector<std::size_t> order(pairs.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](std::size_t n) { return pairs[n].probability; });
    double largest = 0;
    for (std::size_t n = 0; n < order.size(); ++n) {
        CurvePair& pair = pairs[order[n]];
        largest = std::max(largest, pair.probability * static_cast<double>(order.size() - n));
        pair.adjusted = std::min(1.0, largest);
    }
    return pairs;
}

Profile average_of(std::span<const Profile> curves, std::span<const std::size_t> which) {
    Profile mean = curves[which.front()];
    mean.dq.clear();
    for (std::size_t k = 0; k < mean.size(); ++k) {
        double weight = 0, sum = 0;
        for (const std::size_t n : which) {
            const double w = 1 / (curves[n].sigma[k] * curves[n].sigma[k]);
            weight += w;
            sum += w * curves[n].intensity[k];
        }
        mean.intensity[k] = sum / weight;
        mean.sigma[k] = 1 / std::sqrt(weight);
    }
    return mean;
}

Profile extrapolate(std::span<const Profile> curves, std::span<const double> concentrations) {
    Profile zero = curves.front();
    zero.dq.clear();
    for (std::size_t k = 0; k < zero.size(); ++k) {
        WeightedLine line;
        for (std::size_t n = 0; n < curves.size(); ++n) {
            const double c = concentrations[n], sigma = curves[n].sigma[k] / c;
            line.add(c, curves[n].intensity[k] / c, 1 / (sigma * sigma));
        }
        zero.intensity[k] = line.start();
        zero.sigma[k] = line.start_error();
    }
    return zero;
}

double trend_of(std::span<const double> x, std::span<const double> values,
                std::span<const double> errors) {
    WeightedLine line;
    for (std::size_t n = 0; n < values.size(); ++n)
        line.add(x[n], values[n], 1 / (errors[n] * errors[n]));
    return line.determinant() > 0 ? line.slope() / line.slope_error() : 0;
}

}  // namespace pleat::saxs
