// Splines: second derivatives from a tridiagonal system, then cubics from point to point.
#include "pleat/saxs/fit/spline.h"

#include <algorithm>
#include <cstddef>

namespace pleat::saxs {

namespace {

/// Second derivatives at the points.
std::vector<double> curvatures(std::span<const double> x, std::span<const double> y) {
    const std::size_t n = x.size();
    std::vector<double> diagonal(n, 1), upper(n, 0), right(n, 0), lower(n, 0);
    if (x[0] == 0) {
        const double h = x[1] - x[0];
        diagonal[0] = 2;
        upper[0] = 1;
        right[0] = 6 * (y[1] - y[0]) / (h * h);
    }
    for (std::size_t k = 1; k + 1 < n; ++k) {
        const double before = x[k] - x[k - 1], after = x[k + 1] - x[k];
        lower[k] = before;
        diagonal[k] = 2 * (before + after);
        upper[k] = after;
        right[k] = 6 * ((y[k + 1] - y[k]) / after - (y[k] - y[k - 1]) / before);
    }
    for (std::size_t k = 1; k < n; ++k) {
        const double factor = lower[k] / diagonal[k - 1];
        diagonal[k] -= factor * upper[k - 1];
        right[k] -= factor * right[k - 1];
    }
    right[n - 1] /= diagonal[n - 1];
    for (std::size_t k = n - 1; k-- > 0;)
        right[k] = (right[k] - upper[k] * right[k + 1]) / diagonal[k];
    return right;
}

}  // namespace

std::vector<double> interpolate_spline(std::span<const double> x, std::span<const double> y,
                                       std::span<const double> to) {
    const std::vector<double> second = curvatures(x, y);
    std::vector<double> values;
    values.reserve(to.size());
    std::size_t k = 0;
    for (const double at : to) {
        while (k + 2 < x.size() && at > x[k + 1]) ++k;
        const double h = x[k + 1] - x[k], a = (x[k + 1] - at) / h, b = (at - x[k]) / h;
        values.push_back(a * y[k] + b * y[k + 1] +
                         ((a * a * a - a) * second[k] + (b * b * b - b) * second[k + 1]) * h * h /
                             6);
    }
    return values;
}

}  // namespace pleat::saxs
