// Stockholm: reading one alignment of a file, in one block or several.
#include "pleat/bio/alignment/text_alignment.h"

#include <fmt/format.h>

namespace pleat {

namespace {

/// Reads a sequence row or a piece of the RF line; skips other lines.
void read_line(std::string_view line, const ByteSource& source, TextAlignment& text,
               Blocks& blocks) {
    const std::vector<std::string_view> found = words(line);
    if (line.front() == '#') {
        if (found.size() == 3 && found[0] == "#=GC" && found[1] == "RF") text.reference += found[2];
        return;
    }
    if (found.size() != 2)
        throw InputError(source.name(), source.line(),
                         fmt::format("expected a name and its letters, found {} word{}: {}",
                                     found.size(), found.size() == 1 ? "" : "s", in_quotes(line)));
    blocks.add(found[0], found[1], source.line());
}

}  // namespace

bool is_stockholm_header(std::string_view line) {
    const std::vector<std::string_view> found = words(line);
    if (found.empty()) return false;
    // "# STOCKHOLM 1.0"; the blank after '#' is sometimes missing.
    return found[0] == "#STOCKHOLM" ||
           (found.size() > 1 && found[0] == "#" && found[1] == "STOCKHOLM");
}

void read_stockholm(ByteSource& source, TextAlignment& text) {
    std::string_view line;
    Index number = 0;  // of the alignment, from 1
    bool is_open = false;
    Blocks blocks(text);
    while (source.next(line)) {
        const bool is_chosen = number == text.record;
        if (is_blank(line)) {
            if (is_chosen) blocks.pause(source.line());
        } else if (!is_open) {
            if (!is_stockholm_header(line))
                throw InputError(
                    source.name(), source.line(),
                    fmt::format("expected {}'# STOCKHOLM 1.0', found {}",
                                number > 0 ? "the end of the file after '//', or " : "",
                                in_quotes(line)));
            is_open = true;
            ++number;
        } else if (line.starts_with("//")) {
            if (is_chosen) blocks.end(source.line());
            is_open = false;
        } else if (is_chosen) {
            read_line(line, source, text, blocks);
        }
    }
    if (is_open) {
        text.complaints.throw_if_any();
        throw InputError(
            source.name(), source.line(),
            "expected '//' at the end of the alignment, found the end of the file (cut short)");
    }
    text.end_records(number, source.line());
    text.finish(source.line());
}

}  // namespace pleat
