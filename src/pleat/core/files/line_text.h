// Line text: long texts whose lines several threads make, and numbers in them.
#pragma once

#include <charconv>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "pleat/core/view.h"

namespace pleat {

/// A text in pieces, one behind the other.
using TextPieces = std::vector<std::string>;

/// Lines 0 ... count - 1 by `append(line, text)`, which adds a line to the text's end. Several
/// threads call it at a time, each for a text of its own.
TextPieces make_lines(int threads, Index count,
                      const std::function<void(Index, std::string&)>& append);

/// Writes the pieces as one file through OutputFile.
void write_text(const std::filesystem::path& path, const TextPieces& pieces);

void append_integer(std::string& text, Index value);
/// As printf's %e, %f and %g with this precision (at most 60) write it.
void append_number(std::string& text, double value, std::chars_format format, int precision);

}  // namespace pleat
