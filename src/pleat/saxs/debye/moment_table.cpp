// Moment table: chooses the width of bins, and tabulates waves at their centres.
#include "pleat/saxs/debye/moment_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace pleat::saxs {

namespace {

/// The length of a row of q is a multiple of this.
constexpr Index kLanes = 16;
/// Half a bin's width in units of 1 / q, at the last q.
constexpr double kHalfWidth = 0.75;
constexpr Index kMaxBins = 2048;
constexpr Index kMaxWaves = Index{1} << 22;

/// Coefficients of the powers of y of Chebyshev's polynomial of this degree.
std::array<double, kMoments> chebyshev(Index degree) {
    std::array<double, kMoments> before{1.0}, now{0.0, 1.0};
    if (degree == 0) return before;
    for (Index n = 1; n < degree; ++n) {
        std::array<double, kMoments> next{};
        for (std::size_t power = 0; power < next.size(); ++power)
            next[power] = (power > 0 ? 2.0 * now[power - 1] : 0.0) - before[power];
        before = now;
        now = next;
    }
    return now;
}

}  // namespace

MomentTable::MomentTable(const SineGrid& from)
    : grid(&from),
      q_stride((from.count + kLanes - 1) / kLanes * kLanes),
      powers(kMoments, q_stride) {
    const double smallest = std::max(from.q.back() / (2.0 * kHalfWidth), 1e-6);
    constexpr double kDigits = 16.0;
    int exponent = 0;
    const double fraction = std::frexp(smallest, &exponent);
    bins_per_angstrom =
        static_cast<float>(std::ldexp(std::ceil(fraction * kDigits) / kDigits, exponent));
    const double half = 0.5 / static_cast<double>(bins_per_angstrom);
    for (Index degree = 0; degree < kMoments; ++degree) {
        const std::array<double, kMoments> polynomial = chebyshev(degree);
        for (Index k = 0; k < grid->count; ++k) {
            const double q = grid->q[static_cast<std::size_t>(k)];
            if (q <= 0.0) continue;
            const double bessel = std::cyl_bessel_j(static_cast<double>(degree), q * half);
            const double sign = degree / 2 % 2 == 0 ? 1.0 : -1.0;
            const double term = (degree == 0 ? 1.0 : 2.0) * sign * bessel / q;
            for (Index power = 0; power <= degree; ++power)  // y = 2 x
                powers(power, k) += term * polynomial[static_cast<std::size_t>(power)] *
                                    std::ldexp(1.0, static_cast<int>(power));
        }
    }
}

/// One bin per bin width, half a bin at each end, and one bin more in case of rounding errors.
Index MomentTable::needed_bins(double reach) const {
    const double widths = reach * static_cast<double>(bins_per_angstrom);
    return widths < static_cast<double>(kMaxBins) ? static_cast<Index>(widths) + 3 : 0;
}

void MomentTable::extend_to(double reach) {
    const Index bins = needed_bins(reach);
    if (bins <= waves.extent(0) || bins > kMaxBins || bins * q_stride > kMaxWaves) return;
    Array<float, 2> more(bins, 2 * q_stride);
    std::copy(waves.begin(), waves.end(), more.begin());
    for (Index bin = waves.extent(0); bin < bins; ++bin) {
        const double centre = static_cast<double>(bin) / static_cast<double>(bins_per_angstrom);
        for (Index k = 0; k < grid->count; ++k) {
            const double phase = grid->q[static_cast<std::size_t>(k)] * centre;
            more(bin, k) = static_cast<float>(std::sin(phase));
            more(bin, q_stride + k) = static_cast<float>(std::cos(phase));
        }
    }
    waves = std::move(more);
}

Index MomentTable::bins(double reach) const {
    const Index bins = needed_bins(reach);
    return bins <= waves.extent(0) ? bins : 0;
}

/// Counts vectors of 16 distances or values of q.
bool MomentTable::is_faster(double pairs, double reach, Index weightings) const {
    const double bins_taken = static_cast<double>(bins(reach)),
                 sums = static_cast<double>(weightings);
    if (bins_taken == 0.0) return false;
    const double q = static_cast<double>(grid->count);
    const double by_sines = grid->even ? 90.0 + 1.3 * sums * q : (12.0 + sums) * q;
    const double by_moments = 55.0 + 35.0 * sums;
    const double conversion = sums * 0.7 * bins_taken * static_cast<double>(kMoments * q_stride);
    return pairs * by_sines > pairs * by_moments + conversion;
}

}  // namespace pleat::saxs
