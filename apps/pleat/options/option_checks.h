// Option checks: checks of option values that are texts or paths, and the option for the output.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>

namespace pleat::program {

/// Refuses an empty text for each of these options, which would otherwise mean that it is not
/// given.
void refuse_empty(CLI::App& command, std::initializer_list<const char*> names);

/// Refuses "-" for an option that names an output, which would create a file or folder called "-".
CLI::Validator not_standard_output();

/// Adds the required -o; `kind`: FOLDER or FILE.
void add_output(CLI::App& command, std::string& output, const char* kind, const std::string& help);

}  // namespace pleat::program
