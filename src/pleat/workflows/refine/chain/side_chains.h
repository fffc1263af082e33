// Side chains: heavy atoms of the 20 amino acids in ideal geometry and common rotamers.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "pleat/workflows/refine/chain/geometry.h"
#include "pleat/workflows/refine/moves/random.h"

namespace pleat::refine {

/// The backbone of a residue.
struct Backbone {
    Vector n, ca, c;

    /// The transform from a frame with N at the origin, CA on the x axis and C in the xy plane, to
    /// the residue's position.
    Transform frame() const;
};

/// The names and positions of all heavy atoms of the side chain of an amino acid ("ARG"), in one of
/// its most common rotamers, drawn by how often they occur; empty for glycine.
std::vector<std::pair<std::string_view, Vector>> build_side_chain(std::string_view residue,
                                                                  const Backbone& backbone,
                                                                  Random& random);

}  // namespace pleat::refine
