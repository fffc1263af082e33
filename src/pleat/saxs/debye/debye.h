// Debye: profiles of scatterers from all their distances, as sums that are linear in channels.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/context.h"

#pragma GCC visibility push(default)

namespace pleat::saxs {

/// What scatters, whatever its place. The amplitude of scatterer i is
///     A_i(q) = sum_c w_c s_ci f_c[type_i](q)
/// over channels c (vacuum, excluded volume, hydration, ...), with weights w_c that a fit may
/// choose afterwards, and a scale s_ci of the scatterer (its exposure), 1 where the channel has
/// none.
struct Model {
    std::vector<double> q;             ///< 1/angstrom, rising, not negative
    std::vector<std::int32_t> types;   ///< [scatterer]
    Array<double, 3> factors;          ///< [channel, type, q], electrons
    std::vector<std::uint8_t> scaled;  ///< [channel]: 1 where scatterers have scales

    Index q_count() const { return static_cast<Index>(q.size()); }
    Index scatterer_count() const { return static_cast<Index>(types.size()); }
    Index channel_count() const { return factors.extent(0); }
    Index type_count() const { return factors.extent(1); }
    Index scale_count() const;  ///< channels with scales
    Index pair_count() const { return channel_count() * (channel_count() + 1) / 2; }
};

/// Place of the channels a <= b among `channels` channels' pairs: (0, 0), (0, 1), ..., (1, 1), ...
constexpr Index channel_pair(Index a, Index b, Index channels) {
    return a * channels - a * (a - 1) / 2 + b - a;
}

/// InputError unless sizes agree, q rises, and all is finite.
void check(const Model& model);

enum class Precision { float32, float64 };
enum class Method {
    automatic,  ///< the cheaper one, by counting
    debye,      ///< every pair
    multipole   ///< spherical harmonics (Stuhrmann 1970), for large systems; README: its error
};

struct Options {
    Precision precision = Precision::float32;
    Method method = Method::automatic;
};

/// Partial profiles I_ab(q) of each frame, [frame, channel pair, q], such that
///     I(q) = sum_ij A_i A_j sin(q r_ij) / (q r_ij) = sum_{a <= b} w_a w_b I_ab(q)
/// (so a pair of different channels has both orders in it). `xyz` [frame, axis, scatterer] in
/// angstrom; `scales` [frame, channel with scales, scatterer], empty where there is none. Frames
/// are dealt over the ranks of `context` by sweep(); every rank returns all profiles, the same bits
/// for any number of ranks and threads. InputError (shapes, coordinates that are not finite),
/// DeviceError, Cancelled.
Array<double, 3> profiles(const Model& model, View<const float, 3> xyz, View<const float, 3> scales,
                          const Options& options, const Context& context);

/// sum_{a <= b} w_a w_b I_ab: the profile [q] of partial ones [channel pair, q].
std::vector<double> combine(View<const double, 2> partial, std::span<const double> weights);

/// Bytes that profiles() needs beside its arguments and its result; for `cuda` the GPU's.
std::int64_t memory_needed(const Model& model, const Options& options, const Device& device);

}  // namespace pleat::saxs

#pragma GCC visibility pop
