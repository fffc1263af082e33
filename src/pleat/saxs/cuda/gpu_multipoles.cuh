// GPU multipoles: profiles of large frames from spherical harmonics, many frames in a call.
#pragma once

#include <algorithm>
#include <cmath>
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
#include "pleat/saxs/cuda/multipole_kernel.cuh"
#include "pleat/saxs/debye/sorted_scatterers.h"
#include "pleat/saxs/kernel/kernel.h"
#include "pleat/saxs/kernel/multipole_products.h"

namespace pleat::saxs::cuda {

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
    /// `by_pairs`: computes gradients. `threads`: for the host's part.
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
        std::vector<FrameSphere> spheres(static_cast<std::size_t>(frames));
        parallel_for(threads_, frames, [&](Index frame, int) {
            spheres[static_cast<std::size_t>(frame)] = enclosing_sphere(xyz[frame]);
        });
        if (static_cast<Index>(tables_.size()) > kMaxTables) tables_.clear();
        for (Index first = 0, last = 0; first < frames; first = last) {
            Sizes sizes;
            for (; last < frames; ++last) {
                const Tables& tables = tables_for(spheres[static_cast<std::size_t>(last)].radius);
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

    Index segment_count() const { return static_cast<Index>(segments_.size()); }
    Index spread_bytes(const Sizes& sizes) const {
        return 4 * segment_count() * sizes.degrees * sizes.degrees * sizes.node_stride();
    }

    /// Writes the positions about the centres, and the scales, in sorted order.
    void write_positions(View<const float, 3> xyz, View<const float, 3> scales,
                         const std::vector<FrameSphere>& spheres, Index first, Index frames) {
        const Index count = model_.scatterer_count(), scale_count = model_.scale_count();
        grow(host_xyz_, frames * 3 * count);
        grow(host_scales_, std::max<Index>(frames * scale_count * count, 1));
        parallel_for(threads_, frames, [&](Index frame, int) {
            const FrameSphere& sphere = spheres[static_cast<std::size_t>(first + frame)];
            float* to = host_xyz_.data() + frame * 3 * count;
            for (Index axis = 0; axis < 3; ++axis)
                for (const Index scatterer : sorted_.order)
                    *to++ = static_cast<float>(double{xyz(first + frame, axis, scatterer)} -
                                               sphere.centre[static_cast<std::size_t>(axis)]);
            to = host_scales_.data() + frame * scale_count * count;
            for (Index scale = 0; scale < scale_count; ++scale)
                for (const Index scatterer : sorted_.order)
                    *to++ = scales(first + frame, scale, scatterer);
        });
    }

    void compute(std::span<const FrameSphere> spheres, const Sizes& sizes, double* partial) {
        const auto frames = static_cast<Index>(spheres.size());
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
