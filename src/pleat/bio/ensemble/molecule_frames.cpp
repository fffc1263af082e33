// Molecule frames: the molecules of SDF and MOL files (V2000 and V3000) and of MOL2 files as frames
// of one molecule, whose atoms are matched.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/ensemble/frame_formats.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/structure/molecular_graph.h"
#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"
#include "pleat/core/notes.h"

namespace pleat {

namespace {

/// A molecule of an SDF or MOL2 file.
struct MoleculeRecord {
    std::vector<std::string> elements;
    std::vector<std::array<float, 3>> xyz;
    std::vector<std::array<Index, 2>> bonds;
    std::vector<std::uint8_t> orders;
    // Of MOL2 files, else empty.
    std::vector<std::string> names;           ///< [atom]
    std::vector<Topology::Residue> residues;  ///< [atom]
};

constexpr std::size_t kVersion = 33;  // column of the counts line

/// A column of a line; empty if the line is too short.
std::string_view column(std::string_view line, std::size_t first, std::size_t width) {
    return first < line.size() ? trimmed(line.substr(first, width)) : std::string_view();
}

bool has_version(std::string_view counts, std::string_view version) {
    return counts.size() > kVersion && column(counts, kVersion, std::string::npos) == version;
}

/// Normalises element symbols: "CL" and "cl" become "Cl"; isotopes of hydrogen become hydrogen.
std::string element_of(std::string_view symbol) {
    std::string element = in_lower_case(symbol);
    if (!element.empty()) element[0] = in_upper_case(symbol)[0];
    return element == "D" || element == "T" ? "H" : element;
}

/// Whether a text is an SDF or MOL file: its fourth line counts atoms and bonds.
bool is_sdf(ByteReader& bytes) {
    std::string_view start = header_of(bytes);
    for (int lines = 0; lines < 3; ++lines) {
        const std::size_t end = start.find('\n');
        if (end == std::string_view::npos) return false;
        start.remove_prefix(end + 1);
    }
    const std::string_view counts = start.substr(0, start.find('\n'));
    return has_version(counts, "V2000") || has_version(counts, "V3000");
}

// A record of MOL2 begins with "@<TRIPOS>MOLECULE", a name and a line with the numbers of atoms and
// bonds; the sections ATOM (number, name, x, y, z, SYBYL type, number and name of the residue) and
// BOND (number, two atoms, type) follow. Others are passed over.

constexpr std::string_view kMark = "@<TRIPOS>";

/// The element of a SYBYL type ("C.ar", "Cl"); a lone pair (LP) or a dummy (Du) is none. AMBER's
/// types begin with the letter of their element ("OS", "ca").
std::string element_of_type(std::string_view type) {
    type = type.substr(0, type.find('.'));
    std::string element = element_symbol(std::string(type));
    if (element == type || type == "Du" || type == "LP") return element == type ? element : "X";
    element = in_lower_case(type.substr(0, 2));
    element[0] = in_upper_case(type)[0];
    if (element == "Cl" || element == "Br") return element;
    constexpr std::string_view kLetters = "HCNOPSFI";
    return kLetters.find(element[0]) != std::string_view::npos ? element.substr(0, 1) : "X";
}

class Mol2Reader {
public:
    Mol2Reader(ByteSource& source, Index number) : source_(source), number_(number) {}

    bool read(MoleculeRecord& record) {
        record = {};
        std::string_view line;
        do {
            if (!source_.next(line)) return false;
        } while (!line.starts_with("@<TRIPOS>MOLECULE"));
        if (!source_.next(line)) refuse_end("the name of a molecule");
        const std::vector<std::string_view> counts = words(next_line("numbers of atoms and bonds"));
        Index atoms = 0, bonds = 0;
        if (counts.empty() || !parse_number(counts[0], atoms) || atoms < 1 ||
            (counts.size() > 1 && !parse_number(counts[1], bonds)) || bonds < 0)
            refuse(
                "expected the numbers of atoms and bonds in the second line of a molecule, "
                "found others");
        while (source_.next(line)) {
            const std::string_view text = trimmed(line);
            if (text == "@<TRIPOS>MOLECULE") {
                source_.hold();
                break;
            }
            if (text == "@<TRIPOS>ATOM" && record.elements.empty())
                for (Index n = 0; n < atoms; ++n) read_atom(record);
            if (text == "@<TRIPOS>BOND" && record.bonds.empty())
                for (Index n = 0; n < bonds; ++n) read_bond(record, atoms);
        }
        if (record.elements.empty()) refuse_end("atoms");
        return true;
    }

private:
    [[noreturn]] void refuse(const std::string& text) const {
        const std::string in_frame = fmt::format("frame {}: {}", number_, text);
        throw InputError(source_.name(), source_.line(), in_frame);
    }

    [[noreturn]] void refuse_end(std::string_view expected) const {
        throw CutShort(source_.name(), source_.line(),
                       fmt::format("frame {}: expected {}, found the end of the molecule (cut "
                                   "short)",
                                   number_, expected));
    }

    /// Returns the next line of the section, skipping blank lines.
    std::string_view next_line(std::string_view expected) {
        std::string_view line;
        do {
            if (!source_.next(line) || line.starts_with(kMark)) refuse_end(expected);
        } while (is_blank(line) || line.starts_with('#'));
        return line;
    }

    void read_atom(MoleculeRecord& record) {
        const std::string_view line = next_line("an atom");
        const std::vector<std::string_view> fields = words(line);
        std::array<float, 3> xyz{};
        if (fields.size() < 6 || !is_printable_ascii(fields[1]) || !parse_xyz(fields, 2, xyz))
            refuse(fmt::format("expected an atom (number, name, x, y, z, type), found {}",
                               in_quotes(line)));
        record.names.emplace_back(fields[1]);
        record.elements.push_back(element_of_type(fields[5]));
        record.xyz.push_back(xyz);
        Topology::Residue residue{"LIG", 1, ' ', ""};
        if (fields.size() > 6) parse_number(fields[6], residue.number);
        if (fields.size() > 7) set_residue_name(fields[7], residue);
        record.residues.push_back(std::move(residue));
    }

    /// Splits "ALA12" into ALA and 12; some programs write only names.
    static void set_residue_name(std::string_view text, Topology::Residue& residue) {
        const std::size_t end = text.find_last_not_of("0123456789") + 1;
        const bool has_number = end >= 2 && end < text.size();
        if (has_number && parse_number(text.substr(end), residue.number))
            text = text.substr(0, end);
        if (is_printable_ascii(text) && !text.empty() && text.front() != '<') residue.name = text;
    }

    void read_bond(MoleculeRecord& record, Index atoms) {
        static const std::map<std::string_view, std::uint8_t> kOrders = {
            {"1", 1}, {"2", 2}, {"3", 3}, {"ar", 4}, {"am", 1}, {"du", 1}, {"un", 1}, {"nc", 0}};
        const std::string_view line = next_line("a bond");
        const std::vector<std::string_view> fields = words(line);
        Index first = 0, second = 0;
        const auto order = fields.size() < 4 ? kOrders.end() : kOrders.find(fields[3]);
        if (order == kOrders.end() || !parse_number(fields[1], first) ||
            !parse_number(fields[2], second) || std::min(first, second) < 1 ||
            std::max(first, second) > atoms || first == second)
            refuse(fmt::format("expected a bond (number, two atoms from 1 to {}, type), found {}",
                               atoms, in_quotes(line)));
        if (order->second == 0) return;  // not connected
        record.bonds.push_back({first - 1, second - 1});
        record.orders.push_back(order->second);
    }

    ByteSource& source_;
    Index number_;
};

/// Reads the records of an SDF file (V2000 or V3000) one at a time; a MOL file has one. All records
/// are poses of one molecule: atoms of later records are matched to the first record, or to another
/// file, by elements and bonds if their order differs. The molecule is one residue LIG with atoms
/// C1, C2, N1, ... in the order of the file; MOL2 files name both.
class SdfFrames : public FrameReader {
public:
    explicit SdfFrames(std::unique_ptr<ByteSource> source, bool is_mol2 = false)
        : source_(std::move(source)), is_mol2_(is_mol2) {
        if (!read_record(record_))
            throw InputError(source_->name(), 0, "expected a molecule, found none");
        own_ = std::make_shared<const Topology>(topology_of(record_));
        match(own_, {});
    }
    std::string_view format() const override { return is_mol2_ ? "MOL2" : "SDF"; }
    Index atom_count() const override { return wanted_->atom_count(); }
    std::shared_ptr<const Topology> topology() const override { return own_; }
    void match(const std::shared_ptr<const Topology>& wanted, const std::vector<Index>& needed,
               const std::vector<Index>& places = {}) override;
    void choose_assembly(const std::string& name) override {
        throw InputError(
            source_->name(), 0,
            fmt::format("cannot build biological assembly '{}': {} files describe none", name,
                        format()));
    }
    bool next(View<float, 2> frame) override {
        if (!std::exchange(is_ahead_, false) && !read_record(record_)) return false;
        const std::vector<Index> from = numbers(record_);
        for (const Index atom : needed_)
            if (from[atom] < 0)
                throw MissingAtoms(
                    source_->name(), 0,
                    fmt::format(
                        "frame {}: expected {} of {}, found its molecule with other hydrogens "
                        "or their order: select heavy atoms",
                        number_, wanted_->atom_label(atom), wanted_->source.string()));
        for (std::size_t n = 0; n < from.size(); ++n)
            for (std::size_t axis = 0; axis < 3; ++axis)
                frame(static_cast<Index>(axis), static_cast<Index>(n)) =
                    from[n] < 0 ? std::numeric_limits<float>::quiet_NaN()
                                : record_.xyz[from[n]][axis];
        return true;
    }

private:
    using Record = MoleculeRecord;
    /// Sets `record` to the next one; false after the last one.
    bool read_record(Record& record) {
        if (is_mol2_) return Mol2Reader(*source_, ++number_).read(record);
        std::string_view line;
        Index lines = 0;
        bool is_blank_so_far = true;
        for (; lines < 4; ++lines) {
            if (!source_->next(line)) {
                if (is_blank_so_far) return false;
                ++number_;
                throw CutShort(
                    source_->name(), source_->line(),
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
                fail(
                    fmt::format("expected a line with the numbers of atoms and bonds and V2000 or "
                                "V3000, found {}",
                                in_quotes(line)));
            read_atoms(record, atoms);
            read_bonds(record, bonds);
        }
        pass_properties();
        const bool is_flat =
            record.xyz.size() > 3 &&
            std::ranges::all_of(record.xyz, [](const auto& xyz) { return xyz[2] == 0; });
        if (is_flat && number_ == 0)
            notes_.push_back({NoteKind::molecules,
                              fmt::format("{}: the molecule is flat (z is 0): a drawing, not a "
                                          "structure?",
                                          source_->name()),
                              {},
                              true});
        return true;
    }
    /// Returns the next line of the record.
    std::string_view line_of_record(std::string_view what) {
        std::string_view line;
        if (!source_->next(line) || line.starts_with("$$$$"))
            throw CutShort(
                source_->name(), source_->line(),
                fmt::format("frame {}: expected {}, found the end of the {} (cut short)", number_,
                            what, line.starts_with("$$$$") ? "record" : "file"));
        return line;
    }
    void read_atoms(Record& record, Index count) {
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
    void read_bonds(Record& record, Index count) {
        const auto atoms = std::ssize(record.elements);
        for (Index n = 0; n < count; ++n) {
            const std::string_view line = line_of_record("a bond");
            Index first = 0, second = 0;
            int order = 0;
            const bool is_read = parse_number(column(line, 0, 3), first) &&
                                 parse_number(column(line, 3, 3), second) &&
                                 parse_number(column(line, 6, 3), order);
            if (!is_read || std::min(first, second) < 1 || std::max(first, second) > atoms ||
                first == second || order < 1 || order > 4)
                fail(fmt::format(
                    "expected a bond of two atoms from 1 to {} with an order from 1 to 4, "
                    "found {}",
                    atoms, in_quotes(line)));
            record.bonds.push_back({first - 1, second - 1});
            record.orders.push_back(static_cast<std::uint8_t>(order));
        }
    }
    /// `place`: describes the location of the element symbol in messages.
    void add_atom(Record& record, std::string_view symbol, std::string_view place,
                  const std::array<float, 3>& xyz) {
        std::string element = element_of(symbol);
        if (!(element_mass(element) > 0))
            fail(fmt::format("expected an element{}, found {}", place, in_quotes(symbol)));
        record.elements.push_back(std::move(element));
        record.xyz.push_back(xyz);
    }
    /// The words of the next statement of a V3000 table: a line behind `M  V30`, and those that
    /// continue it. Throws InputError unless it begins with the words of `start`.
    std::vector<std::string> next_statement(std::string_view what, std::string_view start) {
        constexpr std::string_view kContinued = "M  V30";
        constexpr std::size_t kMaxStatement = std::size_t{1} << 20;
        std::string text;
        do {
            if (!text.empty()) text.pop_back();  // the sign that the next line continues it
            std::string_view line = trimmed(line_of_record(what));
            if (!line.starts_with(kContinued) || text.size() + line.size() > kMaxStatement)
                fail(fmt::format("expected {} in a line of {}, found {}", what, kContinued,
                                 in_quotes(line)));
            text += line.substr(kContinued.size());
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
    /// Reads the connection table of the format V3000, including its bonds.
    void read_table(Record& record) {
        next_statement("the begin of the table", "BEGIN CTAB");
        const std::vector<std::string> counts =
            next_statement("numbers of atoms and bonds", "COUNTS");
        Index atoms = 0, bonds = 0;
        if (counts.size() < 2 || !parse_number(counts[0], atoms) ||
            !parse_number(counts[1], bonds) || atoms < 1 || bonds < 0)
            fail("expected the numbers of atoms and bonds behind COUNTS, found others");
        next_statement("the begin of the atoms", "BEGIN ATOM");
        std::unordered_map<Index, Index> numbers;  // by the number in the file, any above 0
        for (Index n = 0; n < atoms; ++n) {
            const std::vector<std::string> atom = next_statement("an atom", "");
            Index number = 0;
            std::array<float, 3> xyz{};
            if (atom.size() < 5 || !parse_number(atom[0], number) || number < 1 ||
                !parse_xyz({atom.begin(), atom.end()}, 2, xyz))
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
                fail(fmt::format(
                    "expected a number, an order from 1 to 4 and two atoms of the table, "
                    "found {}",
                    in_quotes(fmt::format("{}", fmt::join(bond, " ")))));
            record.bonds.push_back({from->second, to->second});
            record.orders.push_back(static_cast<std::uint8_t>(order));
        }
        next_statement("the end of the bonds", "END BOND");
    }
    /// Skips properties and data to the end of the record.
    void pass_properties() {
        std::string_view line;
        while (source_->next(line))
            if (line.starts_with("$$$$")) return;
    }
    Topology topology_of(const Record& record) const {
        Topology topology;
        topology.source = source_->name();
        if (record.residues.empty()) topology.residues.push_back({"LIG", 1, ' ', ""});
        std::map<std::string, int> counts;
        for (std::size_t n = 0; n < record.elements.size(); ++n) {
            const std::string& element = record.elements[n];
            std::string name = in_upper_case(element) + std::to_string(++counts[element]);
            if (!record.names.empty()) name = record.names[n];
            if (!record.residues.empty()) {
                const Topology::Residue& residue = record.residues[n];
                if (topology.residues.empty() ||
                    topology.residues.back().number != residue.number ||
                    topology.residues.back().name != residue.name)
                    topology.residues.push_back(residue);
            }
            topology.atoms.push_back({std::move(name), element, element_mass(element),
                                      std::ssize(topology.residues) - 1});
            topology.positions.push_back({record.xyz[n][0], record.xyz[n][1], record.xyz[n][2]});
        }
        topology.bonds = record.bonds;
        topology.bond_orders = record.orders;
        topology.has_all_bonds = !is_mol2_ || !record.bonds.empty();
        return topology;
    }
    /// For each wanted atom its index in the record; -1 for unknown hydrogens.
    std::vector<Index> numbers(const Record& record) {
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
                 fmt::format("{}: frame {}: atoms in another order than in {}{}: matched by "
                             "elements and bonds "
                             "(--symmetry ligand compares all ways to do so)",
                             source_->name(), number_, wanted_->source.string(),
                             match.has_same_orders ? "" : ", and bonds of other orders")});
        return match.atoms;
    }
    [[noreturn]] void fail(std::string_view text) const {
        const std::string in_frame = fmt::format("frame {}: {}", number_, text);
        throw InputError(source_->name(), source_->line(), in_frame);
    }

    std::unique_ptr<ByteSource> source_;
    const bool is_mol2_;
    std::shared_ptr<const Topology> own_, wanted_;
    std::vector<Index> needed_;
    Record record_;
    bool is_ahead_ = true;  // `record_` was read and not given
    Index number_ = -1;     // of the record last read, from 0
    bool noted_order_ = false;
};

void SdfFrames::match(const std::shared_ptr<const Topology>& wanted,
                      const std::vector<Index>& needed, const std::vector<Index>&) {
    wanted_ = wanted;
    needed_ = needed;
}

std::unique_ptr<FrameReader> open_mol2(std::unique_ptr<ByteReader> bytes,
                                       const std::filesystem::path&) {
    return std::make_unique<SdfFrames>(lines_of(std::move(bytes)), true);
}

}  // namespace

FrameFormat sdf_format() { return {"SDF", ".sdf .mol ", is_sdf, open_frames_of<SdfFrames>}; }
FrameFormat mol2_format() {
    return {"MOL2", ".mol2 ",
            [](ByteReader& bytes) {
                return header_of(bytes).find("@<TRIPOS>MOLECULE") != std::string_view::npos;
            },
            open_mol2};
}

}  // namespace pleat
