// FASTA, A2M and A3M: reading the records, and telling the three apart.
#include "pleat/bio/alignment/alignment_formats.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace pleat {

namespace {

/// Rows that HH-suite puts into A3M files beside the sequences: secondary structure and
/// accessibility, in letters or digits.
bool is_annotation(std::string_view name) {
    for (std::string_view word : {"ss_pred", "ss_conf", "ss_dssp", "sa_dssp", "sa_pred"}) {
        if (name == word) return true;
    }
    return false;
}

/// The first word of a header. Any control character ends it too (old NCBI headers join with 0x01).
std::string_view first_word(std::string_view header) {
    const auto is_space = [](char c) { return (c >= 0 && c <= ' ') || c == 0x7f; };
    const auto begin = std::find_if_not(header.begin(), header.end(), is_space);
    const auto end = std::find_if(begin, header.end(), is_space);
    return {begin, end};
}

/// Complains when the record that ends here brought no line of letters.
void finish_row(TextAlignment& text, bool has_letters) {
    if (has_letters || text.rows.empty()) return;
    text.complaints.add(text.rows.back().line,
                        fmt::format("expected letters after the name {}, found none",
                                    in_quotes(text.rows.back().name)));
}

/// What an A2M or A3M drops: residues inserted beside the match columns, and their padding.
bool is_insertion(char c) { return (c >= 'a' && c <= 'z') || c == '.'; }

struct Shape {
    bool insertions = false;  // lower case or '.'
    bool lower = false;
    bool upper = false;
    Index other_length = 0;  // rows whose length differs from the first row's
    Index other_match = 0;   // rows whose count of match letters differs from the first row's
};

Shape shape_of(const TextAlignment& text) {
    Shape shape;
    std::size_t first_match = 0;
    for (std::size_t i = 0; i < text.rows.size(); ++i) {
        const std::string& letters = text.rows[i].letters;
        std::size_t lower = 0, dots = 0, upper = 0;
        for (char c : letters) {
            lower += c >= 'a' && c <= 'z';
            upper += c >= 'A' && c <= 'Z';
            dots += c == '.';
        }
        const std::size_t match = letters.size() - lower - dots;
        if (i == 0) first_match = match;
        shape.lower = shape.lower || lower > 0;
        shape.upper = shape.upper || upper > 0;
        shape.insertions = shape.insertions || lower + dots > 0;
        shape.other_length += letters.size() != text.rows[0].letters.size();
        shape.other_match += match != first_match;
    }
    return shape;
}

/// True when each column of these rows (all of one length) is either all match or all insertion.
bool columns_are_pure(const TextAlignment& text) {
    const std::string& first = text.rows[0].letters;
    for (const TextAlignment::Row& row : text.rows) {
        for (std::size_t j = 0; j < first.size(); ++j) {
            if (is_insertion(row.letters[j]) != is_insertion(first[j])) return false;
        }
    }
    return true;
}

}  // namespace

void read_fasta(ByteSource& source, TextAlignment& text) {
    std::string_view line;
    bool started = false;
    bool skipping = false;
    bool has_letters = true;
    while (source.next(line)) {
        if (is_blank(line) || line.front() == ';') continue;
        if (line.front() == '>') {
            finish_row(text, has_letters);
            started = has_letters = true;
            const std::string_view name = first_word(line.substr(1));
            skipping = is_annotation(name);
            if (skipping) continue;
            if (name.empty()) {
                text.complaints.add(source.line(), "expected a name after '>', found none");
            }
            text.add_row(name, source.line());
            has_letters = false;
        } else if (started && !skipping) {
            has_letters = true;
            text.append(static_cast<Index>(text.rows.size()) - 1, line, source.line(), true);
        } else if (!started && line.front() != '#') {
            throw InputError(source.name(), source.line(),
                             fmt::format("expected '>' and a name, found {}", in_quotes(line)));
        }
    }
    finish_row(text, has_letters);
    text.require_rows(source.line());
}

std::string_view fasta_relative(const TextAlignment& text) {
    const Shape shape = shape_of(text);
    if (!shape.insertions || !shape.upper) return "fasta";
    if (shape.other_length > 0) {
        return shape.other_match < shape.other_length ? "a3m" : "fasta";
    }
    if (columns_are_pure(text)) return "a2m";
    if (shape.lower && shape.other_match == 0) {
        throw InputError(
            text.file, text.rows[0].line,
            "expected letters that tell FASTA from A3M, found rows that fit both (equal "
            "length, equal count of upper case and '-'): name the format");
    }
    return "fasta";
}

}  // namespace pleat
