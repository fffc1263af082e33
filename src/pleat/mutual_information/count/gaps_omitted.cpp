// Gaps omitted: one table of counts a pair, with margins of its own.
#include "pleat/mutual_information/count/gaps_omitted.h"

#include <algorithm>
#include <array>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/mutual_information/exact/moments.h"

namespace pleat::mutual_information {

namespace {

std::int64_t sum_of(const Statistic& statistic, std::span<const Index> counts) {
    std::int64_t t = 0;
    for (const Index count : counts) t += statistic.f[count];
    return t;
}

void count_pair(const PairRows& kept, const Statistic& statistic, Index pair, OmittedPairs& found) {
    const Index rows = kept.count();
    found.rows[pair] = rows;
    if (rows == 0) return;
    std::array<Index, 32 * 32> table{};
    for (Index row = 0; row < rows; ++row) ++table[kept.code_i[row] * 32 + kept.code_j[row]];
    const std::int64_t all = statistic.f[rows], t = sum_of(statistic, table);
    const std::int64_t shared =
        (all - sum_of(statistic, kept.margin_i)) - (sum_of(statistic, kept.margin_j) - t);
    const auto n = static_cast<double>(rows);
    found.mi[pair] = std::max(0.0, statistic.bits(shared) / n);
    found.joint_entropy[pair] = statistic.bits(all - t) / n;
    if (kept.margin_i.size() == 1 || kept.margin_j.size() == 1) return;
    const Moments moments = pair_moments(kept.margin_i, kept.margin_j);
    found.mean[pair] = moments.mean;
    found.variance[pair] = moments.variance;
}

}  // namespace

OmittedPairs pairs_without(const Columns& columns, const Statistic& statistic, LetterSet omitted,
                           const Context& context) {
    const Index count = columns.column_count(), pairs = pair_count(count);
    OmittedPairs found{std::vector<Index>(pairs), std::vector<double>(pairs),
                       std::vector<double>(pairs), std::vector<double>(pairs),
                       std::vector<double>(pairs)};
    const int threads = resolve_threads(context);
    std::vector<PairRows> kept(threads);
    const Index at_once = 4 * threads;  // columns between two looks at cancelled()
    for (Index first = 0; first < count; first += at_once) {
        context.update("gaps omitted", first, count);
        if (context.cancelled()) throw Cancelled("stopped while counting pairs without gaps");
        parallel_for(threads, std::min(at_once, count - first), [&](Index place, int thread) {
            const Index i = first + place;
            for (Index j = i + 1; j < count; ++j) {
                kept[thread].take(columns, i, j, omitted);
                count_pair(kept[thread], statistic, pair_index(i, j, count), found);
            }
        });
    }
    context.update("gaps omitted", count, count);
    return found;
}

}  // namespace pleat::mutual_information
