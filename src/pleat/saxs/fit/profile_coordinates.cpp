// Profile coordinates: Gram-Schmidt orthogonalisation of axes, and what it leaves out.
#include "pleat/saxs/fit/profile_coordinates.h"

#include <algorithm>
#include <cmath>

#include "pleat/saxs/fit/least_squares.h"

namespace pleat::saxs {

namespace {

/// Divides by sigma; with a background, also subtracts the constant component.
void divide_by_errors(const EnsembleProblem& problem, std::span<double> profile) {
    const std::vector<double>& sigma = problem.curve->sigma;
    double with_constant = 0, square = 0;
    for (std::size_t k = 0; k < profile.size(); ++k) {
        profile[k] /= sigma[k];
        with_constant += profile[k] / sigma[k];
        square += 1 / (sigma[k] * sigma[k]);
    }
    if (!problem.options.background) return;
    for (std::size_t k = 0; k < profile.size(); ++k)
        profile[k] -= with_constant / square / sigma[k];
}

void subtract(std::span<double> from, double part, const std::vector<double>& direction) {
    for (std::size_t k = 0; k < from.size(); ++k) from[k] -= part * direction[k];
}

}  // namespace

ProfileCoordinates::ProfileCoordinates(const EnsembleProblem& axes, const FrameAxes& of_frames,
                                       const Fit& at, double tolerance)
    : curve(axes.curve->intensity),
      of_frames_(of_frames),
      remainders_(frame_profiles(axes, at.contrast)) {
    const std::size_t points = curve.size();
    const auto row = [&](Index axis) { return std::span(remainders_.view()[axis].data, points); };
    divide_by_errors(axes, curve);
    for (Index axis = 0; axis < axis_count(); ++axis) divide_by_errors(axes, row(axis));
    mean.assign(row(0).begin(), row(0).end());
    std::vector<double> squares(static_cast<std::size_t>(axis_count()), 0);
    for (Index axis = 1; axis < axis_count(); ++axis)
        squares[static_cast<std::size_t>(axis)] = dot(row(axis).data(), row(axis).data(), points);
    std::vector<std::vector<double>> along;  // [r][axis]: the axis along basis_r
    while (!is_complete()) {
        const auto longest = std::max_element(squares.begin(), squares.end()) - squares.begin();
        const double length = std::sqrt(squares[static_cast<std::size_t>(longest)]);
        if (!(at.scale * length > tolerance)) break;
        std::vector<double> one(row(longest).begin(), row(longest).end());
        for (double& value : one) value /= length;
        std::vector<double> parts(squares.size(), 0);
        for (Index axis = 0; axis < axis_count(); ++axis) {
            const auto n = static_cast<std::size_t>(axis);
            parts[n] = dot(row(axis).data(), one.data(), points);
            subtract(row(axis), parts[n], one);
            if (axis > 0) squares[n] = dot(row(axis).data(), row(axis).data(), points);
        }
        basis.push_back(std::move(one));
        along.push_back(std::move(parts));
    }
    const auto rank = static_cast<Index>(along.size());
    Array<double, 2> factors(axis_count(), rank);
    for (Index axis = 1; axis < axis_count(); ++axis)
        for (Index r = 0; r < rank; ++r)
            factors(axis, r) = along[static_cast<std::size_t>(r)][static_cast<std::size_t>(axis)];
    x = FrameCoordinates(
        factors, of_frames.amounts, [&] { return axes.threads(); }, axes.context);
}

std::vector<double> ProfileCoordinates::target(double scale) const {
    std::vector<double> target;
    for (const std::vector<double>& axis : basis)
        target.push_back(dot(axis.data(), curve.data(), axis.size()) -
                         scale * dot(axis.data(), mean.data(), axis.size()));
    return target;
}

double ProfileCoordinates::best_scale(std::span<const double> mean_coordinates) const {
    std::vector<double> model = mean;
    for (std::size_t r = 0; r < basis.size(); ++r) subtract(model, -mean_coordinates[r], basis[r]);
    const double square = dot(model.data(), model.data(), model.size());
    return square > 0 ? std::max(0.0, dot(model.data(), curve.data(), model.size()) / square) : 0;
}

// E_i: what the basis leaves out of frame i, times the scale; r: the curve minus the mean times the
// scale, without its part along the basis; g_i = r.E_i. Then F(w) is at least F of the coordinates
// minus sum w g, since |r - E w|^2 >= |r|^2 - 2 r.E w; the minimum of that over w is at least its
// value at the given weights v minus theta ln sum v exp(g / theta) + sum v g, by the dual problem.
double ProfileCoordinates::excess(std::span<const double> weights, double theta,
                                  double scale) const {
    std::vector<double> residual = curve;
    for (std::size_t k = 0; k < residual.size(); ++k) residual[k] -= scale * mean[k];
    for (const std::vector<double>& axis : basis)
        subtract(residual, dot(residual.data(), axis.data(), axis.size()), axis);
    std::vector<double> g(weights.size(), 0), left_out(residual.size(), 0);
    for (Index axis = 1; axis < axis_count(); ++axis) {
        const double* const amounts = of_frames_.amounts.view()[axis].data;
        const double* const remainder = remainders_.view()[axis].data;
        const double along = scale * dot(residual.data(), remainder, residual.size());
        for (std::size_t i = 0; i < g.size(); ++i) g[i] += along * amounts[i];
        const double amount = scale * dot(amounts, weights.data(), weights.size());
        for (std::size_t k = 0; k < left_out.size(); ++k) left_out[k] += amount * remainder[k];
    }
    // Weights that are too small for a double count as the smallest one.
    std::vector<double> exponents;
    for (std::size_t i = 0; i < g.size(); ++i)
        exponents.push_back(g[i] / theta + std::log(std::max(weights[i], 1e-300)));
    const double largest = *std::max_element(exponents.begin(), exponents.end());
    double sum = 0;
    for (const double exponent : exponents) sum += std::exp(exponent - largest);
    return theta * (std::log(sum) + largest) - dot(g.data(), weights.data(), g.size()) +
           dot(left_out.data(), left_out.data(), left_out.size()) / 2;
}

}  // namespace pleat::saxs
