// Contrast: the sum of partial profiles with the weights of their channels.
#include "pleat/saxs/fit/contrast.h"

#include <array>
#include <cmath>
#include <numbers>

#include "pleat/saxs/model/form_factors.h"

namespace pleat::saxs {

double volume_factor(double c1, double mean_radius, double q) {
    const double root = std::cbrt(4 * std::numbers::pi / 3);
    const double width = root * root * mean_radius * mean_radius / (4 * std::numbers::pi);
    return c1 * c1 * c1 * std::exp(-width * (c1 * c1 - 1) * q * q);
}

namespace {

struct Weights {
    Index channels = 1;
    std::array<double, 3> of{};

    Weights(Index pairs, double q, double mean_radius, const Contrast& contrast) {
        if (pairs == kAtomChannels * (kAtomChannels + 1) / 2) {
            channels = kAtomChannels;
            of = {1, -volume_factor(contrast.c1, mean_radius, q), contrast.c2};
        } else {
            channels = pairs > 1 ? kBeadChannels : 1;
            of = {1, contrast.c2, 0};
        }
    }
    double pair(Index a, Index b) const { return of[a] * of[b]; }
};

}  // namespace

Array<double, 2> channel_pair_factors(Index pairs, std::span<const double> q, double mean_radius,
                                      const Contrast& contrast) {
    Array<double, 2> factors(pairs, std::ssize(q));
    for (Index k = 0; k < factors.extent(1); ++k) {
        const Weights weights(pairs, q[k], mean_radius, contrast);
        for (Index a = 0; a < weights.channels; ++a)
            for (Index b = a; b < weights.channels; ++b)
                factors(channel_pair(a, b, weights.channels), k) = weights.pair(a, b);
    }
    return factors;
}

std::vector<double> intensity(View<const double, 2> partial, View<const double, 2> factors) {
    std::vector<double> sum(partial.extent(1), 0);
    for (Index pair = 0; pair < partial.extent(0); ++pair)
        for (Index k = 0; k < partial.extent(1); ++k) sum[k] += factors(pair, k) * partial(pair, k);
    return sum;
}

std::vector<double> intensity(View<const double, 2> partial, std::span<const double> q,
                              double mean_radius, const Contrast& contrast) {
    return intensity(partial, channel_pair_factors(partial.extent(0), q, mean_radius, contrast));
}

}  // namespace pleat::saxs
