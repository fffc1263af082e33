// Gradients of saxs on a GPU: tables of the slope of each pair of types, then sums over pairs.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/cuda/grow.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/saxs/cuda/pair_sums.cuh"
#include "pleat/saxs/debye/sorted_scatterers.h"
#include "pleat/saxs/model/scatterer_positions.h"

namespace pleat::saxs::cuda {

/// The slope of a pair's profile, divided by its distance, is interpolated in each interval of
/// distances by a polynomial with kTerms terms through kTerms Chebyshev nodes.
inline constexpr int kTerms = 8;
/// Threads per CTA of make_slopes(), one per node.
inline constexpr int kSlopeThreads = 128;

template <class Real>
struct alignas(16) SlopePiece {
    Real terms[kTerms];
};

/// Positions of one frame and the function whose gradient is computed. Pointers are to device
/// memory, except `host_input` and `gradient`, which the host also reads and writes.
template <class Real>
struct GradientWork {
    const double* host_input;  ///< [input_size]
    double* input;             ///< [input_size]: the weight, then scales, then positions
    Index input_size;
    const double* weight;  ///< [channel pair, q]
    const double* scales;  ///< [scale, sorted scatterer]
    const double* xyz;     ///< [axis, sorted scatterer]
    Index scatterer_count;
    const TypeSegment* pieces;    ///< rows: of one type, at most kLanes
    const TypeSegment* segments;  ///< columns
    std::int32_t piece_count, segment_count;
    Index chunk;                ///< columns that a warp takes
    const double* q;            ///< [q]
    const double* to_terms;     ///< [term, node]: terms of the polynomial through values at nodes
    const double* node_offset;  ///< [node]: place in a piece, from 0 to 1
    double pieces_by_distance;  ///< pieces per angstrom
    Index distance_pieces;
    double* slopes_of_q;      ///< [q, piece, node]: of sin(q r) / (q r), divided by r
    SlopePiece<Real>* table;  ///< [weighting, row type, column type, piece]
    double* chunk_sums;       ///< [chunk, axis, sorted scatterer]
    double* gradient;         ///< [axis, sorted scatterer]
};

template <class Real>
__global__ void copy_gradient_input(GradientWork<Real> work) {
    for (Index n = Index{blockIdx.x} * blockDim.x + threadIdx.x; n < work.input_size;
         n += Index{gridDim.x} * blockDim.x)
        work.input[n] = work.host_input[n];
}

/// d/dr of sin(q r) / (q r), divided by r. For x = q r below 1 it uses the series, because the
/// difference of the two terms has no correct digits there.
__device__ inline double slope_by_distance(double q, double r) {
    const double x = q * r, y = x * x;
    if (x >= 1.0) return (cos(x) - sin(x) / x) / (r * r);
    // 2 n / (2 n + 1)! with alternating signs, n from 9 to 1.
    double sum = -18.0 / 121645100408832000.0;
    sum = fma(sum, y, 16.0 / 355687428096000.0);
    sum = fma(sum, y, -14.0 / 1307674368000.0);
    sum = fma(sum, y, 12.0 / 6227020800.0);
    sum = fma(sum, y, -10.0 / 39916800.0);
    sum = fma(sum, y, 8.0 / 362880.0);
    sum = fma(sum, y, -6.0 / 5040.0);
    sum = fma(sum, y, 4.0 / 120.0);
    sum = fma(sum, y, -2.0 / 6.0);
    return sum * q * q;
}

/// A thread per node, a row of the grid per q.
template <class Real>
__global__ void make_slopes_of_q(GradientWork<Real> work) {
    const Index node = Index{blockIdx.x} * blockDim.x + threadIdx.x;
    const Index nodes = work.distance_pieces * kTerms;
    if (node >= nodes) return;
    const double piece = static_cast<double>(node / kTerms) + work.node_offset[node % kTerms];
    work.slopes_of_q[blockIdx.y * nodes + node] =
        slope_by_distance(work.q[blockIdx.y], piece / work.pieces_by_distance);
}

/// The weight of a pair at one q: the weights of the channels times both factors, for scales of the
/// classes u of rows and v of columns.
template <class Real>
__device__ inline double pair_weight(const Scattering<Real>& from, const double* weight,
                                     int row_type, int column_type, int u, int v, Index k) {
    double sum = 0.0;
    int pair = 0;
    const auto product = [&](int a, int b) {
        return factor_of(from, a, row_type, k) * factor_of(from, b, column_type, k);
    };
    for (int a = 0; a < from.channels; ++a) {
        for (int b = a; b < from.channels; ++b, ++pair) {
            if (!concerns(from, u, v, a, b)) continue;
            double products = 0.0;
            if (from.class_of[a] == u && from.class_of[b] == v) products += product(a, b);
            if (a != b && from.class_of[b] == u && from.class_of[a] == v) products += product(b, a);
            sum += weight[Index{pair} * from.q_count + k] * products;
        }
    }
    return sum;
}

/// Each CTA makes kSlopeThreads / kTerms pieces of the table of two types and a weighting.
template <class Real>
__global__ void __launch_bounds__(kSlopeThreads)
    make_slopes(Scattering<Real> from, GradientWork<Real> work) {
    __shared__ double weights[kSlopeThreads], values[kSlopeThreads];
    const Index nodes = work.distance_pieces * kTerms;
    const Index blocks = (nodes + kSlopeThreads - 1) / kSlopeThreads;
    const Index table = blockIdx.x / blocks, first = blockIdx.x % blocks * kSlopeThreads;
    const int types = from.types, column_type = static_cast<int>(table % types);
    const int row_type = static_cast<int>(table / types % types);
    const int weighting = static_cast<int>(table / types / types);
    const int thread = threadIdx.x;
    const Index node = first + thread;
    double value = 0.0;
    for (Index start = 0; start < from.q_count; start += kSlopeThreads) {
        const Index left = from.q_count - start;
        const int count = left < kSlopeThreads ? static_cast<int>(left) : kSlopeThreads;
        __syncthreads();
        if (thread < count)
            weights[thread] =
                pair_weight(from, work.weight, row_type, column_type, weighting / from.classes,
                            weighting % from.classes, start + thread);
        __syncthreads();
        if (node < nodes)
            for (int n = 0; n < count; ++n)
                value = fma(weights[n], work.slopes_of_q[(start + n) * nodes + node], value);
    }
    values[thread] = value;
    __syncthreads();
    if (node >= nodes) return;
    const int term = thread % kTerms;
    double sum = 0.0;
    for (int n = 0; n < kTerms; ++n)
        sum += work.to_terms[term * kTerms + n] * values[thread - term + n];
    work.table[table * work.distance_pieces + node / kTerms].terms[term] = static_cast<Real>(sum);
}

/// The slope of a pair divided by its distance; `at`: the distance in units of intervals.
template <class Real>
__device__ inline Real slope_at(const SlopePiece<Real>* table, double at) {
    const auto piece = static_cast<std::int32_t>(at);
    const Real x = static_cast<Real>(at - static_cast<double>(piece));
    const SlopePiece<Real> terms = table[piece];
    Real sum = terms.terms[kTerms - 1];
#pragma unroll
    for (int term = kTerms - 2; term >= 0; --term) sum = multiply_add(sum, x, terms.terms[term]);
    return sum;
}

/// The scale of a scatterer in a class.
template <class Real>
__device__ inline double scale_of(const Scattering<Real>& from, const GradientWork<Real>& work,
                                  int of_class, Index scatterer) {
    const int scale = of_class - from.has_unscaled_class;
    return scale < 0 ? 1.0 : work.scales[scale * work.scatterer_count + scatterer];
}

/// Adds to `force` [axis] the slopes of pairs of a lane's scatterer with columns [first, end),
/// which are all of one type.
template <class Real>
__device__ inline void add_columns(const Scattering<Real>& from, const GradientWork<Real>& work,
                                   const SlopePiece<Real>* table, Index row, Index first, Index end,
                                   int column_class, double row_scale, double (&force)[3]) {
    const Index stride = work.scatterer_count;
    const double x = work.xyz[row], y = work.xyz[stride + row], z = work.xyz[2 * stride + row];
    double sum[3] = {};
#pragma unroll 2
    for (Index column = first; column < end; ++column) {  // the same for all lanes
        const double dx = x - work.xyz[column], dy = y - work.xyz[stride + column],
                     dz = z - work.xyz[2 * stride + column];
        const double squared = fmax(fma(dx, dx, fma(dy, dy, dz * dz)), 1e-12);
        const double at = squared * inverse_root(squared) * work.pieces_by_distance;
        const double slope =
            scale_of(from, work, column_class, column) * static_cast<double>(slope_at(table, at));
        sum[0] = fma(slope, dx, sum[0]);
        sum[1] = fma(slope, dy, sum[1]);
        sum[2] = fma(slope, dz, sum[2]);
    }
    for (int axis = 0; axis < 3; ++axis) force[axis] = fma(row_scale, sum[axis], force[axis]);
}

/// Each warp takes a piece of rows, a row per lane, and a chunk of columns.
template <class Real>
__global__ void __launch_bounds__(kWarps* kLanes)
    sum_slopes(Scattering<Real> from, GradientWork<Real> work) {
    const int lane = threadIdx.x % kLanes;
    const int piece = blockIdx.x * kWarps + threadIdx.x / kLanes;
    if (piece >= work.piece_count) return;  // all lanes alike
    const TypeSegment rows = work.pieces[piece];
    const Index row = rows.first + (lane < rows.count ? lane : rows.count - 1);
    const Index first = blockIdx.y * work.chunk;
    const Index end =
        first + work.chunk < work.scatterer_count ? first + work.chunk : work.scatterer_count;
    double force[3] = {};
    for (int n = 0; n < work.segment_count; ++n) {
        const TypeSegment segment = work.segments[n];
        const Index segment_end = segment.first + segment.count;
        const Index from_column = segment.first > first ? segment.first : first;
        const Index to_column = segment_end < end ? segment_end : end;
        for (int weighting = 0; weighting < from.classes * from.classes; ++weighting) {
            const Index table = (Index{weighting} * from.types + rows.type) * from.types;
            add_columns(from, work, work.table + (table + segment.type) * work.distance_pieces, row,
                        from_column, to_column, weighting % from.classes,
                        scale_of(from, work, weighting / from.classes, row), force);
        }
    }
    if (lane >= rows.count) return;
    for (int axis = 0; axis < 3; ++axis)
        work.chunk_sums[(Index{blockIdx.y} * 3 + axis) * work.scatterer_count + row] = force[axis];
}

/// Sums the gradient over chunks in order, times two because profiles contain each pair in both
/// orders.
template <class Real>
__global__ void add_chunks(GradientWork<Real> work, Index chunks) {
    const Index size = 3 * work.scatterer_count;
    const Index n = Index{blockIdx.x} * blockDim.x + threadIdx.x;
    if (n >= size) return;
    double sum = 0.0;
    for (Index chunk = 0; chunk < chunks; ++chunk) sum += work.chunk_sums[chunk * size + n];
    work.gradient[n] = 2.0 * sum;
}

using pleat::cuda::grow;
using pleat::cuda::Sides;
using pleat::cuda::upload;

/// [term, node]: coefficients of polynomials in x, from 0 to 1, through Chebyshev nodes.
inline std::vector<double> polynomial_terms(std::vector<double>& node_offset) {
    constexpr double kPi = 3.14159265358979323846;
    std::vector<double> to_terms(kTerms * kTerms);
    for (int node = 0; node < kTerms; ++node)
        node_offset.push_back(0.5 + 0.5 * std::cos(kPi * (node + 0.5) / kTerms));
    for (int node = 0; node < kTerms; ++node) {
        // The Lagrange polynomial of the node, as a product of (x - other) / (node - other).
        std::vector<double> terms{1.0};
        for (int other = 0; other < kTerms; ++other) {
            if (other == node) continue;
            const double scale = 1.0 / (node_offset[node] - node_offset[other]);
            terms.push_back(0.0);
            for (std::size_t term = terms.size() - 1; term > 0; --term)
                terms[term] = scale * (terms[term - 1] - node_offset[other] * terms[term]);
            terms[0] *= -scale * node_offset[other];
        }
        for (int term = 0; term < kTerms; ++term) to_terms[term * kTerms + node] = terms[term];
    }
    return to_terms;
}

/// Gradients on a `Gpu`: CudaGpu, or the host in its place. A pair's slope comes from a table of
/// its two types, which has all q in it, so the sum over pairs does not depend on the number of q.
/// Distances are float64, tables Real. Every pair is computed for each of its scatterers, so that
/// the sums need no atomics and do not depend on their order. The model and what `from` points to
/// must outlive it.
template <class Gpu, class Real>
class GpuGradients {
public:
    GpuGradients(const Model& model, const SortedScatterers& sorted, const Scattering<Real>& from,
                 Gpu gpu)
        : model_(model),
          order_(sorted.order),
          from_(from),
          gpu_(std::move(gpu)),
          segments_(sorted.segments),
          pieces_(split_segments(sorted.segments, kLanes)),
          chunk_(chunk_columns(model.scatterer_count())) {}

    /// As Kernel::gradient().
    void compute(View<const float, 2> xyz, View<const float, 2> scales,
                 View<const double, 2> weight, View<double, 2> gradient) {
        const Index count = model_.scatterer_count();
        reserve(box_diagonal(xyz), scales.extent(0));
        double* input = host_input_.data();
        input = std::copy(weight.begin(), weight.end(), input);
        input = sort(scales, input);
        sort(xyz, input);
        const GradientWork<Real> work = make_work(scales.extent(0));
        launch(work);
        gpu_.wait();
        for (Index axis = 0; axis < 3; ++axis)
            for (Index n = 0; n < count; ++n)
                gradient(axis, order_[n]) = gradient_.data()[axis * count + n];
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;
    template <class T>
    using Pinned = typename Gpu::template Pinned<T>;

    /// Pieces per 1 / q: polynomials through 8 nodes have a relative error of about (q h)^8 / 1e9.
    static constexpr double kPieces = sizeof(Real) == 8 ? 2.0 : 1.0;

    /// Number of columns per warp: few enough for many warps, but at most kMaxChunks chunks, whose
    /// sums need memory. It depends only on the number of scatterers, so results are bit-identical
    /// on any GPU.
    static Index chunk_columns(Index count) {
        constexpr Index kMinColumns = 64, kMaxChunks = 64;
        return std::max(kMinColumns, (count + kMaxChunks - 1) / kMaxChunks);
    }
    Index chunks() const { return (model_.scatterer_count() + chunk_ - 1) / chunk_; }
    double pieces_by_distance() const { return kPieces * model_.q.back(); }
    Index table_count() const {
        return Index{from_.classes} * from_.classes * from_.types * from_.types;
    }

    /// Makes room for a frame of this diameter. Slopes are recomputed only if distances exceed all
    /// earlier ones.
    void reserve(double diameter, Index scale_rows) {
        const Index count = model_.scatterer_count(), q_count = model_.q_count();
        const double needed = diameter * pieces_by_distance() + 2.0;
        if (distance_pieces_ > 0 && needed <= static_cast<double>(distance_pieces_)) return;
        const double wanted = 1.2 * needed;  // the next frame may be wider
        const double bytes =
            wanted * (static_cast<double>(table_count()) * sizeof(SlopePiece<Real>) +
                      8.0 * kTerms * static_cast<double>(q_count)) +
            8.0 * 3.0 * static_cast<double>(count * (chunks() + 1));
        require_memory(static_cast<std::int64_t>(std::min(bytes, 9e18)),
                       "a gradient of " + std::to_string(count) + " scatterers", "use --device cpu",
                       gpu_.free_bytes(), " on the GPU");
        distance_pieces_ = static_cast<Index>(wanted);
        const Index input = model_.pair_count() * q_count + (3 + scale_rows) * count;
        std::vector<double> node_offset;
        upload(to_terms_, polynomial_terms(node_offset));
        upload(node_offset_, node_offset);
        upload(q_, model_.q);
        upload(device_pieces_, pieces_);
        upload(device_segments_, segments_);
        grow(host_input_, input);
        grow(input_, input);
        grow(slopes_of_q_, q_count * distance_pieces_ * kTerms);
        grow(table_, table_count() * distance_pieces_);
        grow(chunk_sums_, 3 * count * chunks());
        grow(gradient_, 3 * count);
        const Index nodes = distance_pieces_ * kTerms;
        gpu_.launch("make slopes of each q", &make_slopes_of_q<Real>,
                    Sides{(nodes + kSlopeThreads - 1) / kSlopeThreads, q_count},
                    Sides{kSlopeThreads}, 0, make_work(scale_rows));
    }

    GradientWork<Real> make_work(Index scale_rows) const {
        const Index count = model_.scatterer_count();
        GradientWork<Real> work{};
        work.host_input = host_input_.data();
        work.input = input_.data();
        work.weight = work.input;
        work.scales = work.weight + model_.pair_count() * model_.q_count();
        work.xyz = work.scales + scale_rows * count;
        work.input_size = work.xyz + 3 * count - work.input;
        work.scatterer_count = count;
        work.pieces = device_pieces_.data();
        work.segments = device_segments_.data();
        work.piece_count = static_cast<std::int32_t>(pieces_.size());
        work.segment_count = static_cast<std::int32_t>(segments_.size());
        work.chunk = chunk_;
        work.q = q_.data();
        work.to_terms = to_terms_.data();
        work.node_offset = node_offset_.data();
        work.pieces_by_distance = pieces_by_distance();
        work.distance_pieces = distance_pieces_;
        work.slopes_of_q = slopes_of_q_.data();
        work.table = table_.data();
        work.chunk_sums = chunk_sums_.data();
        work.gradient = gradient_.data();
        return work;
    }

    void launch(const GradientWork<Real>& work) const {
        constexpr Index kThreads = kWarps * kLanes, kMaxCopyingCtas = 256;
        const auto ctas = [](Index threads, Index of_cta) {
            return (threads + of_cta - 1) / of_cta;
        };
        gpu_.launch("copy positions", &copy_gradient_input<Real>,
                    Sides{std::min(ctas(work.input_size, kThreads), kMaxCopyingCtas)},
                    Sides{kThreads}, 0, work);
        gpu_.launch("make slopes of pairs", &make_slopes<Real>,
                    Sides{table_count() * ctas(work.distance_pieces * kTerms, kSlopeThreads)},
                    Sides{kSlopeThreads}, 0, from_, work);
        gpu_.launch("sum slopes over pairs", &sum_slopes<Real>,
                    Sides{ctas(work.piece_count, kWarps), chunks()}, Sides{kThreads}, 0, from_,
                    work);
        gpu_.launch("sum slopes over chunks", &add_chunks<Real>,
                    Sides{ctas(3 * work.scatterer_count, kThreads)}, Sides{kThreads}, 0, work,
                    chunks());
    }

    /// Writes the rows of `from` [row, scatterer] in sorted order; returns the end of the output.
    double* sort(View<const float, 2> from, double* to) const {
        for (Index row = 0; row < from.extent(0); ++row)
            for (const Index n : order_) *to++ = from(row, n);
        return to;
    }

    const Model& model_;
    std::vector<Index> order_;
    Scattering<Real> from_;
    Gpu gpu_;
    std::vector<TypeSegment> segments_, pieces_;
    Index chunk_, distance_pieces_ = 0;
    Array<TypeSegment> device_segments_, device_pieces_;
    Array<double> q_, to_terms_, node_offset_, input_, slopes_of_q_, chunk_sums_;
    Array<SlopePiece<Real>> table_;
    Pinned<double> host_input_, gradient_;
};

}  // namespace pleat::saxs::cuda
