// Guinier: the weighted line of ln I against q^2, over the longest range that it may have.
#include "pleat/bio/scattering/guinier.h"

#include <cmath>

namespace pleat {

Guinier guinier(const Profile& curve) {
    constexpr std::size_t kMinPoints = 5;
    constexpr double kMaxProduct = 1.3;
    Guinier best;
    std::size_t first = 0;
    while (first < curve.size() && (curve.intensity[first] <= 0 || curve.q[first] == 0)) ++first;
    double s = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;  // weighted sums of x = q^2 and y = ln I
    for (std::size_t last = first; last < curve.size() && curve.intensity[last] > 0; ++last) {
        const double x = curve.q[last] * curve.q[last], y = std::log(curve.intensity[last]);
        const double error = curve.sigma[last] / curve.intensity[last], w = 1 / (error * error);
        s += w;
        sx += w * x;
        sy += w * y;
        sxx += w * x * x;
        sxy += w * x * y;
        if (last + 1 < first + kMinPoints) continue;
        const double determinant = s * sxx - sx * sx, slope = (s * sxy - sx * sy) / determinant;
        if (!(determinant > 0)) break;
        if (slope >= 0) continue;
        const double gyration_radius = std::sqrt(-3 * slope);
        if (curve.q[last] * gyration_radius > kMaxProduct) continue;
        best.is_valid = true;
        best.gyration_radius = gyration_radius;
        best.gyration_radius_error = 1.5 * std::sqrt(s / determinant) / gyration_radius;
        best.forward_intensity = std::exp((sxx * sy - sx * sxy) / determinant);
        best.forward_intensity_error = best.forward_intensity * std::sqrt(sxx / determinant);
        best.first = first;
        best.last = last;
    }
    if (!best.is_valid) return best;
    const double log_forward = std::log(best.forward_intensity);
    for (std::size_t k = best.first; k <= best.last; ++k) {
        const double x = curve.q[k] * best.gyration_radius;
        const double residual = std::log(curve.intensity[k]) - log_forward + x * x / 3;
        const double weighted = residual * curve.intensity[k] / curve.sigma[k];
        best.chi2 += weighted * weighted / static_cast<double>(best.last - best.first - 1);
    }
    return best;
}

}  // namespace pleat
