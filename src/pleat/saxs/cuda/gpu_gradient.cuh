// GPU gradients of saxs: the host side of tables of slopes and sums over pairs.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "pleat/core/cuda/gpu_sides.h"
#include "pleat/core/cuda/grow.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/saxs/cuda/gradient_kernel.cuh"
#include "pleat/saxs/debye/sorted_scatterers.h"
#include "pleat/saxs/model/scatterer_positions.h"

namespace pleat::saxs::cuda {

using pleat::cuda::grow;
using pleat::cuda::Sides;
using pleat::cuda::upload;

/// [term, node]: the terms of the polynomial in x, from 0 to 1, through values at Chebyshev nodes.
inline std::vector<double> polynomial_terms(std::vector<double>& node_offset) {
    constexpr double kPi = 3.14159265358979323846;
    std::vector<double> to_terms(kTerms * kTerms);
    for (int node = 0; node < kTerms; ++node)
        node_offset.push_back(0.5 + 0.5 * std::cos(kPi * (node + 0.5) / kTerms));
    for (int node = 0; node < kTerms; ++node) {
        // Lagrange's polynomial of the node, by multiplying with (x - other) / (node - other).
        std::vector<double> terms{1.0};
        for (int other = 0; other < kTerms; ++other) {
            if (other == node) continue;
            const double scale = 1.0 / (node_offset[node] - node_offset[other]);
            terms.push_back(0.0);
            for (std::size_t term = terms.size() - 1; term > 0; --term)
                terms[term] = scale * (terms[term - 1] - node_offset[other] * terms[term]);
            terms[0] *= -scale * node_offset[other];
        }
        for (int term = 0; term < kTerms; ++term)
            to_terms[term * kTerms + node] = terms[static_cast<std::size_t>(term)];
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
                gradient(axis, order_[static_cast<std::size_t>(n)]) =
                    gradient_.data()[axis * count + n];
    }

private:
    template <class T>
    using Array = typename Gpu::template Array<T>;
    template <class T>
    using Pinned = typename Gpu::template Pinned<T>;

    /// Pieces per 1 / q: polynomials through 8 nodes have a relative error of about (q h)^8 / 1e9.
    static constexpr double kPieces = sizeof(Real) == 8 ? 2.0 : 1.0;

    /// Columns of a warp: few enough for many warps, and at most kMaxChunks chunks, whose sums take
    /// memory. Depends on the number of scatterers alone, so that the bits are those of any GPU.
    static Index chunk_columns(Index count) {
        constexpr Index kMinColumns = 64, kMaxChunks = 64;
        return std::max(kMinColumns, (count + kMaxChunks - 1) / kMaxChunks);
    }
    Index chunks() const { return (model_.scatterer_count() + chunk_ - 1) / chunk_; }
    double pieces_by_distance() const { return kPieces * model_.q.back(); }
    Index table_count() const {
        return Index{from_.classes} * from_.classes * from_.types * from_.types;
    }

    /// Makes room for a frame of this diameter. Slopes of single q are made again only for larger
    /// distances than before.
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

    /// Writes the rows of `from` [row, scatterer] in sorted order; the end of what was written.
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
