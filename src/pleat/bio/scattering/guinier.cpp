// Guinier: the weighted line of ln I against q^2, over the longest range that it may have.
#include "pleat/bio/scattering/guinier.h"

#include <cmath>

namespace pleat {

namespace {

/// The weighted line of ln I against q^2 through points that are added one by one.
class Line {
public:
    double intercept = 0, slope = 0, intercept_error = 0, slope_error = 0;

    /// Adds a point with a positive intensity.
    void add(double q, double intensity, double sigma) {
        const double x = q * q, y = std::log(intensity);
        const double error = sigma / intensity, w = 1 / (error * error);
        s_ += w;
        sx_ += w * x;
        sy_ += w * y;
        sxx_ += w * x * x;
        sxy_ += w * x * y;
    }
    /// False if the points do not determine a line.
    bool solve() {
        const double determinant = s_ * sxx_ - sx_ * sx_;
        if (!(determinant > 0)) return false;
        intercept = (sxx_ * sy_ - sx_ * sxy_) / determinant;
        slope = (s_ * sxy_ - sx_ * sy_) / determinant;
        intercept_error = std::sqrt(sxx_ / determinant);
        slope_error = std::sqrt(s_ / determinant);
        return true;
    }

private:
    double s_ = 0, sx_ = 0, sy_ = 0, sxx_ = 0, sxy_ = 0;
};

}  // namespace

Guinier guinier(const Profile& curve) {
    constexpr std::size_t kMinPoints = 5;
    constexpr double kMaxProduct = 1.3;
    Guinier best;
    std::size_t first = 0;
    while (first < curve.size() && (curve.intensity[first] <= 0 || curve.q[first] == 0)) ++first;
    Line line;
    for (std::size_t last = first; last < curve.size() && curve.intensity[last] > 0; ++last) {
        line.add(curve.q[last], curve.intensity[last], curve.sigma[last]);
        if (last + 1 < first + kMinPoints) continue;
        if (!line.solve()) break;
        if (line.slope >= 0) continue;
        const double gyration_radius = std::sqrt(-3 * line.slope);
        if (curve.q[last] * gyration_radius > kMaxProduct) continue;
        best.is_valid = true;
        best.gyration_radius = gyration_radius;
        best.gyration_radius_error = 1.5 * line.slope_error / gyration_radius;
        best.forward_intensity = std::exp(line.intercept);
        best.forward_intensity_error = best.forward_intensity * line.intercept_error;
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
