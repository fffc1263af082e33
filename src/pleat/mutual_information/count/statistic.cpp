// Statistic: the table of n lg n from rounded logarithms of primes.
#include "pleat/mutual_information/count/statistic.h"

#include <algorithm>
#include <cmath>

namespace pleat::mutual_information {

namespace {

constexpr int kMaxScale = 40;
constexpr int kBits = 62;                 // bits of T: int64 has one more
constexpr int kMomentBits = 20;           // bits of a difference whose cube is summed
constexpr double kMaxInformation = 10.0;  // bits per row: 2 lg 32, the maximum of three columns

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

}  // namespace pleat::mutual_information
