// Texts: lines, words, cells and numbers of files, and names in a form that no terminal or table
// misreads.
#pragma once

#include <charconv>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/hardware/system.h"

namespace pleat {

/// A line that is neither blank nor a comment (#).
struct ListedLine {
    std::int64_t number = 0;  ///< from 1
    std::string_view text;    ///< without its line end
};
/// The lines of a text. Throws InputError, calling the text `name`, for zero bytes and for more
/// than `max_lines` lines.
std::vector<ListedLine> listed_lines(std::string_view name, std::string_view text,
                                     std::size_t max_lines = 1'000'000);

/// The text without white space around it.
std::string_view stripped(std::string_view text);

/// The parts between separators.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Splits a line at tabs; removes white space around each cell.
std::vector<std::string> split_cells(std::string_view line);

/// The paths that a text lists, one per line, without white space around them. Throws InputError as
/// listed_lines(), and if it lists no path.
std::vector<std::string> parse_path_list(std::string_view name, std::string_view text);

/// Formats text of a file for error messages: quoted, printable ASCII, at most 40 characters.
std::string in_quotes(std::string_view text);

/// The text without blanks, tabs and carriage returns at its ends.
std::string_view trimmed(std::string_view text);

/// Splits a line into words at any of these separators.
std::vector<std::string_view> words(std::string_view line, std::string_view separators = " \t");

/// Whether the line has no characters but blanks and tabs.
bool is_blank(std::string_view line);

/// Whether all characters are printable ASCII.
bool is_printable_ascii(std::string_view text);

/// Parses and removes the number at the front of a text; false, without change, if none.
template <class Number>
bool take_number_from(std::string_view& text, Number& value) {
    std::from_chars_result read{};
    if constexpr (std::is_floating_point_v<Number>) {
        read = system::read_real(text, value);
    } else {
        read = std::from_chars(text.data(), text.data() + text.size(), value);
    }
    const auto [end, problem] = read;
    if (problem != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

/// Sets `value` if the whole text is a number; else returns false.
template <class Number>
bool parse_number(std::string_view text, Number& value) {
    return take_number_from(text, value) && text.empty();
}

/// The text with ASCII letters in lower case, or in upper case.
std::string in_lower_case(std::string_view text);
std::string in_upper_case(std::string_view text);

/// The text as one line of visible UTF-8. Tab, newline and carriage return become \t, \n, \r; other
/// control characters and bytes that are not UTF-8 become \x1b etc.; characters that break lines or
/// change the direction of writing become \u202e etc. A backslash stays as it is.
std::string printable(std::string_view text);

/// Like printable(), but keeps the newlines and tabs of a text of several lines or cells.
std::string printable_lines(std::string_view text);

/// A text as one cell of a tab-separated table: printable, "NA" for an empty one.
std::string table_cell(std::string_view text);

/// Several complaints about one file, one line each, every line printable.
class InputErrors : public InputError {
public:
    explicit InputErrors(const std::string& lines) : InputError(lines) {}
};

/// The printable text of an error: one line, or several of an InputError.
std::string error_text(const std::exception& error);

/// Reads the records of a text one by one; line ends inside quotes belong to a cell.
class RecordReader {
public:
    explicit RecordReader(std::string_view text) : text_(text) {}

    /// Sets `record` to the next record without its line end and `line` to its first line, from 1;
    /// returns false at the end of the text.
    bool next(std::string_view& record, std::string_view& end, std::int64_t& line);

private:
    std::string_view text_;
    std::size_t at_ = 0;
    std::int64_t line_ = 1;
};

/// The cells of a record, as written.
void split_record(std::string_view record, char separator, std::vector<std::string_view>& cells);

/// The text of a cell: without the quotes and blanks around it.
std::string cell_text(std::string_view cell);

}  // namespace pleat
