// CUDA kernels of saxs for multipoles: scatterers spread on radial nodes and harmonics, whose sums
// are then projected on q.
#pragma once

#include <cstdint>

#include "pleat/saxs/cuda/multipole_limits.h"
#include "pleat/saxs/cuda/pair_kernel.cuh"

namespace pleat::saxs::cuda {

/// Neighbours of one type that scatter in one class; `scale`: the row of their scales, -1 for none.
struct MultipoleSegment {
    std::int32_t first, count, type, of_class, scale;
};

/// The tables for a frame's radius. Pointers are to device memory.
struct MultipoleFrame {
    const double* nodes;          ///< [node], angstrom, then their barycentric weights
    const float* bessel;          ///< [degree, node, q_stride]
    const std::int32_t* first_q;  ///< [degree]
    std::int32_t degrees, node_count;
};

/// A step of the recurrence of Legendre functions in the degree: factor * (z * last - share *
/// before). At degree = order: the factor of sin^m at which it begins.
struct HarmonicStep {
    float factor, share;
};

/// The arrays of a call. Pointers are to device memory.
struct Multipoles {
    const MultipoleFrame* frames;
    const MultipoleSegment* segments;
    const HarmonicStep* steps;     ///< [degree, kMaxDegrees order]
    const float* xyz;              ///< [frame, axis, sorted scatterer], about the frame's centre
    const float* scales;           ///< [frame, scale, sorted scatterer]
    const float* factors;          ///< [channel, type, q]
    const std::int32_t* class_of;  ///< [channel]
    float4* directions;            ///< [frame, sorted scatterer]: x, y, z of length 1
    float* weights;                ///< [frame, sorted scatterer, node_stride]
    float* spread;                 ///< [frame, segment, harmonic, node_stride]
    float* sums;                   ///< [frame, degree, channel pair, q]
    double* partial;               ///< [frame, channel pair, q]
    Index scatterers, harmonics;
    std::int32_t segment_count, scale_count, node_stride, degrees;  ///< of the largest frame
    std::int32_t channels, types, q_count, q_stride;
};

inline constexpr int kWeighThreads = 128;

/// The direction of each scatterer, and its weights in the interpolation between radial nodes
/// (barycentric formula).
static __global__ void __launch_bounds__(kWeighThreads) weigh_scatterers(Multipoles of) {
    const Index n = Index{blockIdx.x} * kWeighThreads + threadIdx.x, frame = blockIdx.y;
    if (n >= of.scatterers) return;
    const MultipoleFrame& at = of.frames[frame];
    const float* const xyz = of.xyz + frame * 3 * of.scatterers + n;
    const double x = xyz[0], y = xyz[of.scatterers], z = xyz[2 * of.scatterers];
    const double r = sqrt(x * x + y * y + z * z), inverse = r > 0 ? 1 / r : 0;
    of.directions[frame * of.scatterers + n] = {
        static_cast<float>(x * inverse), static_cast<float>(y * inverse),
        r > 0 ? static_cast<float>(z * inverse) : 1.0f, 0.0f};
    const double* const barycentric = at.nodes + at.node_count;
    double sum = 0;
    int hit = -1;
    for (int node = 0; node < at.node_count; ++node) {
        const double distance = r - at.nodes[node];
        if (distance == 0) hit = node;
        sum += barycentric[node] / (distance == 0 ? 1 : distance);
    }
    float* const to = of.weights + (frame * of.scatterers + n) * of.node_stride;
    for (int node = 0; node < of.node_stride; ++node) {
        double weight = 0;
        if (hit >= 0)
            weight = node == hit ? 1 : 0;
        else if (node < at.node_count)
            weight = barycentric[node] / ((r - at.nodes[node]) * sum);
        to[node] = static_cast<float>(weight);
    }
}

/// Scatterers of a block, and nodes of a thread.
inline constexpr int kBlockScatterers = 32, kThreadNodes = 12;
/// Harmonics of a thread; a warp's are neighbours.
inline constexpr int kThreadHarmonics = 2;

/// Two orders whose degrees together fill the lanes of a CTA: m and degrees - 1 - m.
struct OrderPair {
    int low, high, first_count, count;

    __device__ inline explicit OrderPair(int degrees)
        : low(static_cast<int>(blockIdx.x)),
          high(degrees - 1 - low),
          first_count(degrees - low),
          count(low > high    ? 0
                : low == high ? first_count
                              : degrees + 1) {}
    __device__ inline int order_of(int lane) const { return lane < first_count ? low : high; }
    __device__ inline int degree_of(int lane) const {
        return lane < first_count ? low + lane : high + lane - first_count;
    }
};

/// Writes a scatterer's real harmonics of one order, from degree m on, to every `stride`-th number:
/// those of sin(m phi), or of cos(m phi).
__device__ inline void write_harmonics(const Multipoles& of, float4 direction, int degrees, int m,
                                       bool is_sine, float* to, int stride) {
    // (sin(theta) exp(i phi))^m by squaring, in float64: the angle counts m times.
    double real = 1, imaginary = 0, x = direction.x, y = direction.y;
    for (int left = m; left > 0; left >>= 1) {
        if (left & 1) {
            const double next = real * x - imaginary * y;
            imaginary = real * y + imaginary * x;
            real = next;
        }
        const double square = x * x - y * y;
        y = 2 * x * y;
        x = square;
    }
    float before = 0, last = static_cast<float>(is_sine ? imaginary : real) *
                             of.steps[m * kMaxDegrees + m].factor;
    *to = last;
    for (int l = m + 1; l < degrees; ++l) {
        const HarmonicStep step = of.steps[l * kMaxDegrees + m];
        const float here = step.factor * (direction.z * last - step.share * before);
        before = last;
        last = here;
        to += stride;
        *to = here;
    }
}

/// A CTA's harmonics and weights of a block of scatterers.
struct SpreadBlock {
    static constexpr int kStride = kBlockScatterers + 1;  // lanes read different banks
    float* harmonics;                                     ///< [sine, lane, kStride]
    float* weights;                                       ///< [scatterer, node_stride]

    static Index bytes(Index lanes, Index node_stride) {
        return 4 * (2 * lanes * kStride + kBlockScatterers * node_stride + 4);
    }
};

__device__ inline void fill_block(const Multipoles& of, const MultipoleSegment& segment,
                                  Index first, int count, const OrderPair& orders, int degrees,
                                  int lanes, const SpreadBlock& block) {
    const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x),
              threads = static_cast<int>(blockDim.x * blockDim.y);
    const Index frame = blockIdx.y, scatterer = frame * of.scatterers + segment.first + first;
    const float* const scales =
        segment.scale < 0 ? nullptr
                          : of.scales + (frame * of.scale_count + segment.scale) * of.scatterers +
                                segment.first + first;
    for (int n = thread; n < count * of.node_stride; n += threads) {
        const float weight = of.weights[scatterer * of.node_stride + n];
        block.weights[n] = scales == nullptr ? weight : weight * scales[n / of.node_stride];
    }
    for (int task = thread; task < 4 * kBlockScatterers; task += threads) {
        const int n = task % kBlockScatterers, which = task / kBlockScatterers;
        const bool is_high = which % 2 != 0, is_sine = which / 2 != 0;
        if (n >= count || (is_high && orders.high == orders.low)) continue;
        float* const to =
            block.harmonics +
            ((is_sine ? lanes : 0) + (is_high ? orders.first_count : 0)) * SpreadBlock::kStride + n;
        write_harmonics(of, of.directions[scatterer + n], degrees,
                        is_high ? orders.high : orders.low, is_sine, to, SpreadBlock::kStride);
    }
}

/// What a thread sums: [harmonic, sine, node].
template <class Real>
using SpreadSums = Real[kThreadHarmonics][2][kThreadNodes];
/// Blocks that are summed in float32; more would lose digits of thousands of scatterers.
inline constexpr int kFloatBlocks = 4;

/// Adds the sums to the totals, and clears them.
__device__ inline void move_sums(SpreadSums<float>& sums, SpreadSums<double>& totals) {
#pragma unroll
    for (int j = 0; j < kThreadHarmonics; ++j)
#pragma unroll
        for (int sine = 0; sine < 2; ++sine)
#pragma unroll
            for (int k = 0; k < kThreadNodes; ++k) {
                totals[j][sine][k] += static_cast<double>(sums[j][sine][k]);
                sums[j][sine][k] = 0;
            }
}

__device__ inline void add_block(const SpreadBlock& block, int count, int lanes, int node_stride,
                                 SpreadSums<float>& sums) {
    const float* weights = block.weights + threadIdx.y * kThreadNodes;
    const float* harmonics = block.harmonics + threadIdx.x * SpreadBlock::kStride;
#pragma unroll 4
    for (int n = 0; n < count; ++n, weights += node_stride, ++harmonics) {
        float weight[kThreadNodes];
#pragma unroll
        for (int k = 0; k < kThreadNodes / 4; ++k) {
            const float4 four = reinterpret_cast<const float4*>(weights)[k];
            weight[4 * k] = four.x;
            weight[4 * k + 1] = four.y;
            weight[4 * k + 2] = four.z;
            weight[4 * k + 3] = four.w;
        }
#pragma unroll
        for (int j = 0; j < kThreadHarmonics; ++j)
#pragma unroll
            for (int sine = 0; sine < 2; ++sine) {
                const float value = harmonics[(sine * lanes + j * static_cast<int>(blockDim.x)) *
                                              SpreadBlock::kStride];
#pragma unroll
                for (int k = 0; k < kThreadNodes; ++k)
                    sums[j][sine][k] = fmaf(weight[k], value, sums[j][sine][k]);
            }
    }
}

__device__ inline void write_spread(const Multipoles& of, int segment, const OrderPair& orders,
                                    const SpreadSums<double>& sums) {
    float* const to =
        of.spread +
        (Index{blockIdx.y} * of.segment_count + segment) * of.harmonics * of.node_stride +
        threadIdx.y * kThreadNodes;
#pragma unroll
    for (int j = 0; j < kThreadHarmonics; ++j) {
        const int lane = static_cast<int>(threadIdx.x + j * blockDim.x);
        if (lane >= orders.count) continue;
        const int m = orders.order_of(lane), l = orders.degree_of(lane);
        for (int sine = 0; sine < (m > 0 ? 2 : 1); ++sine)
#pragma unroll
            for (int k = 0; k < kThreadNodes; ++k)
                to[(Index{l} * l + m + sine * l) * of.node_stride + k] =
                    static_cast<float>(sums[j][sine][k]);
    }
}

/// Sums the harmonics of all scatterers of each segment at the radial nodes, for two orders.
static __global__ void __launch_bounds__(512) spread_scatterers(Multipoles of) {
    PLEAT_DYNAMIC_SHARED(float4, shared);
    const int degrees = of.frames[blockIdx.y].degrees,
              lanes = static_cast<int>(blockDim.x) * kThreadHarmonics;
    const OrderPair orders(degrees);
    if (orders.count == 0) return;
    auto* const numbers = reinterpret_cast<float*>(shared);
    const SpreadBlock block{numbers + kBlockScatterers * of.node_stride, numbers};
    for (int n = 0; n < of.segment_count; ++n) {
        const MultipoleSegment segment = of.segments[n];
        SpreadSums<float> sums = {};
        SpreadSums<double> totals = {};
        for (int first = 0; first < segment.count; first += kBlockScatterers) {
            const int left = segment.count - first,
                      count = left < kBlockScatterers ? left : kBlockScatterers;
            __syncthreads();
            fill_block(of, segment, first, count, orders, degrees, lanes, block);
            __syncthreads();
            add_block(block, count, lanes, of.node_stride, sums);
            if (first / kBlockScatterers % kFloatBlocks == kFloatBlocks - 1)
                move_sums(sums, totals);
        }
        move_sums(sums, totals);
        write_spread(of, n, orders, totals);
    }
}

/// Values of q of a CTA, and orders that it computes together.
inline constexpr int kProjectedQ = 128, kOrders = 4;

/// Adds the product of four orders' amplitudes of all pairs of channels.
__device__ inline void add_products(const float4 (&amplitudes)[kMaxMultipoleChannels],
                                    float (&sums)[kMaxMultipoleChannels][kMaxMultipoleChannels]) {
#pragma unroll
    for (int a = 0; a < kMaxMultipoleChannels; ++a)
#pragma unroll
        for (int b = a; b < kMaxMultipoleChannels; ++b) {
            const float4 &one = amplitudes[a], &other = amplitudes[b];
            sums[a][b] += one.x * other.x + one.y * other.y + one.z * other.z + one.w * other.w;
        }
}

/// The partial profiles of one degree: amplitudes of each order from the sums at the radial nodes,
/// and their products. A thread has one q.
template <int kNodes>
__global__ void __launch_bounds__(kProjectedQ) project_degrees(Multipoles of) {
    PLEAT_DYNAMIC_SHARED(float4, rows);  // [segment, node]: four orders
    const int degree = blockIdx.x, k = blockIdx.z * kProjectedQ + static_cast<int>(threadIdx.x);
    const Index frame = blockIdx.y;
    const MultipoleFrame& at = of.frames[frame];
    float sums[kMaxMultipoleChannels][kMaxMultipoleChannels] = {};
    const bool is_needed =
        degree<at.degrees&& static_cast<int>(blockIdx.z + 1) * kProjectedQ> at.first_q[degree];
    if (is_needed) {
        float waves[kNodes];
#pragma unroll
        for (int n = 0; n < kNodes; ++n)
            waves[n] = n < at.node_count && k < of.q_count
                           ? at.bessel[(Index{degree} * at.node_count + n) * of.q_stride + k]
                           : 0.0f;
        const int order_count = 2 * degree + 1;
        for (int order = 0; order < order_count; order += kOrders) {
            __syncthreads();
            for (int n = threadIdx.x; n < of.segment_count * kNodes; n += kProjectedQ) {
                const int segment = n / kNodes, node = n % kNodes;
                const float* const from = of.spread +
                                          ((frame * of.segment_count + segment) * of.harmonics +
                                           Index{degree} * degree + order) *
                                              of.node_stride +
                                          node;
                const auto value = [&](int more) {
                    return node < of.node_stride && order + more < order_count
                               ? from[more * of.node_stride]
                               : 0.0f;
                };
                rows[n] = {value(0), value(1), value(2), value(3)};
            }
            __syncthreads();
            float4 amplitudes[kMaxMultipoleChannels] = {};
            for (int segment = 0; segment < of.segment_count; ++segment) {
                float4 wave = {0, 0, 0, 0};
                const float4* const row = rows + segment * kNodes;
#pragma unroll
                for (int n = 0; n < kNodes; ++n) {
                    const float4 four = row[n];
                    wave.x = fmaf(waves[n], four.x, wave.x);
                    wave.y = fmaf(waves[n], four.y, wave.y);
                    wave.z = fmaf(waves[n], four.z, wave.z);
                    wave.w = fmaf(waves[n], four.w, wave.w);
                }
                const MultipoleSegment at_segment = of.segments[segment];
#pragma unroll
                for (int c = 0; c < kMaxMultipoleChannels; ++c) {
                    if (c >= of.channels || of.class_of[c] != at_segment.of_class ||
                        k >= of.q_count)
                        continue;
                    const float factor =
                        of.factors[(Index{c} * of.types + at_segment.type) * of.q_count + k];
                    float4& amplitude = amplitudes[c];
                    amplitude.x = fmaf(factor, wave.x, amplitude.x);
                    amplitude.y = fmaf(factor, wave.y, amplitude.y);
                    amplitude.z = fmaf(factor, wave.z, amplitude.z);
                    amplitude.w = fmaf(factor, wave.w, amplitude.w);
                }
            }
            add_products(amplitudes, sums);
        }
    }
    if (k >= of.q_count) return;
    const Index pairs = Index{of.channels} * (of.channels + 1) / 2;
    float* const to = of.sums + (frame * of.degrees + degree) * pairs * of.q_count + k;
#pragma unroll
    for (int a = 0; a < kMaxMultipoleChannels; ++a)
#pragma unroll
        for (int b = a; b < kMaxMultipoleChannels; ++b)
            if (b < of.channels)
                to[body_pair(a, b, of.channels) * of.q_count] = (a == b ? 1.0f : 2.0f) * sums[a][b];
}

/// Adds the degrees of each frame, channel pair and q.
static __global__ void __launch_bounds__(kWeighThreads) add_degrees(Multipoles of) {
    const Index size = Index{of.channels} * (of.channels + 1) / 2 * of.q_count,
                n = Index{blockIdx.x} * kWeighThreads + threadIdx.x, frame = blockIdx.y;
    if (n >= size) return;
    double sum = 0;
    for (int degree = 0; degree < of.frames[frame].degrees; ++degree)
        sum += static_cast<double>(of.sums[(frame * of.degrees + degree) * size + n]);
    of.partial[frame * size + n] = sum;
}

}  // namespace pleat::saxs::cuda
