// Text fields: the words and numbers of a line, for the readers of texts.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace pleat {

/// Text from a file as error messages show it: quoted, printable ASCII, at most 40 characters.
std::string in_quotes(std::string_view text);

/// The text without blanks, tabs and carriage returns at its ends.
std::string_view trimmed(std::string_view text);

/// The words of a line between any of these separators.
std::vector<std::string_view> words(std::string_view line, std::string_view separators = " \t");

/// Whether the line has no characters but blanks and tabs.
bool is_blank(std::string_view line);

/// Whether all characters are printable ASCII.
bool is_printable_ascii(std::string_view text);

/// Sets `value` to the number that the whole text is; false if it is no number.
template <class Number>
bool parse_number(std::string_view text, Number& value) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    return problem == std::errc() && end == text.data() + text.size();
}

}  // namespace pleat
