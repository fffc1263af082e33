// FASTA, A2M and A3M: reading the records; PSICOV .aln: rows of letters without names.
#include <fmt/format.h>

#include <algorithm>

#include "pleat/bio/alignment/text_alignment.h"

namespace pleat {

namespace {

/// Rows that HH-suite puts into A3M files beside the sequences: secondary structure,
/// accessibility and the residues of a structure, in letters or digits ("ss_pred", "aa_dssp").
bool is_annotation(std::string_view name) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
    return (name.starts_with("ss_") || name.starts_with("sa_") || name.starts_with("aa_")) &&
           std::ranges::all_of(name, is_letter);
}

/// The first word of a header. Any control character ends it too (old NCBI headers join with 0x01).
std::string_view first_word(std::string_view header) {
    const auto is_space = [](unsigned char c) { return c <= ' ' || c == 0x7f; };
    const auto begin = std::find_if_not(header.begin(), header.end(), is_space);
    const auto end = std::find_if(begin, header.end(), is_space);
    return {begin, end};
}

/// Records a complaint if the finished record has no line of letters.
void finish_row(TextAlignment& text, bool has_letters) {
    if (has_letters || text.rows.empty()) return;
    text.complaints.add(text.rows.back().line,
                        fmt::format("expected letters after the name {}, found none",
                                    in_quotes(text.rows.back().name)));
}

}  // namespace

void read_part_lengths(std::string_view line, TextAlignment& text) {
    const std::vector<std::string_view> found = words(line);
    const bool is_lengths =
        found.size() == 2 && found[0].size() > 1 && found[0].front() == '#' &&
        (found[0].substr(1).find_first_not_of("0123456789,") == std::string_view::npos) &&
        found[1].find_first_not_of("0123456789,") == std::string_view::npos;
    if (is_lengths && found[0].find(',') != std::string_view::npos) text.parts = found[0].substr(1);
}

void read_fasta(ByteSource& source, TextAlignment& text, bool is_alignment) {
    std::string_view line;
    bool started = false;
    bool skipping = false;
    bool has_letters = true;
    Index nameless = 0;
    constexpr std::size_t kMaxShown = 100;
    std::string helpers;
    while (text.next_line(source, line)) {
        if (is_blank(line) || line.front() == ';') continue;
        if (line.front() == '>') {
            finish_row(text, has_letters);
            started = has_letters = true;
            const std::string_view name = first_word(line.substr(1));
            skipping = is_annotation(name) ||
                       (is_alignment && text.row_count() == 0 && name.ends_with("_consensus"));
            if (skipping) {
                if (helpers.size() < kMaxShown)
                    helpers += fmt::format("{}{}", helpers.empty() ? "" : ", ", name);
                continue;
            }
            nameless += name.empty();
            text.add_row(
                name.empty() ? fmt::format("sequence {}", text.row_count() + 1) : std::string(name),
                source.line());
            has_letters = false;
        } else if (started && !skipping) {
            has_letters = true;
            text.append(text.rows.back(), line, source.line(), true);
        } else if (!started && line.front() == '#') {
            read_part_lengths(line, text);
        } else if (!started) {
            throw InputError(source.name(), source.line(),
                             fmt::format("expected '>' and a name, found {}", in_quotes(line)));
        }
    }
    finish_row(text, has_letters);
    if (!helpers.empty())
        text.notes.push_back({NoteKind::helper_rows,
                              fmt::format("rows that are no sequences are left out: {}", helpers)});
    if (nameless > 0)
        text.notes.push_back({NoteKind::sequence_names,
                              fmt::format("{} of {} sequences have no name: they are called "
                                          "'sequence N' by their positions",
                                          nameless, text.row_count())});
    text.finish(source.line());
}

bool is_psicov_row(std::string_view line) {
    const std::string_view row = trimmed(line);
    const auto is_letter = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               std::string_view("-.~_*?").find(c) != std::string_view::npos;
    };
    return !row.empty() && std::ranges::all_of(row, is_letter);
}

void read_psicov(ByteSource& source, TextAlignment& text) {
    std::string_view line;
    text.summary.named = false;
    while (text.next_line(source, line)) {
        const std::string_view row = trimmed(line);
        if (row.empty()) continue;
        const std::string name = fmt::format("sequence {}", text.row_count() + 1);
        text.add_row(name, source.line());
        text.append(text.rows.back(), row, source.line(), false);
    }
    text.finish(source.line());
}

}  // namespace pleat
