// Element guess: elements of atoms from the columns of their names in a PDB file.
#pragma once

#include <string>
#include <string_view>

namespace pleat {

/// The element of an atom of a PDB file without element columns, from columns 13-16; "X" if the
/// name does not decide. A symbol of two letters begins in column 13 ("FE  ", "CA  "), one of a
/// single letter in column 14 (" CA "): PDB format 3.3, ATOM. In amino acids, nucleotides and water
/// the first letter decides. Of single letters only H, C, N, O, P and S are elements. See
/// guess_element() (topology.h) for names without columns.
std::string guess_element_in_columns(std::string_view columns, std::string_view residue_name);

}  // namespace pleat
