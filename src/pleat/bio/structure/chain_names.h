// Chain names: chains of a topology whose file names none.
#pragma once

#include "pleat/bio/structure/topology.h"

namespace pleat {

/// Names the chains of proteins and nucleic acids A, B, ..., Z, A2, ...; other residues get no
/// chain. If the topology has all bonds, residues that follow one another belong to one chain if
/// they are bonded. Otherwise a chain ends where protein changes to nucleic acid or to other
/// residues, where the residue number falls, and behind a terminal oxygen or the cap of a chain.
/// Sets `has_chain_names` to false.
void name_chains(Topology& topology);

}  // namespace pleat
