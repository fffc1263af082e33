// Memory estimate: the grid of q, and the bytes that a run keeps at a time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/estimate.h"
#include "pleat/saxs/model/form_factors.h"
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {

/// Points of the grid from 0 to --q-max. With a curve, profiles are interpolated between them, for
/// which a step of 0.5 / diameter is fine enough: the error of a cubic is (0.5)^4 / 384 of the
/// contribution of the longest pairs, 2e-4.
std::size_t grid_points(const Parameters& parameters, bool with_curve, double diameter);

Index frame_count(std::span<const Ensemble> components);

inline constexpr Index kMaxChannelPairs = kAtomChannels * (kAtomChannels + 1) / 2;

/// Bytes for the profiles of these frames at this many points of q, and for their scatterers'
/// positions, besides the coordinates.
std::int64_t component_memory(Index frames, Index scatterers, Index points,
                              Index channel_pairs = kMaxChannelPairs);

/// One component of a mixture, or an ensemble.
struct ComponentSize {
    Index frames = 0, atoms = 0;
    double diameter = 0;  ///< an upper bound of the largest distance in a frame, angstrom
};

std::vector<ComponentSize> sizes_of(std::span<const Ensemble> components, int threads);

/// Bytes of the output files of profiles and of the table of frames.
std::int64_t disk_needed(Index frames, const Parameters& parameters);

/// What reading the frames, run(), and writing need, with a curve of `curve_points` points; 0: no
/// curve. The time is right to a factor of about three. Throws UsageError if the context's device
/// is a GPU and options exclude GPUs.
Estimate estimate(std::span<const ComponentSize> components, Index curve_points,
                  const Parameters& parameters, const Context& context,
                  std::span<const FurtherCurve> further = {});

}  // namespace pleat::saxs
