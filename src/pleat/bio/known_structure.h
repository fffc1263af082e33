// Known structure: a structure laid over an alignment, and the row whose letters results show.
#pragma once

#include <string>
#include <vector>

#include "pleat/bio/contacts.h"
#include "pleat/bio/residue_map.h"
#include "pleat/bio/structure.h"
#include "pleat/core/array.h"

namespace pleat {

/// The row whose letters and residues the contact files show, over all columns of the source.
struct ReferenceRow {
    std::string name;
    std::string letters;  ///< one a column of the source, '-' for a gap
};

/// A known structure, laid over the columns that were kept.
struct KnownStructure {
    Structure structure;
    ResidueMap map;                ///< over all columns of the source
    std::vector<Index> residues;   ///< of each kept column: index into the chain, or -1
    ContactDefinition definition;
    Array<double, 2> distances;    ///< of each two kept columns, angstrom; NaN: not known

    const Chain& chain() const { return structure.chains[static_cast<std::size_t>(map.chain)]; }
};

}  // namespace pleat
