// GPU gradients of saxs: the host side of the sums of slopes over pairs.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/cuda/grow.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/saxs/cuda/gradient_kernel.cuh"
#include "pleat/saxs/debye/sorted_scatterers.h"

namespace pleat::saxs::cuda {

using pleat::cuda::grow;
using pleat::cuda::upload;

/// Gradients in Real on a `Gpu`: CudaGpu, or the host in its place. Every pair is computed for each
/// of its scatterers, so that the sums need no atomics and do not depend on their order. The model
/// and what `from` points to must outlive it.
template <class Gpu, class Real>
class GpuGradients {
public:
    GpuGradients(const Model& model, const SortedScatterers& sorted, const Scattering<Real>& from,
                 bool is_even, Gpu gpu)
        : model_(model),
          order_(sorted.order),
          from_(from),
          kernel_(is_even ? sum_slopes<true, Real> : sum_slopes<false, Real>),
          gpu_(std::move(gpu)),
          segments_(sorted.segments),
          pieces_(split_segments(sorted.segments, kLanes)) {}

    /// As Kernel::gradient().
    void compute(View<const float, 2> xyz, View<const float, 2> scales,
                 View<const double, 2> weight, View<double, 2> gradient) {
        const Index count = model_.scatterer_count(), chunk = chunk_columns(count);
        const Index chunks = (count + chunk - 1) / chunk;
        reserve(count, chunks);
        sort(xyz, host_);
        xyz_.upload(host_.data(), 0, 3 * count);
        sort(scales, host_);
        upload(scales_, host_);
        weight_.upload(weight.data, 0, weight.size());
        const GradientWork work{xyz_.data(),
                                scales_.data(),
                                count,
                                device_pieces_.data(),
                                device_segments_.data(),
                                static_cast<std::int32_t>(pieces_.size()),
                                static_cast<std::int32_t>(segments_.size()),
                                chunk,
                                weight_.data(),
                                model_.q.back(),
                                chunk_sums_.data(),
                                gradient_.data()};
        const auto pieces = static_cast<Index>(pieces_.size());
        gpu_.launch("sum slopes over pairs", kernel_, {(pieces + kWarps - 1) / kWarps, chunks},
                    {kWarps * kLanes}, 0, from_, work);
        gpu_.launch("sum slopes over chunks", &add_chunks,
                    {(3 * count + kWarps * kLanes - 1) / (kWarps * kLanes)}, {kWarps * kLanes}, 0,
                    work, chunks);
        sorted_gradient_.resize(static_cast<std::size_t>(3 * count));
        gradient_.download(sorted_gradient_.data(), 0, 3 * count);
        for (Index axis = 0; axis < 3; ++axis)
            for (Index n = 0; n < count; ++n)
                gradient(axis, order_[static_cast<std::size_t>(n)]) =
                    sorted_gradient_[static_cast<std::size_t>(axis * count + n)];
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;

    /// Columns of a warp: few enough for many warps, and at most kMaxChunks chunks, whose sums take
    /// memory. Depends on the number of scatterers alone, so that the bits are those of any GPU.
    static Index chunk_columns(Index count) {
        constexpr Index kMinColumns = 64, kMaxChunks = 64;
        return std::max(kMinColumns, (count + kMaxChunks - 1) / kMaxChunks);
    }

    void reserve(Index count, Index chunks) {
        if (device_pieces_.size() > 0) return;
        require_memory(8 * 3 * count * (chunks + 1) + 4 * count * (3 + model_.scale_count()),
                       "a gradient of " + std::to_string(count) + " scatterers",
                       "use --device cpu", gpu_.free_bytes(), " on the GPU");
        upload(device_pieces_, pieces_);
        upload(device_segments_, segments_);
        grow(xyz_, 3 * count);
        grow(weight_, model_.pair_count() * model_.q_count());
        grow(chunk_sums_, 3 * count * chunks);
        grow(gradient_, 3 * count);
    }

    /// The rows of `from` [row, scatterer] in sorted order.
    void sort(View<const float, 2> from, std::vector<float>& to) const {
        to.clear();
        for (Index row = 0; row < from.extent(0); ++row)
            for (const Index n : order_) to.push_back(from(row, n));
    }

    const Model& model_;
    std::vector<Index> order_;
    Scattering<Real> from_;
    void (*kernel_)(Scattering<Real>, GradientWork);
    Gpu gpu_;
    std::vector<TypeSegment> segments_, pieces_;
    Array<TypeSegment> device_segments_, device_pieces_;
    Array<float> xyz_, scales_;
    Array<double> weight_, chunk_sums_, gradient_;
    std::vector<float> host_;
    std::vector<double> sorted_gradient_;
};

}  // namespace pleat::saxs::cuda
