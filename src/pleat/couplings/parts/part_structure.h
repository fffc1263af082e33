// Structure of parts: a chain of one structure for each part, as one chain over all columns.
#pragma once

#include <string>

#include "pleat/bio/structure/known_structure.h"
#include "pleat/couplings/parts/parts.h"

namespace pleat::couplings {

/// Adds to `structure` a chain named `chains` ("A,B") that joins the chains of these names, and
/// maps the columns of each part to its chain. All parts use the same row: `row`, or if empty the
/// row that fits the first part's chain best. Throws UsageError unless there is one name per part,
/// and like map_residues().
ResidueMap map_parts(const Alignment& source, const Parts& parts, const std::string& row,
                     const std::string& chains, Structure& structure);

}  // namespace pleat::couplings
