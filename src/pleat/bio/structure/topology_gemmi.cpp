// The one door to gemmi, compiled as C++17 because gemmi 0.5.7 is not valid C++20 everywhere.
#include "pleat/bio/structure/topology_gemmi.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <gemmi/cif.hpp>
#include <gemmi/elem.hpp>
#include <gemmi/mmcif.hpp>
#include <gemmi/numb.hpp>
#include <gemmi/qcp.hpp>
#include <gemmi/resinfo.hpp>
#include <gemmi/select.hpp>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "pleat/bio/structure/assembly.h"
#include "pleat/bio/structure/structure.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat {

namespace {

/// Formats text of a file for messages: printable ASCII, at most 120 characters.
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

/// Passes a parsed CIF text to `use`. Throws InputError that names `file` and perhaps the line.
template <class Use>
void with_document(const std::string& file, const std::string& text, const Use& use) {
    try {
        gemmi::cif::Document document =
            gemmi::cif::read_memory(text.data(), text.size(), file.c_str());
        use(document);
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

/// The columns used of _atom_site; author columns precede those of the archive (label).
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
    if (label >= 0 && row.has2(static_cast<std::size_t>(label))) return printable(row.str(label));
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
    if (!number.empty() && !parse_number(number, atom.number)) {
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

using Operations = std::map<std::string, AssemblyOperation>;

/// Maximum number of motions over all assemblies, since few bytes can describe many.
constexpr std::size_t kMaxMotions = 100000;

Operations read_operations(gemmi::cif::Block& block) {
    gemmi::cif::Table table =
        block.find("_pdbx_struct_oper_list.",
                   {"id", "matrix[1][1]", "matrix[1][2]", "matrix[1][3]", "vector[1]",
                    "matrix[2][1]", "matrix[2][2]", "matrix[2][3]", "vector[2]", "matrix[3][1]",
                    "matrix[3][2]", "matrix[3][3]", "vector[3]"});
    Operations operations;
    for (gemmi::cif::Table::Row row : table) {
        AssemblyOperation motion;
        bool fine = true;
        for (std::size_t k = 0; k < 12; ++k) {
            const double value = gemmi::cif::as_number(row[k + 1]);
            motion.rows[k / 4][k % 4] = value;
            fine = fine && std::isfinite(value);
        }
        if (fine) operations[row.str(0)] = motion;
    }
    return operations;
}

std::vector<std::string> split_names(const std::string& text) {
    std::vector<std::string> names;
    std::string name;
    for (const char c : text + ",") {
        if (c == ',') {
            if (!name.empty()) names.push_back(name);
            name.clear();
        } else if (static_cast<unsigned char>(c) > ' ') {
            name += c;
        }
    }
    return names;
}

/// Returns the motions of an expression; empty, with `problem` set, if one does not exist.
std::vector<AssemblyOperation> find_motions(const std::string& expression,
                                            const Operations& operations, std::string& problem) {
    const auto products = parse_operations(expression);
    if (products.empty()) problem = "cannot read its operations '" + expression + "'";
    std::vector<AssemblyOperation> motions;
    for (const std::vector<std::string>& names : products) {
        AssemblyOperation motion;
        for (std::size_t k = 0; k < names.size(); ++k) {
            const auto found = operations.find(names[k]);
            if (found == operations.end()) {
                problem =
                    "expected operation '" + names[k] + "' in _pdbx_struct_oper_list, found none";
                return {};
            }
            motion = k == 0 ? found->second : product(motion, found->second);
        }
        motions.push_back(motion);
    }
    return motions;
}

/// The assemblies that _pdbx_struct_assembly_gen and _pdbx_struct_oper_list describe.
std::vector<Assembly> mmcif_assemblies(gemmi::cif::Block& block) {
    const Operations operations = read_operations(block);
    std::vector<Assembly> assemblies;
    std::map<std::string, std::size_t> numbers;  // of assemblies, by name
    std::size_t count = 0;
    for (gemmi::cif::Table::Row row : block.find(
             "_pdbx_struct_assembly_gen.", {"assembly_id", "oper_expression", "asym_id_list"})) {
        const auto [at, is_new] = numbers.emplace(row.str(0), assemblies.size());
        if (is_new) assemblies.emplace_back().name = at->first;
        Assembly& assembly = assemblies[at->second];
        if (count > kMaxMotions) {
            assembly.problem = "the file describes more than 100,000 copies of chains";
            continue;
        }
        assembly.generators.emplace_back();
        Assembly::Generator& generator = assembly.generators.back();
        generator.chains = split_names(row.str(2));
        generator.motions = find_motions(row.str(1), operations, assembly.problem);
        count += generator.motions.size();
    }
    for (gemmi::cif::Table::Row row :
         block.find("_pdbx_struct_assembly.", {"id", "oligomeric_details"}))
        if (const auto at = numbers.find(row.str(0)); at != numbers.end() && row.has2(1))
            assemblies[at->second].details = row.str(1);
    return assemblies;
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
    with_document(file, text, [&](gemmi::cif::Document& document) {
        read_models(file, document, assemblies, block, add_model);
    });
}

std::vector<std::array<double, 3>> superposed_points(const std::vector<std::array<double, 3>>& from,
                                                     const std::vector<std::array<double, 3>>& to,
                                                     std::vector<std::array<double, 3>> points) {
    const auto positions = [](const std::vector<std::array<double, 3>>& all) {
        std::vector<gemmi::Position> found;
        found.reserve(all.size());
        for (const auto& one : all) found.emplace_back(one[0], one[1], one[2]);
        return found;
    };
    const std::vector<gemmi::Position> fixed = positions(to), moved = positions(from);
    gemmi::SupResult fit =
        gemmi::superpose_positions(fixed.data(), moved.data(), fixed.size(), nullptr);
    if (fixed.size() < 3) {
        fit.transform = {};
        fit.transform.vec = fit.center1 - fit.center2;
    }
    for (auto& point : points) {
        const gemmi::Vec3 to_point = fit.transform.apply({point[0], point[1], point[2]});
        point = {to_point.x, to_point.y, to_point.z};
    }
    return points;
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

namespace {

enum class Polymer { none, amino_acid, nucleotide };

struct Identity {
    Polymer polymer = Polymer::none;
    char letter = 'X';
    bool standard = false;
};

/// Names that gemmi's table lacks: those of force fields and modified nucleotides of tRNA.
Identity identity_of_other_name(const std::string& name) {
    struct Row {
        const char* name;
        Polymer polymer;
        char letter;
    };
    static const Row rows[] = {
        {"HSD", Polymer::amino_acid, 'H'}, {"HSE", Polymer::amino_acid, 'H'},
        {"HSP", Polymer::amino_acid, 'H'}, {"HID", Polymer::amino_acid, 'H'},
        {"HIE", Polymer::amino_acid, 'H'}, {"HIP", Polymer::amino_acid, 'H'},
        {"CYX", Polymer::amino_acid, 'C'}, {"CYM", Polymer::amino_acid, 'C'},
        {"ASH", Polymer::amino_acid, 'D'}, {"GLH", Polymer::amino_acid, 'E'},
        {"LYN", Polymer::amino_acid, 'K'}, {"ADE", Polymer::nucleotide, 'A'},
        {"CYT", Polymer::nucleotide, 'C'}, {"GUA", Polymer::nucleotide, 'G'},
        {"URA", Polymer::nucleotide, 'U'}, {"THY", Polymer::nucleotide, 'T'},
        {"T", Polymer::nucleotide, 'T'},   {"5MC", Polymer::nucleotide, 'C'},
        {"A2M", Polymer::nucleotide, 'A'}, {"T6A", Polymer::nucleotide, 'A'},
        {"G7M", Polymer::nucleotide, 'G'}, {"YYG", Polymer::nucleotide, 'G'},
        {"YG", Polymer::nucleotide, 'G'},  {"QUO", Polymer::nucleotide, 'G'}};
    for (const Row& row : rows) {
        if (name == row.name) return {row.polymer, row.letter, false};
    }
    // NALA, CHID, DA5 and RG3 of AMBER; LYSH, HISB and GLUP of GROMOS and CHARMM. GLYC is none.
    if (name.size() < 2 || !selection::is_common_name(name)) return {};
    for (const std::string& parent :
         {name.substr(0, 3), name.substr(1), name.substr(0, name.size() - 1)}) {
        if (parent == name) continue;
        const gemmi::ResidueInfo info = gemmi::find_tabulated_residue(parent);
        if (info.is_standard() && info.is_amino_acid())
            return {Polymer::amino_acid, info.one_letter_code, false};
        if (info.is_standard() && info.is_nucleic_acid())
            return {Polymer::nucleotide, info.one_letter_code, true};
        const Identity other = identity_of_other_name(parent);
        if (other.polymer != Polymer::none) return other;
    }
    return {};
}

/// The first nucleotide of a transcript or crystallised RNA, with two or three phosphates. As a
/// HETATM of a non-polymer entity it is a ligand: hence `standard`, see in_polymer().
Identity identity_of_first_nucleotide(const std::string& name) {
    if (name.size() != 3 || name[2] != 'P' || (name[1] != 'T' && name[1] != 'D')) return {};
    if (std::string_view("ACGU").find(name[0]) == std::string_view::npos) return {};
    return {Polymer::nucleotide, name[0], true};
}

bool has_atom(const gemmi::Residue& residue, const char* name) {
    return std::any_of(residue.atoms.begin(), residue.atoms.end(),
                       [name](const gemmi::Atom& atom) { return atom.name == name; });
}

Identity identity_of_name(const std::string& name) {
    const gemmi::ResidueInfo info = gemmi::find_tabulated_residue(name);
    const char letter =
        std::isalpha(static_cast<unsigned char>(info.one_letter_code))
            ? static_cast<char>(std::toupper(static_cast<unsigned char>(info.one_letter_code)))
            : 'X';
    if (info.is_amino_acid()) return {Polymer::amino_acid, letter, info.is_standard()};
    if (info.is_nucleic_acid()) return {Polymer::nucleotide, letter, info.is_standard()};
    const Identity other = identity_of_other_name(name);
    return other.polymer != Polymer::none ? other : identity_of_first_nucleotide(name);
}

Identity identity_of(const gemmi::Residue& residue) {
    if (gemmi::find_tabulated_residue(residue.name).is_water()) return {};
    const Identity named = identity_of_name(residue.name);
    if (named.polymer != Polymer::none) return named;
    // Residues that no table knows, or filed among ligands, are classified by their backbone.
    if (has_atom(residue, "CA") && has_atom(residue, "N") && has_atom(residue, "C")) {
        return {Polymer::amino_acid, 'X', false};
    }
    if (has_atom(residue, "C1'") && has_atom(residue, "C3'") && has_atom(residue, "O3'") &&
        has_atom(residue, "P")) {
        return {Polymer::nucleotide, 'X', false};
    }
    return {};
}

bool in_polymer(const gemmi::Residue& residue, const Identity& identity) {
    if (identity.polymer == Polymer::none) return false;
    if (residue.entity_type == gemmi::EntityType::Polymer) return true;
    if (residue.het_flag != 'H') return true;
    return residue.entity_type == gemmi::EntityType::Unknown && !identity.standard;
}

float occupancy_of(const gemmi::Residue& residue) {
    float highest = 0;
    for (const gemmi::Atom& atom : residue.atoms) highest = std::max(highest, atom.occ);
    return highest;
}

/// The atoms in file order; of several with one name, the one with the highest occupancy.
std::vector<Atom> atoms_of(const gemmi::Residue& residue) {
    std::vector<Atom> atoms;
    std::vector<float> occupancies;
    for (const gemmi::Atom& atom : residue.atoms) {
        const Atom plain{atom.name, atom.element.name(), atom.pos.x, atom.pos.y, atom.pos.z};
        const auto same = std::find_if(atoms.begin(), atoms.end(), [&](const Atom& earlier) {
            return earlier.name == atom.name;
        });
        if (same == atoms.end()) {
            atoms.push_back(plain);
            occupancies.push_back(atom.occ);
            continue;
        }
        const auto at = static_cast<std::size_t>(std::distance(atoms.begin(), same));
        if (atom.occ > occupancies[at]) {
            *same = plain;
            occupancies[at] = atom.occ;
        }
    }
    return atoms;
}

Residue plain_residue(const gemmi::Residue& residue, const Identity& identity) {
    Residue plain;
    plain.name = residue.name;
    plain.number = residue.seqid.num ? *residue.seqid.num : 0;
    plain.insertion = residue.seqid.icode;
    plain.letter = identity.letter;
    plain.atoms = atoms_of(residue);
    return plain;
}

struct Candidate {
    const gemmi::Residue* residue;
    Identity identity;
};

Chain plain_chain(const gemmi::Chain& chain) {
    std::vector<Candidate> kept;
    std::size_t amino_acids = 0;
    for (const gemmi::Residue& residue : chain.residues) {
        const Identity identity = identity_of(residue);
        if (!in_polymer(residue, identity)) continue;
        kept.push_back({&residue, identity});
        amino_acids += identity.polymer == Polymer::amino_acid;
    }
    Chain plain;
    plain.name = chain.name;
    const bool protein = 2 * amino_acids >= kept.size();
    plain.kind = protein ? Chain::Kind::protein : Chain::Kind::nucleic;
    const Polymer wanted = protein ? Polymer::amino_acid : Polymer::nucleotide;
    const gemmi::Residue* previous = nullptr;
    for (const Candidate& candidate : kept) {
        if (candidate.identity.polymer != wanted) continue;
        const gemmi::Residue& residue = *candidate.residue;
        // Two residue names at one position appear one after the other with the same number.
        if (previous != nullptr && previous->seqid == residue.seqid &&
            previous->segment == residue.segment) {
            if (occupancy_of(residue) <= occupancy_of(*previous)) continue;
            plain.residues.pop_back();
        }
        plain.residues.push_back(plain_residue(residue, candidate.identity));
        previous = &residue;
    }
    return plain;
}

void check_coordinates(const std::string& file, const gemmi::Model& model) {
    for (const gemmi::Chain& chain : model.chains) {
        for (const gemmi::Residue& residue : chain.residues) {
            for (const gemmi::Atom& atom : residue.atoms) {
                if (std::isfinite(atom.pos.x) && std::isfinite(atom.pos.y) &&
                    std::isfinite(atom.pos.z)) {
                    continue;
                }
                throw InputError(file, 0,
                                 "expected three coordinates for every atom, found none for atom " +
                                     atom.name + " of residue " + residue.name + " " +
                                     residue.seqid.str() + " in chain '" + chain.name + "'");
            }
        }
    }
}

std::vector<Chain> chains_of(const std::string& file, gemmi::Structure& structure) {
    std::vector<Chain> chains;
    if (structure.models.empty()) return chains;
    gemmi::Model& model = structure.models.front();
    model.merge_chain_parts();
    check_coordinates(file, model);
    for (const gemmi::Chain& chain : model.chains) {
        Chain plain = plain_chain(chain);
        if (!plain.residues.empty()) chains.push_back(std::move(plain));
    }
    return chains;
}

struct BySeqId {
    bool operator()(const gemmi::ResidueId& a, const gemmi::ResidueId& b) const {
        const auto key = [](const gemmi::ResidueId& id) {
            return std::tie(id.seqid.num.value, id.seqid.icode, id.segment, id.name);
        };
        return key(a) < key(b);
    }
};

/// The residues before the first TER of a chain are its polymer.
void end_chain(std::vector<gemmi::Chain>& chains, std::set<std::string>& ended) {
    if (chains.empty() || !ended.insert(chains.back().name).second) return;
    for (gemmi::Residue& residue : chains.back().residues)
        residue.entity_type = gemmi::EntityType::Polymer;
}

}  // namespace

char residue_letter(const std::string& name) { return identity_of_name(name).letter; }

std::vector<Chain> chains_from_pdb(const std::string& file, const PdbModel& model) {
    gemmi::Structure structure;
    structure.models.emplace_back("1");
    std::vector<gemmi::Chain>& chains = structure.models.front().chains;
    std::map<gemmi::ResidueId, std::size_t, BySeqId> residues;  // of the chain
    std::set<std::string> ended;                                // by TER
    auto end = model.ends.begin();
    for (std::size_t n = 0; n < model.atoms.size(); ++n) {
        for (; end != model.ends.end() && *end <= n; ++end) end_chain(chains, ended);
        const AtomRecord& record = model.atoms[n];
        if (chains.empty() || chains.back().name != record.chain) {
            chains.emplace_back(record.chain);
            residues.clear();
        }
        std::vector<gemmi::Residue>& list = chains.back().residues;
        gemmi::ResidueId id;
        id.seqid = gemmi::SeqId(record.number, record.insertion);
        id.segment = record.segment;
        id.name = record.residue_name;
        const auto [at, fresh] = residues.try_emplace(id, list.size());
        if (fresh) {
            gemmi::Residue& residue = list.emplace_back(id);
            residue.het_flag = model.pdb_fields[n].is_het ? 'H' : 'A';
            if (ended.count(record.chain) != 0) residue.entity_type = gemmi::EntityType::NonPolymer;
        }
        gemmi::Atom atom;
        atom.name = record.name;
        atom.altloc = record.altloc == ' ' ? '\0' : record.altloc;
        const std::array<double, 3>& xyz = model.pdb_fields[n].xyz;
        atom.pos = gemmi::Position(xyz[0], xyz[1], xyz[2]);
        atom.occ = static_cast<float>(record.occupancy);
        atom.element = gemmi::Element(record.element);
        list[at->second].atoms.push_back(std::move(atom));
    }
    for (; end != model.ends.end(); ++end) end_chain(chains, ended);
    return chains_of(file, structure);
}

std::vector<Chain> chains_from_mmcif(const std::string& file, const std::string& text) {
    std::vector<Chain> chains;
    with_document(file, text, [&](gemmi::cif::Document& document) {
        const auto with_atoms = std::find_if(
            document.blocks.begin(), document.blocks.end(),
            [](const gemmi::cif::Block& block) { return block.has_tag("_atom_site.Cartn_x"); });
        if (with_atoms == document.blocks.end())
            throw InputError(file, 0, "expected mmCIF with _atom_site coordinates, found none");
        // Reads only atoms and entity types, so that damaged metadata do not spoil a valid model.
        gemmi::cif::Block block(with_atoms->name);
        for (gemmi::cif::Item& item : with_atoms->items)
            if (item.has_prefix("_atom_site.") || item.has_prefix("_entity."))
                block.items.push_back(std::move(item));
        gemmi::Structure structure = gemmi::make_structure_from_block(block);
        chains = chains_of(file, structure);
    });
    return chains;
}

}  // namespace pleat
