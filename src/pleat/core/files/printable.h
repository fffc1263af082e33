// Printable text: names and texts of files in one form that no terminal or table misreads.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "pleat/core/error.h"

namespace pleat {

/// The text on one line of visible UTF-8. Written as escapes are: tab, newline and carriage return
/// (\t, \n, \r), other control characters and bytes that are not UTF-8 (\x1b), and characters that
/// break lines or turn the direction of writing (\u202e). A backslash stays as it is.
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

/// What an error says, printable: one line, or those of InputErrors.
std::string error_text(const std::exception& error);

}  // namespace pleat
