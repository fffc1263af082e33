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

/// How deviations are rounded and multiplied.
enum class TileFormat {
    floats,  ///< float32 by fused multiply-adds
    half     ///< float16 on tensor cores: coarse, to decide most pairs
};

/// Frames come in panels, atoms in chunks, both padded with zeros. A tile of pairs has the frames
/// of two panels as rows and those of one as columns; a CTA works on it.
inline constexpr int kPanelFrames = 32, kRowPanels = 2, kTileRows = kRowPanels * kPanelFrames;
inline constexpr int kChunkAtoms = 16, kTileThreads = 256, kPairsOfThread = 8;

/// Number of atoms after which float32 sums are moved to other sums, so their rounding stays small.
inline constexpr Index kSegmentAtoms = 256;

/// Numbers of 16 bytes in one chunk of one panel:
///     floats: float32 [atom 16][axis 3][frame 32]
///     half: float16 [half panel 2][axis 3][lane 32][8],
/// where a lane's eight are those of the first operand of mma.m16n8k16: see half_offset().
PLEAT_HOST_DEVICE constexpr int chunk_words(TileFormat format) {
    return format == TileFormat::half ? 192 : 384;
}

/// Offset of a number among the float16 of a chunk. Lane 4 g + t has elements 2 t, 2 t + 1 and 2 t
/// + 8, 2 t + 9 of rows g and g + 8; columns of the second operand have the same layout.
PLEAT_HOST_DEVICE constexpr int half_offset(int frame, int atom, int axis) {
    const int row = frame % 16, lane = 4 * (row % 8) + atom % 8 / 2;
    const int in_lane = 2 * (row / 8 + 2 * (atom / 8)) + atom % 2;
    return ((frame / 16 * 3 + axis) * 32 + lane) * 8 + in_lane;
}

/// Offset of a number among the float32 of a chunk.
PLEAT_HOST_DEVICE constexpr int float_offset(int frame, int atom, int axis) {
    return (atom * 3 + axis) * kPanelFrames + frame;
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

/// J = (xx, yy, zz, xy, xz, yz), `max_x`: an upper bound of x. Newton's method from above, since
/// all roots of Q are real. If all derivatives at the end are positive, no root is larger than the
/// remaining value of Q allows (Budan and Fourier).
PLEAT_HOST_DEVICE inline ShiftedRoot largest_shifted_root(const float (&j)[6], const float (&v)[3],
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
    float step = 0, curvature = 0;
    for (int n = 0; n < kMaxNewtonSteps; ++n) {
        const float q = (((x + j1) * x + b2) * x + b1) * x - c0;
        const float slope = ((4 * x + 3 * j1) * x + 2 * b2) * x + b1;
        curvature = (12 * x + 6 * j1) * x + 2 * b2;
        step = q / slope;
        x -= step;
        if (!(fabsf(step) > 1e-4f * x)) break;
    }
    const float slope = ((4 * x + 3 * j1) * x + 2 * b2) * x + b1;
    const float whole = x + size, square = whole * whole;
    const float rounding = kQuarticRounding * square * (x * whole + vv);
    const bool certain = slope > 1e-6f * square * whole &&
                         (12 * x + 6 * j1) * x + 2 * b2 > 1e-6f * square && 4 * x + j1 > 0;
    // After a step, Q is at most half of curvature times the square of the step, and the root is
    // within four steps' length.
    const float error = (rounding + 2 * fabsf(curvature) * step * step) / slope;
    return {x, certain ? error : INFINITY};
}

/// Solves the pair of frames with terms p and q; `a[3 r + c]`: sum of products of axes r and c of
/// their deviations. With R = sum p q', the largest eigenvalue of the key matrix minus tr R is x >=
/// 0, small if frames are near m. The residual is |a_p - a_q|^2 - 2 x; neither term loses digits
/// through the size of the molecule. A non-finite error means that the result is unknown.
PLEAT_HOST_DEVICE inline Solved solve_pair(const float (&a)[9], const FrameTerms& p,
                                           const FrameTerms& q, const SolverScale& scale) {
    const double trace = static_cast<double>(a[0]) + a[4] + a[8];
    const double distance = p.square_sum + q.square_sum - 2 * trace;
    const float j[6] = {p.inertia[0] + q.inertia[0] + 2 * (a[4] + a[8]),
                        p.inertia[1] + q.inertia[1] + 2 * (a[0] + a[8]),
                        p.inertia[2] + q.inertia[2] + 2 * (a[0] + a[4]),
                        p.inertia[3] + q.inertia[3] - (a[1] + a[3]),
                        p.inertia[4] + q.inertia[4] - (a[2] + a[6]),
                        p.inertia[5] + q.inertia[5] - (a[5] + a[7])};
    const float v[3] = {p.torque[0] - q.torque[0] + (a[5] - a[7]),
                        p.torque[1] - q.torque[1] + (a[6] - a[2]),
                        p.torque[2] - q.torque[2] + (a[1] - a[3])};
    const float product = scale.product_error * p.deviation_norm * q.deviation_norm;
    const float max_x = 0.5f * static_cast<float>(distance) + product;
    const ShiftedRoot root = largest_shifted_root(j, v, max_x);
    const double residual = distance - 2 * static_cast<double>(root.x);
    const float square = static_cast<float>((residual > 0 ? residual : 0.0) * scale.square);
    const float unit = static_cast<float>(scale.square);
    // The RMSD of rounded frames is off by at most their distances to the exact frames.
    const float moved = p.rounding + q.rounding;
    const float error =
        2 * unit * (root.error + product) + moved * (2 * sqrtf(square) + moved) + 2.4e-7f * square;
    return {square, error};
}

/// Frames packed for the product. A power of two scales coordinates, so deviations are about 1.
struct TilePack {
    TileFormat format = TileFormat::floats;
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

/// Error of the sum of products that superposition reaches, relative to both spreads, after adding
/// `atoms` products in float32 (as on the CPU, pair_block.cpp) or on tensor cores, which truncate
/// to float32.
float product_error(TileFormat format, Index atoms);

/// GPU bytes that GROMOS clustering takes besides: copies of the frames with neighbours, of a
/// cluster and its neighbourhood, and numbers per frame.
std::int64_t gromos_memory(Index frames, Index atoms);

}  // namespace pleat::rmsd
