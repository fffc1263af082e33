// Usage hints: what is wrong with a command line, and the nearest existing name.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace pleat::program {

/// The name with the fewest differences from `word`, or that begins with it or has its words in
/// another order; empty if none is near.
/// Two neighbouring letters in the wrong order count as one difference.
std::string nearest_name(std::string_view word, const std::vector<std::string>& names);

/// "unknown command 'X'; did you mean 'Y'? 'pleat help' lists the commands".
std::string unknown_command(const CLI::App& program, std::string_view word);

/// What the user should change after parsing failed: the first option, command or argument that is
/// unknown, else the parser's own text; and which help shows more.
std::string usage_hint(const CLI::App& program, const CLI::ParseError& error);

}  // namespace pleat::program
