// Topology: names, residues and chains of the atoms of an ensemble, in the order of coordinates.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/notes.h"
#include "pleat/core/view.h"

#pragma GCC visibility push(default)

namespace pleat {

/// The atoms of a frame with their residues and chains, in the order of the file. A residue whose
/// atoms are not consecutive in the file is listed more than once.
struct Topology {
    struct Atom {
        std::string name;     ///< as in the file, without blanks: "CA", "HT1"
        std::string element;  ///< "C", "Se", ...; "X" if unknown
        double mass = 0;      ///< of the element, in dalton; 0 if unknown
        Index residue = 0;    ///< index into `residues`
        double b_factor = 0;  ///< of the file, in predicted models pLDDT; 0 if it has none
    };
    struct Residue {
        std::string name;      ///< "ALA"
        int number = 0;        ///< the author's number
        char insertion = ' ';  ///< insertion code; blank for none
        /// Names one chain of the file: the author's name, else the segment's, also where several
        /// segments of one chain number their residues alike; may be empty.
        std::string chain;
        std::string segment = {};  ///< segid of PDB and PSF files; may be empty
        /// The author's chain name if `chain` is a segment's name, because several segments have
        /// that chain; else empty.
        std::string shared_chain = {};

        /// Whether a user may mean this chain by a name.
        bool is_of_chain(std::string_view text) const {
            return chain == text || (!shared_chain.empty() && shared_chain == text);
        }
    };

    std::filesystem::path source;
    std::vector<Atom> atoms;
    std::vector<Residue> residues;
    /// Coordinates [atom] of the first model of the file that names the atoms, in angstrom, by
    /// which selections and bonds find neighbours; empty if it has none.
    std::vector<std::array<double, 3>> positions = {};
    /// False for atoms of an array, which have no names; then only `all` can be selected.
    bool named = true;

    /// False if the file has no names of chains: they are segments (PSF), or made up
    /// (missing_names.h).
    bool has_chain_names = true;

    /// The vectors of the periodic cell around `positions`, in angstrom; 0 if there is none.
    /// subset() keeps it, and what follows if the bonds that it cuts are of hydrogens only.
    std::array<std::array<double, 3>, 3> cell = {};
    /// Bonds that the file lists, and whether these are all: not if subset() cut a molecule.
    std::vector<std::array<Index, 2>> bonds = {};
    bool has_all_bonds = false;
    /// Orders of these bonds: 1, 2, 3, or 4 for aromatic ones; empty if the file does not say.
    std::vector<std::uint8_t> bond_orders = {};

    Index atom_count() const { return std::ssize(atoms); }
    const Residue& residue_of(Index atom) const;
    /// The key by which an atom is found in other files: chain, residue number, insertion code and
    /// name.
    std::string identity(Index atom) const;
    /// How messages name an atom: "CA of ALA 52A in chain 'B'".
    std::string atom_label(Index atom) const;
    /// The chains in the order of their first atom.
    std::vector<std::string> chains() const;
};

/// Which of the names of a residue's chain two files have in common.
enum class ChainName { chain, segment, shared_chain };
/// Segments, if both files have them and one of them has no other names of chains; `shared_chain`,
/// if one of them has no segments; else `chain`.
ChainName common_chain_name(const Topology& a, const Topology& b);
/// This name of a residue's chain; `chain` if it has no such name.
const std::string& chain_name(const Topology::Residue& residue, ChainName name);

/// The atoms with these indices, in their order, with their residues.
Topology subset(const Topology& topology, const std::vector<Index>& atoms);

/// A topology of atoms without names: each is called "X" and is a residue of its own.
Topology unnamed_topology(Index atom_count, const std::filesystem::path& source);

/// The element of an atom by its name, for files without elements. Digits in front are ignored; in
/// the residues of proteins and nucleic acids CA is carbon and HG is hydrogen.
std::string guess_element(std::string_view atom_name, std::string_view residue_name);

/// Reads the atoms of a PDB, mmCIF, GRO, PSF or PRMTOP file, plain or compressed, in the order of
/// the file: of several models those of the first, and of alternate locations the one with the
/// highest occupancy (the first of equals). PSF and PRMTOP files have bonds and no coordinates.
/// `notes` (may be null): remarks on atoms that were left out are appended. `assembly`: the
/// biological assembly to build; empty: atoms as listed.
Topology read_topology(const std::filesystem::path& path, Notes* notes = nullptr,
                       const std::string& assembly = {});

}  // namespace pleat

#pragma GCC visibility pop
