// Quantile: a histogram of the bits of floats, half by half.
#include "pleat/cluster/neighbours/quantile.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "pleat/cluster/stage.h"
#include "pleat/core/loops/parallel.h"

namespace pleat::cluster {

namespace {

constexpr std::size_t kHalf = std::size_t{1} << 16;

/// Calls `count(bits, counts)` for the bits of each value of the rows, with counts of the thread's
/// own, and adds these to `to`.
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
        std::vector<std::int64_t>& own = counts[static_cast<std::size_t>(thread)];
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
    : count_(count), threads_(threads), upper_(kHalf) {}

void QuantileFinder::join(AdditiveCheckpoint& sums) { sums.add("upper_halves", upper_); }

void QuantileFinder::add(Block rows, const float* distances) {
    count_pairs(rows, distances, count_, threads_, upper_,
                [](std::uint32_t bits, std::vector<std::int64_t>& own) { ++own[bits >> 16]; });
}

float QuantileFinder::find(const PairSource& distances, double share,
                           const Context& context) const {
    const Index pairs = pairs_before(count_, count_);
    if (pairs == 0) return 0.0f;
    const auto wanted = static_cast<Index>(std::ceil(share * static_cast<double>(pairs)));
    std::int64_t position = std::clamp<Index>(wanted, 1, pairs) - 1;
    const std::uint32_t upper = half_at(upper_, position);
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

}  // namespace pleat::cluster
