// Differences: the integral by the trapezoidal rule on a logarithmic scale, and the sums below it.
#include "pleat/mutual_information/exact/differences.h"

#include <algorithm>
#include <cmath>
#include <numbers>

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

}  // namespace pleat::mutual_information
