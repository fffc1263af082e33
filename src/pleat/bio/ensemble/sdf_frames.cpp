// SDF frames: reading records of the formats V2000 and V3000, and matching their atoms.
#include "pleat/bio/ensemble/sdf_frames.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/input/text_fields.h"
#include "pleat/bio/structure/molecular_graph.h"
#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/core/error.h"
#include "pleat/core/notes.h"

namespace pleat {

namespace {

constexpr std::size_t kVersion = 33;  // column of the counts line

/// A column of a line, which may be too short.
std::string_view column(std::string_view line, std::size_t first, std::size_t width) {
    return first < line.size() ? trimmed(line.substr(first, width)) : std::string_view();
}

bool has_version(std::string_view counts, std::string_view version) {
    return counts.size() > kVersion && column(counts, kVersion, std::string::npos) == version;
}

/// "CL" and "cl" are "Cl"; hydrogen's isotopes are hydrogen.
std::string element_of(std::string_view symbol) {
    std::string element(symbol);
    for (std::size_t n = 0; n < element.size(); ++n) {
        const auto letter = static_cast<unsigned char>(element[n]);
        element[n] = static_cast<char>(n == 0 ? std::toupper(letter) : std::tolower(letter));
    }
    return element == "D" || element == "T" ? "H" : element;
}

}  // namespace

bool is_sdf(std::string_view start) {
    for (int lines = 0; lines < 3; ++lines) {
        const std::size_t end = start.find('\n');
        if (end == std::string_view::npos) return false;
        start.remove_prefix(end + 1);
    }
    const std::string_view counts = start.substr(0, start.find('\n'));
    return has_version(counts, "V2000") || has_version(counts, "V3000");
}

SdfFrames::SdfFrames(std::unique_ptr<ByteSource> source, bool is_mol2)
    : source_(std::move(source)), is_mol2_(is_mol2) {
    if (!read_record(record_))
        throw InputError(source_->name(), 0, "expected a molecule, found none");
    own_ = std::make_shared<const Topology>(topology_of(record_));
    match(own_, {});
}

void SdfFrames::fail(std::string_view text) const {
    const std::string in_frame = fmt::format("frame {}: {}", number_, text);
    throw InputError(source_->name(), source_->line(), in_frame);
}

void SdfFrames::choose_assembly(const std::string& name) {
    throw InputError(source_->name(), 0,
                     fmt::format("cannot build biological assembly '{}': {} files describe none",
                                 name, format()));
}

/// The next line, which belongs to the record.
std::string_view SdfFrames::line_of_record(std::string_view what) {
    std::string_view line;
    if (!source_->next(line) || line.starts_with("$$$$"))
        throw CutShort(source_->name(), source_->line(),
                       fmt::format("frame {}: expected {}, found the end of the {} (cut short)",
                                   number_, what, line.starts_with("$$$$") ? "record" : "file"));
    return line;
}

void SdfFrames::read_atoms(Record& record, Index count) {
    for (Index n = 0; n < count; ++n) {
        const std::string_view line = line_of_record("an atom");
        std::array<float, 3> xyz{};
        for (std::size_t axis = 0; axis < 3; ++axis)
            if (!parse_number(column(line, 10 * axis, 10), xyz[axis]))
                fail(fmt::format("expected coordinates in columns 1 to 30, found {}",
                                 in_quotes(line)));
        add_atom(record, column(line, 31, 3), " in columns 32 to 34", xyz);
    }
}

/// `place`: where the symbol of the element is, for messages.
void SdfFrames::add_atom(Record& record, std::string_view symbol, std::string_view place,
                         const std::array<float, 3>& xyz) {
    std::string element = element_of(symbol);
    if (!(element_mass(element) > 0))
        fail(fmt::format("expected an element{}, found {}", place, in_quotes(symbol)));
    record.elements.push_back(std::move(element));
    record.xyz.push_back(xyz);
}

void SdfFrames::read_bonds(Record& record, Index count) {
    const auto atoms = static_cast<Index>(record.elements.size());
    for (Index n = 0; n < count; ++n) {
        const std::string_view line = line_of_record("a bond");
        Index first = 0, second = 0;
        int order = 0;
        const bool is_read = parse_number(column(line, 0, 3), first) &&
                             parse_number(column(line, 3, 3), second) &&
                             parse_number(column(line, 6, 3), order);
        if (!is_read || std::min(first, second) < 1 || std::max(first, second) > atoms ||
            first == second || order < 1 || order > 4)
            fail(
                fmt::format("expected a bond of two atoms from 1 to {} with an order from 1 to 4, "
                            "found {}",
                            atoms, in_quotes(line)));
        record.bonds.push_back({first - 1, second - 1});
        record.orders.push_back(static_cast<std::uint8_t>(order));
    }
}

/// The words of the next statement of a V3000 table: a line behind `M  V30`, and those that
/// continue it. Throws InputError unless it begins with the words of `start`.
std::vector<std::string> SdfFrames::next_statement(std::string_view what, std::string_view start) {
    constexpr std::string_view kMark = "M  V30";
    constexpr std::size_t kMaxStatement = std::size_t{1} << 20;
    std::string text;
    do {
        if (!text.empty()) text.pop_back();  // the sign that the next line continues it
        std::string_view line = trimmed(line_of_record(what));
        if (!line.starts_with(kMark) || text.size() + line.size() > kMaxStatement)
            fail(
                fmt::format("expected {} in a line of {}, found {}", what, kMark, in_quotes(line)));
        text += line.substr(kMark.size());
    } while (text.ends_with('-'));
    std::vector<std::string> statement;
    for (const std::string_view word : words(text)) statement.emplace_back(word);
    const std::vector<std::string_view> expected = words(start);
    if (statement.size() < expected.size() ||
        !std::equal(expected.begin(), expected.end(), statement.begin()))
        fail(fmt::format("expected {}, found {}", start, in_quotes(trimmed(text))));
    statement.erase(statement.begin(),
                    statement.begin() + static_cast<std::ptrdiff_t>(expected.size()));
    return statement;
}

/// The connection table of the format V3000, up to its bonds.
void SdfFrames::read_table(Record& record) {
    next_statement("the begin of the table", "BEGIN CTAB");
    const std::vector<std::string> counts = next_statement("numbers of atoms and bonds", "COUNTS");
    Index atoms = 0, bonds = 0;
    if (counts.size() < 2 || !parse_number(counts[0], atoms) || !parse_number(counts[1], bonds) ||
        atoms < 1 || bonds < 0)
        fail("expected the numbers of atoms and bonds behind COUNTS, found others");
    next_statement("the begin of the atoms", "BEGIN ATOM");
    std::unordered_map<Index, Index> numbers;  // by the number in the file, any above 0
    for (Index n = 0; n < atoms; ++n) {
        const std::vector<std::string> atom = next_statement("an atom", "");
        Index number = 0;
        std::array<float, 3> xyz{};
        bool is_read = atom.size() >= 5 && parse_number(atom[0], number) && number > 0;
        for (std::size_t axis = 0; axis < 3 && is_read; ++axis)
            is_read = parse_number(atom[axis + 2], xyz[axis]);
        if (!is_read)
            fail(fmt::format("expected a number, an element and three coordinates, found {}",
                             in_quotes(fmt::format("{}", fmt::join(atom, " ")))));
        if (!numbers.emplace(number, n).second)
            fail(fmt::format("expected each atom once, found atom {} again", number));
        add_atom(record, atom[1], "", xyz);
    }
    next_statement("the end of the atoms", "END ATOM");
    if (bonds == 0) return;
    next_statement("the begin of the bonds", "BEGIN BOND");
    for (Index n = 0; n < bonds; ++n) {
        const std::vector<std::string> bond = next_statement("a bond", "");
        Index first = 0, second = 0;
        int order = 0;
        const bool is_read = bond.size() >= 4 && parse_number(bond[1], order) &&
                             parse_number(bond[2], first) && parse_number(bond[3], second);
        const auto from = numbers.find(first), to = numbers.find(second);
        if (!is_read || from == numbers.end() || to == numbers.end() || first == second ||
            order < 1 || order > 4)
            fail(
                fmt::format("expected a number, an order from 1 to 4 and two atoms of the table, "
                            "found {}",
                            in_quotes(fmt::format("{}", fmt::join(bond, " ")))));
        record.bonds.push_back({from->second, to->second});
        record.orders.push_back(static_cast<std::uint8_t>(order));
    }
    next_statement("the end of the bonds", "END BOND");
}

/// Properties and data of the record, up to its end.
void SdfFrames::pass_properties() {
    std::string_view line;
    while (source_->next(line))
        if (line.starts_with("$$$$")) return;
}

/// Sets `record` to the next one; false after the last one.
bool SdfFrames::read_record(Record& record) {
    if (is_mol2_) return read_mol2_record(*source_, ++number_, record);
    std::string_view line;
    Index lines = 0;
    bool is_blank_so_far = true;
    for (; lines < 4; ++lines) {
        if (!source_->next(line)) {
            if (is_blank_so_far) return false;
            ++number_;
            throw CutShort(source_->name(), source_->line(),
                           fmt::format("frame {}: expected a molecule, found the end of the file "
                                       "(cut short)",
                                       number_));
        }
        is_blank_so_far = is_blank_so_far && is_blank(line);
    }
    ++number_;
    record = {};
    if (has_version(line, "V3000")) {
        read_table(record);
    } else {
        Index atoms = 0, bonds = 0;
        if (!has_version(line, "V2000") || !parse_number(column(line, 0, 3), atoms) ||
            !parse_number(column(line, 3, 3), bonds) || atoms < 1 || bonds < 0)
            fail(fmt::format(
                "expected a line with the numbers of atoms and bonds and V2000 or V3000, found {}",
                in_quotes(line)));
        read_atoms(record, atoms);
        read_bonds(record, bonds);
    }
    pass_properties();
    const bool is_flat =
        record.xyz.size() > 3 && std::all_of(record.xyz.begin(), record.xyz.end(),
                                             [](const auto& xyz) { return xyz[2] == 0; });
    if (is_flat && number_ == 0)
        notes_.push_back({NoteKind::molecules,
                          fmt::format("{}: the molecule is flat (z is 0): a drawing, not a "
                                      "structure?",
                                      source_->name()),
                          {},
                          true});
    return true;
}

Topology SdfFrames::topology_of(const Record& record) const {
    Topology topology;
    topology.source = source_->name();
    if (record.residues.empty()) topology.residues.push_back({"LIG", 1, ' ', ""});
    std::map<std::string, int> counts;
    for (std::size_t n = 0; n < record.elements.size(); ++n) {
        const std::string& element = record.elements[n];
        std::string name = element;
        for (char& letter : name)
            letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
        name += std::to_string(++counts[element]);
        if (!record.names.empty()) name = record.names[n];
        if (!record.residues.empty()) {
            const Topology::Residue& residue = record.residues[n];
            if (topology.residues.empty() || topology.residues.back().number != residue.number ||
                topology.residues.back().name != residue.name)
                topology.residues.push_back(residue);
        }
        topology.atoms.push_back({std::move(name), element, element_mass(element),
                                  static_cast<Index>(topology.residues.size()) - 1});
        topology.positions.push_back({record.xyz[n][0], record.xyz[n][1], record.xyz[n][2]});
    }
    topology.bonds = record.bonds;
    topology.bond_orders = record.orders;
    topology.has_all_bonds = !is_mol2_ || !record.bonds.empty();
    return topology;
}

void SdfFrames::match(const std::shared_ptr<const Topology>& wanted,
                      const std::vector<Index>& needed, const std::vector<Index>&) {
    wanted_ = wanted;
    needed_ = needed;
}

/// For each wanted atom its number in the record; -1 for a hydrogen that is not known.
std::vector<Index> SdfFrames::numbers(const Record& record) {
    const Topology found = topology_of(record);
    const MoleculeMatch match = match_molecules(*wanted_, found);
    if (match.atoms.empty())
        fail(fmt::format(
            "expected the molecule of {}, {}, found {}{}", wanted_->source.string(),
            heavy_formula(*wanted_), heavy_formula(found),
            heavy_formula(found) == heavy_formula(*wanted_) ? " with other bonds" : ""));
    if (match.is_by_bonds && !std::exchange(noted_order_, true))
        notes_.push_back(
            {NoteKind::matching,
             fmt::format(
                 "{}: frame {}: atoms in another order than in {}{}: matched by elements and bonds "
                 "(--symmetry ligand compares all ways to do so)",
                 source_->name(), number_, wanted_->source.string(),
                 match.has_same_orders ? "" : ", and bonds of other orders")});
    return match.atoms;
}

bool SdfFrames::next(View<float, 2> frame) {
    if (!std::exchange(is_ahead_, false) && !read_record(record_)) return false;
    const std::vector<Index> from = numbers(record_);
    for (const Index atom : needed_)
        if (from[static_cast<std::size_t>(atom)] < 0)
            throw MissingAtoms(
                source_->name(), 0,
                fmt::format("frame {}: expected {} of {}, found its molecule with other hydrogens "
                            "or their order: select heavy atoms",
                            number_, wanted_->label(atom), wanted_->source.string()));
    for (std::size_t n = 0; n < from.size(); ++n)
        for (std::size_t axis = 0; axis < 3; ++axis)
            frame(static_cast<Index>(axis), static_cast<Index>(n)) =
                from[n] < 0 ? std::numeric_limits<float>::quiet_NaN()
                            : record_.xyz[static_cast<std::size_t>(from[n])][axis];
    return true;
}

}  // namespace pleat
