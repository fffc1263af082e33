// Chain items: the equal chains of all frames of an ensemble, each as a structure of its own.
#pragma once

#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/structure/equal_chains.h"
#include "pleat/core/array.h"

namespace pleat {

/// Which chain and frame items are. Items are ordered by chain and then by frame, so that each
/// chain is a trajectory of its own.
struct ChainItems {
    std::vector<std::string> names;  ///< of the chains; empty: items are frames
    Index frames = 0;

    bool are_chains() const { return !names.empty(); }
    Index chain_of(Index item) const { return item / frames; }
    Index frame_of(Index item) const { return are_chains() ? item % frames : item; }
};

/// Coordinates [item, atom, axis] of the equal chains of an ensemble in memory.
Array<float, 3> chain_by_chain(const Ensemble& ensemble, const EqualChains& chains, int threads);

}  // namespace pleat
