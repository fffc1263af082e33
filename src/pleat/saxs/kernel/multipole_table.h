// Multipoles: spherical Bessel functions at radial nodes, spherical harmonics of blocks of
// scatterers, and their matrix products.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/saxs/debye/debye.h"
#include "pleat/saxs/fit/resampling.h"

namespace pleat::saxs {

/// Rows of q are padded to a multiple of this, so that vectors are full.
inline constexpr Index kQPad = 8;
/// Pieces of scatterers that threads process separately: few, since each has its own copy of the
/// nodes' harmonics.
inline constexpr Index kMultipolePieces = 32;
/// Frames are computed concurrently, one per thread, if they need no more memory than this.
inline constexpr double kMultipoleBytesAtOnce = 2e9;
/// Bound of the remainder of sum_l (2 l + 1) j_l(q R)^2 = 1 past the last degree, and of the error
/// of the radial interpolation: the error of a profile is at most about this fraction of (sum_i
/// |A_i|)^2.
inline constexpr double kMultipoleError = 1e-11;

/// For scatterers within `radius` of the origin: the expansion
///     sin(q r_ij) / (q r_ij) = 4 pi sum_lm j_l(q r_i) j_l(q r_j) Y_lm(i) Y_lm(j)
/// (Stuhrmann 1970) up to degree() for the largest q, with j_l(q r) interpolated through Chebyshev
/// nodes of r in [0, radius].
struct MultipoleTable {
    MultipoleTable(std::span<const double> q, double radius);

    double radius = 0;
    Index q_count = 0, q_stride = 0;  ///< the latter a multiple of kQPad
    std::vector<double> nodes;        ///< [node], angstrom
    std::vector<double> barycentric;  ///< [node]
    std::vector<Index> first_q;       ///< [degree]: the first q that needs it, a multiple of kQPad
    Array<double, 3> bessel;          ///< [degree, node, q]

    Index degree_count() const { return bessel.extent(0); }
    Index node_count() const { return bessel.extent(1); }

    /// The weights [node] of the nodes in Lagrange's interpolation at r.
    void interpolate(double r, double* weights) const {
        lagrange_weights(nodes, barycentric, r, {weights, nodes.size()});
    }
};

/// The numbers of degrees and nodes of a table for this radius and q, without making the table.
struct MultipoleSize {
    Index degrees = 0, nodes = 0;
};
MultipoleSize multipole_size(double wave, double radius);

/// Rounds the radius up to one of few values, so that similar frames share a table. The result does
/// not depend on earlier frames.
double rounded_radius(double radius);

/// A sphere about the centre of a frame's bounding box that has all its scatterers, angstrom.
struct FrameSphere {
    std::array<double, 3> centre = {};
    double radius = 0;
};
/// `xyz` [axis, scatterer].
FrameSphere enclosing_sphere(View<const float, 2> xyz);

/// Scatterers per block; their harmonics fit in the L2 cache.
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

/// Adds sum_j weights [j, node] harmonics [j, harmonic] to `to` [node, harmonic].
void spread_harmonics(const HarmonicTable& table, Index count, const double* weights,
                      const double* harmonics, double* to);

/// Sets `to` [order, q] to sum_n spread [n, harmonic of this degree] bessel [n, q], from first_q
/// on. `to` has room for whole tiles of kOrderTile orders.
inline constexpr Index kOrderTile = 8;
void project_degree(const HarmonicTable& table, const MultipoleTable& radial, Index degree,
                    const double* spread, double* to);

}  // namespace pleat::saxs

/// Limits of the GPU's multipole kernels, set by their lanes, registers and memory.
namespace pleat::saxs::cuda {

/// Maximum numbers of degrees and radial nodes of a frame.
inline constexpr int kMaxDegrees = 127, kMaxNodes = 96;
/// Maximum number of channels of a model, and of types times their scale classes.
inline constexpr int kMaxMultipoleChannels = 4, kMaxMultipoleSegments = 64;

inline bool fits_multipoles(const Model& model, Index segments) {
    return model.channel_count() <= kMaxMultipoleChannels && segments <= kMaxMultipoleSegments;
}
inline bool fits_multipoles(const MultipoleSize& size) {
    return size.degrees <= kMaxDegrees && size.nodes <= kMaxNodes;
}

}  // namespace pleat::saxs::cuda
