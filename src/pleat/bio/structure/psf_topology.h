// PSF topology: atoms and bonds of CHARMM, NAMD and X-PLOR.
#pragma once

#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/structure/topology.h"

namespace pleat {

/// Reads the atoms and the bonds of a PSF file: standard columns, EXT, both also with types in
/// letters (XPLOR), and the words of NAMD. Chains are the segments. Elements are guessed from names
/// and masses. Throws InputError that names file and line.
Topology read_psf(ByteSource& source);

}  // namespace pleat
