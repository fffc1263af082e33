// Atom sets: which atoms of the coordinates are superposed, which are measured, and their weights.
#pragma once

#include <vector>

#include "pleat/core/view.h"

namespace pleat::rmsd {

struct AtomSets {
    std::vector<Index> fit, measured;  ///< ascending indices of the coordinates' atoms; empty: all
    std::vector<double> weights;       ///< of all the coordinates' atoms; empty: all 1

    bool are_one() const { return fit == measured; }
};

/// InputError for indices beyond `atoms`, weights that are not from 0 to 1e15, and a set whose
/// weights are all 0.
void check(const AtomSets& sets, Index atoms);

}  // namespace pleat::rmsd
