// PDB records: fixed columns to numbers and names.
#include "pleat/bio/structure/pdb_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "pleat/bio/input/text_fields.h"
#include "pleat/bio/structure/element_guess.h"

namespace pleat {

namespace {

constexpr std::size_t kBFactorEnd = 66;

std::string_view columns(std::string_view line, std::size_t first, std::size_t count) {
    return first - 1 < line.size() ? line.substr(first - 1, count) : std::string_view();
}

template <class T>
bool parse(std::string_view field, T& value) {
    field = trimmed(field);
    if (!field.empty() && field.front() == '+') field.remove_prefix(1);
    return parse_number(field, value);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The columns by which a serial number of many digits moves the coordinates to the right.
std::size_t shift_of(std::string_view line) {
    constexpr std::size_t kBehindSerial = 11, kMaxShift = 3;
    if (!is_digit(line[kBehindSerial])) return 0;
    for (std::size_t shift = 0; shift <= kMaxShift; ++shift) {
        const auto is_point = [&](std::size_t at) {
            return at + shift < line.size() && line[at + shift] == '.';
        };
        if (is_point(34) && is_point(42) && is_point(50)) return shift;
    }
    return 0;
}

/// Whether three coordinates, a charge and a radius end the line of an atom, as in PQR.
bool has_free_columns(std::string_view line) {
    const std::vector<std::string_view> found = words(line);
    constexpr std::ptrdiff_t kNumbers = 5, kMinWords = 9;
    double value = 0;
    return std::ssize(found) >= kMinWords &&
           std::all_of(found.end() - kNumbers, found.end(),
                       [&](std::string_view word) { return parse(word, value); });
}

/// Charges (PDBQT) and names of entries before line numbers (PDB files until 1996) are no segments.
bool is_segment(std::string_view line, std::string_view text) {
    double charge = 0;
    int number = 0;
    const bool has_entry = text.size() == 4 && is_digit(text[0]) && line.size() == 80 &&
                           parse(columns(line, 77, 4), number);
    return !has_entry && (text.find('.') == std::string_view::npos || !parse(text, charge));
}

}  // namespace

bool parse_coordinate(std::string_view field, double& value) {
    return parse(field, value) && std::isfinite(value);
}

bool parse_residue_number(std::string_view field, int& number) {
    field = trimmed(field);
    if (field.size() != 4 || field.front() < 'A') return parse(field, number);
    const bool upper = field.front() <= 'Z';
    int value = 0;
    for (const char c : field) {
        const char first_letter = upper ? 'A' : 'a';
        const bool letter = c >= first_letter && c <= (upper ? 'Z' : 'z');
        if (!letter && !(c >= '0' && c <= '9')) return false;
        value = 36 * value + (letter ? c - first_letter + 10 : c - '0');
    }
    constexpr int kFirst = 10 * 36 * 36 * 36, kLetters = 26 * 36 * 36 * 36;
    number = value - kFirst + 10000 + (upper ? 0 : kLetters);
    return true;
}

PeriodicCell parse_cell(std::string_view line) {
    std::array<double, 6> values;
    constexpr std::array<std::size_t, 6> kFirst = {7, 16, 25, 34, 41, 48};
    for (std::size_t i = 0; i < 6; ++i)
        if (!parse(columns(line, kFirst[i], i < 3 ? 9 : 7), values[i])) return {};
    const std::string_view group = trimmed(columns(line, 56, 11));
    if (!group.empty() && group != "P 1" && group != "P1") return {};
    return make_cell({values[0], values[1], values[2]}, {values[3], values[4], values[5]});
}

bool is_atom_line(std::string_view line) {
    if (line.starts_with("HETATM")) return true;
    return line.starts_with("ATOM") && line.size() > 4 &&
           (line[4] == ' ' || line[4] == '\t' || is_digit(line[4]));
}

std::string parse_atom_line(std::string_view line, AtomRecord& atom, PdbFields& fields) {
    // Behind the B factor there may be tabs, whose columns are unknown.
    line = line.substr(0, line.find('\t', kBFactorEnd));
    line = line.substr(0, line.find_last_not_of(" \t") + 1);
    if (!is_printable_ascii(line))
        return "expected printable ASCII in fixed columns, found other characters";
    if (line.size() < kCoordinatesEnd) {
        return fmt::format("expected an atom record of at least {} characters, found {}",
                           kCoordinatesEnd, line.size());
    }
    fields.is_het = line.front() == 'H';
    const std::string_view serial = trimmed(line.substr(6, 5));
    atom.serial = {};
    if (!is_digit(line[5]) && !is_digit(line[11]))
        std::copy(serial.begin(), serial.end(), atom.serial.begin());
    line.remove_prefix(shift_of(line));  // what was read is at the front
    if (line.size() < kCoordinatesEnd) return "expected three coordinates, found fewer";
    atom.name = std::string(trimmed(line.substr(12, 4)));
    if (atom.name.empty()) return "expected an atom's name in columns 13-16, found none";
    atom.altloc = line[16];
    fields.is_shifted = line[12] == ' ' && line[15] != ' ';
    std::copy_n(line.begin() + 17, 5, fields.names.begin());
    std::copy_n(line.begin() + 22, 5, fields.number.begin());
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::size_t begin = 31 + 8 * axis;
        const std::string_view field = columns(line, begin, 8);
        double value = 0;
        if (!parse_coordinate(field, value)) {
            if (has_free_columns(line))
                return "expected fixed columns as in PDB, found columns divided by blanks, with "
                       "charges and radii (PQR); convert the file to PDB";
            return fmt::format("expected a coordinate in columns {}-{}, found '{}'", begin,
                               begin + 7, field);
        }
        fields.xyz[axis] = value;
        atom.xyz[axis] = static_cast<float>(value);
    }
    // Programs leave out occupancies or write stars; nothing but the choice of alternates needs it.
    if (!parse(columns(line, 55, 6), atom.occupancy)) atom.occupancy = 1;
    if (!parse_coordinate(columns(line, 61, 6), atom.b_factor)) atom.b_factor = 0;
    if (const std::string_view text = trimmed(columns(line, 73, 4)); is_segment(line, text))
        atom.segment = text;
    const std::string element(trimmed(columns(line, 77, 2)));
    atom.element = element_symbol(element);
    // X is an atom whose element the authors do not know, no missing symbol.
    if (atom.element == "X" && element != "X")
        atom.element = guess_element_in_columns(line.substr(12, 4),
                                                trimmed(line.substr(17, line[21] == ' ' ? 4 : 3)));
    return {};
}

void AtomLines::add(std::string_view line, std::int64_t number) {
    at_.emplace_back(text_.size(), number);
    text_ += line;
}

std::vector<std::int64_t> AtomLines::parse(std::vector<AtomRecord>& atoms,
                                           std::vector<PdbFields>& fields, Complaints& complaints) {
    std::vector<std::int64_t> problems;
    for (std::size_t n = 0; n < at_.size(); ++n) {
        const auto [begin, number] = at_[n];
        const std::size_t end = n + 1 < at_.size() ? at_[n + 1].first : text_.size();
        AtomRecord atom;
        PdbFields& field = fields.emplace_back();
        field.line = number;
        const std::string problem =
            parse_atom_line(std::string_view(text_).substr(begin, end - begin), atom, field);
        atoms.push_back(std::move(atom));
        if (problem.empty()) continue;
        complaints.add(number, problem);
        problems.push_back(number);
    }
    text_.clear();
    at_.clear();
    return problems;
}

}  // namespace pleat
