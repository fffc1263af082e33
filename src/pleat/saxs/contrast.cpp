// Contrast: the sum of partial profiles with the weights of their channels.
#include "pleat/saxs/contrast.h"

#include <array>
#include <cmath>
#include <numbers>

#include "pleat/saxs/debye.h"
#include "pleat/saxs/form_factors.h"

namespace pleat::saxs {

double volume_factor(double c1, double mean_radius, double q) {
    const double root = std::cbrt(4 * std::numbers::pi / 3);
    const double width = root * root * mean_radius * mean_radius / (4 * std::numbers::pi);
    return c1 * c1 * c1 * std::exp(-width * (c1 * c1 - 1) * q * q);
}

std::vector<double> intensity(View<const double, 2> partial, std::span<const double> q,
                              double mean_radius, const Contrast& contrast) {
    const bool is_atomic = partial.extent(0) == kAtomChannels * (kAtomChannels + 1) / 2;
    std::vector<double> sum(q.size(), 0);
    for (std::size_t k = 0; k < q.size(); ++k) {
        const auto at = static_cast<Index>(k);
        std::array<double, 3> weights = {1, contrast.c2, 0};
        if (is_atomic) weights = {1, -volume_factor(contrast.c1, mean_radius, q[k]), contrast.c2};
        const Index channels = is_atomic               ? kAtomChannels
                               : partial.extent(0) > 1 ? kBodyChannels
                                                       : 1;
        for (Index a = 0; a < channels; ++a) {
            for (Index b = a; b < channels; ++b)
                sum[k] += weights[static_cast<std::size_t>(a)] *
                          weights[static_cast<std::size_t>(b)] *
                          partial(channel_pair(a, b, channels), at);
        }
    }
    return sum;
}

}  // namespace pleat::saxs
