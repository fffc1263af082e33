// Secondary structures: reading marks from Stockholm and dot-bracket files, and pairing brackets.
#include "pleat/bio/alignment/bracket_notation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "pleat/bio/alignment/text_alignment.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat {

namespace {

constexpr Index kMaxMarks = 100'000;
constexpr std::string_view kOpening = "(<[{", kClosing = ")>]}", kUnpaired = ".,:_-~";

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

bool is_mark(char c) {
    return is_letter(c) || kUnpaired.find(c) != std::string_view::npos ||
           kOpening.find(c) != std::string_view::npos || kClosing.find(c) != std::string_view::npos;
}

/// The pairs of one kind of bracket; throws InputError for a bracket without a partner.
std::vector<std::pair<Index, Index>> pairs_of(const SecondaryStructure& structure, char opening,
                                              char closing) {
    std::vector<std::pair<Index, Index>> pairs;
    std::vector<Index> open;
    const auto refuse = [&](char found, Index at) {
        throw InputError(structure.source, 0,
                         fmt::format("expected a partner of each bracket, found none of '{}' at {}",
                                     found, at + 1));
    };
    for (Index k = 0; k < std::ssize(structure.marks); ++k) {
        const char mark = structure.marks[k];
        if (mark == opening) open.push_back(k);
        if (mark != closing) continue;
        if (open.empty()) refuse(closing, k);
        pairs.emplace_back(open.back(), k);
        open.pop_back();
    }
    if (!open.empty()) refuse(opening, open.back());
    return pairs;
}

bool cross(const std::pair<Index, Index>& a, const std::pair<Index, Index>& b) {
    return (a.first < b.first && b.first < a.second && a.second < b.second) ||
           (b.first < a.first && a.first < b.second && b.second < a.second);
}

SecondaryStructure checked(SecondaryStructure structure) {
    if (std::ssize(structure.marks) > kMaxMarks)
        throw InputError(structure.source, 0,
                         fmt::format("expected at most {} marks of a secondary structure, found {}",
                                     kMaxMarks, structure.marks.size()));
    for (char letter = 'a'; letter <= 'z'; ++letter)
        pairs_of(structure, static_cast<char>(std::toupper(static_cast<unsigned char>(letter))),
                 letter);
    nested_pairs(structure);
    return structure;
}

SecondaryStructure stockholm_marks(ByteSource& source) {
    std::string marks, reference;
    std::string_view line;
    while (source.next(line)) {
        const std::vector<std::string_view> found = words(line);
        if (found.size() == 3 && found[0] == "#=GC" && found[1] == "SS_cons") marks += found[2];
        if (found.size() == 3 && found[0] == "#=GC" && found[1] == "RF") reference += found[2];
        if (line.starts_with("//")) break;
    }
    if (marks.empty())
        throw InputError(source.name(), source.line(),
                         "expected a line '#=GC SS_cons' with the structure, found none");
    SecondaryStructure structure{.marks = marks, .source = source.name()};
    for (std::size_t k = 0; k < reference.size() && reference.size() == marks.size(); ++k)
        if (!is_reference_gap(reference[k])) structure.columns.push_back(static_cast<Index>(k));
    return structure;
}

/// The secondary structure marks of a line; empty if it has none.
std::string_view line_marks(std::string_view line, const ByteSource& source) {
    const std::vector<std::string_view> found = words(trimmed(line));
    if (found.empty() || found[0].front() == '>') return {};
    // "((..)) (-1.20)" or "((..)) ( -1.20)"
    const bool has_energy = found.size() > 1 && found[1].front() == '(';
    const bool is_text = std::ranges::all_of(found[0], is_mark);
    if (!is_text || (found.size() > 1 && !has_energy))
        throw InputError(source.name(), source.line(),
                         fmt::format("expected marks of a secondary structure (brackets, dots, "
                                     "letters), found {}",
                                     in_quotes(line)));
    return std::ranges::all_of(found[0], is_letter) ? std::string_view{} : found[0];
}

std::string bracket_marks(ByteSource& source) {
    std::string marks;
    std::string_view line;
    Index headers = 0;
    while (source.next(line)) {
        headers += line.starts_with('>');
        if (headers > 1)
            throw InputError(
                source.name(), source.line(),
                fmt::format("expected one structure, found a second: {}", in_quotes(line)));
        marks += line_marks(line, source);
    }
    if (marks.empty())
        throw InputError(source.name(), source.line(),
                         "expected a secondary structure in dot-bracket or WUSS notation, found "
                         "no brackets or dots");
    return marks;
}

SecondaryStructure read(ByteSource& source) {
    std::string_view line;
    bool found = source.next(line);
    while (found && is_blank(line)) found = source.next(line);
    if (found) source.hold();
    if (found && is_stockholm_header(line)) return checked(stockholm_marks(source));
    return checked({.marks = bracket_marks(source), .source = source.name()});
}

}  // namespace

SecondaryStructure read_secondary_structure(const std::filesystem::path& path) {
    ByteSource source(path);
    return read(source);
}

SecondaryStructure read_secondary_structure_from_memory(const std::string& name,
                                                        std::string_view bytes) {
    ByteSource source(name, bytes);
    return read(source);
}

std::vector<std::pair<Index, Index>> nested_pairs(const SecondaryStructure& structure) {
    std::vector<std::pair<Index, Index>> nested;
    for (std::size_t kind = 0; kind < kOpening.size(); ++kind) {
        const std::size_t before = nested.size();
        for (const auto& pair : pairs_of(structure, kOpening[kind], kClosing[kind])) {
            const auto first = nested.begin(), last = first + static_cast<std::ptrdiff_t>(before);
            if (std::none_of(first, last, [&](const auto& kept) { return cross(kept, pair); }))
                nested.push_back(pair);
        }
    }
    std::ranges::sort(nested);
    return nested;
}

std::vector<std::pair<Index, Index>> all_base_pairs(const SecondaryStructure& structure) {
    std::vector<std::pair<Index, Index>> all;
    const auto add = [&](char opening, char closing) {
        const auto pairs = pairs_of(structure, opening, closing);
        all.insert(all.end(), pairs.begin(), pairs.end());
    };
    for (std::size_t kind = 0; kind < kOpening.size(); ++kind) add(kOpening[kind], kClosing[kind]);
    for (char letter = 'a'; letter <= 'z'; ++letter)
        add(static_cast<char>(std::toupper(static_cast<unsigned char>(letter))), letter);
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace pleat
