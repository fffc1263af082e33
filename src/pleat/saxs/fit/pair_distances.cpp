// Pair distances: a row of distances by vector instructions, then its pairs one by one.
#include "pleat/saxs/fit/pair_distances.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/cancellable_parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/saxs/fit/pair_distances.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pleat::saxs::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Writes the bins of the distances of point `row` from those from `j` on, as long as whole vectors
/// of points come before it; returns the first that is left.
template <class D>
HWY_INLINE Index bins_from(D d, View<const float, 2> xyz, Index row, Index j,
                           float bins_per_angstrom, std::int32_t last_bin,
                           std::int32_t* HWY_RESTRICT to) {
    const hn::RebindToSigned<D> di;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    const float *HWY_RESTRICT const x = xyz[0].data, *HWY_RESTRICT const y = xyz[1].data,
                                    *HWY_RESTRICT const z = xyz[2].data;
    const auto row_x = hn::Set(d, x[row]), row_y = hn::Set(d, y[row]), row_z = hn::Set(d, z[row]);
    const auto scale = hn::Set(d, bins_per_angstrom);
    const auto last = hn::Set(di, last_bin);
    for (; j + lanes <= row; j += lanes) {
        const auto dx = hn::Sub(row_x, hn::LoadU(d, x + j)),
                   dy = hn::Sub(row_y, hn::LoadU(d, y + j)),
                   dz = hn::Sub(row_z, hn::LoadU(d, z + j));
        const auto r = hn::Sqrt(hn::MulAdd(dz, dz, hn::MulAdd(dy, dy, hn::Mul(dx, dx))));
        hn::StoreU(hn::Min(hn::ConvertTo(di, hn::Mul(r, scale)), last), di, to + j);
    }
    return j;
}

void bins_of_row(View<const float, 2> xyz, Index row, float bins_per_angstrom,
                 std::int32_t last_bin, std::int32_t* to) {
    const Index rest =
        bins_from(hn::ScalableTag<float>(), xyz, row, 0, bins_per_angstrom, last_bin, to);
    bins_from(hn::CappedTag<float, 1>(), xyz, row, rest, bins_per_angstrom, last_bin, to);
}

}  // namespace pleat::saxs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::saxs {

HWY_EXPORT(bins_of_row);

namespace {

/// Copies of the bins that pairs are added to in turn: a bin is less often read again before its
/// last value is stored.
constexpr std::size_t kCopies = 4;

class PairBins {
public:
    explicit PairBins(std::size_t bins) : bins_(bins), sums_(kCopies * bins) {}

    /// Adds `amplitudes` [pair] times `scale` to the bins of the pairs.
    void add(double scale, std::span<const double> amplitudes, const std::int32_t* bin) {
        const std::size_t count = amplitudes.size();
        std::size_t j = 0;
        for (; j + kCopies <= count; j += kCopies)
            for (std::size_t copy = 0; copy < kCopies; ++copy)
                of(copy)[bin[j + copy]] += scale * amplitudes[j + copy];
        for (; j < count; ++j) of(0)[bin[j]] += scale * amplitudes[j];
    }
    std::vector<double> sum() {
        for (std::size_t copy = 1; copy < kCopies; ++copy)
            for (std::size_t n = 0; n < bins_; ++n) sums_[n] += of(copy)[n];
        sums_.resize(bins_);
        return std::move(sums_);
    }

private:
    double* of(std::size_t copy) { return sums_.data() + copy * bins_; }

    std::size_t bins_;
    std::vector<double> sums_;  ///< [copy, bin]
};

}  // namespace

std::vector<double> pair_distances(View<const float, 2> xyz, std::span<const double> amplitudes,
                                   double longest, double bin_width, const Context& context) {
    const Index count = xyz.extent(1);
    // One more bin, for distances that are rounded up.
    const auto bins = static_cast<std::size_t>(longest / bin_width) + 2;
    const auto bins_per_angstrom = static_cast<float>(1 / bin_width);
    std::vector<std::vector<double>> blocks(static_cast<std::size_t>(kShapeBlocks));
    parallel_for(resolve_threads(context), kShapeBlocks, [&](Index block, int thread) {
        PairBins sums(bins);
        std::vector<std::int32_t> bin(static_cast<std::size_t>(count));
        // Rows are divided among the blocks in turn, since later rows have more partners.
        for (Index row = block; row < count; row += kShapeBlocks) {
            throw_if_stopped(context, thread);
            HWY_DYNAMIC_DISPATCH(bins_of_row)
            (xyz, row, bins_per_angstrom, static_cast<std::int32_t>(bins - 1), bin.data());
            const auto before = static_cast<std::size_t>(row);
            sums.add(2 * amplitudes[before], amplitudes.first(before), bin.data());
        }
        blocks[static_cast<std::size_t>(block)] = sums.sum();
    });
    std::vector<double> pairs(bins);
    for (const std::vector<double>& sums : blocks)
        for (std::size_t n = 0; n < bins; ++n) pairs[n] += sums[n];
    return pairs;
}

}  // namespace pleat::saxs
#endif
