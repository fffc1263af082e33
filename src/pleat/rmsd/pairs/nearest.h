// Nearest: lists of the nearest frames of each frame.
#pragma once

#include "pleat/rmsd/measures/metric.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::rmsd {

/// Empty lists for the `count` nearest others of each frame; unused elements have the index -1.
Nearest empty_nearest(Index frames, Index count, const MetricTraits& metric);
/// Adds `other` to the nearest frames of `frame` if it is one of them. The list is a heap whose
/// first element is the farthest. Of two equally near frames the lower one is nearer, in whatever
/// order they are offered.
void keep_nearest(Nearest& nearest, Index frame, Index other, float value,
                  const MetricTraits& metric);
/// Sorts each list, once all frames were offered.
void sort_nearest(Nearest& nearest, const MetricTraits& metric, int threads);

/// Throws DeviceError if memory lacks `bytes` for lists of `pairs` pairs.
void require_list_memory(Index pairs, std::int64_t bytes);

}  // namespace pleat::rmsd
