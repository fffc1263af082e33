// Density: peaks among denser items, the cutoff that suits them, and rounds that drop far items.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "pleat/cluster/methods/methods.h"
#include "pleat/cluster/stage.h"
#include "pleat/core/array.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/core/ranks/gather_rows.h"

namespace pleat::cluster {

namespace {

bool is_denser(const std::vector<Peak>& peaks, Index a, Index b) {
    return peaks[a].density != peaks[b].density ? peaks[a].density > peaks[b].density : a < b;
}

std::vector<Index> densest_first(const std::vector<Peak>& peaks) {
    std::vector<Index> order(peaks.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return is_denser(peaks, a, b); });
    return order;
}

/// The nearest denser item of an item; for the densest item, the farthest item.
struct Nearest {
    std::int64_t nearest_denser;
    float distance, farthest;

    /// Keeps the nearer item, or the one with the lower index if equally near, in any call order.
    void offer(std::int64_t item, float value) {
        if (value < distance || (value == distance && item < nearest_denser)) {
            distance = value;
            nearest_denser = item;
        }
    }
};

}  // namespace

std::vector<Peak> find_peaks(const PairSource& distances, const std::vector<std::int32_t>& degrees,
                             const Context& context) {
    const Index count = distances.count();
    std::vector<Peak> peaks(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i)
        peaks[i] = {degrees[i] - 1, -1, std::numeric_limits<float>::infinity()};
    const Index densest = densest_first(peaks).front();
    Array<Nearest, 2> found(Index{context.ranks()}, count);  // [rank, item]
    found.fill({-1, std::numeric_limits<float>::infinity(), 0.0f});
    Nearest* const own = found[context.rank()].data;
    std::vector<float> values;
    const auto visit = [&](const Tile& tile) {
        const Block rows = tile.side[0];
        values.resize(static_cast<std::size_t>(tile.items));
        distances.band(rows, values.data());
        const float* value = values.data();
        for (Index i = rows.first; i < rows.first + rows.count; ++i) {
            for (Index j = i + 1; j < count; ++j, ++value) {
                is_denser(peaks, i, j) ? own[j].offer(i, *value) : own[i].offer(j, *value);
                if (i == densest || j == densest)
                    own[densest].farthest = std::max(own[densest].farthest, *value);
            }
        }
    };
    for_each_tile(context, "peaks", cut_into_bands(count, distances.band_rows()),
                  {.compute = visit});
    all_gather_rows(context, found.view());
    for (Index rank = 1; rank < found.extent(0); ++rank)
        for (Index i = 0; i < count; ++i) {
            if (found(rank, i).nearest_denser >= 0)
                found(0, i).offer(found(rank, i).nearest_denser, found(rank, i).distance);
            found(0, i).farthest = std::max(found(0, i).farthest, found(rank, i).farthest);
        }
    for (Index i = 0; i < count; ++i) {
        peaks[i].nearest_denser = found(0, i).nearest_denser;
        peaks[i].separation = i == densest ? found(0, i).farthest : found(0, i).distance;
    }
    return peaks;
}

Clustering density_peaks(const std::vector<Peak>& peaks, Index clusters) {
    const std::vector<Index> order = densest_first(peaks);
    const auto product = [&](Index i) {
        return static_cast<double>(peaks[i].density) * peaks[i].separation;
    };
    std::vector<Index> ranked(order.begin() + 1, order.end());
    std::sort(ranked.begin(), ranked.end(), [&](Index a, Index b) {
        return product(a) != product(b) ? product(a) > product(b) : a < b;
    });
    ranked.insert(ranked.begin(), order.front());
    Clustering result;
    result.centres.assign(ranked.begin(), ranked.begin() + clusters);
    result.assignment.assign(peaks.size(), kNoise);
    for (std::size_t n = 0; n < result.centres.size(); ++n)
        result.assignment[result.centres[n]] = static_cast<std::int32_t>(n);
    for (const Index i : order)
        if (result.assignment[i] == kNoise)
            result.assignment[i] = result.assignment[peaks[i].nearest_denser];
    number_by_size(result);
    return result;
}

namespace {

constexpr std::size_t kHalf = std::size_t{1} << 16;

/// Calls `count(bits, counts)` for the bits of each value of the rows; each thread has its own
/// counts, which are added to `to`.
template <class Count>
void count_pairs(Block rows, const float* distances, Index items, int threads,
                 std::vector<std::int64_t>& to, const Count& count) {
    const Index pairs =
        pairs_before(rows.first + rows.count, items) - pairs_before(rows.first, items);
    if (pairs < static_cast<Index>(kHalf)) {  // fewer than the counts of a thread
        for (Index n = 0; n < pairs; ++n)
            count(std::bit_cast<std::uint32_t>(std::fabs(distances[n])), to);
        return;
    }
    std::vector<std::vector<std::int64_t>> counts(static_cast<std::size_t>(threads));
    const Index before = pairs_before(rows.first, items);
    parallel_for(threads, rows.count, [&](Index n, int thread) {
        const Index i = rows.first + n;
        const float* const values = distances + pairs_before(i, items) - before;
        std::vector<std::int64_t>& own = counts[thread];
        own.resize(kHalf);
        for (Index at = 0; at < items - 1 - i; ++at)
            count(std::bit_cast<std::uint32_t>(std::fabs(values[at])), own);
    });
    for (const std::vector<std::int64_t>& own : counts)
        for (std::size_t half = 0; half < own.size(); ++half) to[half] += own[half];
}

/// The first upper half of bits at which the cumulative count exceeds `position`; subtracts the
/// counts before it from `position`.
std::uint32_t half_at(const std::vector<std::int64_t>& counts, std::int64_t& position) {
    for (std::size_t half = 0; half < kHalf; ++half) {
        if (position < counts[half]) return static_cast<std::uint32_t>(half);
        position -= counts[half];
    }
    return kHalf - 1;
}

}  // namespace

QuantileFinder::QuantileFinder(Index count, int threads)
    : count_(count), threads_(threads), upper_half_counts_(kHalf) {}

void QuantileFinder::join(AdditiveCheckpoint& sums) {
    sums.add("upper_halves", upper_half_counts_);
}

void QuantileFinder::add(Block rows, const float* distances) {
    count_pairs(rows, distances, count_, threads_, upper_half_counts_,
                [](std::uint32_t bits, std::vector<std::int64_t>& own) { ++own[bits >> 16]; });
}

float QuantileFinder::find(const PairSource& distances, double share,
                           const Context& context) const {
    const Index pairs = pairs_before(count_, count_);
    if (pairs == 0) return 0.0f;
    const auto wanted = static_cast<Index>(std::ceil(share * static_cast<double>(pairs)));
    std::int64_t position = std::clamp<Index>(wanted, 1, pairs) - 1;
    const std::uint32_t upper = half_at(upper_half_counts_, position);
    std::vector<std::int64_t> lower(kHalf);
    sum_over_pairs(
        distances, context, "quantile", fmt::format("{}", upper),
        [&](AdditiveCheckpoint& sums) { sums.add("lower_halves", lower); },
        [&](Block rows, const float* values) {
            count_pairs(rows, values, count_, threads_, lower,
                        [upper](std::uint32_t bits, std::vector<std::int64_t>& own) {
                            if (bits >> 16 == upper) ++own[bits & (kHalf - 1)];
                        });
        });
    return std::bit_cast<float>(upper << 16 | half_at(lower, position));
}

namespace {

/// Distances as whole numbers, whose sums over `count` items fit into 64 bits.
class WholeNumbers {
public:
    WholeNumbers(double max_distance, Index count) {
        // Doubled, because a source may return slightly different values for the same pair.
        const double max_sum = 2 * (max_distance + 1e-30) * static_cast<double>(count);
        scale_ = std::exp2(std::floor(std::log2(0x1p62 / max_sum)));
    }
    std::int64_t of(float distance) const { return std::llround(distance * scale_); }
    double mean(std::int64_t sum, Index others) const {
        return others == 0 ? 0 : static_cast<double>(sum) / scale_ / static_cast<double>(others);
    }

private:
    double scale_ = 1;
};

}  // namespace

std::vector<DensityRound> iterate_density(const PairSource& distances, Index keep, double drop,
                                          double max_distance, const Context& context) {
    const Index count = distances.count();
    const WholeNumbers whole(max_distance, count);
    std::vector<std::int64_t> sums(static_cast<std::size_t>(count), 0);
    sum_over_pairs(
        distances, context, "density", "sums of distances",
        [&](AdditiveCheckpoint& saved) { saved.add("sums", sums); },
        [&](Block rows, const float* values) {
            for (Index i = rows.first; i < rows.first + rows.count; ++i)
                for (Index j = i + 1; j < count; ++j) {
                    const std::int64_t value = whole.of(*values++);
                    sums[i] += value;
                    sums[j] += value;
                }
        });
    std::vector<DensityRound> rounds(static_cast<std::size_t>(count));
    std::vector<Index> left(rounds.size());
    for (Index i = 0; i < count; ++i) left[i] = i;
    Context own = context;  // a round is too short to be saved
    own.checkpoint.clear();
    const auto set_means = [&](std::span<const Index> items, std::int32_t round) {
        for (const Index i : items)
            rounds[i] = {round, whole.mean(sums[i], static_cast<Index>(left.size()) - 1)};
    };
    for (std::int32_t round = 1; static_cast<Index>(left.size()) > keep; ++round) {
        const auto all = static_cast<Index>(left.size());
        const auto share = static_cast<Index>(std::floor(drop * static_cast<double>(all)));
        const Index dropped = std::clamp<Index>(share, 1, all - keep);
        std::sort(left.begin(), left.end(),
                  [&](Index a, Index b) { return sums[a] != sums[b] ? sums[a] < sums[b] : a < b; });
        const std::vector<Index> out(left.end() - dropped, left.end());
        set_means(out, round);
        left.resize(static_cast<std::size_t>(all - dropped));
        std::sort(left.begin(), left.end());
        const Index batch = std::clamp<Index>(16'000'000 / (all - dropped), 1, 256);
        std::vector<float> values(static_cast<std::size_t>(batch * (all - dropped)));
        std::vector<std::int64_t> lost(sums.size(), 0);
        sum_over_tiles(
            own, "density", tiles_of(dropped, batch), [] { return std::string(); },
            [&](AdditiveCheckpoint& added) { added.add("lost", lost); },
            [&](const Tile& tile, View<float, 2>) {
                distances.between(std::span(out).subspan(tile.side[0].first, tile.side[0].count),
                                  left, values.data());
            },
            [&](const Tile& tile, View<const float, 2>) {
                const float* value = values.data();
                for (Index n = 0; n < tile.side[0].count; ++n)
                    for (const Index i : left) lost[i] += whole.of(*value++);
            });
        for (const Index i : left) sums[i] -= lost[i];
    }
    set_means(left, DensityRound::kLeft);
    return rounds;
}

Clustering densest_cluster(const std::vector<DensityRound>& rounds) {
    Clustering result;
    result.assignment.assign(rounds.size(), kNoise);
    Index densest = -1;
    for (std::size_t i = 0; i < rounds.size(); ++i) {
        if (rounds[i].round != DensityRound::kLeft) continue;
        result.assignment[i] = 0;
        if (densest < 0 || rounds[i].mean < rounds[densest].mean) densest = static_cast<Index>(i);
    }
    result.centres = {densest};
    return result;
}

}  // namespace pleat::cluster
