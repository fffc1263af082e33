// Structures: reading coordinate text, checking it line by line, and naming what is wrong.
#include "pleat/bio/structure/structure.h"

#include <fmt/format.h>

#include <cmath>

#include "pleat/bio/input/coordinate_text.h"
#include "pleat/bio/input/text_fields.h"
#include "pleat/bio/structure/pdb_record.h"
#include "pleat/bio/structure/structure_gemmi.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"

namespace pleat {

namespace {

constexpr Index kMaxFromPipe = Index{64} << 20;
// Columns 79-80 hold the charge, or in old files the end of a serial number that gemmi refuses.
constexpr std::size_t kColumnsUsed = 78;

void check_atom_record(std::string_view record, Index line, Complaints& complaints) {
    if (record.size() < kCoordinatesEnd) {
        complaints.add(line,
                       fmt::format("expected an atom record of at least {} characters, found {}",
                                   kCoordinatesEnd, record.size()));
        return;
    }
    int number = 0;
    if (!parse_residue_number(record.substr(22, 4), number)) {
        complaints.add(line, fmt::format("expected a residue number in columns 23-26, found '{}'",
                                         record.substr(22, 4)));
        return;
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::size_t begin = 30 + 8 * axis;
        const std::string_view field = record.substr(begin, 8);
        double value = 0;
        if (parse_coordinate(field, value)) continue;
        complaints.add(line, fmt::format("expected a coordinate in columns {}-{}, found '{}'",
                                         begin + 1, begin + 8, field));
        return;
    }
}

bool is_printable(std::string_view line) {
    for (char c : line) {
        if (static_cast<unsigned char>(c) < 0x20 && c != '\t') return false;
    }
    return true;
}

/// The atom and TER records of the first model, cut behind the element; the rest of the file is
/// read to its end, so that a truncated file is noticed, but not looked at.
std::string pdb_records(ByteSource& source) {
    Complaints complaints(source.name());
    std::string records;
    bool atoms = false;
    bool model_ended = false;
    std::string_view line;
    while (source.next(line)) {
        if (model_ended) continue;
        if (is_atom_line(line)) {
            const std::string_view record = line.substr(0, line.find_last_not_of(" \t") + 1);
            if (!is_printable(record)) {
                complaints.add(source.line(), "expected text, found control characters");
                continue;
            }
            check_atom_record(record, source.line(), complaints);
            atoms = true;
        } else if (atoms && (line.starts_with("ENDMDL") || line.starts_with("MODEL ") ||
                             trimmed(line) == "END")) {
            model_ended = true;
            continue;
        } else if (trimmed(line.substr(0, 6)) != "TER") {
            continue;
        }
        records += line.substr(0, kColumnsUsed);
        records += '\n';
    }
    complaints.throw_if_any();
    if (!atoms) {
        throw InputError(source.name(), 0,
                         "expected a PDB file (ATOM records) or an mmCIF file (data_ block), found "
                         "neither");
    }
    return records;
}

Structure read(ByteSource& source, const std::filesystem::path& path) {
    Structure structure;
    structure.source = path;
    structure.chains =
        is_mmcif(source)
            ? chains_from_mmcif(source.name(),
                                remaining_text(source, static_cast<std::size_t>(kMaxFromPipe)))
            : chains_from_pdb(source.name(), pdb_records(source));
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

Structure read_structure(const std::filesystem::path& path) {
    ByteSource source(path, is_read_once(path) ? kMaxFromPipe : ByteSource::kMaxBytes);
    return read(source, path);
}

Structure read_structure(const std::string& name, std::string_view bytes) {
    ByteSource source(name, bytes);
    return read(source, name);
}

}  // namespace pleat
