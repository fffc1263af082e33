// Frames: centred coordinates in float64, in memory or read in blocks, and their common structure.
#pragma once

#include <memory>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "pleat/bio/ensemble/frame_store.h"
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
/// messages call a frame `what`.
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

/// The indices of frames that common_structure() averages: up to 1000 of `count`, evenly spaced.
std::vector<Index> averaged_frames(Index count);

/// The mean, [axis, atom] in angstrom, of averaged_frames(), turned onto the first frame; or
/// `frames.common` if it is set.
std::vector<double> common_structure(const Frames& frames, int threads);

/// Rotates `frame` onto `target` by the best rotation; all arrays are [axis, atom].
void rotate_onto(const double* frame, const double* target, Index atoms, double* turned);

/// Frames that may exceed memory. Thread-safe.
class FrameSource {
public:
    virtual ~FrameSource() = default;
    virtual Index frame_count() const = 0;
    virtual Index atom_count() const = 0;
    /// Returns these frames, centred as by centre().
    virtual Frames subset(std::span<const Index> items, int threads) const = 0;
    /// Returns these frames as a separate ensemble.
    virtual std::shared_ptr<const FrameSource> subset_source(std::span<const Index> items,
                                                             int threads) const = 0;
    /// All frames if they are in memory, else null.
    virtual const Frames* in_memory() const { return nullptr; }
    /// The best number of frames to read at a time, besides the rows of a band.
    virtual Index block() const { return frame_count(); }
};

std::shared_ptr<const FrameSource> memory_source(FrameSet frames);

/// The source of frames that are read and centred when they are asked for. Kernels turn its subsets
/// onto the common structure of all frames, so that a pair's value does not depend on the subset.
/// `weights` as for centre(); `block`: how many frames are read at a time, 0: block_frames().
/// Throws InputError.
std::shared_ptr<const FrameSource> block_source(FrameStore store, std::vector<double> weights,
                                                int threads, Index block = 0);

/// The number of frames that take 256 MiB when centred and packed.
Index block_frames(Index atoms);

/// first, first + 1, ...
inline std::vector<Index> consecutive(Index first, Index count) {
    std::vector<Index> items(count);
    std::iota(items.begin(), items.end(), first);
    return items;
}

}  // namespace pleat::rmsd
