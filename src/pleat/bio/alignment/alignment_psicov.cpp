// PSICOV .aln: reading rows of letters without names.
#include "pleat/bio/alignment/alignment_formats.h"

#include <algorithm>

#include <fmt/format.h>

namespace pleat {

bool is_psicov_row(std::string_view line) {
    const std::string_view row = trimmed(line);
    const auto is_letter = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               std::string_view("-.~_*").find(c) != std::string_view::npos;
    };
    return !row.empty() && std::all_of(row.begin(), row.end(), is_letter);
}

void read_psicov(ByteSource& source, TextAlignment& text) {
    std::string_view line;
    text.named = false;
    while (source.next(line)) {
        const std::string_view row = trimmed(line);
        if (row.empty()) continue;
        const std::string name = fmt::format("sequence {}", text.rows.size() + 1);
        text.append(text.add_row(name, source.line()), row, source.line(), false);
    }
    text.require_rows(source.line());
}

}  // namespace pleat
