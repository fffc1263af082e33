// Structures: reading coordinate text, checking it line by line, and naming what is wrong.
#include "pleat/bio/structure/structure.h"

#include <fmt/format.h>

#include <cmath>

#include "pleat/bio/input/coordinate_text.h"
#include "pleat/bio/input/text_fields.h"
#include "pleat/bio/structure/element_guess.h"
#include "pleat/bio/structure/pdb_dialect.h"
#include "pleat/bio/structure/pdb_record.h"
#include "pleat/bio/structure/structure_gemmi.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"

namespace pleat {

namespace {

constexpr Index kMaxFromPipe = Index{64} << 20;

/// The atoms of the first model; the rest of the file is read to its end, so that a truncated file
/// is noticed, but not looked at.
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
    const bool is_fine = lines.parse(model.atoms, model.fields, complaints).empty();
    PdbDialect dialect;
    if (is_fine) dialect.complete(model.atoms, model.fields, complaints);
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
    if (file.empty() || chain.empty()) {
        throw UsageError(fmt::format("expected a structure as FILE[:chain], found '{}'", text));
    }
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

}  // namespace pleat
