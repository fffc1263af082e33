// Texts: splitting lines and cells, decoding UTF-8, and escapes for what a terminal would act on.
#include "pleat/core/files/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>

namespace pleat {

std::string_view stripped(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r\v\f";
    const std::size_t first = text.find_first_not_of(kSpace);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::vector<std::string> split_cells(std::string_view line) {
    std::vector<std::string> cells;
    for (const std::string_view cell : split(line, '\t')) cells.emplace_back(stripped(cell));
    return cells;
}

std::vector<ListedLine> listed_lines(std::string_view name, std::string_view text,
                                     std::size_t max_lines) {
    std::vector<ListedLine> lines;
    std::int64_t number = 0;
    for (std::string_view line : split(text, '\n')) {
        ++number;
        if (line.ends_with('\r')) line.remove_suffix(1);
        const std::string_view content = stripped(line);
        if (content.empty() || content.starts_with('#')) continue;
        if (content.find('\0') != std::string_view::npos)
            throw InputError(name, number, "expected text, found zero bytes");
        if (lines.size() == max_lines)
            throw InputError(
                fmt::format("{}: expected at most {} lines, found more", name, max_lines));
        lines.push_back({number, line});
    }
    return lines;
}

std::vector<std::string> parse_path_list(std::string_view name, std::string_view text) {
    std::vector<std::string> paths;
    for (const ListedLine& line : listed_lines(name, text)) paths.emplace_back(stripped(line.text));
    if (paths.empty())
        throw InputError(fmt::format("{}: expected a path per line, found none", name));
    return paths;
}

std::string in_quotes(std::string_view text) {
    constexpr std::size_t kMaxShown = 40;
    std::string shown(text.substr(0, kMaxShown));
    for (char& c : shown) {
        if (c < ' ' || c > '~') c = '?';
    }
    return fmt::format("'{}{}'", shown, text.size() > kMaxShown ? "..." : "");
}

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> words(std::string_view line, std::string_view separators) {
    std::vector<std::string_view> all;
    std::size_t at = 0;
    while ((at = line.find_first_not_of(separators, at)) != std::string_view::npos) {
        const std::size_t end = std::min(line.find_first_of(separators, at), line.size());
        all.push_back(line.substr(at, end - at));
        at = end;
    }
    return all;
}

std::string in_lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
}

std::string in_upper_case(std::string_view text) {
    std::string upper(text);
    for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return upper;
}

bool is_blank(std::string_view line) {
    return line.find_first_not_of(" \t") == std::string_view::npos;
}

bool is_printable_ascii(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

namespace {

/// A character of UTF-8 and its number of bytes; 0 bytes if the text is not valid UTF-8.
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

/// Whether the character separates lines or paragraphs, or changes the direction of writing.
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

bool RecordReader::next(std::string_view& record, std::string_view& end, std::int64_t& line) {
    if (at_ >= text_.size()) return false;
    line = line_;
    bool is_quoted = false;
    std::size_t last = at_;
    for (; last < text_.size(); ++last) {
        const char c = text_[last];
        if (c == '"') is_quoted = !is_quoted;
        if (c == '\n') ++line_;
        if ((c == '\n' || c == '\r') && !is_quoted) break;
    }
    record = text_.substr(at_, last - at_);
    std::size_t size = last < text_.size() ? 1 : 0;
    if (size == 1 && text_[last] == '\r' && last + 1 < text_.size() && text_[last + 1] == '\n') {
        size = 2;
        ++line_;
    }
    end = text_.substr(last, size);
    at_ = last + size;
    return true;
}

void split_record(std::string_view record, char separator, std::vector<std::string_view>& cells) {
    cells.clear();
    std::size_t from = 0;
    bool is_quoted = false;
    for (std::size_t at = 0; at < record.size(); ++at) {
        if (record[at] == '"') is_quoted = !is_quoted;
        if (record[at] != separator || is_quoted) continue;
        cells.push_back(record.substr(from, at - from));
        from = at + 1;
    }
    cells.push_back(record.substr(from));
}

std::string cell_text(std::string_view cell) {
    cell = trimmed(cell);
    if (cell.size() < 2 || cell.front() != '"' || cell.back() != '"') return std::string(cell);
    std::string text;
    for (std::size_t at = 1; at + 1 < cell.size(); ++at) {
        text += cell[at];
        if (cell[at] == '"' && cell[at + 1] == '"') ++at;
    }
    return text;
}

}  // namespace pleat
