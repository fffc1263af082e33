// Pair run: a sweep over blocks of shuffles, all of which add to the same sums.
#include "pleat/mutual_information/pairs/pair_run.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "pleat/core/loops/additive_checkpoint.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/mutual_information/count/information.h"
#include "pleat/mutual_information/exact/enumerated_null.h"
#include "pleat/mutual_information/exact/pair_moments.h"
#include "pleat/mutual_information/pairs/pair_statistics.h"

namespace pleat::mutual_information {

namespace {

constexpr Index kCpuShuffles = 64;    // minimum of a tile: a batch of the CPU kernel
constexpr Index kGpuShuffles = 1024;  // the same on a GPU, where sums are copied once per tile
// Words of planes that a tile counts: some 0.1 s of a GPU, so that it can be cancelled.
constexpr Index kGpuWords = Index{1} << 36;
constexpr Index kMaxTiles = 200;
constexpr double kTailWork = 100;  // maximum work of one enumeration: 10 us

/// One tile per block of shuffles; the size of a block is a multiple of `unit`.
std::vector<Tile> shuffle_tiles(Index shuffles, Index unit) {
    const Index size = ((shuffles + kMaxTiles - 1) / kMaxTiles + unit - 1) / unit * unit;
    std::vector<Tile> tiles;
    for (Index first = 0; first < shuffles; first += size) {
        Tile tile;
        tile.id = static_cast<Index>(tiles.size());
        tile.side[0] = {first, std::min(size, shuffles - first)};
        tiles.push_back(tile);
    }
    return tiles;
}

template <class T>
std::span<T> all_of(Array<T, 1>& array) {
    return {array.data(), static_cast<std::size_t>(array.size())};
}

template <class T>
View<T, 1> view_of(std::vector<T>& values) {
    return {values.data(), static_cast<Index>(values.size())};
}

template <class T>
View<const T, 1> view_of(const std::vector<T>& values) {
    return {values.data(), static_cast<Index>(values.size())};
}

/// The minimum number of shuffles per tile for this device.
Index min_shuffles(const Context& context, Index pairs, Index rows) {
    if (context.device.kind != Device::Kind::cuda) return kCpuShuffles;
    constexpr Index kMaxBlocks = 1024;
    const Index words = pairs * ((rows + 31) / 32);
    return kGpuShuffles * std::clamp<Index>(kGpuWords / (words * kGpuShuffles), 1, kMaxBlocks);
}

/// Adds all shuffles to `sums`; with a standard, also sets the largest z of each in `max_z`.
void sample(Kernel& kernel, const std::vector<std::int64_t>& observed, Index rows, Index shuffles,
            const ZScale* standard, const std::string& problem_hash, const Context& context,
            NullSums& sums, std::vector<double>& max_z) {
    const std::vector<Tile> tiles =
        shuffle_tiles(shuffles, min_shuffles(context, sums.items(), rows));
    AdditiveCheckpoint checkpoint(context, "pairs", problem_hash, static_cast<Index>(tiles.size()));
    checkpoint.add("less", all_of(sums.less_count));
    checkpoint.add("equal", all_of(sums.equal_count));
    checkpoint.add("first", all_of(sums.first));
    checkpoint.add("second", all_of(sums.second));
    checkpoint.add("third_low", all_of(sums.third_low));
    checkpoint.add("third_high", all_of(sums.third_high));
    checkpoint.raise("largest", max_z);
    checkpoint.resume();
    sweep(context, "pairs", tiles, checkpoint, [&](const Tile& tile, View<float, 2>) {
        const Block& block = tile.side[0];
        if (standard == nullptr)
            return kernel.sample_pairs(block, view_of(observed), sums, nullptr);
        const LargestZ z{view_of(standard->z_centre),
                         view_of(standard->z_factor),
                         {max_z.data() + block.first, block.count}};
        kernel.sample_pairs(block, view_of(observed), sums, &z);
    });
    checkpoint.total();
}

/// P(T >= observed) of each pair whose tables are enumerated within kTailWork; NaN for the others
/// and if no permutation changes T.
std::vector<double> enumerated_p(const Columns& columns, const Statistic& statistic,
                                 const std::vector<std::int64_t>& observed,
                                 const Context& context) {
    const NullEnumerator nulls(statistic);
    const Index count = columns.column_count();
    std::vector<double> p(observed.size(), std::numeric_limits<double>::quiet_NaN());
    parallel_for(resolve_threads(context), count, [&](Index i, int) {
        // Pairs with the same margins have the same null.
        std::map<std::vector<Index>, std::optional<EnumeratedNull>> known;
        for (Index j = i + 1; j < count; ++j) {
            const std::span<const Index> margin = columns.margin(j);
            const auto [at, is_new] = known.try_emplace({margin.begin(), margin.end()});
            if (is_new) at->second = nulls.null(columns.margin(i), margin, kTailWork);
            if (!at->second || at->second->atoms.size() < 2) continue;
            const Index pair = pair_index(i, j, count);
            const TailProbabilities tail = at->second->tail(observed[pair]);
            p[pair] = std::min(1.0, tail.p_equal + tail.p_greater);
        }
    });
    return p;
}

}  // namespace

PairRun run_pairs(const Problem& problem, Kernel& kernel, const Parameters& parameters,
                  const PairHashes& hashes, const Context& context) {
    const Columns& columns = *problem.columns;
    const Index pairs = pair_count(columns.column_count());
    PairRun run;
    run.observed.resize(pairs);
    kernel.observe_pairs(view_of(run.observed));
    PairSource source{
        .columns = columns, .statistic = *problem.statistic, .observed = run.observed};

    std::vector<double> mean, variance, exact_p;
    if (parameters.has_exact()) {
        mean.resize(pairs);
        variance.resize(pairs);
        Context of_exact = context;
        of_exact.checkpoint = exact_checkpoint(context.checkpoint);
        pair_moments(columns, view_of(mean), view_of(variance), of_exact, hashes.exact);
        source.mean = mean;
        source.variance = variance;
        exact_p = enumerated_p(columns, *problem.statistic, run.observed, context);
        source.exact_p = exact_p;
    }
    NullSums sums(parameters.has_sampled() ? pairs : 0);
    std::vector<double> max_z;
    if (parameters.has_sampled()) {
        ZScale standard;
        if (parameters.has_exact()) {
            const std::vector<double> mi =
                pair_information(columns, *problem.statistic, run.observed);
            standard = standardise(mi, mean, variance, *problem.statistic);
            max_z.assign(parameters.shuffle_count(), -std::numeric_limits<double>::infinity());
        }
        sample(kernel, run.observed, columns.row_count(), parameters.shuffle_count(),
               parameters.has_exact() ? &standard : nullptr, hashes.sampled, context, sums, max_z);
        source.sums = &sums;
        source.shuffles = parameters.shuffle_count();
        source.max_z = max_z;
    }
    run.statistics = pair_statistics(source);
    return run;
}

}  // namespace pleat::mutual_information
