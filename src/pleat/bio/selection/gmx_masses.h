// GROMACS masses: what GROMACS takes as masses of atoms from a file that has none.
#pragma once

#include <vector>

#include "pleat/bio/structure/topology.h"

namespace pleat {

/// [atom], dalton: the masses by which `gmx` superposes if -s is a PDB or GRO file. The heavy atoms
/// of amino acids have the masses of united atoms, by the longest beginning of their name in
/// share/top/atommass.dat of GROMACS 2022; hydrogens have their own besides. Others have the mass
/// of their element, 0 if it is not known.
std::vector<double> gmx_masses(const Topology& topology);

}  // namespace pleat
