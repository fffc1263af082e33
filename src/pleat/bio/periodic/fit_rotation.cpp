// Fit rotation: the eigenvector of Horn's 4 x 4 matrix, by Jacobi's rotations.
#include "pleat/bio/periodic/fit_rotation.h"

#include <cmath>

namespace pleat {

namespace {

using Matrix4 = std::array<std::array<double, 4>, 4>;

/// The eigenvector of the largest eigenvalue of a symmetric matrix.
std::array<double, 4> largest_eigenvector(Matrix4 a) {
    Matrix4 v{};
    for (std::size_t i = 0; i < 4; ++i) v[i][i] = 1;
    constexpr int kMaxSweeps = 50;
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
        double off = 0, diagonal = 0;
        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t j = 0; j < 4; ++j) (i == j ? diagonal : off) += a[i][j] * a[i][j];
        if (!(off > 1e-30 * diagonal)) break;
        for (std::size_t p = 0; p < 4; ++p)
            for (std::size_t q = p + 1; q < 4; ++q) {
                if (a[p][q] == 0) continue;
                const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                const double t =
                    std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(theta, 1.0));
                const double c = 1 / std::hypot(t, 1.0), s = t * c;
                for (std::size_t k = 0; k < 4; ++k) {
                    const double kp = a[k][p], kq = a[k][q];
                    a[k][p] = c * kp - s * kq;
                    a[k][q] = s * kp + c * kq;
                }
                for (std::size_t k = 0; k < 4; ++k) {
                    const double pk = a[p][k], qk = a[q][k];
                    a[p][k] = c * pk - s * qk;
                    a[q][k] = s * pk + c * qk;
                    const double kp = v[k][p], kq = v[k][q];
                    v[k][p] = c * kp - s * kq;
                    v[k][q] = s * kp + c * kq;
                }
            }
    }
    std::size_t best = 0;
    for (std::size_t i = 1; i < 4; ++i)
        if (a[i][i] > a[best][best]) best = i;
    return {v[0][best], v[1][best], v[2][best], v[3][best]};
}

}  // namespace

Point mean_of(const std::vector<Point>& points) {
    Point sum{};
    for (const Point& point : points) sum = sum + point;
    return (1.0 / static_cast<double>(points.size())) * sum;
}

Rotation fit_rotation(const std::vector<Point>& from, const std::vector<Point>& to) {
    if (from.size() < 3) return {Point{1, 0, 0}, Point{0, 1, 0}, Point{0, 0, 1}};
    const Point from_mean = mean_of(from), to_mean = mean_of(to);
    double s[3][3] = {};
    for (std::size_t n = 0; n < from.size(); ++n) {
        const Point a = from[n] - from_mean, b = to[n] - to_mean;
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 3; ++j) s[i][j] += a[i] * b[j];
    }
    Matrix4 k = {
        {{s[0][0] + s[1][1] + s[2][2], s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0]},
         {0, s[0][0] - s[1][1] - s[2][2], s[0][1] + s[1][0], s[2][0] + s[0][2]},
         {0, 0, s[1][1] - s[0][0] - s[2][2], s[1][2] + s[2][1]},
         {0, 0, 0, s[2][2] - s[0][0] - s[1][1]}}};
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < i; ++j) k[i][j] = k[j][i];
    const auto [w, x, y, z] = largest_eigenvector(k);
    return {Point{w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)},
            Point{2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)},
            Point{2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z}};
}

}  // namespace pleat
