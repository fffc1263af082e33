// Frames: centring in float64, once, before any product.
#include "pleat/rmsd/superposition/frames.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/superposition/superpose.h"

namespace pleat::rmsd {

namespace {

constexpr double kMaxCoordinate = 1e15;  // squares of larger ones, summed and multiplied, overflow

void centre_axis(View<const float, 2> from, int axis, std::span<const double> weights, double total,
                 double* to) {
    const Index atoms = from.extent(0);
    const auto weight = [&](Index k) { return weights.empty() ? 1.0 : weights[k]; };
    // Subtracting one coordinate first keeps all digits of the mean of the differences.
    const double guess = from(0, axis);
    double sum = 0.0;
    for (Index k = 0; k < atoms; ++k) sum += weight(k) * (from(k, axis) - guess);
    const double mean = sum / total;
    for (Index k = 0; k < atoms; ++k) to[k] = std::sqrt(weight(k)) * (from(k, axis) - guess - mean);
}

void check_finite(View<const float, 2> frame, std::string_view what, Index index) {
    for (const float value : frame)
        if (!(std::fabs(value) <= kMaxCoordinate))
            throw InputError(
                fmt::format("{} {}: expected coordinates between -1e15 and 1e15, found {}", what,
                            index, value));
}

}  // namespace

double rmsd_in_float64(const Frames& frames, Index i, Index j) {
    const double sum = superposed_residual(frames.frame(i), frames.frame(j), frames.atom_count());
    return std::sqrt(sum / frames.weight);
}

void check_coordinates(View<const float, 3> xyz, std::string_view what) {
    for (Index i = 0; i < xyz.extent(0); ++i) check_finite(xyz[i], what, i);
}

Frames unset_frames(Index frames, Index atoms, double weight) {
    Frames some;
    some.xyz = Array<double, 3>::unset(frames, Index{3}, atoms);
    some.square_sum = Array<double, 1>(frames);
    some.weight = weight;
    return some;
}

double total_weight(std::span<const double> weights, Index atoms) {
    if (weights.empty()) return static_cast<double>(atoms);
    double total = 0.0;
    for (const double weight : weights) total += weight;
    return total;
}

double centre_frame(View<const float, 2> xyz, Index index, std::span<const double> weights,
                    double total, double* to) {
    const Index atoms = xyz.extent(0);
    check_finite(xyz, "frame", index);
    for (int axis = 0; axis < 3; ++axis) centre_axis(xyz, axis, weights, total, to + axis * atoms);
    double sum = 0.0;
    for (Index k = 0; k < 3 * atoms; ++k) sum += to[k] * to[k];
    return sum;
}

Frames centre(View<const float, 3> xyz, std::span<const double> weights, int threads) {
    Frames frames =
        unset_frames(xyz.extent(0), xyz.extent(1), total_weight(weights, xyz.extent(1)));
    parallel_for(threads, xyz.extent(0), [&](Index i, int) {
        frames.square_sum[i] = centre_frame(xyz[i], i, weights, frames.weight, frames.frame(i));
    });
    return frames;
}

}  // namespace pleat::rmsd
