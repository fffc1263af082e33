// PDB records: one ATOM or HETATM line taken apart, or what is wrong with it.
#pragma once

#include <string>
#include <string_view>

#include "pleat/bio/structure/periodic_cell.h"
#include "pleat/bio/structure/topology_gemmi.h"

namespace pleat {

/// True for a line that holds an atom.
bool is_atom_line(std::string_view line);

/// Takes a line of an atom apart. Returns what is wrong (`expected X, found Y`), or nothing. The
/// name of the segment (columns 73-76) goes to `segment`; alone it names no chain.
std::string parse_atom_line(std::string_view line, AtomRecord& atom, std::string& segment);

/// The cell that a CRYST1 record tells; no cell if its numbers are none.
PeriodicCell parse_cell(std::string_view line);

}  // namespace pleat
