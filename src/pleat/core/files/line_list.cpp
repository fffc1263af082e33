// Line list: splitting texts at lines and tabs.
#include "pleat/core/files/line_list.h"

#include <fmt/format.h>

#include "pleat/core/error.h"

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

}  // namespace pleat
