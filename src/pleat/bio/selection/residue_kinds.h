// Residue kinds: which residues of a topology are protein, nucleic acid, water and ions, and masses
// by names.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/bio/structure/topology.h"

namespace pleat::selection {

enum class ResidueKind : std::uint8_t {
    protein,  ///< amino acids and the caps of chains by name, or with N, CA and C
    nucleic,  ///< nucleotides by name, or with P, O5', C3' and O3'
    water,    ///< by name
    ion,      ///< one atom, of an element that is neither H, C, N, O, P, S nor a noble gas
    dummy,    ///< marks a place: membranes of OPM (DUM) and Rosetta, centres of virtual residues
    other     ///< ligands, sugars, lipids, ions of several atoms
};

/// [residue]: kinds by the names of the PDB and of AMBER, CHARMM, GROMOS and OPLS.
std::vector<ResidueKind> residue_kinds(const Topology& topology);

/// Whether the atom is a point without matter: in a dummy residue, or without an element and named
/// like a lone pair or virtual site (LP, EP, MW).
bool is_dummy(const Topology::Atom& atom, ResidueKind kind);

/// [residue]: whether a nucleotide is DNA, that is, lacks O2', whatever its name. CHARMM calls DNA
/// and RNA guanosine GUA, and old PDB files call both G.
std::vector<std::uint8_t> are_deoxy(const Topology& topology);

/// Whether the atom is an alpha carbon, and no calcium. A ligand may have an atom of this name,
/// too: see residue_kinds().
bool is_carbon_alpha(const Topology::Atom& atom);
bool is_hydrogen(const Topology::Atom& atom);

}  // namespace pleat::selection

namespace pleat {

/// [atom]: the masses in dalton by which `gmx` superposes if -s is a PDB or GRO file. Heavy atoms
/// of amino acids have united-atom masses, by the longest matching prefix of their name in
/// share/top/atommass.dat of GROMACS 2022; hydrogens have their own mass as well. Other atoms have
/// the mass of their element, 0 if unknown.
std::vector<double> gmx_masses(const Topology& topology);

}  // namespace pleat
