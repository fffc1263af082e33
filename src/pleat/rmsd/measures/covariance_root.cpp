// Covariance root: sums of products, and the root of their quartic.
#include "pleat/rmsd/measures/covariance_root.h"

#include "pleat/rmsd/superposition/quartic.h"

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

double largest_root(const Covariance& r, double limit) {
    return Quartic(r.data()).root_above(limit);
}

}  // namespace pleat::rmsd
