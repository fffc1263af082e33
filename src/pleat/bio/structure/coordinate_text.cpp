// Coordinate text: the first line with text, fixed columns, and what neighbouring lines tell of
// names, numbers and chains.
#include "pleat/bio/structure/coordinate_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <tuple>

#include "pleat/bio/structure/missing_names.h"

namespace pleat {

namespace {

bool opens_block(std::string_view text) {
    return text.starts_with("data_") || text.starts_with("DATA_");
}

}  // namespace

bool is_mmcif(ByteSource& source) {
    std::string_view line;
    while (source.next(line)) {
        const std::string_view text = trimmed(line);
        if (text.empty() || text.front() == '#') continue;
        source.hold();
        return opens_block(text) || text.starts_with("loop_") || text.starts_with("_atom_site.");
    }
    throw InputError(source.name(), 0, "expected a PDB or mmCIF file, found no text");
}

std::string remaining_text(ByteSource& source, std::size_t max_from_pipe) {
    std::string text;
    std::string_view line;
    while (source.next(line)) {
        source.limit_pipe(std::ssize(text), static_cast<Index>(max_from_pipe),
                          "at most {} bytes of mmCIF");
        if (text.empty()) {
            text.assign(source.line() - 1, '\n');
            if (!opens_block(trimmed(line))) text += "data_ ";  // some programs leave it out
        }
        text += line;
        text += '\n';
    }
    return text;
}

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

/// The number of columns by which a long serial number shifts the coordinates to the right.
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

/// Whether an atom line ends with three coordinates, a charge and a radius, as in PQR.
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
    // After the B factor there may be tabs, so column positions are unknown.
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
    if (!is_digit(line[5]) && !is_digit(line[11])) std::ranges::copy(serial, atom.serial.begin());
    line.remove_prefix(shift_of(line));  // what was read is at the front
    if (line.size() < kCoordinatesEnd) return "expected three coordinates, found fewer";
    atom.name = std::string(trimmed(line.substr(12, 4)));
    if (atom.name.empty()) return "expected an atom's name in columns 13-16, found none";
    atom.altloc = line[16];
    fields.name_is_shifted = line[12] == ' ' && line[15] != ' ';
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
    // Programs omit occupancies or write stars; only the choice of alternate locations needs them.
    if (!parse(columns(line, 55, 6), atom.occupancy)) atom.occupancy = 1;
    if (!parse_coordinate(columns(line, 61, 6), atom.b_factor)) atom.b_factor = 0;
    if (const std::string_view text = trimmed(columns(line, 73, 4)); is_segment(line, text))
        atom.segment = text;
    const std::string element(trimmed(columns(line, 77, 2)));
    atom.element = element_symbol(element);
    // X means that the authors do not know the element, not that it is missing.
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

namespace {

constexpr int kLastDecimal = 9999;

std::string_view text_of(const std::array<char, 5>& field) { return {field.data(), field.size()}; }

/// Whether column 21 and the chain's column are both filled.
bool has_both(const PdbFields& fields) { return fields.names[3] != ' ' && fields.names[4] != ' '; }

/// Whether this is a residue of a polymer, or water.
bool is_polymer_name(std::string_view name) {
    const std::string text(name);
    return is_amino_acid(text) || is_nucleotide(text) || selection::is_water(text);
}

/// Whether a line must have a chain name of two characters.
bool tells_pair(const PdbFields& fields) {
    const std::string_view names = text_of(fields.names);
    return has_both(fields) &&
           (names[0] == ' ' || (is_polymer_name(trimmed(names.substr(0, 3))) &&
                                !selection::is_common_name(names.substr(0, 4))));
}

/// Parses a hexadecimal number from 2710 on, as VMD writes after 9999; returns 0 for other text.
int hexadecimal(std::string_view text) {
    int number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
    const bool is_whole = problem == std::errc() && end == text.data() + text.size();
    return is_whole && text.size() == 4 && number > kLastDecimal ? number : 0;
}

bool is_decimal(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool same_residue(const AtomRecord& a, const AtomRecord& b, const PdbFields& of_a,
                  const PdbFields& of_b) {
    return of_a.number == of_b.number && of_a.names == of_b.names && a.chain == b.chain;
}

}  // namespace

/// The residues of a chain so far.
struct PdbDialect::Counter {
    bool has_number = false, is_hexadecimal = false;
    int number = 0;
    char insertion = ' ';
    std::vector<std::pair<std::size_t, std::string>> residues;  // first atom and text
};

void PdbDialect::note(NoteKind kind, const std::string& text) {
    const auto is_same = [&](const Note& other) { return other.text == text; };
    if (std::ranges::none_of(notes_, is_same)) notes_.push_back({kind, text});
}

void PdbDialect::choose_names(const std::vector<PdbFields>& fields) {
    const auto chain_of = [](const PdbFields& one) {
        return std::string(text_of(one.names).substr(3));
    };
    std::map<std::string, std::set<std::string_view>> residues;
    std::set<char> others;  // chains of one character
    std::set<std::string> waters;
    for (const PdbFields& one : fields) {
        if (tells_pair(one)) {
            residues[chain_of(one)].insert(text_of(one.number));
            if (selection::is_water(trimmed(text_of(one.names).substr(0, 3))))
                waters.insert(chain_of(one));
        } else if (one.names[3] == ' ') {
            others.insert(one.names[4]);
        }
    }
    // A single residue G5 or ALAQ among others of chain A belongs to that chain, not to a chain 5A
    // or QA.
    for (const auto& [chain, numbers] : residues)
        if (numbers.size() > 1 || !others.contains(chain[1]) || waters.contains(chain))
            pairs_.insert(chain);
    if (pairs_.empty()) return;
    // Ligands may be chains of their own.
    for (const PdbFields& one : fields)
        if (has_both(one) && !selection::is_common_name(text_of(one.names).substr(0, 4)))
            pairs_.insert(chain_of(one));
}

void PdbDialect::choose_locations(const std::vector<AtomRecord>& atoms,
                                  const std::vector<PdbFields>& fields) {
    for (std::size_t n = 0; n < atoms.size(); ++n) {
        if (atoms[n].altloc < '0' || atoms[n].altloc > '9') continue;
        has_long_names_ = fields[n].name_is_shifted;
        if (!has_long_names_) return;
    }
}

void PdbDialect::read_names(AtomRecord& atom, const PdbFields& fields) {
    if (has_long_names_ && atom.altloc >= '0' && atom.altloc <= '9') {
        atom.name += std::exchange(atom.altloc, ' ');
        note(NoteKind::format,
             "digits in column 17 read as the last of atom names, not as alternate locations");
    }
    const std::string_view names = text_of(fields.names);
    const bool is_pair = has_both(fields) && pairs_.contains(std::string(names.substr(3)));
    atom.residue_name = trimmed(names.substr(0, is_pair ? 3 : 4));
    atom.chain = trimmed(names.substr(is_pair ? 3 : 4));
    if (is_pair)
        note(NoteKind::format,
             "columns 21-22 read as names of chains of two characters, as their "
             "residues have known names of three letters");
    else if (has_both(fields))
        note(NoteKind::format,
             "columns 18-21 read as residue names of four letters, column 22 as "
             "the chain");
}

/// Sets the number and insertion code of the next residue of a chain; false for other text. `next`
/// is the text of the residue behind it.
bool PdbDialect::read_number(const std::string& text, const std::string& next, Counter& chain) {
    const std::string field(trimmed(std::string_view(text).substr(0, 4)));
    const int previous = chain.number;
    chain.insertion = text[4];
    if (field.find_first_not_of('*') == std::string::npos && !field.empty()) {
        chain.number = chain.has_number ? previous + 1 : 1;
        chain.insertion = ' ';
        note(NoteKind::numbering, "residue numbers that are stars counted on by order");
        return true;
    }
    int number = 0;
    const int hex = hexadecimal(field);
    const bool has_letters = !is_decimal(field);
    // Hexadecimal after 9999, or if numbers with letters continue earlier hexadecimal ones.
    const bool follows =
        !chain.has_number || previous == kLastDecimal ||
        (!chain.residues.empty() && hexadecimal(trimmed(chain.residues.back().second)) + 1 == hex);
    if (hex > 0 && (chain.is_hexadecimal ||
                    (follows && (has_letters ? field[0] <= '9'
                                             : field == "2710" && previous == kLastDecimal)))) {
        chain.is_hexadecimal = true;
        chain.number = hex;
        note(NoteKind::numbering,
             "residue numbers behind 9999 read as hexadecimal (VMD): 2710 is "
             "10000");
        return true;
    }
    if (!parse_residue_number(field, number)) return false;
    const std::string_view digits = trimmed(text);
    if (is_decimal(field) && is_decimal(digits) && digits.size() >= 4 && text[4] != ' ') {
        const bool is_code = (chain.has_number && previous == number) ||
                             (next.substr(0, 4) == text.substr(0, 4) && next[4] != text[4] &&
                              !is_decimal(next.substr(4)));
        if (!is_code && parse_number(digits, number)) {
            chain.insertion = ' ';
            note(NoteKind::numbering,
                 "column 27 read as the last digit of residue numbers, not as an insertion code");
        }
    }
    chain.number = number;
    return true;
}

void PdbDialect::read_numbers(std::vector<AtomRecord>& atoms, const std::vector<PdbFields>& fields,
                              Complaints& complaints) {
    std::map<std::pair<std::string, std::string>, Counter> chains;
    const auto set = [&](std::size_t first, std::size_t end, const Counter& counter) {
        for (std::size_t n = first; n < end; ++n) {
            atoms[n].number = counter.number;
            atoms[n].insertion = counter.insertion;
        }
    };
    const auto end_of = [&](std::size_t first) {
        std::set<std::string_view> seen;
        std::size_t end = first;
        // If residue numbers are stars, a repeated atom name begins the next residue.
        while (end < atoms.size() &&
               same_residue(atoms[end], atoms[first], fields[end], fields[first]) &&
               (fields[first].number[0] != '*' || atoms[end].altloc != ' ' ||
                seen.insert(atoms[end].name).second))
            ++end;
        return end;
    };
    for (std::size_t first = 0, end = 0; first < atoms.size(); first = end) {
        end = end_of(first);
        Counter& counter = chains[{atoms[first].chain, atoms[first].segment}];
        const std::string text(text_of(fields[first].number));
        const std::string next =
            end < atoms.size() ? std::string(text_of(fields[end].number)) : std::string(5, ' ');
        const bool was_hexadecimal = counter.is_hexadecimal;
        if (!read_number(text, next, counter)) {
            complaints.add(fields[first].line,
                           fmt::format("expected a residue number in columns 23-26, found '{}'",
                                       text.substr(0, 4)));
            continue;
        }
        set(first, end, counter);
        // Earlier numbers that consist of digits only, back to 2710 (10000 in hexadecimal) or the
        // start of the chain, are hexadecimal too.
        if (counter.is_hexadecimal && !was_hexadecimal) {
            int last = counter.number;
            for (auto at = counter.residues.rbegin(); at != counter.residues.rend(); ++at) {
                const int number = hexadecimal(trimmed(at->second));
                if (number == 0 || number > last) break;
                last = number;
                set(at->first, end_of(at->first), {.number = number, .residues = {}});
            }
        }
        counter.has_number = true;
        counter.residues.emplace_back(first, text);
    }
}

/// If the segment changes within a residue, its columns hold something else.
void PdbDialect::choose_segments(const std::vector<AtomRecord>& atoms,
                                 const std::vector<PdbFields>& fields) {
    std::set<std::pair<std::string, std::string>> segments;
    std::map<std::tuple<std::string, int, char>, std::string> residues;
    std::set<std::string> shared, names;
    // [chain][segment]: residues of polymers.
    std::map<std::string, std::map<std::string, std::set<std::pair<int, char>>>> polymers;
    for (std::size_t n = 0; n < atoms.size(); ++n) {
        const AtomRecord& atom = atoms[n];
        if (n > 0 && same_residue(atom, atoms[n - 1], fields[n], fields[n - 1])) {
            const std::string& previous = atoms[n - 1].segment;
            if (atom.segment == previous) continue;
            if (!atom.segment.empty() && !previous.empty() && fields[n].number[0] != '*' &&
                atom.name != atoms[n - 1].name)
                return;
        }
        segments.insert({atom.segment, atom.chain});
        names.insert(atom.segment);
        if (!atom.segment.empty() && ((atom.name == "CA" && atom.residue_name != "CA") ||
                                      atom.name == "C3'" || atom.name == "C3*"))
            polymers[atom.chain][atom.segment].insert({atom.number, atom.insertion});
        const auto [at, fresh] =
            residues.try_emplace({atom.chain, atom.number, atom.insertion}, atom.segment);
        // Single atoms are more often written without a segment than other molecules.
        if (fresh || at->second == atom.segment || atom.segment.empty()) continue;
        if (!at->second.empty() && !atom.chain.empty()) shared.insert(atom.chain);
    }
    for (const auto& [chain, of_chain] : polymers)
        if (of_chain.size() > 1 && !chain.empty() &&
            std::ranges::all_of(of_chain, [](const auto& one) { return one.second.size() > 1; }))
            shared.insert(chain);
    has_segments_ = true;
    names_blank_ = names.size() > 1;
    for (const auto& [segment, chain] : segments) {
        if (!shared.contains(chain) || segment.empty()) continue;
        const auto is_other = [&name = segment, &letter = chain](const auto& one) {
            return (one.first == name && one.second != letter) || one.second == name;
        };
        const bool is_used = std::ranges::any_of(segments, is_other);
        names_[{chain, segment}] = is_used ? fmt::format("{}.{}", chain, segment) : segment;
    }
    if (!names_.empty())
        note(NoteKind::format,
             "chains named by their segments (columns 73-76), as several share a letter");
}

void PdbDialect::complete(std::vector<AtomRecord>& atoms, const std::vector<PdbFields>& fields,
                          Complaints& complaints) {
    if (!has_chosen_dialect_) choose_names(fields);
    if (!has_chosen_dialect_) choose_locations(atoms, fields);
    for (std::size_t n = 0; n < atoms.size(); ++n) read_names(atoms[n], fields[n]);
    read_numbers(atoms, fields, complaints);
    if (!has_chosen_dialect_) choose_segments(atoms, fields);
    has_chosen_dialect_ = true;
    for (AtomRecord& atom : atoms) {
        if (!has_segments_) atom.segment.clear();
        if (atom.segment.empty()) continue;
        if (atom.chain.empty() && names_blank_) atom.chain = atom.segment;
        const auto name = names_.find({atom.chain, atom.segment});
        if (name != names_.end()) atom.shared_chain = std::exchange(atom.chain, name->second);
    }
}

}  // namespace pleat
