// Hahn: coefficients as expectations of differences, every term of one sign.
#include "pleat/mutual_information/exact/hahn.h"

#include <algorithm>
#include <numbers>

namespace pleat::mutual_information {

namespace {

constexpr double kSmallest = 1e-24;  // of the square of order 2: where an expansion ends

// E[n lg(n/e)] = E[n lg(n/e) - (n - e)/ln 2]: each term is then small and not negative.
double mean_information(Index rows, Index r, Index c, const ProbabilityWindow& law) {
    const double product = static_cast<double>(r) * static_cast<double>(c);
    const double expectation = product / static_cast<double>(rows);
    double sum = 0;
    for (Index at = 0; at < law.size(); ++at) {
        const Index n = law.first + at;
        // (n - e)/e; the difference of two exact integers.
        const double excess = static_cast<double>(n * rows - r * c) / product;
        const double term = n == 0 ? 1 : (1 + excess) * std::log1p(excess) - excess;
        sum += law.probability[at] * term;
    }
    return std::max(0.0, sum) * expectation * std::numbers::log2e;
}

// Adds up in eight partial sums, so that the compiler can use vectors.
double dot(const double* a, const double* b, Index count) {
    double lane_sum[8] = {};
    Index at = 0;
    for (; at + 8 <= count; at += 8)
        for (int lane = 0; lane < 8; ++lane) lane_sum[lane] += a[at + lane] * b[at + lane];
    for (; at < count; ++at) lane_sum[0] += a[at] * b[at];
    return ((lane_sum[0] + lane_sum[4]) + (lane_sum[2] + lane_sum[6])) +
           ((lane_sum[1] + lane_sum[5]) + (lane_sum[3] + lane_sum[7]));
}

}  // namespace

void HahnDistribution::start(Index orders) {
    // The distribution of order m lies lower than that of order 0, by less than m (r + c) / N.
    const double lower = static_cast<double>(std::min(orders, max_order())) *
                         static_cast<double>(r_ + c_) / static_cast<double>(rows_);
    hypergeometric(rows_, r_, c_, kTail, static_cast<Index>(lower) + 2, window_);
    order_ = 0;
}

void HahnDistribution::next() {
    const auto m = static_cast<double>(order_), rows = static_cast<double>(rows_);
    const double r = static_cast<double>(r_) - m, c = static_cast<double>(c_) - m;
    const double factor = ((rows - 2 * m) / (r * (rows - static_cast<double>(r_) - m))) *
                          ((rows - 2 * m - 1) / (c * (rows - static_cast<double>(c_) - m)));
    const double first = static_cast<double>(window_.first);
    const double from_r = r - first, from_c = c - first;
    const Index count = window_.size();
    for (Index at = 0; at < count; ++at) {
        const auto x = static_cast<double>(static_cast<std::int32_t>(at));
        window_.probability[at] *= factor * ((from_r - x) * (from_c - x));
    }
    ++order_;
    while (!window_.probability.empty() &&
           window_.first + window_.size() - 1 > std::min(r_, c_) - order_)
        window_.probability.pop_back();
}

CellExpansion expand_cell(Index rows, Index r, Index c, const Differences& differences,
                          bool all_orders) {
    CellExpansion cell;
    const double expectation =
        static_cast<double>(r) * static_cast<double>(c) / static_cast<double>(rows);
    HahnDistribution law(rows, r, c);
    const int max_order =
        static_cast<int>(std::min<Index>(law.max_order(), Differences::orders(expectation)));
    law.start(max_order);
    cell.mean = mean_information(rows, r, c, law.window());
    HahnFactor factor(rows, r, c);
    for (int m = 1; m <= max_order; ++m) {
        law.next();
        factor.next();
        const ProbabilityWindow& window = law.window();
        const Index count = std::min(window.size(), differences.length(m) - window.first);
        const double mean =
            dot(window.probability.data(), differences.order(m) + window.first, count);
        if (m == 1) {
            cell.slope = mean;
            continue;
        }
        cell.coefficient[m] = std::sqrt(factor.square()) * mean;
        cell.orders = m;
        const double square = cell.coefficient[m] * cell.coefficient[m];
        if (!all_orders && m >= 4 && cell.coefficient[m] < cell.coefficient[m - 1] &&
            square < kSmallest * cell.coefficient[2] * cell.coefficient[2])
            break;
    }
    return cell;
}

void cell_information(double expectation, const ProbabilityWindow& law,
                      const Differences& differences, std::vector<double>& information) {
    information.resize(law.size());
    const Index last = law.first + law.size() - 1;
    const Index start = std::clamp(static_cast<Index>(std::llround(expectation)), law.first, last);
    const double excess = (static_cast<double>(start) - expectation) / expectation;
    const double value = start == 0 ? 1 : (1 + excess) * std::log1p(excess) - excess;
    information[start - law.first] = value * expectation * std::numbers::log2e;
    // From there each value follows by a small step, so that rounding errors stay small.
    const double slope = std::log2(expectation) + std::numbers::log2e;
    const double* step = differences.order(1);
    for (Index n = start; n < last; ++n)
        information[n + 1 - law.first] = information[n - law.first] + (step[n] - slope);
    for (Index n = start; n > law.first; --n)
        information[n - 1 - law.first] = information[n - law.first] - (step[n - 1] - slope);
}

}  // namespace pleat::mutual_information
