// Rotation: Newton and one column of the adjugate where that is safe, else Jacobi.
#include "pleat/rmsd/superposition/rotation.h"

#include "pleat/rmsd/superposition/quartic.h"

namespace pleat::rmsd {

void rotation_of_covariance(const double (&r)[9], double (&m)[9]) {
    double quaternion[4];
    if (!quaternion_by_adjugate(r, Quartic(r).largest_root(), quaternion))
        return rotation_by_jacobi(r, m);
    rotation_of(quaternion, m);
}

}  // namespace pleat::rmsd
