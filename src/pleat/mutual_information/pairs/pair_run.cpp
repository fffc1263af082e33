// Pair run: a sweep over blocks of shuffles, moments from integer sums, p-values and rates.
#include "pleat/mutual_information/pairs/pair_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "pleat/core/loops/additive_checkpoint.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/mutual_information/exact/pair_moments.h"
#include "pleat/mutual_information/exact/tail.h"

namespace pleat::mutual_information {

namespace {

__extension__ using Wide = __int128;
__extension__ using WideBits = unsigned __int128;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kConstant = 1e-10;          // variance over mean^2
constexpr double kConstantVariance = 1e-18;  // bits^2
constexpr double kHalf = 0.5 + 1e-6;  // half a unit of d, and a margin for the rounding of float64

struct Means {
    std::vector<double> of_column;
    double of_all = 0;
};

Means means_of(std::span<const double> mi, Index columns) {
    Means means{std::vector<double>(columns, 0.0), 0};
    std::size_t pair = 0;
    for (Index i = 0; i < columns; ++i) {
        for (Index j = i + 1; j < columns; ++j, ++pair) {
            means.of_column[i] += mi[pair];
            means.of_column[j] += mi[pair];
            means.of_all += mi[pair];
        }
    }
    for (double& mean : means.of_column) mean /= static_cast<double>(columns - 1);
    means.of_all /= static_cast<double>(pair_count(columns));
    return means;
}

template <class Expected>
std::vector<double> corrected(std::span<const double> mi, Index columns, Expected expected) {
    const Means means = means_of(mi, columns);
    std::vector<double> result(mi.begin(), mi.end());
    std::size_t pair = 0;
    for (Index i = 0; i < columns; ++i)
        for (Index j = i + 1; j < columns; ++j, ++pair)
            result[pair] -= expected(means.of_column[i], means.of_column[j], means.of_all);
    return result;
}

/// Central moments of d times powers of n: n^2 m_2 and n^3 m_3.
struct CentralMoments {
    Wide second, third;
};

CentralMoments central_moments(const NullSums& sums, Index item, std::int64_t shuffles) {
    // n^2 s3 - 3 n s1 s2 + 2 s1^3 may pass 2^127 on the way, but is itself below 2^126: |d| < 2^20
    // and n < 2^22, and a third central moment is at most range^3 / (6 sqrt 3). Arithmetic modulo
    // 2^128 gives the right result anyway.
    const auto bits = [](Wide value) { return static_cast<WideBits>(value); };
    const WideBits n = bits(shuffles), s1 = bits(sums.first[item]), s2 = bits(sums.second[item]);
    const WideBits s3 = (bits(sums.third_high[item]) << 32) + bits(sums.third_low[item]);
    return {static_cast<Wide>(n * s2 - s1 * s1),
            static_cast<Wide>(n * n * s3 - 3 * n * s1 * s2 + 2 * s1 * s1 * s1)};
}

/// The tail probability of one pair, from the best known description of its null distribution.
double tail_of(const PairInformation& known, std::size_t pair) {
    const bool exact = !known.mean.empty();
    if (known.sampled.empty()) {
        if (is_constant(known.mean[pair], known.variance[pair])) return kNaN;
        return gamma_tail(known.mi[pair], known.mean[pair], known.variance[pair]);
    }
    const SampledNull& sampled = known.sampled[pair];
    if (!exact) return pearson_tail(sampled.z, sampled.skewness);
    if (is_constant(known.mean[pair], known.variance[pair])) return kNaN;
    // All shuffles are equal although the null varies: too few to show its rare values.
    if (std::isnan(sampled.skewness))
        return gamma_tail(known.mi[pair], known.mean[pair], known.variance[pair]);
    return pearson_tail(known.z[pair], sampled.skewness);
}

/// Returns at least kMinTail, since smaller values would underflow to 0. NaN stays NaN.
double bounded(double p) { return std::max(p, kMinTail); }

void add_moments(const CountedPairs& source, PairInformation& pairs) {
    pairs.mean.assign(source.mean.begin(), source.mean.end());
    pairs.variance.assign(source.variance.begin(), source.variance.end());
    pairs.z.resize(pairs.mi.size());
    const CodedColumns& columns = source.columns;
    std::size_t pair = 0;
    for (Index i = 0; i < columns.column_count(); ++i) {
        for (Index j = i + 1; j < columns.column_count(); ++j, ++pair) {
            if (columns.symbol_count(i) == 1 || columns.symbol_count(j) == 1)
                pairs.mean[pair] = pairs.variance[pair] = 0;  // remove rounding errors
            pairs.z[pair] = exact_z(pairs.mi[pair], pairs.mean[pair], pairs.variance[pair]);
        }
    }
}

void set_sampled_null(const CountedPairs& source, PairInformation& pairs) {
    const Index count = static_cast<Index>(pairs.mi.size());
    pairs.less_count.assign(source.sums->less_count.begin(), source.sums->less_count.end());
    pairs.equal_count.assign(source.sums->equal_count.begin(), source.sums->equal_count.end());
    pairs.sampled.reserve(count);
    for (Index pair = 0; pair < count; ++pair)
        pairs.sampled.push_back(
            sampled_null(*source.sums, pair, source.shuffles, pairs.mi[pair], source.statistic));
}

constexpr Index kCpuShuffles = 64;    // minimum of a tile: a batch of the CPU kernel
constexpr Index kGpuShuffles = 1024;  // the same on a GPU, where sums are copied once per tile
// Words of planes per tile: about 0.1 s on a GPU, so that a cancel is noticed.
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

/// Adds all shuffles to `sums`; with a standard, sets each shuffle's maximum z in `max_z`.
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
std::vector<double> enumerated_p(const CodedColumns& columns, const Statistic& statistic,
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

std::vector<double> normalised_information(std::span<const double> mi,
                                           std::span<const double> joint_entropy) {
    std::vector<double> normalised(mi.size(), 0.0);
    for (std::size_t pair = 0; pair < mi.size(); ++pair)
        if (joint_entropy[pair] > 0) normalised[pair] = mi[pair] / joint_entropy[pair];
    return normalised;
}

std::vector<double> product_corrected(std::span<const double> mi, Index columns) {
    return corrected(mi, columns,
                     [](double m_i, double m_j, double m) { return m > 0 ? m_i * m_j / m : 0; });
}

std::vector<double> sum_corrected(std::span<const double> mi, Index columns) {
    return corrected(mi, columns, [](double m_i, double m_j, double m) { return m_i + m_j - m; });
}

void correct(Index columns, PairInformation& pairs) {
    pairs.normalised = normalised_information(pairs.mi, pairs.joint_entropy);
    pairs.apc = product_corrected(pairs.mi, columns);
    pairs.asc = sum_corrected(pairs.mi, columns);
}

bool is_constant(double mean, double variance) {
    return !(variance > kConstantVariance) || variance <= kConstant * mean * mean;
}

double exact_z(double observed, double mean, double variance) {
    return is_constant(mean, variance) ? kNaN : (observed - mean) / std::sqrt(variance);
}

SampledNull sampled_null(const NullSums& sums, Index item, std::int64_t shuffles, double observed,
                         const Statistic& statistic) {
    const auto n = static_cast<double>(shuffles);
    const double unit = statistic.moment_unit() / static_cast<double>(statistic.rows());
    const CentralMoments moments = central_moments(sums, item, shuffles);
    const auto first = static_cast<double>(sums.first[item]);
    const auto second = static_cast<double>(moments.second), root = std::sqrt(second);
    SampledNull null;
    null.mean = observed + first / n * unit;
    null.variance = second / (n * n) * unit * unit;
    const bool varies = moments.second > 0;
    null.skewness = varies ? static_cast<double>(moments.third) / (second * root) : kNaN;
    null.z = varies ? -first / root : kNaN;
    const std::int64_t less_count = sums.less_count[item], equal_count = sums.equal_count[item];
    null.percentile = static_cast<double>(less_count) / n;
    null.p = static_cast<double>(1 + shuffles - less_count) / (1 + n);
    null.p_strict = static_cast<double>(1 + shuffles - less_count - equal_count) / (1 + n);
    return null;
}

std::vector<double> false_discovery_rate(std::span<const double> p) {
    std::vector<std::size_t> order;
    for (std::size_t item = 0; item < p.size(); ++item)
        if (!std::isnan(p[item])) order.push_back(item);
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
    std::vector<double> rate(p.size(), kNaN);
    const auto tests = static_cast<double>(order.size());
    // Goes from the largest p to the smallest. Among equal p the first has the highest rank and the
    // smallest adjusted value, which the others then also get.
    double min_rate = 1;
    for (std::size_t at = 0; at < order.size(); ++at) {
        const auto rank = static_cast<double>(order.size() - at);
        min_rate = std::min(min_rate, p[order[at]] * tests / rank);
        rate[order[at]] = min_rate;
    }
    return rate;
}

ZScale make_z_scale(std::span<const double> mi, std::span<const double> mean,
                    std::span<const double> variance, const Statistic& statistic) {
    const double unit = statistic.moment_unit() / static_cast<double>(statistic.rows());
    ZScale standard{std::vector<double>(mi.size(), 0.0), std::vector<double>(mi.size(), 0.0)};
    for (std::size_t item = 0; item < mi.size(); ++item) {
        if (is_constant(mean[item], variance[item])) continue;
        standard.z_centre[item] = (mean[item] - mi[item]) / unit;
        standard.z_factor[item] = unit / std::sqrt(variance[item]);
    }
    return standard;
}

std::vector<double> family_wise_p(const ZScale& standard, std::span<const double> max_z) {
    std::vector<double> sorted(max_z.begin(), max_z.end());
    std::sort(sorted.begin(), sorted.end());
    std::vector<double> p(standard.z_factor.size(), kNaN);
    for (std::size_t item = 0; item < p.size(); ++item) {
        if (standard.z_factor[item] == 0) continue;
        const double z = (0 - standard.z_centre[item]) * standard.z_factor[item];
        // Shuffles of pairs with the same margins tie with this pair up to the rounding of d.
        const double tied = z - kHalf * standard.z_factor[item];
        const auto reached = sorted.end() - std::lower_bound(sorted.begin(), sorted.end(), tied);
        p[item] = static_cast<double>(1 + reached) / static_cast<double>(1 + sorted.size());
    }
    return p;
}

std::vector<double> tested_p(const PairInformation& pairs, std::int64_t shuffles) {
    if (pairs.sampled.empty()) return pairs.tail_p;
    std::vector<double> p(pairs.mi.size(), kNaN);
    for (std::size_t pair = 0; pair < p.size(); ++pair) {
        const bool tested = pairs.mean.empty()
                                ? pairs.equal_count[pair] < shuffles
                                : !is_constant(pairs.mean[pair], pairs.variance[pair]);
        if (tested) p[pair] = pairs.sampled[pair].p;
    }
    return p;
}

PairInformation pair_statistics(const CountedPairs& source) {
    PairInformation pairs;
    pairs.mi = pair_information(source.columns, source.statistic, source.observed);
    pairs.joint_entropy = joint_entropies(source.statistic, source.observed);
    correct(source.columns.column_count(), pairs);
    const std::size_t count = pairs.mi.size();
    const bool exact = source.mean.size() == count && count > 0;
    if (exact) {
        add_moments(source, pairs);
    }
    if (source.sums != nullptr && source.shuffles > 0) set_sampled_null(source, pairs);
    if (!exact && pairs.sampled.empty()) return pairs;
    pairs.tail_p.resize(count);
    pairs.exact_p.assign(source.exact_p.begin(), source.exact_p.end());
    for (double& p : pairs.exact_p) p = bounded(p);
    for (std::size_t pair = 0; pair < count; ++pair) {
        const bool enumerated = !pairs.exact_p.empty() && !std::isnan(pairs.exact_p[pair]);
        pairs.tail_p[pair] = enumerated ? pairs.exact_p[pair] : bounded(tail_of(pairs, pair));
    }
    pairs.fdr = false_discovery_rate(tested_p(pairs, source.shuffles));
    if (exact && !source.max_z.empty()) {
        const ZScale standard =
            make_z_scale(pairs.mi, pairs.mean, pairs.variance, source.statistic);
        pairs.family_p = family_wise_p(standard, source.max_z);
    }
    return pairs;
}

PairRun run_pairs(const Problem& problem, Kernel& kernel, const Parameters& parameters,
                  const PairHashes& hashes, const Context& context) {
    const CodedColumns& columns = *problem.columns;
    const Index pairs = pair_count(columns.column_count());
    PairRun run;
    run.observed.resize(pairs);
    kernel.observe_pairs(view_of(run.observed));
    CountedPairs source{
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
            standard = make_z_scale(mi, mean, variance, *problem.statistic);
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
