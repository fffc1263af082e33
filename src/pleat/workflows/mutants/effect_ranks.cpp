// Effect ranks: sorted effects, medians, and correlations of ranks.
#include "pleat/workflows/mutants/effect_ranks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace pleat::mutants {

namespace {

constexpr double kUnits = 1e4;  // four decimals
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

long long rounded(double value) { return std::llround(value * kUnits); }

double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// Ranks of values of which equal ones share a rank.
template <class T>
std::vector<double> ranks_of(const std::vector<T>& values) {
    std::vector<std::pair<T, std::size_t>> order;  // values beside their places sort faster
    order.reserve(values.size());
    for (std::size_t n = 0; n < values.size(); ++n) order.emplace_back(values[n], n);
    std::sort(order.begin(), order.end());
    std::vector<double> ranks(values.size());
    for (std::size_t from = 0; from < order.size();) {
        std::size_t to = from + 1;
        while (to < order.size() && order[to].first == order[from].first) ++to;
        for (std::size_t n = from; n < to; ++n)
            ranks[order[n].second] = static_cast<double>(from + to + 1) / 2;
        from = to;
    }
    return ranks;
}

}  // namespace

EffectRanks::EffectRanks(const std::vector<double>& effects) {
    if (effects.empty()) return;
    for (const double effect : effects) sorted_.push_back(rounded(effect));
    std::sort(sorted_.begin(), sorted_.end());
    median_ = median_of(effects);
    std::vector<double> distances;
    distances.reserve(effects.size());
    for (const double effect : effects) distances.push_back(std::abs(effect - median_));
    deviation_ = 1.4826 * median_of(distances);
}

double EffectRanks::percentile(double effect) const {
    if (sorted_.empty()) return kNone;
    const auto [first, last] = std::equal_range(sorted_.begin(), sorted_.end(), rounded(effect));
    const auto below = static_cast<double>(first - sorted_.begin());
    return 100 * (below + static_cast<double>(last - first) / 2) /
           static_cast<double>(sorted_.size());
}

double EffectRanks::z(double effect) const {
    return deviation_ > 0 ? (effect - median_) / deviation_ : kNone;
}

std::vector<double> mid_ranks(const std::vector<double>& values) {
    std::vector<long long> units;
    units.reserve(values.size());
    for (const double value : values) units.push_back(rounded(value));
    return ranks_of(units);
}

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b, Index& count) {
    std::vector<double> predicted, measured;
    for (std::size_t n = 0; n < a.size(); ++n) {
        if (std::isnan(a[n]) || std::isnan(b[n])) continue;
        predicted.push_back(a[n]);
        measured.push_back(b[n]);
    }
    count = static_cast<Index>(predicted.size());
    if (count < 3) return kNone;
    const std::vector<double> x = mid_ranks(predicted), y = ranks_of(measured);
    const double mean = static_cast<double>(count + 1) / 2;
    double xx = 0, yy = 0, xy = 0;
    for (std::size_t n = 0; n < x.size(); ++n) {
        xx += (x[n] - mean) * (x[n] - mean);
        yy += (y[n] - mean) * (y[n] - mean);
        xy += (x[n] - mean) * (y[n] - mean);
    }
    return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : kNone;
}

}  // namespace pleat::mutants
