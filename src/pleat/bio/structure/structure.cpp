// Structures and topologies: reading polymers of coordinate text, names of atoms in messages, and
// parts of a topology.
#include "pleat/bio/structure/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pleat/bio/structure/coordinate_text.h"
#include "pleat/bio/structure/missing_names.h"
#include "pleat/bio/structure/topology.h"
#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/text.h"

namespace pleat {

namespace {

constexpr Index kMaxFromPipe = Index{64} << 20;

/// Parses the atoms of the first model. The rest of the file is read but ignored, so that a
/// truncated file is detected.
PdbModel first_model(ByteSource& source, Notes* notes) {
    Complaints complaints(source.name());
    PdbModel model;
    bool model_ended = false;
    AtomLines lines;
    std::string_view line;
    while (source.next(line)) {
        if (model_ended) continue;
        if (is_atom_line(line)) {
            lines.add(line, source.line());
        } else if (lines.size() > 0 && (line.starts_with("ENDMDL") || line.starts_with("MODEL ") ||
                                        trimmed(line) == "END")) {
            model_ended = true;
        } else if (trimmed(line.substr(0, 6)) == "TER") {
            model.ends.push_back(lines.size());
        }
    }
    const bool is_fine = lines.parse(model.atoms, model.pdb_fields, complaints).empty();
    PdbDialect dialect;
    if (is_fine) dialect.complete(model.atoms, model.pdb_fields, complaints);
    complaints.throw_if_any();
    if (model.atoms.empty()) {
        throw InputError(source.name(), 0,
                         "expected a PDB file (ATOM records) or an mmCIF file (data_ block), found "
                         "neither");
    }
    if (notes != nullptr)
        for (const Note& note : with_source(dialect.notes(), source.name())) notes->push_back(note);
    return model;
}

Structure read(ByteSource& source, const std::filesystem::path& path, Notes* notes = nullptr) {
    Structure structure;
    structure.source = path;
    structure.chains =
        is_mmcif(source)
            ? chains_from_mmcif(source.name(),
                                remaining_text(source, static_cast<std::size_t>(kMaxFromPipe)))
            : chains_from_pdb(source.name(), first_model(source, notes));
    // In common residues, "CA" or an unknown symbol in the element's columns is the atom's name.
    for (Chain& chain : structure.chains)
        for (Residue& residue : chain.residues)
            for (Atom& atom : residue.atoms)
                if ((atom.element.size() > 1 || atom.element == "X") &&
                    is_common_residue(residue.name))
                    atom.element = guess_element(atom.name, residue.name);
    if (structure.chains.empty()) {
        throw InputError(source.name(), 0,
                         "expected a protein or nucleic acid chain, found only other molecules");
    }
    return structure;
}

double distance(const Atom& a, const Atom& b) {
    return std::hypot(a.x - b.x, a.y - b.y, a.z - b.z);
}

}  // namespace

std::string Residue::id() const {
    std::string text = std::to_string(number);
    if (insertion != ' ') text += insertion;
    return text;
}

const Atom* Residue::find(std::string_view atom_name) const {
    for (const Atom& atom : atoms) {
        if (atom.name == atom_name) return &atom;
    }
    return nullptr;
}

std::string Chain::sequence() const {
    std::string letters;
    letters.reserve(residues.size());
    for (const Residue& residue : residues) letters += residue.letter;
    return letters;
}

bool Chain::broken_after(std::size_t i) const {
    if (i + 1 >= residues.size()) return false;
    struct Link {
        const char* from;
        const char* to;
        double max_length;
    };
    static constexpr Link kPeptide[] = {{"C", "N", 2.5}, {"CA", "CA", 4.5}};
    static constexpr Link kNucleic[] = {{"O3'", "P", 2.5}, {"P", "P", 9.0}};
    for (const Link& link : kind == Kind::protein ? kPeptide : kNucleic) {
        const Atom* from = residues[i].find(link.from);
        const Atom* to = residues[i + 1].find(link.to);
        if (from != nullptr && to != nullptr) return distance(*from, *to) > link.max_length;
    }
    return false;
}

const Chain& Structure::chain(std::string_view name) const {
    std::string names;
    for (const Chain& candidate : chains) {
        if (candidate.name == name) return candidate;
        names += fmt::format("{}'{}'", names.empty() ? "" : ", ", candidate.name);
    }
    throw InputError(source.string(), 0,
                     fmt::format("expected chain '{}', found only {}", name, names));
}

StructureChoice parse_structure_choice(std::string_view text) {
    if (text.empty()) throw UsageError("expected a structure as FILE[:chain], found nothing");
    const std::size_t colon = text.rfind(':');
    std::error_code ignored;
    if (colon == std::string_view::npos || text.find('/', colon) != std::string_view::npos ||
        std::filesystem::exists(std::filesystem::path(text), ignored)) {
        return {std::filesystem::path(text), ""};
    }
    const std::string_view file = text.substr(0, colon);
    const std::string_view chain = text.substr(colon + 1);
    if (file.empty() || chain.empty())
        throw UsageError(fmt::format("expected a structure as FILE[:chain], found '{}'", text));
    return {std::filesystem::path(file), std::string(chain)};
}

Structure read_structure(const std::filesystem::path& path, Notes* notes) {
    ByteSource source(path, is_read_once(path) ? kMaxFromPipe : ByteSource::kMaxBytes);
    return read(source, path, notes);
}

Structure read_structure(const std::string& name, std::string_view bytes) {
    ByteSource source(name, bytes);
    return read(source, name);
}

const Topology::Residue& Topology::residue_of(Index atom) const {
    return residues[atoms[atom].residue];
}

std::string Topology::identity(Index atom) const {
    const Residue& residue = residue_of(atom);
    return fmt::format("{}\t{}\t{}\t{}", residue.chain, residue.number, residue.insertion,
                       atoms[atom].name);
}

std::string Topology::atom_label(Index atom) const {
    const Residue& residue = residue_of(atom);
    std::string text = fmt::format("{} of {} {}", atoms[atom].name, residue.name, residue.number);
    if (residue.insertion != ' ') text += residue.insertion;
    if (!residue.chain.empty()) text += fmt::format(" in chain '{}'", residue.chain);
    return text;
}

std::vector<std::string> Topology::chains() const {
    std::vector<std::string> names;
    for (const Residue& residue : residues) {
        if (std::ranges::find(names, residue.chain) == names.end()) names.push_back(residue.chain);
    }
    return names;
}

ChainName common_chain_name(const Topology& a, const Topology& b) {
    const auto has = [](const Topology& topology, std::string Topology::Residue::*name) {
        return std::ranges::any_of(
            topology.residues, [name](const auto& residue) { return !(residue.*name).empty(); });
    };
    const bool segments =
        has(a, &Topology::Residue::segment) && has(b, &Topology::Residue::segment);
    const bool a_shares = has(a, &Topology::Residue::shared_chain),
               b_shares = has(b, &Topology::Residue::shared_chain);
    if (segments && (!a.has_chain_names || !b.has_chain_names || a_shares != b_shares))
        return ChainName::segment;
    return a_shares != b_shares && a.has_chain_names && b.has_chain_names ? ChainName::shared_chain
                                                                          : ChainName::chain;
}

const std::string& chain_name(const Topology::Residue& residue, ChainName name) {
    const std::string& other = name == ChainName::segment ? residue.segment : residue.shared_chain;
    return name == ChainName::chain || other.empty() ? residue.chain : other;
}

namespace {

/// Keeps the bonds among these atoms if only bonds to hydrogens are cut; otherwise part of a
/// molecule would look like a different molecule.
void keep_bonds(const Topology& topology, const std::vector<Index>& atoms, Topology& part) {
    if (topology.bonds.empty()) return;
    std::vector<Index> place(topology.atoms.size(), -1);
    for (std::size_t n = 0; n < atoms.size(); ++n) place[atoms[n]] = static_cast<Index>(n);
    for (std::size_t n = 0; n < topology.bonds.size(); ++n) {
        std::array<Index, 2> bond{};
        for (std::size_t end = 0; end < 2; ++end) bond[end] = place[topology.bonds[n][end]];
        if (std::max(bond[0], bond[1]) < 0) continue;
        if (std::min(bond[0], bond[1]) < 0) {
            const Index left = topology.bonds[n][bond[0] < 0 ? 0 : 1];
            const std::string& element = topology.atoms[left].element;
            if (element == "H" || element == "D") continue;
            part.bonds.clear();
            part.bond_orders.clear();
            part.has_all_bonds = false;
            return;
        }
        part.bonds.push_back(bond);
        if (!topology.bond_orders.empty()) part.bond_orders.push_back(topology.bond_orders[n]);
    }
    part.has_all_bonds = topology.has_all_bonds;
}

}  // namespace

Topology subset(const Topology& topology, const std::vector<Index>& atoms) {
    Topology part;
    part.source = topology.source;
    part.named = topology.named;
    part.has_chain_names = topology.has_chain_names;
    part.cell = topology.cell;
    part.atoms.reserve(atoms.size());
    Index last = -1;
    for (const Index at : atoms) {
        if (at < 0 || at >= topology.atom_count())
            throw InputError(topology.source.string(), 0,
                             fmt::format("expected atoms from 0 to {}, found {}",
                                         topology.atom_count() - 1, at));
        Topology::Atom atom = topology.atoms[at];
        if (atom.residue != last) part.residues.push_back(topology.residue_of(at));
        last = atom.residue;
        atom.residue = std::ssize(part.residues) - 1;
        part.atoms.push_back(std::move(atom));
        if (!topology.positions.empty()) part.positions.push_back(topology.positions[at]);
    }
    keep_bonds(topology, atoms, part);
    return part;
}

Topology unnamed_topology(Index atom_count, const std::filesystem::path& source) {
    Topology topology;
    topology.source = source;
    topology.named = false;
    topology.atoms.resize(atom_count);
    topology.residues.resize(atom_count);
    for (Index i = 0; i < atom_count; ++i) {
        topology.atoms[i] = {"X", "X", 0, i};
        topology.residues[i] = {"UNK", static_cast<int>(i + 1), ' ', ""};
    }
    return topology;
}

}  // namespace pleat
