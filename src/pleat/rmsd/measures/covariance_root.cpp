// Covariance root: sums of products, and Newton's iteration from above.
#include "pleat/rmsd/measures/covariance_root.h"

#include <cmath>

namespace pleat::rmsd {

void add_covariance(const double* p, const double* q, Index atoms, Index stride, Covariance& r) {
    for (Index a = 0; a < 3; ++a)
        for (Index b = 0; b < 3; ++b) {
            double sum = 0.0;
            for (Index k = 0; k < atoms; ++k) sum += p[a * stride + k] * q[b * stride + k];
            r[static_cast<std::size_t>(3 * a + b)] += sum;
        }
}

double square_of(const Covariance& r) {
    double sum = 0.0;
    for (const double entry : r) sum += entry * entry;
    return sum;
}

double largest_root(const Covariance& r, double square, double limit) {
    double minors = 0.0, determinant = 0.0;
    for (std::size_t a = 0; a < 3; ++a) {
        const std::size_t u = 3 * ((a + 1) % 3), v = 3 * ((a + 2) % 3);
        for (std::size_t b = 0; b < 3; ++b) {
            const std::size_t s = (b + 1) % 3, t = (b + 2) % 3;
            const double minor = r[u + s] * r[v + t] - r[u + t] * r[v + s];
            minors += minor * minor;
            if (a == 0) determinant += r[b] * minor;
        }
    }
    double x = std::sqrt(3.0 * square);
    constexpr int kMaxRounds = 60;  // a root of two is approached by half each round
    for (int n = 0; n < kMaxRounds && x >= limit; ++n) {
        const double t = x * x - square;
        const double step =
            (t * t - 8.0 * determinant * x - 4.0 * minors) / (4.0 * x * t - 8.0 * determinant);
        if (!std::isfinite(step)) break;
        x -= step;
        if (!(std::fabs(step) > 1e-8 * x)) break;
    }
    return x;
}

}  // namespace pleat::rmsd
