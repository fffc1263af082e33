// Biological assemblies by gemmi: the tables of an mmCIF block.
#pragma once

#include <gemmi/cifdoc.hpp>
#include <vector>

#include "pleat/bio/structure/assembly.h"

namespace pleat {

/// The assemblies that _pdbx_struct_assembly_gen and _pdbx_struct_oper_list describe.
std::vector<Assembly> mmcif_assemblies(gemmi::cif::Block& block);

}  // namespace pleat
