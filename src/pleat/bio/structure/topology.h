// Topology: what the atoms of an ensemble are, in the order of their coordinates.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/view.h"

#pragma GCC visibility push(default)

namespace pleat {

/// The atoms of a frame with their residues and chains, in the order of the file. A residue whose
/// atoms do not stand side by side there is listed several times.
struct Topology {
    struct Atom {
        std::string name;     ///< as in the file, without blanks: "CA", "HT1"
        std::string element;  ///< "C", "Se", ...; "X" where it cannot be told
        double mass = 0;      ///< of the element, in dalton; 0 where it is not known
        Index residue = 0;    ///< index into `residues`
    };
    struct Residue {
        std::string name;      ///< "ALA"
        int number = 0;        ///< the author's number
        char insertion = ' ';  ///< insertion code, blank where there is none
        std::string chain;     ///< the author's chain name, else the segment's; may be empty
    };

    std::filesystem::path source;
    std::vector<Atom> atoms;
    std::vector<Residue> residues;
    /// False for coordinates that came without names: then only `all` can be selected.
    bool named = true;

    Index atom_count() const { return static_cast<Index>(atoms.size()); }
    const Residue& residue_of(Index atom) const;
    /// What an atom is known by across files: chain, residue number, insertion code and name.
    std::string identity(Index atom) const;
    /// How messages name an atom: "CA of ALA 52A in chain 'B'".
    std::string label(Index atom) const;
    /// The chains in the order of their first atom.
    std::vector<std::string> chains() const;
};

/// The atoms of these indices, in their order, with the residues they need.
Topology subset(const Topology& topology, const std::vector<Index>& atoms);

/// As many atoms as coordinates have that came without names: named "X", each its own residue.
Topology unnamed_topology(Index atom_count, const std::filesystem::path& source);

/// The element that an atom's name says where the file says none: digits in front are passed over,
/// and in the residues of proteins and nucleic acids CA is carbon and HG hydrogen.
std::string guess_element(std::string_view atom_name, std::string_view residue_name);

/// The first model of a PDB or mmCIF file, plain or compressed, all atoms in the order of the file;
/// of alternate locations that of the highest occupancy (the first of equals). What was left out is
/// appended to `notes` where that is given. `assembly`: the biological assembly to build, if not
/// empty.
Topology read_topology(const std::filesystem::path& path, std::vector<std::string>* notes = nullptr,
                       const std::string& assembly = {});

}  // namespace pleat

#pragma GCC visibility pop
