// Shared electrons: bonds whose orders are arbitrary, since electrons are shared among several.
#pragma once

#include "pleat/bio/structure/molecular_graph.h"

namespace pleat {

/// Gives the kind kDelocalised to bonds of rings of five to seven atoms that share six electrons
/// (Hueckel), and to bonds of terminal atoms of one element (O, N, S) on one atom, some of which
/// have double bonds: carboxyl, nitro, phosphate, amidine. Protons on them are ignored.
void mark_shared_electrons(MolecularGraph& graph);

}  // namespace pleat
