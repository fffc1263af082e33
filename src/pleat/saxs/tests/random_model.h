// Random models: scatterers of any number of channels, types and scales, for tests and benchmarks.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

#include "pleat/saxs/debye/debye.h"

namespace pleat::saxs::test {

struct RandomShape {
    Index scatterers = 50, types = 4, channels = 1, scaled = 0, q = 51;
    double step = 0.015, first = 0.0;
    bool even = true;
    bool shares_scales = false;  ///< the last channel has the scales of the one before
    /// The last type scatters in the channels with scales alone, as water of a hydration layer
    /// does, and the others in those without.
    bool separates = false;
    Index frames = 1;
    double spread = 20.0;  ///< angstrom, of coordinates
    std::uint64_t seed = 1;
};

struct RandomScatterers {
    Model model;
    Array<float, 3> xyz;     ///< [frame, axis, scatterer]
    Array<float, 3> scales;  ///< [frame, channel with scales, scatterer]
};

/// The last `scaled` channels have scales.
inline RandomScatterers random_scatterers(const RandomShape& shape) {
    std::mt19937_64 generator(shape.seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    RandomScatterers result;
    Model& model = result.model;
    for (Index k = 0; k < shape.q; ++k)
        model.q.push_back(shape.first +
                          shape.step * (static_cast<double>(k) +
                                        (shape.even || k == 0 ? 0.0 : 0.4 * uniform(generator))));
    for (Index i = 0; i < shape.scatterers; ++i)
        model.types.push_back(
            static_cast<std::int32_t>(generator() % static_cast<std::uint64_t>(shape.types)));
    model.factors = Array<double, 3>(shape.channels, shape.types, shape.q);
    for (Index c = 0; c < shape.channels; ++c) {
        for (Index type = 0; type < shape.types; ++type) {
            const double height = 2.0 + 8.0 * uniform(generator),
                         width = 2.0 + 4.0 * uniform(generator);
            const bool is_scaled = c >= shape.channels - shape.scaled,
                       is_last = type + 1 == shape.types;
            for (Index k = 0; k < shape.q && (!shape.separates || is_scaled == is_last); ++k)
                model.factors(c, type, k) =
                    height * std::exp(-std::pow(width * model.q[static_cast<std::size_t>(k)], 2));
        }
        model.scaled.push_back(c >= shape.channels - shape.scaled ? 1 : 0);
    }
    if (shape.shares_scales) model.scaled.back() = 2;
    result.xyz = Array<float, 3>(shape.frames, Index{3}, shape.scatterers);
    for (float& x : result.xyz) x = static_cast<float>(shape.spread * normal(generator));
    result.scales = Array<float, 3>(shape.frames, model.scale_count(), shape.scatterers);
    for (float& s : result.scales) s = static_cast<float>(uniform(generator));
    return result;
}

}  // namespace pleat::saxs::test
