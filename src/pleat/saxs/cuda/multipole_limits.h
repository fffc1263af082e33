// Multipole limits: what the GPU's kernels of multipoles have lanes, registers and memory for.
#pragma once

#include "pleat/saxs/debye/debye.h"
#include "pleat/saxs/kernel/multipole_table.h"

namespace pleat::saxs::cuda {

/// Degrees and radial nodes of a frame at most.
inline constexpr int kMaxDegrees = 127, kMaxNodes = 96;
/// Channels of a model at most, and types times the classes in which they scatter.
inline constexpr int kMaxMultipoleChannels = 4, kMaxMultipoleSegments = 64;

inline bool fits_multipoles(const Model& model, Index segments) {
    return model.channel_count() <= kMaxMultipoleChannels && segments <= kMaxMultipoleSegments;
}
inline bool fits_multipoles(const MultipoleSize& size) {
    return size.degrees <= kMaxDegrees && size.nodes <= kMaxNodes;
}

}  // namespace pleat::saxs::cuda
