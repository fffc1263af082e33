// Pair statistics: corrections, moments from integer sums, and corrections for many tests.
#include "pleat/mutual_information/pairs/pair_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "pleat/mutual_information/count/information.h"
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

void correct(Index columns, PairStatistics& pairs) {
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

ZScale standardise(std::span<const double> mi, std::span<const double> mean,
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

namespace {

/// The tail of one pair, from the best known description of its null.
double tail_of(const PairStatistics& known, std::size_t pair) {
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

void add_moments(const PairSource& source, PairStatistics& pairs) {
    pairs.mean.assign(source.mean.begin(), source.mean.end());
    pairs.variance.assign(source.variance.begin(), source.variance.end());
    pairs.z.resize(pairs.mi.size());
    const Columns& columns = source.columns;
    std::size_t pair = 0;
    for (Index i = 0; i < columns.column_count(); ++i) {
        for (Index j = i + 1; j < columns.column_count(); ++j, ++pair) {
            if (columns.symbol_count(i) == 1 || columns.symbol_count(j) == 1)
                pairs.mean[pair] = pairs.variance[pair] = 0;  // remove rounding errors
            pairs.z[pair] = exact_z(pairs.mi[pair], pairs.mean[pair], pairs.variance[pair]);
        }
    }
}

void add_samples(const PairSource& source, PairStatistics& pairs) {
    const Index count = static_cast<Index>(pairs.mi.size());
    pairs.less_count.assign(source.sums->less_count.begin(), source.sums->less_count.end());
    pairs.equal_count.assign(source.sums->equal_count.begin(), source.sums->equal_count.end());
    pairs.sampled.reserve(count);
    for (Index pair = 0; pair < count; ++pair)
        pairs.sampled.push_back(
            sampled_null(*source.sums, pair, source.shuffles, pairs.mi[pair], source.statistic));
}

/// p of the pairs whose null varies; NaN for the others.
std::vector<double> tested_p(const PairStatistics& pairs, std::int64_t shuffles) {
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

}  // namespace

PairStatistics pair_statistics(const PairSource& source) {
    PairStatistics pairs;
    pairs.mi = pair_information(source.columns, source.statistic, source.observed);
    pairs.joint_entropy = joint_entropies(source.statistic, source.observed);
    correct(source.columns.column_count(), pairs);
    const std::size_t count = pairs.mi.size();
    const bool exact = source.mean.size() == count && count > 0;
    if (exact) {
        add_moments(source, pairs);
    }
    if (source.sums != nullptr && source.shuffles > 0) add_samples(source, pairs);
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
        const ZScale standard = standardise(pairs.mi, pairs.mean, pairs.variance, source.statistic);
        pairs.family_p = family_wise_p(standard, source.max_z);
    }
    return pairs;
}

}  // namespace pleat::mutual_information
