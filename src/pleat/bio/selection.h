// Selections: which atoms of a topology are taken, in one small language.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/topology.h"

namespace pleat {

/// The atoms that `text` takes, as indices in the order of the topology.
///
/// Terms, joined by `and`, `or` and `not` as words of their own (`and` binds closer than `or`):
///   all  ca  backbone  heavy    every atom; CA atoms that are carbon; N CA C O of proteins with P
///                               O5' C5' C4' C3' O3' of nucleic acids; all but hydrogen
///   A:10-50,60  :10A-           residues of chain A, or of any chain: ends included, each may be
///                               left out, insertion codes as in 52A
///   anything else               gemmi's syntax: chain `A`, `A,B` or `!A`, residues
///                               `//A/10-50`, `(ALA,GLY)`, atoms `//*//CA,CB`, elements `[C,N]`
/// UsageError for text that is none of it; InputError, saying what the structure has, where it
/// takes no atom, or where the atoms have no names and it is not `all`.
std::vector<Index> select_atoms(const Topology& topology, std::string_view text);

}  // namespace pleat
