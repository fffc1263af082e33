// Structures: the polymer chains of a coordinate file as plain residues and atoms.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace pleat {

/// One atom; position in angstrom.
struct Atom {
    std::string name;     ///< as in the file, without blanks: "CA", "CB", "C1'"
    std::string element;  ///< "C", "N", "Se", ...; "X" where it cannot be told
    double x = 0, y = 0, z = 0;
};

/// One residue of a polymer.
struct Residue {
    std::string name;      ///< as in the file: "ALA", "MSE", "DA", "PSU"
    int number = 0;        ///< the author's number
    char insertion = ' ';  ///< insertion code, blank where there is none
    char letter = 'X';     ///< one-letter code; a modified residue has its parent's (MSE: 'M'), an
                           ///< unknown one 'X'
    std::vector<Atom> atoms;

    /// Number and insertion code: "52A".
    std::string id() const;
    /// The atom of that name, or null.
    const Atom* find(std::string_view atom_name) const;
};

/// One chain's polymer, in the order of the file. Only residues with coordinates are here.
struct Chain {
    enum class Kind { protein, nucleic };

    std::string name;  ///< the author's chain name; may be empty in old or simulated files
    Kind kind = Kind::protein;
    std::vector<Residue> residues;

    /// The letters of all residues.
    std::string sequence() const;
    /// True when the bond from residue i to residue i + 1 is absent: residues between them are
    /// missing (peptide C-N or nucleic O3'-P above 2.5 angstrom; without these atoms CA-CA above
    /// 4.5 or P-P above 9 angstrom). False at the last residue.
    bool broken_after(std::size_t i) const;
};

/// The chains of the first model of a file that hold a protein or a nucleic acid.
///
/// Water, ions, ligands, sugars and free amino acids are left out: a residue counts when it is a
/// known amino acid or nucleotide, modified ones included, or has its backbone atoms; standard
/// residues given as HETATM and HETATM residues behind the chain's TER do not. Where an atom has
/// alternate locations, the one of the highest occupancy is kept (the first of equals); where a
/// residue has two identities, likewise.
struct Structure {
    std::filesystem::path source;
    std::vector<Chain> chains;

    /// The chain of that name; InputError naming the chains there are.
    const Chain& chain(std::string_view name) const;
};

/// A file and, where the user named one, a chain of it.
struct StructureChoice {
    std::filesystem::path file;
    std::string chain;  ///< empty: any
};

/// Reads `FILE[:chain]`. What follows the last colon is a chain unless the whole text names a file
/// that exists, or it holds a slash. UsageError for an empty file or chain.
StructureChoice parse_structure_choice(std::string_view text);

/// Reads a PDB or mmCIF file, plain or compressed, told apart by content; "-" is standard input.
/// InputError, naming file and line where there is one, for anything else: no atoms, damaged or
/// truncated compression, atom records that are cut or whose numbers are none, no polymer.
Structure read_structure(const std::filesystem::path& path);

/// The same from memory; `name` stands for the file in errors.
Structure read_structure(const std::string& name, std::string_view bytes);

}  // namespace pleat

#pragma GCC visibility pop
