// Stockholm: reading one alignment, in one block or several.
#include "pleat/bio/alignment/alignment_formats.h"

#include <fmt/format.h>

namespace pleat {

bool is_stockholm_header(std::string_view line) {
    const std::vector<std::string_view> found = words(line);
    if (found.empty()) return false;
    // "# STOCKHOLM 1.0"; the blank after '#' is sometimes missing.
    return found[0] == "#STOCKHOLM" ||
           (found.size() > 1 && found[0] == "#" && found[1] == "STOCKHOLM");
}

void read_stockholm(ByteSource& source, TextAlignment& text) {
    std::string_view line;
    bool header = false;
    bool finished = false;
    Blocks blocks(text);
    while (source.next(line)) {
        if (is_blank(line)) {
            blocks.end(source.line());
        } else if (finished) {
            throw InputError(
                source.name(), source.line(),
                fmt::format("expected the end of the file after '//' (one alignment a file), "
                            "found {}",
                            in_quotes(line)));
        } else if (!header) {
            if (!is_stockholm_header(line)) {
                throw InputError(
                    source.name(), source.line(),
                    fmt::format("expected '# STOCKHOLM 1.0', found {}", in_quotes(line)));
            }
            header = true;
        } else if (line.starts_with("//")) {
            blocks.end(source.line());
            finished = true;
        } else if (line.front() != '#') {
            const std::vector<std::string_view> found = words(line);
            if (found.size() == 2) {
                blocks.add(found[0], found[1], source.line());
                continue;
            }
            throw InputError(
                source.name(), source.line(),
                fmt::format("expected a name and its letters, found {} word{}: {}", found.size(),
                            found.size() == 1 ? "" : "s", in_quotes(line)));
        }
    }
    if (header && !finished) {
        text.complaints.throw_if_any();
        throw InputError(
            source.name(), source.line(),
            "expected '//' at the end of the alignment, found the end of the file (cut short)");
    }
    text.finish(source.line());
}

}  // namespace pleat
