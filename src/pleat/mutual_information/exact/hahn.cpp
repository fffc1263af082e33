// Hahn: probabilities, differences of n lg n, coefficients as their expectations, and products of
// letters.
#include "pleat/mutual_information/exact/hahn.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "pleat/mutual_information/exact/vector_loops.h"

namespace pleat::mutual_information {

namespace {

// Tables of orders up to `highest`, for cells of expectation below `expectation`, up to count
// `length` (above which such a cell's probability is below kTail).
struct Table {
    int lowest, highest;
    Index length;
    double expectation;
};
constexpr Table kTables[] = {
    {25, 48, 512, 100}, {13, 24, 2048, 1000}, {2, 12, Index{1} << 40, 1e300}};

// With s = e^t the integrand is a bump about s = (order - 1)/x of width 1/sqrt(order) that falls
// off as s^(order - 1) to the left and doubly exponentially (for x = 0 exponentially) to the right:
// the rule's error falls as the larger of exp(-2 pi^2 / (order step^2)) and exp(-pi^2 / step).
class Integral {
public:
    Integral(int order, Index max_x)
        : step_(std::min(0.2, 0.6 / std::sqrt(order))), order_(order), lowest_(left_end(max_x)) {
        for (double t = lowest_; t < 46; t += step_) {
            const double s = std::exp(t);
            s_.push_back(s);
            factor_.push_back(step_ * std::numbers::log2e / s * std::pow(-std::expm1(-s), order));
        }
    }

    double operator()(Index x) const {
        const auto count = static_cast<double>(x);
        double sum = 0, latest = 0;
        const auto begin = static_cast<std::size_t>((left_end(x) - lowest_) / step_);
        for (std::size_t node = begin; node < s_.size(); ++node) {
            const double term = factor_[node] * std::exp(-count * s_[node]);
            if (term < latest && term < 1e-19 * sum) break;
            sum += latest = term;
        }
        return sum;
    }

private:
    // The integration limits, where the integrand has fallen to e^-44 of its maximum.
    double left_end(Index x) const {
        const double peak = std::log((order_ - 1) / static_cast<double>(std::max(x, Index{1})));
        return std::min(0.0, peak) - 44.0 / (order_ - 1) - 2;
    }

    double step_;
    int order_;
    double lowest_;
    std::vector<double> s_, factor_;
};

constexpr double kSmallest = 1e-24;  // of the square of order 2: where an expansion ends

// E[n lg(n/e)] = E[n lg(n/e) - (n - e)/ln 2]; each term of the second form is small and >= 0.
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

int Differences::orders(double expectation) {
    for (const Table& table : kTables)
        if (expectation < table.expectation) return table.highest;
    return kTables[2].highest;
}

std::int64_t Differences::bytes(Index rows) {
    std::int64_t values = rows + 1;  // number of values of order 1
    for (const Table& table : kTables)
        values += (table.highest - table.lowest + 1) * std::min(rows + 1, table.length);
    return 8 * values;
}

Differences::Differences(Index rows) {
    for (const Table& table : kTables)
        fill(table.lowest, table.highest, std::min(rows + 1, table.length));
    values_[1].resize(rows + 1);
    for (Index x = 1; x <= rows; ++x) {
        const auto n = static_cast<double>(x);
        values_[1][x] = std::log2(n + 1) + n * std::log1p(1 / n) * std::numbers::log2e;
    }
}

void Differences::fill(int lowest, int highest, Index length) {
    const Integral top(highest, length);
    values_[highest].resize(length);
    for (Index x = 0; x < length; ++x) values_[highest][x] = top(x);
    for (int m = highest - 1; m >= lowest; --m) {
        auto& values = values_[m];
        const auto& above = values_[m + 1];
        values.resize(length);
        values[length - 1] = Integral(m, length)(length - 1);
        for (Index x = length - 2; x >= 0; --x) values[x] = values[x + 1] + above[x];
    }
}

void hypergeometric(Index all, Index marked, Index drawn, double cut, Index more_below,
                    ProbabilityWindow& window) {
    const Index lowest = std::max(Index{0}, marked + drawn - all);
    const Index highest = std::min(marked, drawn);
    const auto mode_quotient = static_cast<double>(marked + 1) * static_cast<double>(drawn + 1) /
                               static_cast<double>(all + 2);
    const Index mode = std::clamp(static_cast<Index>(mode_quotient), lowest, highest);
    // p(x) / p(x - 1) = up(x) / down(x).
    const auto up = [&](Index x) {
        return static_cast<double>(marked - x + 1) * static_cast<double>(drawn - x + 1);
    };
    const auto down = [&](Index x) {
        return static_cast<double>(x) * static_cast<double>(all - marked - drawn + x);
    };
    auto& p = window.probability;
    p.clear();
    Index more = more_below;
    double value = 1, sum = 0;
    for (Index x = mode; x >= lowest; --x) {
        if (value < cut && more-- <= 0) break;
        p.push_back(value);
        value *= down(x) / up(x);
    }
    window.first = mode - static_cast<Index>(p.size()) + 1;
    std::reverse(p.begin(), p.end());
    value = 1;
    for (Index x = mode + 1; x <= highest; ++x) {
        value *= up(x) / down(x);
        if (value < cut) break;
        p.push_back(value);
    }
    for (const double weight : p) sum += weight;
    for (double& weight : p) weight /= sum;
}

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

LetterGram::LetterGram(std::span<const Index> margin, Index rows, int orders)
    : letters_(static_cast<Index>(margin.size())),
      largest_(std::max_element(margin.begin(), margin.end()) - margin.begin()),
      dyad_factors_(orders * margin.size()),
      rho_with_largest_(orders * margin.size()) {
    const Index max_rows = margin[largest_];
    for (Index a = 0; a < letters_; ++a) {
        if (a == largest_) continue;
        const Index r = margin[a];
        double own = 1, both = 1;
        // Letters other than the largest have at most N/2 rows, and r + max_rows <= N.
        for (Index m = 0; m < orders && m < r && m < rows - max_rows; ++m) {
            own *= static_cast<double>(r - m) / static_cast<double>(rows - r - m);
            both *= (static_cast<double>(r - m) / static_cast<double>(rows - max_rows - m)) *
                    (static_cast<double>(max_rows - m) / static_cast<double>(rows - r - m));
            dyad_factors_[m * letters_ + a] = std::sqrt(own);
            rho_with_largest_[m * letters_ + a] = std::sqrt(both);
        }
    }
}

void LetterGram::apply_to(int m, double* f, Index stride, Index width) const {
    const Index first = (m - 1) * letters_;
    loops::apply_gram({letters_, largest_, m % 2 == 0 ? 1.0 : -1.0, dyad_factors_.data() + first,
                       rho_with_largest_.data() + first},
                      f, stride, width);
}

}  // namespace pleat::mutual_information
