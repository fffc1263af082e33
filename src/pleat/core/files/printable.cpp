// Printable text: decoding UTF-8, and escapes for what a terminal would act on.
#include "pleat/core/files/printable.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace pleat {

namespace {

/// A character of UTF-8 and its bytes; no bytes where there is none.
struct Character {
    std::uint32_t code = 0;
    std::size_t bytes = 0;
};

/// The first character of a text that is not empty. Overlong forms, surrogates and codes beyond
/// U+10FFFF are none (RFC 3629).
Character first_character(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const std::uint32_t head = byte(0);
    if (head < 0x80) return {head, 1};
    const std::size_t bytes = head >= 0xF0 ? 4 : head >= 0xE0 ? 3 : 2;
    if (head < 0xC2 || head > 0xF4 || text.size() < bytes) return {};
    std::uint32_t code = head & (0x7FU >> bytes);
    for (std::size_t at = 1; at < bytes; ++at) {
        if ((byte(at) & 0xC0U) != 0x80) return {};
        code = code << 6 | (byte(at) & 0x3FU);
    }
    const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (overlong || surrogate || code > 0x10FFFF) return {};
    return {code, bytes};
}

/// Line and paragraph separators, and marks that change the direction of what follows.
bool turns_or_breaks(std::uint32_t code) {
    return (code >= 0x200E && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0x061C || code == 0xFEFF;
}

bool is_control(std::uint32_t code) { return code < 0x20 || (code >= 0x7F && code <= 0x9F); }

std::string escaped(std::string_view text, std::string_view kept) {
    std::string shown;
    shown.reserve(text.size());
    while (!text.empty()) {
        const auto [code, bytes] = first_character(text);
        if (bytes == 0) {
            fmt::format_to(std::back_inserter(shown), "\\x{:02x}",
                           static_cast<unsigned char>(text[0]));
        } else if (bytes == 1 && kept.find(text[0]) != std::string_view::npos) {
            shown += text[0];
        } else if (code == '\t') {
            shown += "\\t";
        } else if (code == '\n') {
            shown += "\\n";
        } else if (code == '\r') {
            shown += "\\r";
        } else if (is_control(code) || turns_or_breaks(code)) {
            shown += code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
        } else {
            shown += text.substr(0, bytes);
        }
        text.remove_prefix(bytes == 0 ? 1 : bytes);
    }
    return shown;
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, ""); }

std::string printable_lines(std::string_view text) { return escaped(text, "\n\t"); }

std::string table_cell(std::string_view text) { return text.empty() ? "NA" : printable(text); }

std::string error_text(const std::exception& error) {
    const bool has_lines = dynamic_cast<const InputErrors*>(&error) != nullptr;
    return has_lines ? error.what() : printable(error.what());
}

}  // namespace pleat
