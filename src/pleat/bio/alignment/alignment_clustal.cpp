// CLUSTAL: reading the blocks that Clustal, MUSCLE, PROBCONS, MSAPROBS, T-Coffee and others write.
#include "pleat/bio/alignment/text_alignment.h"

#include <algorithm>

#include <fmt/format.h>

namespace pleat {

namespace {

/// Whether this is the conservation line below a Clustal block: blank in the columns of the names.
/// `letters_at`: where the letters of the row above begin. UGENE marks conservation by letters.
bool is_consensus(std::string_view line, std::size_t letters_at) {
    return (line.front() == ' ' || line.front() == '\t') &&
           (line.find_first_not_of(" \t*:.") == std::string_view::npos ||
            line.find_first_not_of(" \t") >= letters_at);
}

bool is_number(std::string_view word) {
    return std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool is_clustal_header(std::string_view line) {
    const std::vector<std::string_view> found = words(line);
    if (found.empty()) return false;
    std::string_view first = found[0];
    if (first.ends_with(',')) first.remove_suffix(1);  // "T-COFFEE, Version_11.00"
    for (std::string_view program :
         {"CLUSTAL", "CLUSTALW", "MUSCLE", "PROBCONS", "MSAPROBS", "T-COFFEE", "Kalign"}) {
        if (first == program) return true;
    }
    return false;
}

void read_clustal(ByteSource& source, TextAlignment& text) {
    std::string_view line;
    bool header = false;
    std::size_t letters_at = std::string_view::npos;
    Blocks blocks(text);
    while (source.next(line)) {
        if (is_blank(line)) {
            blocks.pause(source.line());
        } else if (!header) {
            if (!is_clustal_header(line)) {
                throw InputError(
                    source.name(), source.line(),
                    fmt::format("expected a CLUSTAL header, found {}", in_quotes(line)));
            }
            header = true;
        } else if (is_consensus(line, letters_at)) {
            blocks.pause(source.line());
        } else {
            const std::vector<std::string_view> found = words(line);
            // Some programs append the number of residues so far to each row.
            const bool sound = found.size() == 2 || (found.size() == 3 && is_number(found[2]));
            if (!sound) {
                throw InputError(
                    source.name(), source.line(),
                    fmt::format("expected a name, letters and at most a number, found {}",
                                in_quotes(line)));
            }
            letters_at = static_cast<std::size_t>(found[1].data() - line.data());
            blocks.add(found[0], found[1], source.line());
        }
    }
    blocks.end(source.line());
    text.end_records(1, source.line());
    text.finish(source.line());
}

}  // namespace pleat
