// Variants of the TM-score's kernel on a GPU, and what each takes.
#pragma once

#include <vector>

#include "pleat/rmsd/superposition/frames.h"

namespace pleat::bench {

struct TmVariant {
    int items, warps;
    double seconds;
};

/// Each frame with each one, without copies.
std::vector<TmVariant> time_tm_variants(const rmsd::Frames& frames);

}  // namespace pleat::bench
