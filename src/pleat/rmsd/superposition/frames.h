// Frames: centred coordinates in float64, the input of every kernel.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "pleat/core/array.h"

namespace pleat::rmsd {

/// An ensemble whose frames have their weighted mean at the origin. Each atom is multiplied by the
/// root of its weight, so that sums over atoms are weighted sums.
struct Frames {
    Array<double, 3> xyz;         ///< [frame, axis, atom], angstrom
    Array<double, 1> square_sum;  ///< [frame]: sum of squares
    double weight = 0.0;          ///< of all atoms: the divisor of a mean square
    /// The structure [axis, atom] onto which kernels turn the frames; empty: common_structure() of
    /// these.
    std::vector<double> common;

    Index frame_count() const { return xyz.extent(0); }
    Index atom_count() const { return xyz.extent(2); }
    const double* frame(Index i) const { return xyz.data() + i * 3 * atom_count(); }
    double* frame(Index i) { return xyz.data() + i * 3 * atom_count(); }
};

/// Frames whose coordinates are not set.
Frames unset_frames(Index frames, Index atoms, double weight);

/// Frames that several objects may share.
using FrameSet = std::shared_ptr<const Frames>;
inline FrameSet owned(Frames frames) { return std::make_shared<const Frames>(std::move(frames)); }
/// `frames` must outlive the result.
inline FrameSet borrowed(const Frames& frames) { return {std::shared_ptr<void>(), &frames}; }

/// The RMSD of two frames in float64 from rotated coordinates, with an error below 1e-8 angstrom.
double rmsd_in_float64(const Frames& frames, Index i, Index j);

/// Throws InputError naming the first frame with a coordinate that is not finite or beyond 1e15;
/// `what` is what such frames are called in the message.
void check_coordinates(View<const float, 3> xyz, std::string_view what = "frame");

/// The sum of the weights of the atoms; `weights` empty: all 1.
double total_weight(std::span<const double> weights, Index atoms);

/// Centres the frame `xyz` [atom, axis], whose number is `index`, into `to` [axis, atom], and
/// returns its sum of squares. `total`: total_weight(). Throws as check_coordinates().
double centre_frame(View<const float, 2> xyz, Index index, std::span<const double> weights,
                    double total, double* to);

/// Centres `xyz` [frame, atom, axis]. `weights` [atom], not negative and not all 0; empty: all 1.
/// Throws as check_coordinates().
Frames centre(View<const float, 3> xyz, std::span<const double> weights, int threads);

}  // namespace pleat::rmsd
