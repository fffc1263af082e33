// Band tally: what the pairs of some rows amount to, where a kernel gathers it without their
// values.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "pleat/core/math/value_bins.h"

#pragma GCC visibility push(default)

namespace pleat::rmsd {

/// A pair i < j below the cut-off.
struct NearPair {
    std::int32_t i, j;
    float rmsd;
};

/// What a tally asks for. `cutoff` 0: no neighbours.
struct TallyOptions {
    double bin = 0.05, cutoff = 0.0;
};

/// Sums and lists over pairs; see Result in rmsd.h. The order of adding changes nothing but that of
/// `near`.
struct BandTally {
    std::vector<std::int64_t> histogram;
    std::vector<NearPair> near;  ///< by i, then j, in each band
    double sum = 0.0;            ///< of values: a whole number of a power of two
    float least = std::numeric_limits<float>::infinity(), most = 0.0f;
};

}  // namespace pleat::rmsd

#pragma GCC visibility pop
