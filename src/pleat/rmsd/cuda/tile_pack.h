// Tile pack: an ensemble as deviations from its common structure, laid out for the GPU's tiles, and
// the solver of a pair.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "pleat/core/cuda/host_device.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/core/view.h"
#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd {

/// How deviations are rounded: to float16, or to a sum of two, which has the digits of float32.
enum class TileFormat { half, split };

/// Which products of deviations are added on tensor cores.
enum class TilePrecision {
    coarse,   ///< of one float16 each: to decide most pairs
    counted,  ///< also those of one high and one low part, as they come: for counts
    full      ///< those first, then sums of chunks, which are rounded: for values
};

PLEAT_HOST_DEVICE constexpr TileFormat format_of(TilePrecision precision) {
    return precision == TilePrecision::coarse ? TileFormat::half : TileFormat::split;
}

/// Frames come in panels, atoms in chunks, both padded with zeros. A tile of pairs has the frames
/// of two panels as rows and those of one as columns; a CTA works on it.
inline constexpr int kPanelFrames = 32, kRowPanels = 2, kTileRows = kRowPanels * kPanelFrames;
inline constexpr int kChunkAtoms = 16, kTileThreads = 256, kPairsOfThread = 8;

/// Number of atoms after which float32 sums are moved to other sums, so their rounding stays small.
inline constexpr Index kSegmentAtoms = 256;

/// Numbers of 16 bytes in one part of one chunk of one panel: float16 [axis 3][atoms 2][frame 32]
/// [atom 8], of which tensor cores take eight frames' 16 bytes as a matrix.
inline constexpr int kPartWords = 192;

/// Of a chunk: the high parts, and of the format `split` the low parts after them.
PLEAT_HOST_DEVICE constexpr int chunk_words(TileFormat format) {
    return format == TileFormat::half ? kPartWords : 2 * kPartWords;
}

/// Offset of a number among the float16 of a part.
PLEAT_HOST_DEVICE constexpr int half_offset(int frame, int atom, int axis) {
    return ((axis * 2 + atom / 8) * kPanelFrames + frame) * 8 + atom % 8;
}

/// The terms of a frame p = m + a in its pairs, m being the structure common to all
/// (common_structure()) and a as rounded for the product. Lengths are in units of the pack.
struct FrameTerms {
    float inertia[6];      ///< xx, yy, zz, xy, xz, yz of tr(H) I - H, H = sum m m' + a m' + m a'
    float torque[3];       ///< of sum m x a: 0 but for rounding, since p was turned onto m
    float deviation_norm;  ///< |a|
    float rounding;        ///< how far rounding moved the frame: an RMSD, in angstrom
    double square_sum;     ///< |a|^2
};

/// Constants that are the same for all pairs.
struct SolverScale {
    double square = 1.0;         ///< angstrom^2 of one unit of a sum of squares, over the weight
    float product_error = 0.0f;  ///< of the sum reached, in units of both frames' spread
};

/// Mean square distance after superposition, angstrom^2, and a bound of its error.
struct Solved {
    float square, error;
};

/// The largest root x >= 0 of Q(x) = x det(x + J) - v' adj(x + J) v and how certain it is.
struct ShiftedRoot {
    float x, error;
};

/// Rounding of Q in units of 2^-24 of its terms' size. Trials on real and random ensembles saw up
/// to half of it (tests/tile_solver_test.cpp).
constexpr float kQuarticRounding = 0.5f * 5.96e-8f;
constexpr int kMaxNewtonSteps = 8;

/// Q = (((x + j1) x + b2) x + b1) x - c0 and where Newton's method begins, or has come to.
struct ShiftedQuartic {
    float j1, b2, b1, c0;
    float size, torque_square;  ///< of J, and of v
    float x, step = 0, curvature = 0;
    bool moves = true;

    PLEAT_HOST_DEVICE float slope() const { return ((4 * x + 3 * j1) * x + 2 * b2) * x + b1; }
};

/// J = (xx, yy, zz, xy, xz, yz), `max_x`: an upper bound of x.
PLEAT_HOST_DEVICE inline ShiftedQuartic shifted_quartic(const float (&j)[6], const float (&v)[3],
                                                        float max_x) {
    const float kxx = j[1] * j[2] - j[5] * j[5], kyy = j[0] * j[2] - j[4] * j[4];
    const float kzz = j[0] * j[1] - j[3] * j[3], kxy = j[4] * j[5] - j[3] * j[2];
    const float kxz = j[3] * j[5] - j[4] * j[1], kyz = j[3] * j[4] - j[5] * j[0];
    const float j1 = j[0] + j[1] + j[2], j2 = kxx + kyy + kzz;
    const float j3 = j[0] * kxx + j[3] * kxy + j[4] * kxz;
    const float vv = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    const float vjv = v[0] * (j[0] * v[0] + 2 * (j[3] * v[1] + j[4] * v[2])) +
                      v[1] * (j[1] * v[1] + 2 * j[5] * v[2]) + v[2] * j[2] * v[2];
    const float c0 = v[0] * (kxx * v[0] + 2 * (kxy * v[1] + kxz * v[2])) +
                     v[1] * (kyy * v[1] + 2 * kyz * v[2]) + v[2] * kzz * v[2];
    const float b2 = j2 - vv, b1 = j3 - (j1 * vv - vjv);
    const float size =
        fabsf(j[0]) + fabsf(j[1]) + fabsf(j[2]) + 2 * (fabsf(j[3]) + fabsf(j[4]) + fabsf(j[5]));

    // If J is positive definite, the root x = v' inverse(x + J) v is at most v' inverse(J) v.
    float x = max_x;
    if (j1 > 0 && j2 > 0 && j3 > 0) {
        const float near = c0 / j3;
        if (near < x) x = near;
    }
    return {j1, b2, b1, c0, size, vv, x};
}

/// Newton's method from above, since all roots of Q are real, for several Q at a time: a GPU's
/// threads need not wait for each step's division. A root does not depend on the others.
template <int kPairs>
PLEAT_HOST_DEVICE void find_largest_roots(ShiftedQuartic (&of)[kPairs]) {
    bool any = true;
    for (int n = 0; n < kMaxNewtonSteps && any; ++n) {
        any = false;
        for (ShiftedQuartic& q : of) {
            const float x = q.x;
            const float value = (((x + q.j1) * x + q.b2) * x + q.b1) * x - q.c0;
            const float step = value / q.slope(), curvature = (12 * x + 6 * q.j1) * x + 2 * q.b2;
            q.curvature = q.moves ? curvature : q.curvature;
            q.step = q.moves ? step : q.step;
            q.x = q.moves ? x - step : x;
            q.moves = q.moves && fabsf(step) > 1e-4f * q.x;
            any = any || q.moves;
        }
    }
}

/// If all derivatives at the end are positive, no root is larger than the remaining value of Q
/// allows (Budan and Fourier).
PLEAT_HOST_DEVICE inline ShiftedRoot bounded_root(const ShiftedQuartic& q) {
    const float x = q.x, slope = q.slope();
    const float whole = x + q.size, square = whole * whole;
    const float rounding = kQuarticRounding * square * (x * whole + q.torque_square);
    const bool certain = slope > 1e-6f * square * whole &&
                         (12 * x + 6 * q.j1) * x + 2 * q.b2 > 1e-6f * square && 4 * x + q.j1 > 0;
    // After a step, Q is at most half of curvature times the square of the step, and the root is
    // within four steps' length.
    const float error = (rounding + 2 * fabsf(q.curvature) * q.step * q.step) / slope;
    return {x, certain ? error : INFINITY};
}

/// The pair of frames with terms p and q; `a[3 r + c]`: sum of products of axes r and c of their
/// deviations.
struct TilePair {
    float a[9];
    const FrameTerms *p_terms, *q_terms;

    PLEAT_HOST_DEVICE double distance() const {
        const double trace = static_cast<double>(a[0]) + a[4] + a[8];
        return p_terms->square_sum + q_terms->square_sum - 2 * trace;
    }
    PLEAT_HOST_DEVICE float product(const SolverScale& scale) const {
        return scale.product_error * p_terms->deviation_norm * q_terms->deviation_norm;
    }
    PLEAT_HOST_DEVICE ShiftedQuartic quartic(const SolverScale& scale) const;
    PLEAT_HOST_DEVICE Solved solved(const ShiftedQuartic& of, const SolverScale& scale) const;
};

/// With R = sum p q', the largest eigenvalue of the key matrix minus tr R is x >= 0, small if
/// frames are near m.
PLEAT_HOST_DEVICE inline ShiftedQuartic TilePair::quartic(const SolverScale& scale) const {
    const FrameTerms &p = *p_terms, &q = *q_terms;
    const float j[6] = {p.inertia[0] + q.inertia[0] + 2 * (a[4] + a[8]),
                        p.inertia[1] + q.inertia[1] + 2 * (a[0] + a[8]),
                        p.inertia[2] + q.inertia[2] + 2 * (a[0] + a[4]),
                        p.inertia[3] + q.inertia[3] - (a[1] + a[3]),
                        p.inertia[4] + q.inertia[4] - (a[2] + a[6]),
                        p.inertia[5] + q.inertia[5] - (a[5] + a[7])};
    const float v[3] = {p.torque[0] - q.torque[0] + (a[5] - a[7]),
                        p.torque[1] - q.torque[1] + (a[6] - a[2]),
                        p.torque[2] - q.torque[2] + (a[1] - a[3])};
    return shifted_quartic(j, v, 0.5f * static_cast<float>(distance()) + product(scale));
}

/// The residual is |a_p - a_q|^2 - 2 x; neither term loses digits through the size of the molecule.
/// A non-finite error means that the result is unknown.
PLEAT_HOST_DEVICE inline Solved TilePair::solved(const ShiftedQuartic& of,
                                                 const SolverScale& scale) const {
    const ShiftedRoot root = bounded_root(of);
    const double residual = distance() - 2 * static_cast<double>(root.x);
    const float square = static_cast<float>((residual > 0 ? residual : 0.0) * scale.square);
    const float unit = static_cast<float>(scale.square);
    // The RMSD of rounded frames is off by at most their distances to the exact frames.
    const float moved = p_terms->rounding + q_terms->rounding;
    const float error = 2 * unit * (root.error + product(scale)) +
                        moved * (2 * sqrtf(square) + moved) + 2.4e-7f * square;
    return {square, error};
}

template <int kPairs>
PLEAT_HOST_DEVICE void solve_pairs(const TilePair (&pairs)[kPairs], const SolverScale& scale,
                                   Solved (&solved)[kPairs]) {
    ShiftedQuartic quartics[kPairs];
    for (int n = 0; n < kPairs; ++n) quartics[n] = pairs[n].quartic(scale);
    find_largest_roots(quartics);
    for (int n = 0; n < kPairs; ++n) solved[n] = pairs[n].solved(quartics[n], scale);
}

/// Frames packed for the product. A power of two scales coordinates, so deviations are about 1.
struct TilePack {
    TileFormat format = TileFormat::split;
    Index frames = 0, panels = 0, chunks = 0;
    std::vector<std::uint32_t> operands;  ///< [panel, chunk, 4 chunk_words(format)]
    std::vector<FrameTerms> terms;        ///< [frame, up to whole panels]
    SolverScale scale;
};

/// Packs an ensemble, at once or some panels at a time.
class TilePacker {
public:
    /// `sample`: averaged_frames() of the ensemble; deviations are from its mean.
    TilePacker(const Frames& sample, TileFormat format, int threads);

    /// Packs these frames of `frames`; `pack` keeps its memory from call to call.
    void pack(const Frames& frames, Block some, int threads, TilePack& pack) const;

    Index chunks() const { return chunks_; }
    const SolverScale& scale() const { return scale_; }
    /// Frames in whole panels whose operands take about 64 MiB.
    Index frames_at_once() const;

private:
    void pack_frame(const double* frame, Index n, TilePack& pack) const;

    TileFormat format_;
    Index chunks_ = 0;
    std::vector<double> m_;  ///< the mean, in units of the pack
    double unit_ = 1.0;
    double common_[9] = {};
    SolverScale scale_;
};

/// Maximum number of doubtful pairs in the list for recomputation in float64.
inline constexpr Index kMaxDoubtfulPairs = Index{1} << 25;

/// GPU bytes of an ensemble: packed, in float64, and a list of doubtful pairs.
std::int64_t tile_memory(Index frames, Index atoms, TileFormat format);

/// Estimate of the error of the sum of products that superposition reaches, relative to both
/// spreads, after adding products of `atoms` on tensor cores, which truncate to float32.
float product_error(TilePrecision precision, Index atoms);

/// GPU bytes that GROMOS clustering takes besides: copies of the frames with neighbours, of a
/// cluster and its neighbourhood, and numbers per frame.
std::int64_t gromos_memory(Index frames, Index atoms);

}  // namespace pleat::rmsd
