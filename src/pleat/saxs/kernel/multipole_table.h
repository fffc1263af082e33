// Multipole table: spherical Bessel functions at radial nodes, and how many of them each q needs.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "pleat/core/array.h"

namespace pleat::saxs {

/// The number of q is rounded up to a multiple of this, so that vectors are full.
inline constexpr Index kQPad = 8;
/// Pieces of scatterers that threads process separately: few, since each has its own copy of the
/// nodes' harmonics.
inline constexpr Index kMultipolePieces = 32;
/// Frames are computed at once, each by a thread, if they take no more memory than this.
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

    /// The weights of the nodes in Lagrange's interpolation at r (barycentric formula).
    void interpolate(double r, double* weights) const;
};

/// The degrees and nodes of the table for a radius and q, without making it.
struct MultipoleSize {
    Index degrees = 0, nodes = 0;
};
MultipoleSize multipole_size(double wave, double radius);

/// j_0(x), ..., j_{count - 1}(x), by Miller's downward recurrence.
void spherical_bessel(double x, Index count, double* values);

/// The radius rounded up to one of few values, so that frames that differ little share a table. The
/// result does not depend on earlier frames.
double rounded_radius(double radius);

/// A sphere about the centre of a frame's bounding box that has all its scatterers, angstrom.
struct FrameSphere {
    std::array<double, 3> centre = {};
    double radius = 0;
};
/// `xyz` [axis, scatterer].
FrameSphere enclosing_sphere(View<const float, 2> xyz);

}  // namespace pleat::saxs
