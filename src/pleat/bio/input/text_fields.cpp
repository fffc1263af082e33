// Text fields: cutting lines into words, and showing them in messages.
#include "pleat/bio/input/text_fields.h"

#include <fmt/format.h>

#include <algorithm>

namespace pleat {

std::string in_quotes(std::string_view text) {
    constexpr std::size_t kMaxShown = 40;
    std::string shown(text.substr(0, kMaxShown));
    for (char& c : shown) {
        if (c < ' ' || c == 0x7f) c = '?';
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

bool is_blank(std::string_view line) {
    return line.find_first_not_of(" \t") == std::string_view::npos;
}

bool is_printable_ascii(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace pleat
