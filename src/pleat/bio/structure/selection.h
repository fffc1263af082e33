// Selections: text such as "ca and A:10-50" that selects atoms of a topology.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/structure/topology.h"

#pragma GCC visibility push(default)

namespace pleat {

/// The atoms that `text` selects, as indices in the order of the topology.
///
/// Terms and groups in parentheses, joined by `and`, `or` and `not` (`not` binds closest, then
/// `and`):
///   all  ca  CA  backbone  heavy  protein
///                               every atom; CA atoms that are carbon (`CA` too, unless a chain has
///                               this name); N CA C O of proteins with P O5' C5' C4' C3' O3' of
///                               nucleic acids; all but hydrogen; residues of amino acids
///   name CA CB  resname ALA  chain A B
///                               atoms of these names, residues of these names, these chains
///   resid 10-50 60              residues of any chain by number, written as below
///   first 10  last 10           the polymer residues at the ends of each chain
///   A:10-50,60  :10A-           residues of chain A, or of any chain: ends included, each may be
///                               left out, insertion codes as in 52A
///   anything else               gemmi's syntax: chain `A`, `A,B` or `!A`, residues
///                               `//A/10-50`, `(ALA,GLY)`, atoms `//*//CA,CB`, elements `[C,N]`.
///                               Parentheses around names in capitals alone are gemmi's, except
///                               around a chain, or CA, that is no residue name of the structure
/// Throws UsageError for other text, naming the position of the word that was not understood;
/// InputError, naming what the structure has, if no atom is selected, if a chain named by one word
/// is absent, or if the atoms have no names and `text` is not `all`.
std::vector<Index> select_atoms(const Topology& topology, std::string_view text);

/// Positions in `all` of the atoms of `some`, both ascending and each of `some` in `all`.
std::vector<Index> positions_among(const std::vector<Index>& some, const std::vector<Index>& all);

/// Throws UsageError for text that is no selection, whatever the topology.
void check_selection(std::string_view text);

}  // namespace pleat

#pragma GCC visibility pop
