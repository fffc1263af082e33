// Residue ranges: text such as "A:289-301,310-320" that names stretches of residues.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/structure/topology.h"

namespace pleat::refine {

/// Consecutive residues of one chain, both ends included.
struct ResidueRange {
    std::string chain;
    int first = 0, last = 0;  ///< the author's numbers
    char first_insertion = ' ', last_insertion = ' ';

    std::string text() const;  ///< "A:289-301"
};

/// Reads `CHAIN:FIRST-LAST,...`. An item without a chain has that of the item before it; the first
/// one may lack it too, and then means the only chain. `FIRST` alone is one residue. Throws
/// UsageError, naming `option`, for other text.
std::vector<ResidueRange> parse_ranges(std::string_view text, std::string_view option);

/// The name of a residue in messages: "A:52A".
std::string residue_label(const Topology::Residue& residue);

}  // namespace pleat::refine
