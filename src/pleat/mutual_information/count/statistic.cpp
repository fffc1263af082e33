// Statistic: the table of n lg n from rounded logarithms of primes, and its differences in bits.
#include "pleat/mutual_information/count/statistic.h"

#include <algorithm>
#include <cmath>

namespace pleat::mutual_information {

namespace {

constexpr int kMaxScale = 40;
constexpr int kBits = 62;                 // bits of T: int64 has one more
constexpr int kMomentBits = 20;           // bits of a difference whose cube is summed
constexpr double kMaxInformation = 10.0;  // bits per row: 2 lg 32, the maximum of three columns

/// Converts an amount of information of all rows to bits per row; at least 0.
double per_row(const Statistic& statistic, std::int64_t total) {
    const std::int64_t clamped = std::max<std::int64_t>(0, total);
    return statistic.bits(clamped) / static_cast<double>(statistic.rows());
}

}  // namespace

double Statistic::bits(std::int64_t t) const { return std::ldexp(static_cast<double>(t), -scale); }

double Statistic::moment_unit() const { return std::ldexp(1.0, shift - scale); }

Statistic make_statistic(Index rows) {
    const auto all = static_cast<double>(rows);
    Statistic made;
    const double max_t = all * std::log2(all + 1) + 1;
    made.scale = std::min(kMaxScale, kBits - static_cast<int>(std::ceil(std::log2(max_t))));
    const double widest = std::ceil(std::log2(kMaxInformation * all)) + made.scale;
    made.shift = std::max(0, static_cast<int>(widest) - kMomentBits);
    std::vector<std::int64_t> lg(rows + 1, 0);
    std::vector<std::int32_t> smallest_factor(rows + 1, 0);
    for (Index n = 2; n <= rows; ++n) {
        if (smallest_factor[n] != 0) {
            lg[n] = lg[smallest_factor[n]] + lg[n / smallest_factor[n]];
            continue;
        }
        lg[n] = std::llround(std::ldexp(std::log2(static_cast<long double>(n)), made.scale));
        for (Index multiple = n * n; multiple <= rows; multiple += n)
            if (smallest_factor[multiple] == 0)
                smallest_factor[multiple] = static_cast<std::int32_t>(n);
    }
    made.f.resize(rows + 1);
    for (Index n = 0; n <= rows; ++n) made.f[n] = n * lg[n];
    return made;
}

std::vector<std::int64_t> margin_sums(const CodedColumns& columns, const Statistic& statistic) {
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

std::vector<double> pair_information(const CodedColumns& columns, const Statistic& statistic,
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
