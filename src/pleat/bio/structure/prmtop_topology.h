// PRMTOP topology: atoms and bonds of AMBER.
#pragma once

#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/structure/topology.h"

namespace pleat {

/// Reads the atoms and the bonds of a PRMTOP file of AMBER 7 or later. Residues have the numbers,
/// chains and insertion codes of RESIDUE_NUMBER, RESIDUE_CHAINID and RESIDUE_ICODE if the file has
/// them; otherwise they count from 1, and chains are made up (chain_names.h). Throws InputError
/// that names the file and, if possible, the line.
Topology read_prmtop(ByteSource& source);

}  // namespace pleat
