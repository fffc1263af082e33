// Information: differences of the integer statistic, divided by the number of rows at the end.
#include "pleat/mutual_information/count/information.h"

#include <algorithm>

namespace pleat::mutual_information {

namespace {

/// Bits per row of an amount of information of all rows together; at least 0.
double per_row(const Statistic& statistic, std::int64_t total) {
    const std::int64_t clamped = std::max<std::int64_t>(0, total);
    return statistic.bits(clamped) / static_cast<double>(statistic.rows());
}

}  // namespace

std::vector<std::int64_t> margin_sums(const Columns& columns, const Statistic& statistic) {
    std::vector<std::int64_t> sums(columns.column_count(), 0);
    for (Index column = 0; column < columns.column_count(); ++column)
        for (const Index count : columns.margin(column)) sums[column] += statistic.f[count];
    return sums;
}

double pair_information(const Statistic& statistic, std::int64_t t_i, std::int64_t t_j,
                        std::int64_t t) {
    // T <= T_j and T_i <= F(N) < 2^62: each bracket fits, and so does their difference.
    return per_row(statistic, (statistic.f.back() - t_i) - (t_j - t));
}

double triple_information(const Statistic& statistic, std::int64_t t_i, std::int64_t t_j,
                          std::int64_t t_k, std::int64_t t) {
    const std::int64_t all = statistic.f.back();
    return per_row(statistic, (all - t_i) - (t_k - t) + (all - t_j));
}

double joint_entropy(const Statistic& statistic, std::int64_t t) {
    return per_row(statistic, statistic.f.back() - t);
}

std::vector<double> pair_information(const Columns& columns, const Statistic& statistic,
                                     std::span<const std::int64_t> observed) {
    const std::vector<std::int64_t> margin = margin_sums(columns, statistic);
    std::vector<double> mi(observed.size());
    std::size_t pair = 0;
    for (Index i = 0; i < columns.column_count(); ++i)
        for (Index j = i + 1; j < columns.column_count(); ++j, ++pair)
            mi[pair] = pair_information(statistic, margin[i], margin[j], observed[pair]);
    return mi;
}

std::vector<double> joint_entropies(const Statistic& statistic,
                                    std::span<const std::int64_t> observed) {
    std::vector<double> entropies(observed.size());
    std::transform(observed.begin(), observed.end(), entropies.begin(),
                   [&](std::int64_t t) { return joint_entropy(statistic, t); });
    return entropies;
}

}  // namespace pleat::mutual_information
