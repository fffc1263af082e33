// Options: an engine's fields as flags of the program, each described once where the field is.
#pragma once

#include <CLI/CLI.hpp>

#include <initializer_list>
#include <string>
#include <vector>

#include "pleat/core/fields.h"

namespace pleat::program {

/// Adds one flag for each field to `command`, under the heading `group`: `--name VALUE` with its
/// short letter, default, range and unit in the help; a bool as `--name`, or as `--no-name` where
/// it is true by default. Giving a flag sets the field's target; a bad value throws UsageError
/// while parsing.
void add_fields(CLI::App& command, const std::string& group, const std::vector<Field>& fields);

/// The fields of several lists, in their order.
std::vector<Field> concatenated(std::initializer_list<std::vector<Field>> lists);

/// Words that completion offers for the option's value.
void suggest(const CLI::Option& option, std::vector<std::string> words);
/// Those words: what suggest() was given, or the choices of a field; else none.
std::vector<std::string> suggestions(const CLI::Option& option);

/// Lets an environment variable set the option where the command line does not.
void add_environment(CLI::App& command, const std::string& flag, const std::string& variable);

/// Refuses an empty text for each of these options, which would otherwise mean that it is not
/// given.
void refuse_empty(CLI::App& command, std::initializer_list<const char*> names);

/// Refuses "-" for an option that names an output, which would create a file or folder called "-".
CLI::Validator not_standard_output();

/// Adds the required -o; `kind`: FOLDER or FILE.
void add_output(CLI::App& command, std::string& output, const char* kind, const std::string& help);

}  // namespace pleat::program
