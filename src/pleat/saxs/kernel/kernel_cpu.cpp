// The CPU kernel of saxs: scatterers sorted by type, pieces of rows spread over threads.
#include <algorithm>
#include <memory>
#include <type_traits>
#include <vector>

#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/debye/body_pairs.h"
#include "pleat/saxs/debye/pair_sums.h"
#include "pleat/saxs/kernel/kernel.h"

namespace pleat::saxs {

namespace {

/// Rows of one type that a thread takes at a time.
constexpr Index kRows = 64;
/// Sums of gradients that are kept apart, whatever the number of threads, and added in their order.
constexpr Index kGradientGroups = 16;
constexpr std::int64_t kBatchBytes = std::int64_t{64} << 20;

template <class Real>
class CpuKernel final : public Kernel {
public:
    CpuKernel(const Model& model, const Context& context)
        : model_(model),
          grid_(model.q),
          sorted_(sort_by_type(model)),
          frames_(model_, sorted_, resolve_threads(context)),
          pieces_(split_segments(sorted_.segments, kRows)),
          context_(context),
          threads_(resolve_threads(context)),
          pairs_(make_cpu_body_pairs(
              model, sorted_,
              std::is_same_v<Real, double> ? Precision::float64 : Precision::float32, context)) {
        sums_.resize(static_cast<std::size_t>(threads_));
    }

    void profiles(View<const float, 3> xyz, View<const float, 3> scales,
                  View<double, 3> partial) override {
        const Index profile_bytes = 8 * model_.pair_count() * model_.q_count();
        const Index pieces = static_cast<Index>(pieces_.size());
        const Index batch_size = std::clamp<Index>(kBatchBytes / (profile_bytes * pieces), 1, 64);
        frames_.compute(*pairs_, batch_size, xyz, scales, partial);
    }

    void gradient(View<const float, 2> xyz, View<const float, 2> scales,
                  View<const double, 2> weight, View<double, 2> gradient) override {
        const Index count = model_.scatterer_count(), pieces = static_cast<Index>(pieces_.size());
        Points<Real> points(count, model_.scale_count());
        points.fill(xyz, scales, sorted_.order);
        const Index group_count = std::min(kGradientGroups, pieces);
        std::vector<Array<double, 2>> sums(static_cast<std::size_t>(group_count));
        parallel_for(threads_, group_count, [&](Index group, int thread) {
            Array<double, 2>& sum = sums[static_cast<std::size_t>(group)];
            sum = Array<double, 2>(Index{3}, count);
            std::unique_ptr<PairSums<Real>>& pair_sums = sums_[static_cast<std::size_t>(thread)];
            if (!pair_sums) pair_sums = std::make_unique<PairSums<Real>>(model_, grid_);
            for (Index piece = group; piece < pieces; piece += group_count) {
                throw_if_stopped(context_, thread);
                for_pairs(piece, [&](const TypeSegment& row, const TypeSegment& column,
                                     bool same_segment) {
                    pair_sums->add_gradient(points, row, column, same_segment, weight, sum);
                });
            }
        });
        for (Index axis = 0; axis < 3; ++axis) {
            for (Index n = 0; n < count; ++n) {
                double sum = 0.0;
                for (const Array<double, 2>& of_group : sums) sum += of_group(axis, n);
                gradient(axis, sorted_.order[static_cast<std::size_t>(n)]) = sum;
            }
        }
    }

private:
    /// The pairs of a piece with itself, with later scatterers of its segment, and with each later
    /// segment.
    template <class Body>
    void for_pairs(Index piece, const Body& body) const {
        const TypeSegment& row = pieces_[static_cast<std::size_t>(piece)];
        body(row, row, true);
        for (const TypeSegment& segment : sorted_.segments) {
            const Index end = segment.first + segment.count, first = row.first + row.count;
            if (end <= first) continue;
            const Index from = std::max(segment.first, first);
            body(row, TypeSegment{segment.type, from, end - from}, false);
        }
    }

    const Model& model_;
    SineGrid grid_;
    SortedScatterers sorted_;
    FrameProfiles frames_;
    std::vector<TypeSegment> pieces_;
    Context context_;
    int threads_;
    std::unique_ptr<BodyPairs> pairs_;
    std::vector<std::unique_ptr<PairSums<Real>>> sums_;  ///< of gradients, by thread
};

}  // namespace

std::unique_ptr<Kernel> make_cpu_kernel(const Model& model, Precision precision,
                                        const Context& context) {
    if (precision == Precision::float64) return std::make_unique<CpuKernel<double>>(model, context);
    return std::make_unique<CpuKernel<float>>(model, context);
}

}  // namespace pleat::saxs
