// What gemmi does: tables of elements and residues, atoms, chains and assemblies of mmCIF,
// selections in its syntax; also for C++17.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pleat {

struct Assembly;
struct Chain;

/// One atom record of a PDB or mmCIF file, unchanged.
struct AtomRecord {
    std::string name, residue_name, chain, element;
    std::string subchain;               ///< mmCIF's label_asym_id; empty in PDB files
    std::string segment, shared_chain;  ///< as in Topology::Residue
    int number = 0;
    char insertion = ' ';
    char altloc = ' ';
    double occupancy = 1;
    double b_factor = 0;
    float xyz[3] = {};
    bool symbol_is_name =
        false;  ///< mmCIF's type_symbol is the atom's name, of two letters or more
    std::array<char, 5> serial =
        {};  ///< of PDB, as the file has it; a string would take much memory

    /// What assemblies call its chain.
    const std::string& assembly_chain() const { return subchain.empty() ? chain : subchain; }
};

/// Fields of an atom line that AtomRecord lacks.
struct PdbFields {
    std::array<char, 5> names{};   ///< columns 18-22: residue and chain
    std::array<char, 5> number{};  ///< columns 23-27: residue number and insertion code
    std::array<double, 3> xyz{};
    bool is_het = false;
    bool name_is_shifted = false;  ///< column 13 is blank and column 16 is filled
    std::int64_t line = 0;
};

/// The symbol as chemists write it ("SE" -> "Se"), or "X" if there is no such element.
std::string element_symbol(const std::string& text);
/// The symbol of an atomic number, or "X" if there is no such element.
std::string element_symbol(int atomic_number);
/// Mass in dalton of a symbol, 0 for "X".
double element_mass(const std::string& symbol);
/// Whether PDB files list such residues as HETATM: gemmi's table has the name, but not as an
/// unmodified amino acid or nucleotide. Names that are not in the table, such as those of force
/// fields, count as polymers.
bool is_heterogen(const std::string& residue_name);
/// Whether gemmi's table of residues has an amino acid of this name.
bool is_amino_acid(const std::string& residue_name);
/// Whether gemmi's table of residues has a nucleotide of RNA or DNA of this name.
bool is_nucleotide(const std::string& residue_name);
/// A value as mmCIF writes it, in quotes if necessary.
std::string cif_quoted(const std::string& text);

/// The content of an mmCIF block other than atoms.
struct MmcifBlock {
    /// Three lengths and three angles of the unit cell; 0 if there is none or if its space group is
    /// not P 1.
    std::array<double, 6> cell{};
    /// Bonds of _struct_conn: two texts of connection_key().
    std::vector<std::array<std::string, 2>> connections;
    /// Number of blocks whose atoms were read, and of blocks skipped because their atoms differ.
    int blocks = 0, other_blocks = 0;
};

/// Identifies an atom in lists of bonds: chain, residue number, insertion code and name.
std::string connection_key(const AtomRecord& atom);

/// Calls `add_model` with the atom records of each model of an mmCIF text, in the order of the
/// file. Sets `assemblies` and `block` to what the same block describes. Throws InputError that
/// names `file` and, if possible, the line.
void read_mmcif_models(const std::string& file, const std::string& text,
                       std::vector<Assembly>& assemblies, MmcifBlock& block,
                       const std::function<void(std::vector<AtomRecord>&&)>& add_model);

/// Applies to `points` the rotation and translation that superpose `from` on `to`, of as many
/// points, with the minimum sum of squared distances (QCP); a translation for fewer than three.
std::vector<std::array<double, 3>> superposed_points(const std::vector<std::array<double, 3>>& from,
                                                     const std::vector<std::array<double, 3>>& to,
                                                     std::vector<std::array<double, 3>> points);

/// [atom]: 1 if the selection in gemmi's syntax ("//A/10-50/CA[C]") selects the atom, else 0.
/// Throws UsageError for text that is no such selection.
std::vector<std::uint8_t> match_cid(const std::vector<AtomRecord>& atoms, const std::string& cid);

/// The atoms of one model of a PDB file in the order of its lines.
struct PdbModel {
    std::vector<AtomRecord> atoms;
    std::vector<PdbFields> pdb_fields;  ///< [atom]
    std::vector<std::size_t> ends;      ///< atoms in front of each TER, ascending
};
std::vector<Chain> chains_from_pdb(const std::string& file, const PdbModel& model);

/// Chains of the first model of an mmCIF text. Throws InputError naming `file` and line.
std::vector<Chain> chains_from_mmcif(const std::string& file, const std::string& text);

/// The one-letter code of a residue's name, also of a modified residue (its parent's) and of names
/// of force fields; 'X' if it is not known.
char residue_letter(const std::string& name);

namespace selection {

/// Whether amino acids, nucleotides or water have this name in the PDB or in force fields.
bool is_common_name(std::string_view residue_name);
/// Whether a residue is water by its name: HOH, SOL, TIP3, WAT and others.
bool is_water(std::string_view residue_name);

}  // namespace selection

}  // namespace pleat
