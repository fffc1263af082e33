// Quantile: a histogram of the bits of floats, half by half.
#include "pleat/cluster/distances/quantile.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "pleat/core/loops/parallel.h"

namespace pleat::cluster {

namespace {

constexpr std::size_t kHalf = std::size_t{1} << 16;
using Counts = std::vector<std::vector<std::int64_t>>;

/// Calls `take(value, counts)` for each pair of the rows, with the counts of the thread.
template <class Take>
void count_pairs(Block rows, const float* distances, Index items, Counts& counts,
                 const Take& take) {
    const Index before = pairs_before(rows.first, items);
    parallel_for(static_cast<int>(counts.size()), rows.count, [&](Index n, int thread) {
        const Index i = rows.first + n;
        const float* const values = distances + pairs_before(i, items) - before;
        std::vector<std::int64_t>& own = counts[static_cast<std::size_t>(thread)];
        for (Index at = 0; at < items - 1 - i; ++at)
            take(std::bit_cast<std::uint32_t>(std::fabs(values[at])), own);
    });
}

/// The first half up to which more than `place` values lie; takes off `place` those before it.
std::uint32_t half_of(const Counts& counts, std::int64_t& place) {
    for (std::size_t half = 0; half < kHalf; ++half) {
        std::int64_t found = 0;
        for (const std::vector<std::int64_t>& part : counts) found += part[half];
        if (place < found) return static_cast<std::uint32_t>(half);
        place -= found;
    }
    return kHalf - 1;
}

Counts no_counts(int threads) {
    return Counts(static_cast<std::size_t>(threads), std::vector<std::int64_t>(kHalf));
}

}  // namespace

QuantileFinder::QuantileFinder(Index count, int threads)
    : count_(count), threads_(threads), upper_(no_counts(threads)) {}

void QuantileFinder::add(Block rows, const float* distances) {
    count_pairs(rows, distances, count_, upper_,
                [](std::uint32_t bits, std::vector<std::int64_t>& own) { ++own[bits >> 16]; });
}

float QuantileFinder::find(const Distances& distances, double share) const {
    const Index pairs = pairs_before(count_, count_);
    if (pairs == 0) return 0.0f;
    const auto wanted = static_cast<Index>(std::ceil(share * static_cast<double>(pairs)));
    std::int64_t place = std::clamp<Index>(wanted, 1, pairs) - 1;
    const std::uint32_t upper = half_of(upper_, place);
    Counts lower = no_counts(threads_);
    distances.for_each_band("quantile", [&](Block rows, const float* values) {
        count_pairs(rows, values, count_, lower,
                    [upper](std::uint32_t bits, std::vector<std::int64_t>& own) {
                        if (bits >> 16 == upper) ++own[bits & (kHalf - 1)];
                    });
    });
    return std::bit_cast<float>(upper << 16 | half_of(lower, place));
}

}  // namespace pleat::cluster
