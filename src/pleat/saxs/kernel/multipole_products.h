// Multipole products: spherical harmonics of blocks of scatterers, and their matrix products.
#pragma once

#include "pleat/core/array.h"
#include "pleat/saxs/kernel/multipole_table.h"

namespace pleat::saxs {

/// Scatterers of a block: their harmonics fit into the second-level cache.
inline constexpr Index kHarmonicBlock = 32;

/// Coefficients of the recurrence of normalised Legendre functions, and the strides of its
/// products.
struct HarmonicTable {
    explicit HarmonicTable(Index degrees, Index nodes);

    Index degrees, stride;  ///< harmonics, with room for whole tiles
    Index node_stride;
    Array<double, 2> factor, share;  ///< [degree, order]
};

/// Real harmonics y of a unit vector, such that sum_m y_lm(a) y_lm(b) = (2 l + 1) P_l(a b): at
/// l^2 + m those of cos(m phi), at l^2 + l + m those of sin(m phi). `to` [stride].
void real_harmonics(const HarmonicTable& table, const double* direction, double* scratch,
                    double* to);
/// Length of the scratch memory of real_harmonics().
constexpr Index harmonic_scratch(Index degrees) { return 5 * (degrees + 16); }

/// Adds to `to` [node, harmonic] the sum_j weights [j, node] harmonics [j, harmonic].
void spread_harmonics(const HarmonicTable& table, Index count, const double* weights,
                      const double* harmonics, double* to);

/// Sets `to` [order, q] to sum_n spread [n, harmonic of this degree] bessel [n, q], from first_q
/// on. `to` has room for whole tiles of kOrderTile orders.
inline constexpr Index kOrderTile = 8;
void project_degree(const HarmonicTable& table, const MultipoleTable& radial, Index degree,
                    const double* spread, double* to);

}  // namespace pleat::saxs
