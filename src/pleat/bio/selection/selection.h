// Selections: text such as "ca and A:10-50" that selects atoms of a topology.
#pragma once

#include <string_view>
#include <vector>

#include "pleat/bio/structure/topology.h"

#pragma GCC visibility push(default)

namespace pleat {

/// The atoms that `text` selects, as indices in the order of the topology (docs/selections.md).
///
/// Terms and groups in parentheses, joined by `and`, `or` and `not` (also `&&`, `||`, `!`); `not`
/// binds closest, then `and`. Terms:
///   all  ca  backbone  sidechain  heavy  hydrogen  protein  nucleic  water  ion  ligand
///   name CA C*  resname ALA  chain A  segid PROA  element C   names, where `*` and `?` stand for
///   others resid 10 to 50 60-70 80     residues of any chain by number; also resid >= 10 index 0
///   to 99  bfactor < 20  plddt >= 70      atoms from 0; B factors, in models pLDDT within 5 of
///   TERM            atoms at most 5 angstrom from those of a term, and these same residue as TERM
///   same chain as TERM  same molecule as TERM   molecules are bonded atoms amber(:1-3@CA) AMBER's
///   masks, which count residues and atoms from 1 first 10  last 10           the polymer residues
///   at the ends of each chain A:10-50,60  :10A-           residues of chain A, or of any chain:
///   ends included, each may be
///                               left out, insertion codes as in 52A
///   FILE.ndx:GROUP              a group of a GROMACS index file
///   anything else               gemmi's syntax: chain `A` or `A,B`, residues `//A/10-50`,
///                               `(ALA,GLY)`, atoms `//*//CA,CB`, elements `[C,N]`. `CA` is `ca`
///                               unless a chain has this name. Parentheses around names in capitals
///                               alone are gemmi's, except around a chain, or CA, that is no
///                               residue name of the structure
/// Throws UsageError for other text, naming the position of the word that was not understood;
/// InputError, naming what the structure has, if no atom is selected, if a chain named by one word
/// is absent, if the atoms have no names and `text` is not `all`, or if the topology lacks the
/// coordinates or B factors that `text` needs.
std::vector<Index> select_atoms(const Topology& topology, std::string_view text);

/// The positions in `all` of the atoms of `some`; both ascend, and `all` contains `some`.
std::vector<Index> positions_among(const std::vector<Index>& some, const std::vector<Index>& all);

/// Throws UsageError if the text is not a valid selection for any topology.
void check_selection(std::string_view text);

}  // namespace pleat

#pragma GCC visibility pop
