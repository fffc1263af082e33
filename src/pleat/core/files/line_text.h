// Line text: long texts whose lines are made by several threads, and numbers in them.
#pragma once

#include <charconv>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "pleat/core/view.h"

namespace pleat {

/// A long text as consecutive pieces.
using TextPieces = std::vector<std::string>;

/// Returns lines 0 to count - 1; `append(line, text)` appends one. Several threads call it at the
/// same time, each with its own text.
TextPieces make_lines(int threads, Index count,
                      const std::function<void(Index, std::string&)>& append);

/// Writes the pieces as one file through OutputFile.
void write_text(const std::filesystem::path& path, const TextPieces& pieces);

void append_integer(std::string& text, Index value);
/// The number as printf writes it with %e, %f or %g and this precision (at most 60).
void append_number(std::string& text, double value, std::chars_format format, int precision);

}  // namespace pleat
