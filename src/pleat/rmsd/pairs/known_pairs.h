// Known pairs: what a finished run of rmsd has written about all pairs, for clustering.
#pragma once

#include <filesystem>

#include "pleat/cluster/cluster.h"

namespace pleat::rmsd {

/// Reads neighbours.npz and histogram.tsv of a finished run of `frames` frames. `bin_width`, `min`,
/// `mean` and `max` are those of its manifest. Throws InputError for files that contradict each
/// other or the number of frames.
cluster::KnownPairs read_known_pairs(const std::filesystem::path& folder, Index frames,
                                     double bin_width, double min, double mean, double max);

}  // namespace pleat::rmsd
