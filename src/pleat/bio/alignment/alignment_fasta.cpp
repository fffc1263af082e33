// FASTA, A2M and A3M: reading the records.
#include "pleat/bio/alignment/alignment_formats.h"

#include <algorithm>

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
            text.append(text.rows.back(), line, source.line(), true);
        } else if (!started && line.front() != '#') {
            throw InputError(source.name(), source.line(),
                             fmt::format("expected '>' and a name, found {}", in_quotes(line)));
        }
    }
    finish_row(text, has_letters);
    text.finish(source.line());
}

}  // namespace pleat
