// PSICOV .aln: reading rows of letters without names.
#include "pleat/bio/alignment/alignment_formats.h"

#include <algorithm>

#include <fmt/format.h>

namespace pleat {

bool is_psicov_row(std::string_view line) {
    const std::string_view row = trimmed(line);
    const auto is_letter = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               std::string_view("-.~_*?").find(c) != std::string_view::npos;
    };
    return !row.empty() && std::all_of(row.begin(), row.end(), is_letter);
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
