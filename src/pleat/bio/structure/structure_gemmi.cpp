// The one door to gemmi, compiled as C++17 because gemmi 0.5.7 is not valid C++20 everywhere.
#include "pleat/bio/structure/structure_gemmi.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <gemmi/cif.hpp>
#include <gemmi/mmcif.hpp>
#include <gemmi/resinfo.hpp>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "pleat/bio/selection/residue_names.h"
#include "pleat/core/error.h"

namespace pleat {

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

/// The nucleotide that begins a transcript or a crystallised RNA with two or three phosphates. As a
/// HETATM of an entity that is not a polymer it is a ligand: hence `standard`, see in_polymer().
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
    // A residue that no table knows, or one filed among the ligands, is judged by its backbone.
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

/// Atoms in the order of the file; of several with one name, that of the highest occupancy.
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
        // Two identities at one place stand one after the other with the same number.
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

/// What stands in front of the first TER of a chain is its polymer.
void end_chain(std::vector<gemmi::Chain>& chains, std::set<std::string>& ended) {
    if (chains.empty() || !ended.insert(chains.back().name).second) return;
    for (gemmi::Residue& residue : chains.back().residues)
        residue.entity_type = gemmi::EntityType::Polymer;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

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
            residue.het_flag = model.fields[n].is_het ? 'H' : 'A';
            if (ended.count(record.chain) != 0) residue.entity_type = gemmi::EntityType::NonPolymer;
        }
        gemmi::Atom atom;
        atom.name = record.name;
        atom.altloc = record.altloc == ' ' ? '\0' : record.altloc;
        const std::array<double, 3>& xyz = model.fields[n].xyz;
        atom.pos = gemmi::Position(xyz[0], xyz[1], xyz[2]);
        atom.occ = static_cast<float>(record.occupancy);
        atom.element = gemmi::Element(record.element);
        list[at->second].atoms.push_back(std::move(atom));
    }
    for (; end != model.ends.end(); ++end) end_chain(chains, ended);
    return chains_of(file, structure);
}

std::vector<Chain> chains_from_mmcif(const std::string& file, const std::string& text) {
    try {
        gemmi::cif::Document document =
            gemmi::cif::read_memory(text.data(), text.size(), file.c_str());
        const auto with_atoms = std::find_if(
            document.blocks.begin(), document.blocks.end(),
            [](const gemmi::cif::Block& block) { return block.has_tag("_atom_site.Cartn_x"); });
        if (with_atoms == document.blocks.end()) {
            throw InputError(file, 0, "expected mmCIF with _atom_site coordinates, found none");
        }
        // Only atoms and the kinds of entities: damaged metadata must not stop a good model.
        gemmi::cif::Block block(with_atoms->name);
        for (gemmi::cif::Item& item : with_atoms->items) {
            if (item.has_prefix("_atom_site.") || item.has_prefix("_entity.")) {
                block.items.push_back(std::move(item));
            }
        }
        gemmi::Structure structure = gemmi::make_structure_from_block(block);
        return chains_of(file, structure);
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

}  // namespace pleat
