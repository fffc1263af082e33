// Structures: the polymer chains of a coordinate file as plain residues and atoms.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace pleat {

struct Note;

/// One atom; position in angstrom.
struct Atom {
    std::string name;     ///< as in the file, without blanks: "CA", "CB", "C1'"
    std::string element;  ///< "C", "N", "Se", ...; "X" if unknown
    double x = 0, y = 0, z = 0;
};

/// One residue of a polymer.
struct Residue {
    std::string name;      ///< as in the file: "ALA", "MSE", "DA", "PSU"
    int number = 0;        ///< the author's number
    char insertion = ' ';  ///< insertion code; blank for none
    char letter = 'X';     ///< one-letter code; a modified residue has its parent's (MSE: 'M'), an
                           ///< unknown one 'X'
    std::vector<Atom> atoms;

    /// Number and insertion code: "52A".
    std::string id() const;
    /// The atom with this name, or null.
    const Atom* find(std::string_view atom_name) const;
};

/// The polymer of one chain, in the order of the file. Only residues with coordinates are listed.
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
/// Lists known amino acids and nucleotides, including modified ones, and residues with backbone
/// atoms. Leaves out water, ions, ligands, sugars, free amino acids, standard residues given as
/// HETATM, and HETATM residues after the chain's TER. Keeps the alternate location with the highest
/// occupancy (the first if equal); likewise for residues with two identities.
struct Structure {
    std::filesystem::path source;
    std::vector<Chain> chains;

    /// The chain with this name. Throws InputError, which lists the chains, if there is none.
    const Chain& chain(std::string_view name) const;
};

/// A file and perhaps one of its chains.
struct StructureChoice {
    std::filesystem::path file;
    std::string chain;  ///< empty: any
};

/// Parses `FILE[:chain]`. The text after the last colon is a chain unless it contains a slash or
/// the whole text is an existing file. Throws UsageError for an empty file or chain.
StructureChoice parse_structure_choice(std::string_view text);

/// Reads a PDB or mmCIF file, plain or compressed; the format is recognised by the content. "-" is
/// standard input. Throws InputError, naming the file and the line if possible, for a file without
/// atoms or without a polymer, damaged compressed data, and atom records that are cut or have
/// invalid numbers. `notes` (may be null): how names and numbers of a PDB file were read is
/// appended.
Structure read_structure(const std::filesystem::path& path, std::vector<Note>* notes = nullptr);

/// Reads a structure from memory; errors call it `name`.
Structure read_structure(const std::string& name, std::string_view bytes);

}  // namespace pleat

#pragma GCC visibility pop
