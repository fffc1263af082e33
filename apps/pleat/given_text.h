// Given text: options that may be left out, but not given as nothing.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>

namespace pleat::program {

/// Refuses an empty text for each of the options of these names, which otherwise stands for one
/// left out.
void refuse_empty(CLI::App& command, std::initializer_list<const char*> names);

/// Refuses "-" for an option that names what is written, which would be a file or folder of that
/// name.
CLI::Validator not_standard_output();

/// Adds the required -o; `kind`: FOLDER or FILE.
void add_output(CLI::App& command, std::string& output, const char* kind, const std::string& help);

}  // namespace pleat::program
