// Line text: the pieces of a text, and digits by std::to_chars.
#include "pleat/core/files/line_text.h"

#include <algorithm>
#include <limits>

#include "pleat/core/files/output_file.h"
#include "pleat/core/loops/parallel.h"

namespace pleat {

namespace {

constexpr Index kPiecesPerThread =
    8;  // several pieces per thread balance lines of different lengths

}  // namespace

TextPieces make_lines(int threads, Index count,
                      const std::function<void(Index, std::string&)>& append) {
    const Index lines = threads <= 1 ? count + 1 : count / (kPiecesPerThread * threads) + 1;
    TextPieces pieces(static_cast<std::size_t>((count + lines - 1) / lines));
    parallel_for(threads, static_cast<Index>(pieces.size()), [&](Index piece, int) {
        std::string text;
        const Index last = std::min(count, (piece + 1) * lines);
        for (Index line = piece * lines; line < last; ++line) {
            append(line, text);
            if (line == piece * lines)
                text.reserve((text.size() + 8) * static_cast<std::size_t>(lines));
        }
        pieces[static_cast<std::size_t>(piece)] = std::move(text);
    });
    return pieces;
}

void write_text(const std::filesystem::path& path, const TextPieces& pieces) {
    OutputFile file(path);
    for (const std::string& piece : pieces) file.write(piece);
    file.close();
}

void append_integer(std::string& text, Index value) {
    char digits[std::numeric_limits<Index>::digits10 + 2];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    text.append(digits, end);
}

void append_number(std::string& text, double value, std::chars_format format, int precision) {
    char digits[400];  // a sign, 309 digits before the decimal point, the point, and the digits
                       // after it
    const auto end = std::to_chars(digits, digits + sizeof digits, value, format, precision).ptr;
    text.append(digits, end);
}

}  // namespace pleat
