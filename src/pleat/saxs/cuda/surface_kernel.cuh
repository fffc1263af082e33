// Surface kernel on a GPU: a warp per sphere gathers the spheres that overlap it, and tests points.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "pleat/core/array.h"
#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/saxs/model/surface_kernel.h"

namespace pleat::saxs::cuda {

constexpr int kSurfaceLanes = 32, kSurfaceWarps = 8;
/// Number of overlaps that a warp collects before it compares them with the points; this repeats if
/// there are more. A step adds up to kSurfaceLanes.
constexpr int kKeptOverlaps = 64;
/// Points of a lane: lane l has the points l, l + 32, ...
constexpr int kLanePoints = kSurfacePoints / kSurfaceLanes;

/// Input and output of the kernel, in GPU memory.
struct SurfaceFrames {
    const CellGrid* cell_grids;  ///< [frame]
    const CellSphere* spheres;   ///< [frame, sphere]
    const std::int32_t* starts;  ///< [frame, start]
    const double* reach;         ///< [sphere], in the order of the frame
    const double* points;        ///< [axis, point]
    PointBits* exposed;          ///< [frame, sphere], in the order of the frame
    Index sphere_count, start_count;
};

/// A sphere that overlaps another one: it covers point p if p . (x, y, z) > bound.
struct SphereOverlap {
    double x, y, z, bound;
};

/// The points of a lane, with a bit for each exposed point.
struct LanePoints {
    double x[kLanePoints], y[kLanePoints], z[kLanePoints];
    unsigned open;

    __device__ LanePoints(const double* points, int lane) : open((1u << kLanePoints) - 1) {
#pragma unroll
        for (int k = 0; k < kLanePoints; ++k) {
            x[k] = points[k * kSurfaceLanes + lane];
            y[k] = points[kSurfacePoints + k * kSurfaceLanes + lane];
            z[k] = points[2 * kSurfacePoints + k * kSurfaceLanes + lane];
        }
    }
    __device__ void compare(const SphereOverlap* overlaps, int count) {
        for (int n = 0; n < count; ++n) {
            const SphereOverlap one = overlaps[n];
#pragma unroll
            for (int k = 0; k < kLanePoints; ++k) {
                const double product = fma(z[k], one.z, fma(y[k], one.y, __dmul_rn(x[k], one.x)));
                if (!(product <= one.bound)) open &= ~(1u << k);
            }
        }
    }
};

/// One sphere as seen by its warp. Rounds like model/surfaces.cpp on CPUs with fused multiply-add.
struct SurfaceSphere {
    double x, y, z, reach, square, half_inverse;
    std::int32_t sphere;

    __device__ SurfaceSphere(const CellSphere& at, double radius) {
        x = static_cast<double>(at.x);
        y = static_cast<double>(at.y);
        z = static_cast<double>(at.z);
        reach = radius;
        square = __dmul_rn(radius, radius);
        half_inverse = 0.5 / radius;
        sphere = at.sphere;
    }

    /// Whether the other sphere overlaps it and has another centre; sets `overlap`. Sets
    /// `is_inside` if it has the same centre and covers this one: it is larger, or equal and the
    /// first.
    __device__ bool overlaps(const CellSphere& at, double other_reach, SphereOverlap& overlap,
                             bool& is_inside) const {
        const double dx = static_cast<double>(at.x) - x, dy = static_cast<double>(at.y) - y,
                     dz = static_cast<double>(at.z) - z;
        const double distance = fma(dz, dz, fma(dy, dy, __dmul_rn(dx, dx)));
        if (distance == 0) {
            is_inside |= other_reach > reach || (other_reach == reach && at.sphere < sphere);
            return false;
        }
        const double both = other_reach + reach;
        const double bound = fma(-other_reach, other_reach, __dadd_rn(square, distance));
        overlap = {dx, dy, dz, __dmul_rn(bound, half_inverse)};
        return distance < __dmul_rn(both, both);
    }
};

static __global__ void __launch_bounds__(kSurfaceWarps* kSurfaceLanes)
    find_exposed(const SurfaceFrames from) {
    __shared__ SphereOverlap kept_of_warp[kSurfaceWarps][kKeptOverlaps];
    const int lane = static_cast<int>(threadIdx.x % kSurfaceLanes);
    const unsigned warp = threadIdx.x / kSurfaceLanes;
    const Index n = Index{blockIdx.x} * kSurfaceWarps + warp, frame = blockIdx.y;
    if (n >= from.sphere_count) return;
    SphereOverlap* const kept = kept_of_warp[warp];
    const CellSphere* const spheres = from.spheres + frame * from.sphere_count;
    const CellSphere at = spheres[n];
    const SurfaceSphere own(at, from.reach[at.sphere]);
    const double centre[] = {own.x, own.y, own.z};
    const CellGrid& grid = from.cell_grids[frame];
    const CellGrid::NearCells near = grid.near(centre);
    // Lane k has the k-th range.
    const SphereRange range = lane < near.count()
                                  ? grid.range(near, lane, from.starts + frame * from.start_count)
                                  : SphereRange();
    LanePoints points(from.points, lane);
    int count = 0;
    bool is_covered = false;
    const auto compare = [&](bool is_inside) {
        __syncwarp();
        points.compare(kept, count);
        __syncwarp();  // before more overlaps are kept
        count = 0;
        is_covered = __any_sync(~0u, is_inside) != 0 || __any_sync(~0u, points.open != 0) == 0;
    };
    bool is_inside = false;
    for (int k = 0; k < near.count() && !is_covered; ++k) {
        const int first = __shfl_sync(~0u, static_cast<int>(range.first), k),
                  last = __shfl_sync(~0u, static_cast<int>(range.last), k);
        for (int m = first; m < last && !is_covered; m += kSurfaceLanes) {
            SphereOverlap overlap{};
            bool overlaps = false;
            if (m + lane < last) {
                const CellSphere other = spheres[m + lane];
                overlaps = own.overlaps(other, from.reach[other.sphere], overlap, is_inside);
            }
            const unsigned votes = __ballot_sync(~0u, overlaps);
            if (overlaps) kept[count + __popc(votes & ((1u << lane) - 1))] = overlap;
            count += __popc(votes);
            if (count > kKeptOverlaps - kSurfaceLanes) compare(is_inside);
        }
    }
    if (!is_covered) compare(is_inside);
    PointBits* const exposed = from.exposed + frame * from.sphere_count + own.sphere;
#pragma unroll
    for (int k = 0; k < kLanePoints; ++k) {
        const unsigned word = __ballot_sync(~0u, !is_covered && (points.open >> k & 1) != 0);
        if (lane == k) exposed->words[k] = word;
    }
}

/// Computes surfaces on a `Gpu`: CudaGpu, or a host emulation.
template <class Gpu>
class GpuSurfaceKernel final : public SurfaceKernel {
public:
    GpuSurfaceKernel(std::span<const double> reach, Index frames, Gpu gpu,
                     Index max_bytes = kSurfaceBytes)
        : gpu_(std::move(gpu)),
          spheres_(std::ssize(reach)),
          starts_(max_cells(spheres_) + 1),
          max_frames_(std::clamp<Index>(max_bytes / surface_frame_bytes(spheres_), 1,
                                        std::min(frames, kMaxFrames))) {
        require_memory(
            max_frames_ * surface_frame_bytes(spheres_) + 8 * spheres_ + (1 << 20),
            std::to_string(max_frames_) + " frames of " + std::to_string(spheres_) + " spheres",
            "use --device cpu", gpu_.free_bytes(), " on the GPU");
        reach_ = Array<double>(spheres_);
        reach_.upload(reach.data());
        points_ = Array<double>(3 * kSurfacePoints);
        points_.upload(surface_points().data());
        device_ = Buffers<Array>(*this);
        for (Host& host : hosts_) host = Host(*this);
    }

    Index max_frames() const override { return max_frames_; }
    const SurfaceBlock& block(Index which) const override { return hosts_[which].block; }

    void start(Index which, Index frames) override {
        const Buffers<Pinned>& host = hosts_[which].buffers;
        device_.cell_grids.upload(host.cell_grids.data(), 0, frames);
        device_.spheres.upload(host.spheres.data(), 0, frames * spheres_);
        device_.starts.upload(host.starts.data(), 0, frames * starts_);
        gpu_.launch("find exposed points", &find_exposed,
                    Sides{(spheres_ + kSurfaceWarps - 1) / kSurfaceWarps, frames},
                    Sides{kSurfaceWarps * kSurfaceLanes}, 0,
                    SurfaceFrames{device_.cell_grids.data(), device_.spheres.data(),
                                  device_.starts.data(), reach_.data(), points_.data(),
                                  device_.exposed.data(), spheres_, starts_});
        started_ = which;
        started_frames_ = frames;
    }

    void finish() override {
        device_.exposed.download(hosts_[started_].buffers.exposed.data(), 0,
                                 started_frames_ * spheres_);
    }

private:
    using Sides = pleat::cuda::Sides;
    template <class T>
    using Array = typename Gpu::template Array<T>;
    template <class T>
    using Pinned = typename Gpu::template Pinned<T>;
    /// The limit of a grid.
    static constexpr Index kMaxFrames = 65535;

    /// The arrays of a block, on the host or on the GPU.
    template <template <class> class Memory>
    struct Buffers {
        Memory<CellGrid> cell_grids;
        Memory<CellSphere> spheres;
        Memory<std::int32_t> starts;
        Memory<PointBits> exposed;

        Buffers() = default;
        explicit Buffers(const GpuSurfaceKernel& of)
            : cell_grids(of.max_frames_),
              spheres(of.max_frames_ * of.spheres_),
              starts(of.max_frames_ * of.starts_),
              exposed(of.max_frames_ * of.spheres_) {}
    };
    struct Host {
        Buffers<Pinned> buffers;
        SurfaceBlock block;

        Host() = default;
        explicit Host(const GpuSurfaceKernel& of) : buffers(of) {
            const Index frames = of.max_frames_;
            block = {{buffers.cell_grids.data(), frames},
                     {buffers.spheres.data(), frames, of.spheres_},
                     {buffers.starts.data(), frames, of.starts_},
                     {buffers.exposed.data(), frames, of.spheres_}};
        }
    };

    Gpu gpu_;
    Index spheres_, starts_, max_frames_;
    Array<double> reach_, points_;
    Buffers<Array> device_;
    Host hosts_[2];
    Index started_ = 0, started_frames_ = 0;
};

}  // namespace pleat::saxs::cuda
