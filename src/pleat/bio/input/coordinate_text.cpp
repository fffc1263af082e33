// Coordinate text: the first line with text, and all lines from it on.
#include "pleat/bio/input/coordinate_text.h"

#include <fmt/format.h>

#include "pleat/bio/input/text_fields.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

bool opens_block(std::string_view text) {
    return text.starts_with("data_") || text.starts_with("DATA_");
}

}  // namespace

bool is_mmcif(ByteSource& source) {
    std::string_view line;
    while (source.next(line)) {
        const std::string_view text = trimmed(line);
        if (text.empty() || text.front() == '#') continue;
        source.hold();
        return opens_block(text) || text.starts_with("loop_") || text.starts_with("_atom_site.");
    }
    throw InputError(source.name(), 0, "expected a PDB or mmCIF file, found no text");
}

std::string remaining_text(ByteSource& source, std::size_t max_from_pipe) {
    std::string text;
    std::string_view line;
    while (source.next(line)) {
        if (text.size() > max_from_pipe && source.is_from_pipe())
            throw InputError(
                source.name(), source.line(),
                fmt::format("expected at most {} bytes of mmCIF from a pipe, found more; save it "
                            "to a file first",
                            max_from_pipe));
        if (text.empty()) {
            text.assign(static_cast<std::size_t>(source.line() - 1), '\n');
            if (!opens_block(trimmed(line))) text += "data_ ";  // some programs leave it out
        }
        text += line;
        text += '\n';
    }
    return text;
}

}  // namespace pleat
