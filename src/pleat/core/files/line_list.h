// Line list: the lines of a list or a small table that a user wrote.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pleat {

/// A line that is neither blank nor a comment (#).
struct ListedLine {
    std::int64_t number = 0;  ///< from 1
    std::string_view text;    ///< without its line end
};
/// Throws InputError, which calls the text `name`, for zero bytes and for more than `max_lines`
/// lines.
std::vector<ListedLine> listed_lines(std::string_view name, std::string_view text,
                                     std::size_t max_lines = 1'000'000);

/// The text without white space around it.
std::string_view stripped(std::string_view text);

/// The parts between separators.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The cells of a line, split at tabs, without white space around each.
std::vector<std::string> split_cells(std::string_view line);

/// The paths that a text lists, one per line, without white space around them. Throws InputError as
/// listed_lines(), and if it lists no path.
std::vector<std::string> parse_path_list(std::string_view name, std::string_view text);

}  // namespace pleat
