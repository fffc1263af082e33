// Atom sets: which atoms of the coordinates are superposed, which are measured, and their weights.
#pragma once

#include <string>
#include <vector>

#include "pleat/core/view.h"

namespace pleat::rmsd {

struct AtomSets {
    std::vector<Index> fit, measured;  ///< ascending indices of the coordinates' atoms; empty: all
    std::vector<double> weights;       ///< of all the coordinates' atoms; empty: all 1
    std::string weights_file = {};     ///< where the weights were read, for messages; may be empty

    bool are_one() const { return fit == measured; }
};

/// InputError for indices beyond `atoms`, weights that are not from 0 to 1e15, and a set whose
/// weights are all 0.
void check(const AtomSets& sets, Index atoms);

}  // namespace pleat::rmsd
