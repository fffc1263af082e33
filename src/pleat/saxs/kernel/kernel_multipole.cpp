// The multipole kernel of saxs: scatterers spread on radial nodes and harmonics, whatever q is.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/debye/sorted_scatterers.h"
#include "pleat/saxs/kernel/kernel.h"
#include "pleat/saxs/kernel/multipole_table.h"

namespace pleat::saxs {

namespace {

constexpr Index kMinPiece = 512;
/// Tables that are kept for later frames.
constexpr std::size_t kMaxTables = 16;

/// The multipole tables for one (rounded) radius.
struct Tables {
    Tables(const std::vector<double>& q, double radius)
        : radial(q, radius), harmonic(radial.degree_count(), radial.node_count()) {}
    MultipoleTable radial;
    HarmonicTable harmonic;
};

/// The scatterers of one frame, relative to the centre of their bounding box.
struct CentredFrame {
    Array<double, 2> xyz;  ///< [axis, sorted scatterer]
    double radius = 0.0;
};

class MultipoleKernel final : public Kernel {
public:
    MultipoleKernel(const Model& model, Precision precision, const Context& context)
        : model_(model),
          classes_(model),
          sorted_(sort_by_type(model)),
          pieces_(split_segments(sorted_.segments,
                                 std::max(kMinPiece, model.scatterer_count() / kMultipolePieces))),
          context_(context),
          threads_(resolve_threads(context)),
          by_pairs_(make_cpu_kernel(model, precision, context)) {}

    void profiles(View<const float, 3> xyz, View<const float, 3> scales,
                  View<double, 3> partial) override {
        const Index frames = xyz.extent(0);
        std::vector<CentredFrame> centred(frames);
        parallel_for(threads_, frames,
                     [&](Index frame, int) { centred[frame] = centre(xyz[frame]); });
        double largest = 0.0;
        for (const CentredFrame& one : centred)
            largest = std::max(largest, rounded_radius(one.radius));
        // Few or large frames are computed one after another by all threads; loops inside a frame
        // are then parallel.
        const Bytes bytes = bytes_for(largest);
        const bool is_one_by_one =
            frames < threads_ ||
            threads_ * bytes.harmonics + static_cast<double>(frames) * bytes.tables >
                kMultipoleBytesAtOnce;
        require_room(largest, is_one_by_one ? 1 : threads_);
        if (is_one_by_one) {
            for (Index frame = 0; frame < frames; ++frame) {
                const CentredFrame& one = centred[frame];
                if (!tables_.contains(rounded_radius(one.radius))) tables_.clear();
                profile(one, scales.size() > 0 ? scales[frame] : View<const float, 2>{},
                        tables_for(one.radius), 0, partial[frame]);
            }
            return;
        }
        std::vector<const Tables*> tables;
        tables.reserve(centred.size());
        for (const CentredFrame& one : centred) tables.push_back(&tables_for(one.radius));
        cancellable_parallel_for(context_, threads_, frames, [&](Index frame, int thread) {
            profile(centred[frame], scales.size() > 0 ? scales[frame] : View<const float, 2>{},
                    *tables[frame], thread, partial[frame]);
        });
        if (tables_.size() > kMaxTables) tables_.clear();
    }

    void gradient(View<const float, 2> xyz, View<const float, 2> scales,
                  View<const double, 2> weight, View<double, 2> gradient) override {
        by_pairs_->gradient(xyz, scales, weight, gradient);
    }

private:
    CentredFrame centre(View<const float, 2> xyz) const {
        const FrameSphere sphere = enclosing_sphere(xyz);
        CentredFrame result{Array<double, 2>(Index{3}, xyz.extent(1)), sphere.radius};
        double* to = result.xyz.data();
        for (std::size_t axis = 0; axis < 3; ++axis)
            for (const Index scatterer : sorted_.order)
                *to++ = double{xyz(static_cast<Index>(axis), scatterer)} - sphere.centre[axis];
        return result;
    }

    /// The tables for a radius; they are kept until profiles() clears them.
    const Tables& tables_for(double radius) {
        const double rounded = rounded_radius(radius);
        std::unique_ptr<Tables>& tables = tables_[rounded];
        if (!tables) tables = std::make_unique<Tables>(model_.q, rounded);
        return *tables;
    }

    struct Bytes {
        double harmonics, tables;
    };

    /// Bytes of a frame's harmonics, and of the tables, for a rounded radius.
    Bytes bytes_for(double radius) const {
        const MultipoleSize size = multipole_size(model_.q.back(), radius);
        const double degrees = static_cast<double>(size.degrees);
        const double per_degree = 8.0 * static_cast<double>(size.nodes) * degrees;
        const double copies =
            static_cast<double>(pieces_.size()) * static_cast<double>(classes_.count);
        return {per_degree * copies * degrees, per_degree * static_cast<double>(model_.q_count())};
    }

    /// Throws DeviceError if this many frames of a rounded radius do not fit into memory.
    void require_room(double radius, int frames) const {
        const MultipoleSize size = multipole_size(model_.q.back(), radius);
        const Bytes bytes = bytes_for(radius);
        require_memory(
            static_cast<std::int64_t>(std::min(frames * bytes.harmonics + bytes.tables, 9e18)),
            fmt::format("multipoles of {} scatterers up to degree {}", model_.scatterer_count(),
                        size.degrees - 1),
            "take --method debye, or smaller q");
    }

    /// `thread`: the one that calls.
    void profile(const CentredFrame& centred, View<const float, 2> scales, const Tables& tables,
                 int thread, View<double, 2> partial) {
        const Context own = context_of_thread(context_, thread);
        const std::vector<Array<double, 3>> spread_segments =
            spread_all(centred, scales, tables, own);
        const Index degrees = tables.radial.degree_count();
        Array<double, 3> sums(degrees, model_.pair_count(), model_.q_count());
        // The highest degrees have the most orders.
        cancellable_parallel_for(own, threads_, degrees, [&](Index n, int) {
            const Index degree = degrees - 1 - n;
            add_degree(tables, spread_segments, degree, sums[degree]);
        });
        for (double& value : partial) value = 0.0;
        for (Index degree = 0; degree < degrees; ++degree)
            for (Index n = 0; n < partial.size(); ++n) partial.data[n] += sums[degree].data[n];
    }

    /// [scale class, node, harmonic]: harmonics at the nodes, summed over the scatterers of each
    /// segment.
    std::vector<Array<double, 3>> spread_all(const CentredFrame& from, View<const float, 2> scales,
                                             const Tables& tables, const Context& context) const {
        std::vector<Array<double, 3>> piece_sums(pieces_.size());
        parallel_for(threads_, std::ssize(pieces_), [&](Index piece, int thread) {
            auto& to = piece_sums[piece];
            to = Array<double, 3>(classes_.count, tables.harmonic.node_stride,
                                  tables.harmonic.stride);
            spread_piece(pieces_[piece], from, scales, tables, context_of_thread(context, thread),
                         to);
        });
        std::vector<Array<double, 3>> result;
        for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
            const bool joins = piece > 0 && pieces_[piece].type == pieces_[piece - 1].type;
            if (!joins) {
                result.push_back(std::move(piece_sums[piece]));
                continue;
            }
            for (Index n = 0; n < piece_sums[piece].size(); ++n)
                result.back().data()[n] += piece_sums[piece].data()[n];
            piece_sums[piece] = {};
        }
        return result;
    }

    void spread_piece(const TypeSegment& segment, const CentredFrame& from,
                      View<const float, 2> scales, const Tables& tables, const Context& context,
                      View<double, 3> to) const {
        const Index nodes = tables.radial.node_count(), node_stride = tables.harmonic.node_stride;
        Array<double, 2> harmonics(kHarmonicBlock, tables.harmonic.stride);
        Array<double, 2> weights(kHarmonicBlock, node_stride);
        Array<double, 2> scaled(kHarmonicBlock, node_stride);
        Array<double, 1> scratch(harmonic_scratch(tables.harmonic.degrees));
        for (Index first = 0; first < segment.count; first += kHarmonicBlock) {
            throw_if_stopped(context);
            const Index count = std::min(kHarmonicBlock, segment.count - first);
            for (Index n = 0; n < count; ++n) {
                const Index index = segment.first + first + n;
                const double x = from.xyz(0, index), y = from.xyz(1, index), z = from.xyz(2, index);
                const double r = std::hypot(x, y, z);
                const double direction[3] = {r > 0 ? x / r : 0.0, r > 0 ? y / r : 0.0,
                                             r > 0 ? z / r : 1.0};
                real_harmonics(tables.harmonic, direction, scratch.data(), &harmonics(n, 0));
                tables.radial.interpolate(r, &weights(n, 0));
            }
            for (Index of = 0; of < classes_.count; ++of) {
                if (!classes_.scatters(of, segment.type)) continue;
                const Index scale = classes_.scale_of(of);
                const double* values = weights.data();
                if (scale >= 0) {
                    for (Index n = 0; n < count; ++n) {
                        const double s = scales(scale, sorted_.order[segment.first + first + n]);
                        for (Index node = 0; node < nodes; ++node)
                            scaled(n, node) = s * weights(n, node);
                    }
                    values = scaled.data();
                }
                spread_harmonics(tables.harmonic, count, values, harmonics.data(), to[of].data);
            }
        }
    }

    /// Adds the contribution of all orders of one degree to the partial profiles.
    void add_degree(const Tables& tables, const std::vector<Array<double, 3>>& spread_segments,
                    Index degree, View<double, 2> to) const {
        const MultipoleTable& radial = tables.radial;
        const Index orders = 2 * degree + 1, channels = model_.channel_count();
        const Index first = radial.first_q[degree];
        Array<double, 2> waves(orders + kOrderTile, radial.q_stride);
        Array<double, 3> amplitude(channels, orders, radial.q_stride);
        for (std::size_t segment = 0; segment < spread_segments.size(); ++segment) {
            const std::int32_t type = sorted_.segments[segment].type;
            for (Index of = 0; of < classes_.count; ++of) {
                if (!classes_.scatters(of, type)) continue;
                project_degree(tables.harmonic, radial, degree,
                               spread_segments[segment].view()[of].data, waves.data());
                for (Index c = 0; c < channels; ++c) {
                    if (classes_.class_of_channel[c] != of) continue;
                    const double* const factor = &model_.factors(c, type, 0);
                    for (Index order = 0; order < orders; ++order)
                        for (Index k = first; k < radial.q_count; ++k)
                            amplitude(c, order, k) += factor[k] * waves(order, k);
                }
            }
        }
        for (Index a = 0; a < channels; ++a) {
            for (Index b = a; b < channels; ++b) {
                const double twice = a == b ? 1.0 : 2.0;
                double* const sum = &to(channel_pair(a, b, channels), 0);
                for (Index order = 0; order < orders; ++order)
                    for (Index k = first; k < radial.q_count; ++k)
                        sum[k] += twice * amplitude(a, order, k) * amplitude(b, order, k);
            }
        }
    }

    const Model& model_;
    ScaleClasses classes_;
    SortedScatterers sorted_;
    std::vector<TypeSegment> pieces_;
    Context context_;
    int threads_;
    std::unique_ptr<Kernel> by_pairs_;
    std::map<double, std::unique_ptr<Tables>> tables_;  ///< by rounded radius
};

}  // namespace

std::unique_ptr<Kernel> make_multipole_kernel(const Model& model, Precision precision,
                                              const Context& context) {
    return std::make_unique<MultipoleKernel>(model, precision, context);
}

}  // namespace pleat::saxs
