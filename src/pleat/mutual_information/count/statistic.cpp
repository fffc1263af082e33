// Statistic: the table of n lg n from rounded logarithms of primes.
#include "pleat/mutual_information/count/statistic.h"

#include <algorithm>
#include <cmath>

namespace pleat::mutual_information {

namespace {

constexpr int kMostScale = 40;
constexpr int kBits = 62;                  // of T, one below what int64 holds
constexpr int kMomentBits = 20;            // of a difference whose cube is summed
constexpr double kMostInformation = 10.0;  // bits a row: 2 lg 32, the most that three columns share

}  // namespace

double Statistic::bits(std::int64_t t) const { return std::ldexp(static_cast<double>(t), -scale); }

double Statistic::moment_unit() const { return std::ldexp(1.0, shift - scale); }

Statistic make_statistic(Index rows) {
    const auto all = static_cast<double>(rows);
    Statistic made;
    const double most = all * std::log2(all + 1) + 1;
    made.scale = std::min(kMostScale, kBits - static_cast<int>(std::ceil(std::log2(most))));
    const double widest = std::ceil(std::log2(kMostInformation * all)) + made.scale;
    made.shift = std::max(0, static_cast<int>(widest) - kMomentBits);
    std::vector<std::int64_t> lg(rows + 1, 0);
    std::vector<std::int32_t> least_factor(rows + 1, 0);
    for (Index n = 2; n <= rows; ++n) {
        if (least_factor[n] != 0) {
            lg[n] = lg[least_factor[n]] + lg[n / least_factor[n]];
            continue;
        }
        lg[n] = std::llround(std::ldexp(std::log2(static_cast<long double>(n)), made.scale));
        for (Index multiple = n * n; multiple <= rows; multiple += n)
            if (least_factor[multiple] == 0) least_factor[multiple] = static_cast<std::int32_t>(n);
    }
    made.f.resize(rows + 1);
    for (Index n = 0; n <= rows; ++n) made.f[n] = n * lg[n];
    return made;
}

}  // namespace pleat::mutual_information
