// Missing names: chains and elements of files that name none, from residues, names of atoms and
// masses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/structure/topology.h"

namespace pleat {

/// The element of an atom of a PDB file without element columns, from columns 13-16; "X" if the
/// name does not decide. A symbol of two letters begins in column 13 ("FE  ", "CA  "), one of a
/// single letter in column 14 (" CA "): PDB format 3.3, ATOM. In amino acids, nucleotides and water
/// the first letter decides. Of single letters only H, C, N, O, P and S are elements. See
/// guess_element() (topology.h) for names without columns.
std::string guess_element_in_columns(std::string_view columns, std::string_view residue_name);

/// Whether this is an unmodified amino acid, nucleotide or water: its atoms are only H, C, N, O, P
/// and S, whichever columns their names fill.
bool is_common_residue(std::string_view name);

/// Sets elements and masses of atoms if the file has neither. In amino acids, nucleotides and
/// water, recognised by name or atoms, the first letter is the element; a single-atom residue is an
/// ion if its name is one; other names may be undecided (X). `masses` [atom] of the file in dalton,
/// unless empty, decide where names do not; a mass below 0.9 is not an atom.
void guess_elements(Topology& topology, const std::vector<double>& masses = {});

/// Names the chains of proteins and nucleic acids A, B, ..., Z, A2, ...; other residues get no
/// chain. If the topology has all bonds, residues that follow one another belong to one chain if
/// they are bonded. Otherwise a chain ends where protein changes to nucleic acid or to other
/// residues, where the residue number falls, and behind a terminal oxygen or the cap of a chain.
/// Sets `has_chain_names` to false.
void name_chains(Topology& topology);

}  // namespace pleat
