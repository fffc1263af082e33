// The door to gemmi for topologies, compiled as C++17 because gemmi 0.5.7 is not valid C++20.
#include "pleat/bio/structure/topology_gemmi.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <gemmi/cif.hpp>
#include <gemmi/elem.hpp>
#include <gemmi/numb.hpp>
#include <gemmi/resinfo.hpp>
#include <gemmi/select.hpp>

#include "pleat/bio/structure/assembly_gemmi.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

/// Text of a file as messages may show it: printable ASCII, at most 120 characters.
std::string printable(std::string text) {
    constexpr std::size_t kMaxShown = 120;
    if (text.size() > kMaxShown) text = text.substr(0, kMaxShown) + "...";
    for (char& c : text) {
        if (c < ' ' || c > '~') c = '?';
    }
    return text;
}

std::string first_line(const std::string& text) {
    return printable(text.substr(0, text.find('\n')));
}

/// The columns of _atom_site that are used; those of the author before those of the archive.
enum Column {
    kX,
    kY,
    kZ,
    kName,
    kResidue,
    kChain,
    kNumber,
    kElement,
    kAltloc,
    kInsertion,
    kOccupancy,
    kModel,
    kLabelName,
    kLabelResidue,
    kLabelChain,
    kLabelNumber,
    kBFactor
};

gemmi::cif::Table atom_sites(gemmi::cif::Block& block) {
    return block.find("_atom_site.",
                      {"Cartn_x", "Cartn_y", "Cartn_z", "?auth_atom_id", "?auth_comp_id",
                       "?auth_asym_id", "?auth_seq_id", "?type_symbol", "?label_alt_id",
                       "?pdbx_PDB_ins_code", "?occupancy", "?pdbx_PDB_model_num", "?label_atom_id",
                       "?label_comp_id", "?label_asym_id", "?label_seq_id", "?B_iso_or_equiv"});
}

/// The author's value if there is one, else the archive's, else empty.
std::string text_of(gemmi::cif::Table::Row& row, Column author, int label = -1) {
    if (row.has2(author)) return printable(row.str(author));
    if (label >= 0 && row.has2(static_cast<std::size_t>(label))) {
        return printable(row.str(label));
    }
    return {};
}

AtomRecord record_of(gemmi::cif::Table::Row& row, const std::string& file) {
    AtomRecord atom;
    atom.name = text_of(row, kName, kLabelName);
    atom.residue_name = text_of(row, kResidue, kLabelResidue);
    atom.chain = text_of(row, kChain, kLabelChain);
    const std::string element = text_of(row, kElement);
    if (!element.empty()) atom.element = element_symbol(element);
    atom.symbol_is_name = element.size() > 1 && element == atom.name;
    if (row.has2(kLabelChain)) atom.subchain = printable(row.str(kLabelChain));
    const std::string number = text_of(row, kNumber, kLabelNumber);
    atom.number = 0;
    const char* const end = number.data() + number.size();
    const auto parsed = std::from_chars(number.data(), end, atom.number);
    if (!number.empty() && (parsed.ec != std::errc() || parsed.ptr != end)) {
        throw InputError(file, 0,
                         "expected a residue number for every atom, found '" + number + "' for " +
                             atom.name + " of " + atom.residue_name);
    }
    const std::string insertion = text_of(row, kInsertion), altloc = text_of(row, kAltloc);
    if (!insertion.empty()) atom.insertion = insertion[0];
    if (!altloc.empty()) atom.altloc = altloc[0];
    if (row.has2(kOccupancy)) atom.occupancy = gemmi::cif::as_number(row[kOccupancy], 1.0);
    if (row.has2(kBFactor)) atom.b_factor = gemmi::cif::as_number(row[kBFactor], 0.0);
    if (!std::isfinite(atom.b_factor)) atom.b_factor = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const std::string& text = row[std::size_t{kX} + static_cast<std::size_t>(axis)];
        const double value = gemmi::cif::as_number(text);
        if (!std::isfinite(value)) {
            throw InputError(file, 0,
                             "expected three coordinates for every atom, found '" +
                                 printable(text) + "' for atom " + atom.name + " of residue " +
                                 atom.residue_name + " " + number + " in chain '" + atom.chain +
                                 "'");
        }
        atom.xyz[axis] = static_cast<float>(value);
    }
    if (atom.name.empty()) throw InputError(file, 0, "expected a name for every atom, found none");
    return atom;
}

void read_cell(const gemmi::cif::Block& block, std::array<double, 6>& cell) {
    for (const char* name : {"_symmetry.space_group_name_H-M", "_space_group.name_H-M_alt"}) {
        const std::string* group = block.find_value(name);
        if (group == nullptr || gemmi::cif::is_null(*group)) continue;
        const std::string text = gemmi::cif::as_string(*group);
        if (text != "P 1" && text != "P1") return;
    }
    const char* const names[] = {"length_a",    "length_b",   "length_c",
                                 "angle_alpha", "angle_beta", "angle_gamma"};
    for (std::size_t i = 0; i < cell.size(); ++i) {
        const std::string* value = block.find_value(std::string("_cell.") + names[i]);
        cell[i] = value != nullptr ? gemmi::cif::as_number(*value, 0.0) : 0.0;
    }
}

/// Covalent bonds and disulfides within the asymmetric unit.
void read_connections(gemmi::cif::Block& block,
                      std::vector<std::array<std::string, 2>>& connections) {
    for (gemmi::cif::Table::Row row :
         block.find("_struct_conn.",
                    {"conn_type_id", "ptnr1_auth_asym_id", "ptnr1_auth_seq_id",
                     "?pdbx_ptnr1_PDB_ins_code", "ptnr1_label_atom_id", "ptnr2_auth_asym_id",
                     "ptnr2_auth_seq_id", "?pdbx_ptnr2_PDB_ins_code", "ptnr2_label_atom_id",
                     "?ptnr1_symmetry", "?ptnr2_symmetry"})) {
        const std::string type = row.str(0);
        if (type.rfind("covale", 0) != 0 && type != "disulf") continue;
        if (row.has2(9) && row.has2(10) && row.str(9) != row.str(10)) continue;
        std::array<std::string, 2> keys;
        for (std::size_t end = 0; end < 2; ++end) {
            const std::size_t first = 1 + 4 * end;
            const auto text = [&](std::size_t column) {
                return row.str(static_cast<int>(first + column));
            };
            const std::string insertion = row.has2(first + 2) ? text(2).substr(0, 1) : " ";
            keys[end] = text(0) + '\t' + text(1) + '\t' + insertion + '\t' + text(3);
        }
        connections.push_back(keys);
    }
}

bool same_atoms(const std::vector<AtomRecord>& a, const std::vector<AtomRecord>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const AtomRecord& one, const AtomRecord& other) {
                          return connection_key(one) == connection_key(other) &&
                                 one.residue_name == other.residue_name;
                      });
}

void read_models(const std::string& file, gemmi::cif::Document& document,
                 std::vector<Assembly>& assemblies, MmcifBlock& described,
                 const std::function<void(std::vector<AtomRecord>&&)>& add_model) {
    std::vector<AtomRecord> first;  // the first model of the first block
    for (gemmi::cif::Block& block : document.blocks) {
        gemmi::cif::Table table = atom_sites(block);
        if (!table.ok()) continue;
        if (described.blocks == 0) {
            assemblies = mmcif_assemblies(block);
            read_cell(block, described.cell);
            read_connections(block, described.connections);
        }
        std::vector<std::vector<AtomRecord>> models;
        std::string current;
        for (gemmi::cif::Table::Row row : table) {
            const std::string number = text_of(row, kModel);
            if (models.empty() || number != current) models.emplace_back();
            current = number;
            models.back().push_back(record_of(row, file));
        }
        if (models.empty()) continue;
        if (described.blocks == 0 && document.blocks.size() > 1) first = models.front();
        if (described.blocks > 0 && !same_atoms(first, models.front())) {
            ++described.other_blocks;
            continue;
        }
        ++described.blocks;
        for (std::vector<AtomRecord>& model : models) add_model(std::move(model));
    }
    if (described.blocks > 0) return;
    throw InputError(file, 0, "expected mmCIF with _atom_site coordinates, found none");
}

/// Whether the residues of a selection, the field behind the chain, are a range. Gemmi 0.5.7 reads
/// a single number, //A/10, as all residues from there on.
bool has_range(const std::string& cid) {
    std::size_t at = 0;
    for (int field = cid.front() == '/' ? 3 : 1; field > 0 && at != std::string::npos; --field) {
        at = cid.find('/', at);
        if (at != std::string::npos) ++at;
    }
    if (at == std::string::npos) return false;
    return cid.substr(at, cid.find('/', at) - at).find('-', 1) != std::string::npos;
}

}  // namespace

std::string element_symbol(const std::string& text) {
    const gemmi::Element element(text);
    return element.name();
}

std::string element_symbol(int atomic_number) {
    constexpr int kHighest = 118;
    const bool exists = atomic_number > 0 && atomic_number <= kHighest;
    return exists ? gemmi::Element(atomic_number).name() : "X";
}

double element_mass(const std::string& symbol) {
    const gemmi::Element element(symbol);
    return element == gemmi::El::X ? 0 : element.weight();
}

bool is_heterogen(const std::string& residue_name) {
    const gemmi::ResidueInfo& info = gemmi::find_tabulated_residue(residue_name);
    return info.found() && !info.is_standard();
}

bool is_amino_acid(const std::string& residue_name) {
    return gemmi::find_tabulated_residue(residue_name).is_amino_acid();
}

bool is_nucleotide(const std::string& residue_name) {
    return gemmi::find_tabulated_residue(residue_name).is_nucleic_acid();
}

std::string connection_key(const AtomRecord& atom) {
    return atom.chain + '\t' + std::to_string(atom.number) + '\t' + atom.insertion + '\t' +
           atom.name;
}

std::string cif_quoted(const std::string& text) { return gemmi::cif::quote(text); }

void read_mmcif_models(const std::string& file, const std::string& text,
                       std::vector<Assembly>& assemblies, MmcifBlock& block,
                       const std::function<void(std::vector<AtomRecord>&&)>& add_model) {
    try {
        gemmi::cif::Document document =
            gemmi::cif::read_memory(text.data(), text.size(), file.c_str());
        read_models(file, document, assemblies, block, add_model);
    } catch (const Error&) {
        throw;
    } catch (const tao::pegtl::parse_error& error) {
        const auto line = static_cast<std::int64_t>(error.positions().front().line);
        throw InputError(file, line,
                         "expected mmCIF, found: " + first_line(std::string(error.message())));
    } catch (const std::exception& error) {
        throw InputError(file, 0, "expected mmCIF, found: " + first_line(error.what()));
    }
}

std::vector<std::uint8_t> match_cid(const std::vector<AtomRecord>& atoms, const std::string& cid) {
    gemmi::Selection selection;
    try {
        selection = gemmi::Selection(cid);
    } catch (const std::exception& error) {
        throw UsageError("expected a selection such as 'ca', 'A:10-50' or '//A/10-50/CA', found '" +
                         cid + "': " + first_line(error.what()));
    }
    if (!selection.from_seqid.empty() && !has_range(cid)) selection.to_seqid = selection.from_seqid;
    std::vector<std::uint8_t> matched;
    matched.reserve(atoms.size());
    gemmi::Chain chain("");
    gemmi::Residue residue;
    gemmi::Atom atom;
    for (const AtomRecord& plain : atoms) {
        chain.name = plain.chain;
        residue.name = plain.residue_name;
        residue.seqid = gemmi::SeqId(plain.number, plain.insertion);
        atom.name = plain.name;
        atom.element = gemmi::Element(plain.element);
        atom.b_iso = static_cast<float>(plain.b_factor);
        matched.push_back(selection.matches(chain) && selection.matches(residue) &&
                          selection.matches(atom));
    }
    return matched;
}

}  // namespace pleat
