// Parts: reading them from text, the part of each fitted column, and mapping each to its chain.
#include "pleat/couplings/parts/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat::couplings {

namespace {

[[noreturn]] void refuse(std::string_view found) {
    throw UsageError(
        fmt::format("--parts: expected lengths (218,310) or names with ranges (A:1-218,B:219-528), "
                    "found '{}'",
                    found));
}

Index positive_number(std::string_view text, std::string_view part) {
    Index number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc() || end != text.data() + text.size() || number < 1) refuse(part);
    return number;
}

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> found;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t to = std::min(text.find(',', from), text.size());
        found.push_back(text.substr(from, to - from));
        from = to + 1;
    }
    return found;
}

/// "A", "B", ..., "Z", "AA", ...
std::string letter_name(Index number) {
    std::string name;
    for (Index n = number + 1; n > 0; n = (n - 1) / 26)
        name.insert(name.begin(), static_cast<char>('A' + (n - 1) % 26));
    return name;
}

Part parse_range(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    const std::string_view range = text.substr(colon + 1);
    const std::size_t dash = range.find('-');
    if (colon == 0 || dash == std::string_view::npos) refuse(text);
    const Part part{.name = std::string(text.substr(0, colon)),
                    .first = positive_number(range.substr(0, dash), text) - 1,
                    .last = positive_number(range.substr(dash + 1), text)};
    const bool has_blank = part.name.find_first_of(" \t\r\n") != std::string::npos;
    if (part.last <= part.first || has_blank) refuse(text);
    return part;
}

/// The alignment of one chain (part) of a concatenated alignment: all its rows, or only `row`.
Alignment columns_of(const Alignment& source, const Part& part, std::optional<Index> row) {
    Alignment one;
    const Index rows = row ? 1 : source.sequence_count();
    one.letters = Array<std::uint8_t, 2>(rows, part.last - part.first);
    for (Index n = 0; n < rows; ++n) {
        const Index from = row.value_or(n);
        one.names.push_back(source.names[from]);
        for (Index k = part.first; k < part.last; ++k)
            one.letters(n, k - part.first) = source.letters(from, k);
        if (!source.has_full_row(from)) continue;
        one.full_rows.resize(static_cast<std::size_t>(rows));
        // Insertions between two parts belong to the first of them.
        Index column = 0;
        for (const char c : source.full_rows[from]) {
            const bool is_column = c == '-' || (c >= 'A' && c <= 'Z');
            const Index at = is_column ? column++ : std::max<Index>(column - 1, 0);
            if (at >= part.first && at < part.last) one.full_rows[n] += c;
        }
    }
    for (Index k = 0; k < part.last - part.first; ++k) one.columns.push_back(k);
    one.alphabet = source.alphabet;
    one.source = source.source;
    one.format = source.format;
    return one;
}

}  // namespace

void check_parts(const Parts& parts, const Alignment& source) {
    if (parts.empty() || parts.back().last == source.column_count()) return;
    std::string sum;
    for (const Part& part : parts)
        sum += fmt::format("{}{}", sum.empty() ? "" : " + ", part.last - part.first);
    throw InputError(source.source.string(), 0,
                     fmt::format("expected --parts of {} columns in all, found {} = {}",
                                 source.column_count(), sum, parts.back().last));
}

Parts parse_parts(std::string_view text) {
    Parts parts;
    if (text.empty()) return parts;
    const bool has_names = text.find(':') != std::string_view::npos;
    for (const std::string_view word : split(text)) {
        const Index next = parts.empty() ? 0 : parts.back().last;
        Part part = has_names ? parse_range(word)
                              : Part{.name = letter_name(std::ssize(parts)),
                                     .first = next,
                                     .last = next + positive_number(word, word)};
        if (part.first != next)
            throw UsageError(fmt::format(
                "--parts: expected part {} to begin at column {}, behind the part before, found {}",
                part.name, next + 1, part.first + 1));
        const auto is_same = [&](const Part& other) { return other.name == part.name; };
        if (std::any_of(parts.begin(), parts.end(), is_same))
            throw UsageError(
                fmt::format("--parts: expected names that differ, found '{}' twice", part.name));
        parts.push_back(std::move(part));
    }
    return parts;
}

Parts choose_parts(std::string_view text, const Alignment& source, bool has_focus,
                   Index shuffled_fits, Notes& notes) {
    Parts parts = parse_parts(text);
    check_parts(parts, source);
    if (text.empty() && !source.parts.empty() && !has_focus) {
        parts = parse_parts(source.parts);
        const bool fits = parts.back().last == source.column_count();
        notes.push_back({NoteKind::parts,
                         fmt::format("the file's first line divides the columns into parts of {}{}",
                                     source.parts, fits ? "" : ": unused, as there are others"),
                         fmt::format("--parts {}", source.column_count()), !fits});
        if (!fits) parts.clear();
    }
    if (parts.size() < 2 && shuffled_fits > 0)
        throw UsageError("--shuffle-parts needs two parts or more; give --parts");
    if (parts.size() == 1) parts.clear();
    return parts;
}

std::vector<Index> parts_of_columns(const Parts& parts, const Alignment& alignment) {
    std::vector<Index> part_of(alignment.columns.size());
    std::size_t part = 0;
    for (std::size_t k = 0; k < part_of.size() && !parts.empty(); ++k) {
        while (alignment.columns[k] >= parts[part].last) ++part;
        part_of[k] = static_cast<Index>(part);
    }
    for (std::size_t k = 0; k < parts.size(); ++k) {
        if (std::find(part_of.begin(), part_of.end(), static_cast<Index>(k)) == part_of.end())
            throw InputError(alignment.source.string(), 0,
                             fmt::format("expected columns of part {}, found none that --max-gaps "
                                         "keeps",
                                         parts[k].name));
    }
    return part_of;
}

Index part_count(const std::vector<Index>& part_of_column) {
    return part_of_column.empty()
               ? 1
               : 1 + *std::max_element(part_of_column.begin(), part_of_column.end());
}

std::vector<Index> column_counts(const std::vector<Index>& part_of_column) {
    std::vector<Index> counts(static_cast<std::size_t>(part_count(part_of_column)));
    for (const Index part : part_of_column) ++counts[part];
    return counts;
}

std::vector<Index> apart(const std::vector<Index>& columns,
                         const std::vector<Index>& part_of_column) {
    const Index step = 1 + *std::max_element(columns.begin(), columns.end());
    std::vector<Index> numbers = columns;
    for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] += 2 * step * part_of_column[k];
    return numbers;
}

ResidueMap map_parts(const Alignment& source, const Parts& parts, const std::string& row,
                     const std::string& chains, Structure& structure) {
    const std::vector<std::string_view> names = words(chains, ",");
    if (names.size() != parts.size())
        throw UsageError(
            fmt::format("--structure: expected a chain for each of {} parts (FILE:A,B), found '{}'",
                        parts.size(), chains));
    ResidueMap all;
    Chain joined;
    std::optional<Index> used_row;
    if (!row.empty()) used_row = find_row(source, row);
    double identical = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
        const ResidueMap one = map_residues(columns_of(source, parts[k], used_row), structure,
                                            {.chain = std::string(names[k])});
        if (!used_row) used_row = one.row;
        const Chain& chain = structure.chains[one.chain];
        const auto offset = static_cast<Index>(joined.residues.size());
        for (const Index residue : one.residues)
            all.residues.push_back(residue < 0 ? -1 : residue + offset);
        joined.kind = chain.kind;
        std::copy(chain.residues.begin(), chain.residues.end(),
                  std::back_inserter(joined.residues));
        all.mapped += one.mapped;
        identical += one.identity * static_cast<double>(one.mapped);
        all.row_name = one.row_name;
    }
    joined.name = all.chain_name = chains;
    all.row = *used_row;
    all.identity = identical / static_cast<double>(std::max<Index>(all.mapped, 1));
    all.chain = static_cast<Index>(structure.chains.size());
    structure.chains.push_back(std::move(joined));
    return all;
}

}  // namespace pleat::couplings
