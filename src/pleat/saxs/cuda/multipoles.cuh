// Multipoles of saxs on a GPU: scatterers spread on radial nodes and harmonics, whose sums are then
// projected on q, many frames in a call.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/cuda/grow.h"
#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/cuda/pair_sums.cuh"
#include "pleat/saxs/debye/sorted_scatterers.h"
#include "pleat/saxs/kernel/kernel.h"
#include "pleat/saxs/kernel/multipole_table.h"

namespace pleat::saxs::cuda {

/// Consecutive scatterers of one type in one scale class; `scale`: row of scales, -1: none.
struct MultipoleSegment {
    std::int32_t first, count, type, of_class, scale;
};

/// The tables for the radius of a frame. Pointers are to device memory.
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

/// Scatterers per block, and nodes per thread.
inline constexpr int kBlockScatterers = 32, kThreadNodes = 12;
/// Harmonics per thread; those of a warp are adjacent.
inline constexpr int kThreadHarmonics = 2;

/// Two orders, m and degrees - 1 - m, whose degrees together fill the lanes of a CTA.
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
    // (sin(theta) exp(i phi))^m by squaring, in float64: errors of the angle are multiplied by m.
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

/// The sums of a thread: [harmonic, sine, node].
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

using pleat::cuda::grow;
using pleat::cuda::Sides;
using pleat::cuda::upload;

/// Bytes of the sums at the radial nodes in one call, unless a frame needs more.
inline constexpr Index kSpreadBytes = Index{512} << 20;

/// Multipoles in float32 on a `Gpu`: CudaGpu, or the host in its place; formulas as in
/// kernel/multipole_table.h. The model must outlive it. Throws UsageError for what does not
/// fit (cuda/multipole_limits.h).
template <class Gpu>
class GpuMultipoles final : public Kernel {
public:
    /// `by_pairs`: computes the gradients. `threads`: for the work of the host.
    GpuMultipoles(const Model& model, Gpu gpu, int threads, std::unique_ptr<Kernel> by_pairs,
                  Index max_spread_bytes = kSpreadBytes)
        : model_(model),
          classes_(model),
          sorted_(sort_by_type(model)),
          gpu_(std::move(gpu)),
          threads_(threads),
          by_pairs_(std::move(by_pairs)),
          max_spread_bytes_(max_spread_bytes) {
        for (const TypeSegment& segment : sorted_.segments)
            for (Index of = 0; of < classes_.count; ++of)
                if (classes_.scatters(of, segment.type))
                    segments_.push_back({static_cast<std::int32_t>(segment.first),
                                         static_cast<std::int32_t>(segment.count), segment.type,
                                         static_cast<std::int32_t>(of),
                                         static_cast<std::int32_t>(classes_.scale_of(of))});
        if (!fits_multipoles(model, segment_count())) refuse("a model of fewer types");
        upload(device_segments_, segments_);
        upload(steps_, steps());
        upload(factors_, std::vector<float>(model.factors.begin(), model.factors.end()));
        upload(class_of_, std::vector<std::int32_t>(classes_.class_of_channel.begin(),
                                                    classes_.class_of_channel.end()));
    }

    void profiles(View<const float, 3> xyz, View<const float, 3> scales,
                  View<double, 3> partial) override {
        const Index frames = xyz.extent(0);
        std::vector<FrameSphere> spheres(frames);
        parallel_for(threads_, frames,
                     [&](Index frame, int) { spheres[frame] = enclosing_sphere(xyz[frame]); });
        if (std::ssize(tables_) > kMaxTables) tables_.clear();
        for (Index first = 0, last = 0; first < frames; first = last) {
            Sizes sizes;
            for (; last < frames; ++last) {
                const Tables& tables = tables_for(spheres[last].radius);
                const Sizes next = sizes.with(tables);
                if (last > first && spread_bytes(next) * (last + 1 - first) > max_spread_bytes_)
                    break;
                sizes = next;
            }
            write_positions(xyz, scales, spheres, first, last - first);
            compute(std::span(spheres).subspan(static_cast<std::size_t>(first),
                                               static_cast<std::size_t>(last - first)),
                    sizes, partial[first].data);
        }
    }

    void gradient(View<const float, 2> xyz, View<const float, 2> scales,
                  View<const double, 2> weight, View<double, 2> gradient) override {
        by_pairs_->gradient(xyz, scales, weight, gradient);
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;
    template <class T>
    using Pinned = typename Gpu::template Pinned<T>;
    static constexpr Index kMaxTables = 64;

    /// The tables for one rounded radius.
    struct Tables {
        Array<double> nodes;
        Array<float> bessel;
        Array<std::int32_t> first_q;
        Index degrees = 0, node_count = 0, q_stride = 0;
    };
    /// The largest of some frames.
    struct Sizes {
        Index degrees = 0, nodes = 0;

        Sizes with(const Tables& tables) const {
            return {std::max(degrees, tables.degrees), std::max(nodes, tables.node_count)};
        }
        Index node_stride() const {
            return (nodes + kThreadNodes - 1) / kThreadNodes * kThreadNodes;
        }
    };

    static std::vector<HarmonicStep> steps() {
        const HarmonicTable table(kMaxDegrees, 1);
        std::vector<HarmonicStep> steps(static_cast<std::size_t>(kMaxDegrees) * kMaxDegrees);
        double diagonal = 1;
        for (Index l = 0; l < kMaxDegrees; ++l) {
            HarmonicStep* const row = steps.data() + l * kMaxDegrees;
            for (Index m = 0; m < l; ++m)
                row[m] = {static_cast<float>(table.factor(l, m)),
                          static_cast<float>(table.share(l, m))};
            const auto order = static_cast<double>(l);
            if (l > 0) diagonal *= std::sqrt(l == 1 ? 3.0 : (2.0 * order + 1.0) / (2.0 * order));
            row[l] = {static_cast<float>(diagonal), 0};
        }
        return steps;
    }

    [[noreturn]] static void refuse(const std::string& expected) {
        throw UsageError("expected " + expected +
                         " for multipoles on a GPU, found more: take --method debye");
    }

    const Tables& tables_for(double radius) {
        std::unique_ptr<Tables>& tables = tables_[rounded_radius(radius)];
        if (tables) return *tables;
        if (!fits_multipoles(multipole_size(model_.q.back(), rounded_radius(radius))))
            refuse("at most " + std::to_string(kMaxDegrees) + " degrees");
        tables = std::make_unique<Tables>();
        const MultipoleTable table(model_.q, rounded_radius(radius));
        tables->degrees = table.degree_count();
        tables->node_count = table.node_count();
        tables->q_stride = table.q_stride;
        std::vector<double> nodes = table.nodes;
        nodes.insert(nodes.end(), table.barycentric.begin(), table.barycentric.end());
        upload(tables->nodes, nodes);
        upload(tables->bessel, std::vector<float>(table.bessel.begin(), table.bessel.end()));
        upload(tables->first_q,
               std::vector<std::int32_t>(table.first_q.begin(), table.first_q.end()));
        return *tables;
    }

    Index segment_count() const { return std::ssize(segments_); }
    Index spread_bytes(const Sizes& sizes) const {
        return 4 * segment_count() * sizes.degrees * sizes.degrees * sizes.node_stride();
    }

    /// Writes positions relative to the centres, and scales, in sorted order.
    void write_positions(View<const float, 3> xyz, View<const float, 3> scales,
                         const std::vector<FrameSphere>& spheres, Index first, Index frames) {
        const Index count = model_.scatterer_count(), scale_count = model_.scale_count();
        grow(host_xyz_, frames * 3 * count);
        grow(host_scales_, std::max<Index>(frames * scale_count * count, 1));
        parallel_for(threads_, frames, [&](Index frame, int) {
            const FrameSphere& sphere = spheres[first + frame];
            float* to = host_xyz_.data() + frame * 3 * count;
            for (Index axis = 0; axis < 3; ++axis)
                for (const Index scatterer : sorted_.order)
                    *to++ = static_cast<float>(double{xyz(first + frame, axis, scatterer)} -
                                               sphere.centre[axis]);
            to = host_scales_.data() + frame * scale_count * count;
            for (Index scale = 0; scale < scale_count; ++scale)
                for (const Index scatterer : sorted_.order)
                    *to++ = scales(first + frame, scale, scatterer);
        });
    }

    void compute(std::span<const FrameSphere> spheres, const Sizes& sizes, double* partial) {
        const auto frames = std::ssize(spheres);
        const Index count = model_.scatterer_count(), scale_count = model_.scale_count(),
                    stride = sizes.node_stride(), size = model_.pair_count() * model_.q_count();
        require_memory(
            frames * (spread_bytes(sizes) + count * (4 * (stride + scale_count) + 32) +
                      (4 * sizes.degrees + 8) * size),
            std::to_string(frames) + " frames of " + std::to_string(count) + " scatterers",
            "use --device cpu", gpu_.free_bytes() + held_bytes(), " on the GPU");
        std::vector<MultipoleFrame> of_frames;
        for (const FrameSphere& sphere : spheres) {
            const Tables& tables = tables_for(sphere.radius);
            of_frames.push_back({tables.nodes.data(), tables.bessel.data(), tables.first_q.data(),
                                 static_cast<std::int32_t>(tables.degrees),
                                 static_cast<std::int32_t>(tables.node_count)});
        }
        upload(frames_, of_frames);
        grow(xyz_, frames * 3 * count);
        xyz_.upload(host_xyz_.data(), 0, frames * 3 * count);
        grow(scales_, std::max<Index>(frames * scale_count * count, 1));
        if (scale_count > 0) scales_.upload(host_scales_.data(), 0, frames * scale_count * count);
        grow(directions_, frames * count);
        grow(weights_, frames * count * stride);
        grow(spread_, frames * spread_bytes(sizes) / 4);
        grow(sums_, frames * sizes.degrees * size);
        grow(partial_, frames * size);
        launch(frames, sizes);
        partial_.download(partial, 0, frames * size);
    }

    void launch(Index frames, const Sizes& sizes) {
        const Index count = model_.scatterer_count(), stride = sizes.node_stride(),
                    size = model_.pair_count() * model_.q_count();
        const Multipoles of{
            .frames = frames_.data(),
            .segments = device_segments_.data(),
            .steps = steps_.data(),
            .xyz = xyz_.data(),
            .scales = scales_.data(),
            .factors = factors_.data(),
            .class_of = class_of_.data(),
            .directions = directions_.data(),
            .weights = weights_.data(),
            .spread = spread_.data(),
            .sums = sums_.data(),
            .partial = partial_.data(),
            .scatterers = count,
            .harmonics = sizes.degrees * sizes.degrees,
            .segment_count = static_cast<std::int32_t>(segments_.size()),
            .scale_count = static_cast<std::int32_t>(model_.scale_count()),
            .node_stride = static_cast<std::int32_t>(stride),
            .degrees = static_cast<std::int32_t>(sizes.degrees),
            .channels = static_cast<std::int32_t>(model_.channel_count()),
            .types = static_cast<std::int32_t>(model_.type_count()),
            .q_count = static_cast<std::int32_t>(model_.q_count()),
            .q_stride = static_cast<std::int32_t>((model_.q_count() + kQPad - 1) / kQPad * kQPad)};
        const auto parts = [](Index all, Index part) { return (all + part - 1) / part; };
        gpu_.launch("weigh scatterers", &weigh_scatterers,
                    Sides{parts(count, kWeighThreads), frames}, Sides{kWeighThreads}, 0, of);
        // Two orders together have one lane more than degrees.
        const Index threads = 32 * parts(sizes.degrees + 1, 32 * kThreadHarmonics);
        gpu_.launch("spread scatterers", &spread_scatterers, Sides{parts(sizes.degrees, 2), frames},
                    Sides{threads, stride / kThreadNodes},
                    SpreadBlock::bytes(threads * kThreadHarmonics, stride), of);
        const auto project = [&]<int kNodes>() {
            gpu_.launch("project degrees", &project_degrees<kNodes>,
                        Sides{sizes.degrees, frames, parts(model_.q_count(), kProjectedQ)},
                        Sides{kProjectedQ}, 16 * segment_count() * kNodes, of);
        };
        if (stride <= 36)
            project.template operator()<36>();
        else if (stride <= 48)
            project.template operator()<48>();
        else
            project.template operator()<kMaxNodes>();
        gpu_.launch("add degrees", &add_degrees, Sides{parts(size, kWeighThreads), frames},
                    Sides{kWeighThreads}, 0, of);
    }

    Index held_bytes() const {
        return 4 * (xyz_.size() + scales_.size() + weights_.size() + spread_.size() +
                    sums_.size()) +
               16 * directions_.size() + 8 * partial_.size();
    }

    const Model& model_;
    ScaleClasses classes_;
    SortedScatterers sorted_;
    Gpu gpu_;
    int threads_;
    std::unique_ptr<Kernel> by_pairs_;
    Index max_spread_bytes_;
    std::vector<MultipoleSegment> segments_;
    std::map<double, std::unique_ptr<Tables>> tables_;  ///< by rounded radius
    Array<MultipoleSegment> device_segments_;
    Array<HarmonicStep> steps_;
    Array<float> factors_;
    Array<std::int32_t> class_of_;
    Array<MultipoleFrame> frames_;
    Pinned<float> host_xyz_, host_scales_;
    Array<float> xyz_, scales_, weights_, spread_, sums_;
    Array<float4> directions_;
    Array<double> partial_;
};

}  // namespace pleat::saxs::cuda
