// Gemmi's part in topologies: tables of elements, atom sites of mmCIF, selection by CID.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pleat {

struct Assembly;

/// One atom record of a PDB or mmCIF file, as it stands there.
struct AtomRecord {
    std::string name, residue_name, chain, element;
    std::string subchain;  ///< mmCIF's label_asym_id; empty in PDB files
    int number = 0;
    char insertion = ' ';
    char altloc = ' ';
    double occupancy = 1;
    float xyz[3] = {};

    /// What assemblies call its chain.
    const std::string& assembly_chain() const { return subchain.empty() ? chain : subchain; }
};

/// The symbol as chemists write it ("SE" -> "Se"), or "X" where there is no such element.
std::string element_symbol(const std::string& text);
/// Mass in dalton of a symbol, 0 for "X".
double element_mass(const std::string& symbol);
/// Whether PDB calls atoms of such a residue HETATM: gemmi's table knows it as none of the
/// unmodified amino acids and nucleotides. Names that it lacks (those of force fields) are taken
/// for polymers.
bool is_heterogen(const std::string& residue_name);
/// Whether gemmi's table of residues has an amino acid of this name.
bool is_amino_acid(const std::string& residue_name);
/// A value as mmCIF writes it, in quotes where it needs them.
std::string cif_quoted(const std::string& text);

/// The models of an mmCIF text, in the order of the file, each its atom records in their order.
/// `assemblies` becomes those that the same block describes, `cell` the three lengths and three
/// angles of its unit cell, 0 where it has none. Throws InputError naming `file` and, where there
/// is one, the line.
void read_mmcif_models(const std::string& file, const std::string& text,
                       std::vector<Assembly>& assemblies, std::array<double, 6>& cell,
                       const std::function<void(std::vector<AtomRecord>&&)>& take);

/// One flag an atom: whether the selection in gemmi's syntax ("//A/10-50/CA[C]") takes it.
/// UsageError where the text is none.
std::vector<std::uint8_t> match_cid(const std::vector<AtomRecord>& atoms, const std::string& cid);

}  // namespace pleat
