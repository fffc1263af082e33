// Debye: profiles of scatterers from all their distances, as sums that are linear in channels.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/context.h"

#pragma GCC visibility push(default)

namespace pleat::saxs {

/// The scatterers of a structure without their positions. The amplitude of scatterer i is
///     A_i(q) = sum_c w_c s_ci f_c[type_i](q)
/// over channels c (vacuum, excluded volume, hydration, ...), with weights w_c that a fit may
/// choose afterwards, and a scale s_ci of the scatterer (its exposure), 1 if the channel has no
/// scales.
struct Model {
    std::vector<double> q;            ///< 1/angstrom, rising, not negative
    std::vector<std::int32_t> types;  ///< [scatterer]
    Array<double, 3> factors;         ///< [channel, type, q], electrons
    /// [channel]: 1 if scatterers have scales in it; 2 if they use the scales of the previous
    /// channel. Channels that share scales cost one sum over pairs, others one each.
    std::vector<std::uint8_t> scaled;

    Index q_count() const { return std::ssize(q); }
    Index scatterer_count() const { return std::ssize(types); }
    Index channel_count() const { return factors.extent(0); }
    Index type_count() const { return factors.extent(1); }
    Index scale_count() const;  ///< channels with scales of their own
    Index pair_count() const { return channel_count() * (channel_count() + 1) / 2; }
};

/// Number of the pair of channels a <= b among all pairs of `channels` channels, in the order
/// (0, 0), (0, 1), ..., (1, 1), ...
constexpr Index channel_pair(Index a, Index b, Index channels) {
    return a * channels - a * (a - 1) / 2 + b - a;
}

/// Throws UsageError unless sizes agree, q rises, and all values are finite.
void check(const Model& model);

/// The floating-point type of sums over pairs.
enum class Precision {
    automatic,  ///< float32; float64 on the reference device
    float32,
    float64
};
std::span<const std::string_view> names_of(Precision);

enum class Method {
    automatic,  ///< the cheaper one, by counting operations
    debye,      ///< every pair
    multipole   ///< spherical harmonics (Stuhrmann 1970), for large systems; README: its error
};
std::span<const std::string_view> names_of(Method);

struct Options {
    Precision precision = Precision::automatic;
    Method method = Method::automatic;
};

/// Partial profiles I_ab(q) of each frame, [frame, channel pair, q], such that
///     I(q) = sum_ij A_i A_j sin(q r_ij) / (q r_ij) = sum_{a <= b} w_a w_b I_ab(q)
/// (so a pair of different channels contains both orders). `xyz` [frame, axis, scatterer] in
/// angstrom; `scales` [frame, channel with scales, scatterer], empty if there are none.
///
/// Frames are divided among the ranks of `context`; every rank returns all profiles, the same bits
/// for any number of ranks and threads. If `context.checkpoint` is set and the frames take several
/// tiles, finished tiles are kept in that file, and the same call resumes from it. Throws
/// UsageError (shapes, coordinates that are not finite), InputError (checkpoint of another
/// problem), DeviceError, Cancelled.
Array<double, 3> profiles(const Model& model, View<const float, 3> xyz, View<const float, 3> scales,
                          const Options& options, const Context& context);

/// sum_{a <= b} w_a w_b I_ab: combines partial profiles [channel pair, q] to a profile [q].
/// `weights` [channel].
std::vector<double> combine(View<const double, 2> partial, std::span<const double> weights);

}  // namespace pleat::saxs

#pragma GCC visibility pop
