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
        /// The chain's name: the author's, else the segment's; the segment's also if several
        /// segments of a chain have the same residue numbers. May be empty.
        std::string chain;
        std::string segment = {};  ///< segid of PDB and PSF files; may be empty
        /// The author's chain name if `chain` is a segment's name, because several segments have
        /// that chain; else empty.
        std::string shared_chain = {};

        /// Whether `text` may mean this chain, by either name.
        bool is_of_chain(std::string_view text) const {
            return chain == text || (!shared_chain.empty() && shared_chain == text);
        }
    };

    std::filesystem::path source;
    std::vector<Atom> atoms;
    std::vector<Residue> residues;
    /// Coordinates [atom] in angstrom of the first model of the file that names the atoms;
    /// selections and bonds use them to find neighbours. Empty if there are none.
    std::vector<std::array<double, 3>> positions = {};
    /// False for atoms without names, as in arrays; then only `all` can be selected.
    bool named = true;

    /// False if the file has no chain names; chains are then segments (PSF) or invented
    /// (missing_names.h).
    bool has_chain_names = true;

    /// The vectors of the periodic cell around `positions`, in angstrom; 0 if there is none.
    /// subset() keeps it; it keeps bonds and their orders only if all bonds that it cuts lead to
    /// hydrogens.
    std::array<std::array<double, 3>, 3> cell = {};
    /// Bonds listed in the file, and whether they are complete: not if subset() cut a molecule.
    std::vector<std::array<Index, 2>> bonds = {};
    bool has_all_bonds = false;
    /// Orders of these bonds: 1, 2, 3, or 4 for aromatic ones; empty if the file does not say.
    std::vector<std::uint8_t> bond_orders = {};

    Index atom_count() const { return std::ssize(atoms); }
    const Residue& residue_of(Index atom) const;
    /// Identifies an atom across files: chain, residue number, insertion code and name.
    std::string identity(Index atom) const;
    /// How messages name an atom: "CA of ALA 52A in chain 'B'".
    std::string atom_label(Index atom) const;
    /// The chains in the order of their first atom.
    std::vector<std::string> chains() const;
};

/// Which kind of chain name two files have in common.
enum class ChainName { chain, segment, shared_chain };
/// Segments, if both files have them and one has no other chain names; `shared_chain`, if one has
/// no segments; else `chain`.
ChainName common_chain_name(const Topology& a, const Topology& b);
/// The chain name of this kind of a residue; `chain` if there is none.
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
