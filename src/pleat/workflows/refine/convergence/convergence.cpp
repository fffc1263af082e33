// Convergence: split R-hat and effective sample size of rank-normalised draws.
#include "pleat/workflows/refine/convergence/convergence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>
#include <vector>

namespace pleat::refine {

namespace {

using Chains = std::vector<std::vector<double>>;

/// The z with P(Z <= z) = p of the normal distribution: an approximation by Tukey's lambda
/// distribution, then Newton's steps.
double normal_quantile(double p) {
    double z = 4.91 * (std::pow(p, 0.14) - std::pow(1 - p, 0.14));
    for (int n = 0; n < 4; ++n) {
        const double tail = 0.5 * std::erfc(-z / std::numbers::sqrt2),
                     density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
        z -= (tail - p) / density;
    }
    return z;
}

/// Splits each chain into two halves; an odd number of draws loses the middle one.
Chains halves(View<const double, 2> draws) {
    const Index half = draws.extent(1) / 2;
    Chains chains;
    for (Index chain = 0; chain < draws.extent(0); ++chain)
        for (const Index first : {Index{0}, draws.extent(1) - half})
            chains.emplace_back(&draws(chain, first), &draws(chain, first) + half);
    return chains;
}

/// The normal scores of the ranks, (rank - 3/8) / (count + 1/4); equal draws share their mean rank.
Chains rank_normalised(const Chains& chains) {
    struct Draw {
        double value;
        std::size_t chain, at;
    };
    std::vector<Draw> all;
    for (std::size_t chain = 0; chain < chains.size(); ++chain)
        for (std::size_t at = 0; at < chains[chain].size(); ++at)
            all.push_back({chains[chain][at], chain, at});
    std::sort(all.begin(), all.end(),
              [](const Draw& a, const Draw& b) { return a.value < b.value; });
    Chains scores = chains;
    for (std::size_t first = 0; first < all.size();) {
        std::size_t last = first;
        while (last + 1 < all.size() && all[last + 1].value == all[first].value) ++last;
        const double rank = 1 + static_cast<double>(first + last) / 2,
                     score =
                         normal_quantile((rank - 0.375) / (static_cast<double>(all.size()) + 0.25));
        for (; first <= last; ++first) scores[all[first].chain][all[first].at] = score;
    }
    return scores;
}

double mean_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Mean of the chains' variances, and the estimate of the whole variance.
struct Variances {
    double within = 0, whole = 0;
};

Variances variances(const Chains& chains) {
    const auto draws = static_cast<double>(chains.front().size()),
               count = static_cast<double>(chains.size());
    std::vector<double> means;
    double within = 0;
    for (const std::vector<double>& chain : chains) {
        means.push_back(mean_of(chain));
        double sum = 0;
        for (const double value : chain) sum += (value - means.back()) * (value - means.back());
        within += sum / (draws - 1) / count;
    }
    const double mean = mean_of(means);
    double between = 0;  // variance of the means
    for (const double value : means) between += (value - mean) * (value - mean) / (count - 1);
    return {within, (draws - 1) / draws * within + between};
}

double r_hat(const Chains& chains) {
    const Variances found = variances(chains);
    // Chains that do not move vary only by rounding.
    if (found.within <= 1e-20 * found.whole) return std::numeric_limits<double>::infinity();
    return std::sqrt(found.whole / found.within);
}

/// The autocovariance at this lag, averaged over chains.
double autocovariance(const Chains& chains, std::size_t lag) {
    double sum = 0;
    for (const std::vector<double>& chain : chains) {
        const double mean = mean_of(chain);
        double products = 0;
        for (std::size_t n = 0; n + lag < chain.size(); ++n)
            products += (chain[n] - mean) * (chain[n + lag] - mean);
        sum += products / static_cast<double>(chain.size());
    }
    return sum / static_cast<double>(chains.size());
}

/// Geyer's initial monotone sequence: sums pairs of consecutive autocorrelations as long as they
/// are positive.
double effective_size(const Chains& chains) {
    const auto draws = static_cast<double>(chains.front().size()),
               total = draws * static_cast<double>(chains.size());
    const Variances found = variances(chains);
    const double bias = draws / (draws - 1);
    const auto correlation = [&](std::size_t lag) {
        return 1 - (found.within - bias * autocovariance(chains, lag)) / found.whole;
    };
    double sum = 0, smallest = std::numeric_limits<double>::infinity();
    for (std::size_t lag = 0; lag + 1 < chains.front().size(); lag += 2) {
        const double pair = (lag == 0 ? 1.0 : correlation(lag)) + correlation(lag + 1);
        if (pair <= 0) break;
        smallest = std::min(smallest, pair);
        sum += smallest;
    }
    const double time = std::max(2 * sum - 1, 1 / std::log10(total));
    return total / time;
}

}  // namespace

Convergence assess_convergence(View<const double, 2> draws) {
    if (draws.extent(1) < Convergence::kMinDraws)
        return {std::numeric_limits<double>::infinity(), 0};
    const auto [smallest, largest] = std::minmax_element(draws.begin(), draws.end());
    if (*smallest == *largest) return {1, static_cast<double>(draws.size())};
    const Chains chains = halves(draws), scores = rank_normalised(chains);
    std::vector<double> all(draws.begin(), draws.end());
    std::sort(all.begin(), all.end());
    const double median = (all[all.size() / 2] + all[(all.size() - 1) / 2]) / 2;
    Chains folded = chains;
    for (std::vector<double>& chain : folded)
        for (double& value : chain) value = std::abs(value - median);
    return {std::max(r_hat(scores), r_hat(rank_normalised(folded))), effective_size(scores)};
}

namespace {

/// Share of the values, and their mean, in each of the groups.
struct GroupMeans {
    std::vector<double> shares, means;
    double mean = 0;  ///< of all values

    template <class GroupOf>
    GroupMeans(std::span<const double> values, Index count, const GroupOf& group_of)
        : shares(static_cast<std::size_t>(count)), means(shares) {
        const double share = 1 / static_cast<double>(values.size());
        for (std::size_t n = 0; n < values.size(); ++n) {
            const Index group = group_of(n);
            shares[group] += share;
            means[group] += share * values[n];
            mean += share * values[n];
        }
        for (std::size_t group = 0; group < means.size(); ++group)
            if (shares[group] > 0) means[group] /= shares[group];
    }
    /// The sum of squares of w^power (m - mean).
    double squares(double power) const {
        double sum = 0;
        for (std::size_t group = 0; group < means.size(); ++group)
            sum +=
                std::pow(shares[group], 2 * power) * (means[group] - mean) * (means[group] - mean);
        return sum;
    }
};

}  // namespace

Convergence assess_lineages(std::span<const double> values, std::span<const Index> lineages,
                            Index count) {
    constexpr Index kGroups = 4;
    constexpr double kRounding = 1e-12;
    if (std::ssize(values) < kGroups * Convergence::kMinDraws)
        return {std::numeric_limits<double>::infinity(), 0};
    const auto size = static_cast<double>(values.size());
    const GroupMeans of_lineages(values, count, [&](std::size_t n) { return lineages[n]; }),
        of_groups(values, kGroups, [&](std::size_t n) { return lineages[n] % kGroups; });
    double variance = 0;
    for (const double value : values)
        variance += (value - of_lineages.mean) * (value - of_lineages.mean) / size;
    if (variance == 0) return {1, size};
    double shared = 0;  // 1 if there is one lineage
    for (const double share : of_lineages.shares) shared += share * share;
    const double of_mean = of_lineages.squares(1) / (1 - shared),
                 within = variance - of_groups.squares(0.5);
    return {within > kRounding * variance ? std::sqrt(variance / within)
                                          : std::numeric_limits<double>::infinity(),
            shared < 1 - kRounding ? std::min(size, variance / of_mean) : 0.0};
}

double evidence_error(std::span<const Index> lineages, Index count) {
    std::vector<double> shares(static_cast<std::size_t>(count));
    for (const Index lineage : lineages)
        shares[lineage] += 1 / static_cast<double>(lineages.size());
    const auto all = static_cast<double>(count);
    double squares = 0;
    for (const double share : shares) squares += (share - 1 / all) * (share - 1 / all);
    return std::sqrt(squares * all / (all - 1));
}

}  // namespace pleat::refine
