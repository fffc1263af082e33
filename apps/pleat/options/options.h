// Options: an engine's fields as flags of the program, each described once where the field is.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "pleat/core/fields.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace pleat::program {

/// Adds one flag for each field to `command`, under the heading `group`: `--name VALUE` with its
/// short letter, default, range and unit in the help; a bool as `--name`, or as `--no-name` where
/// it is true by default. Giving a flag sets the field's target; a bad value throws UsageError
/// while parsing.
void add_fields(CLI::App& command, const std::string& group, const std::vector<Field>& fields);

/// The fields of several lists, in their order.
std::vector<Field> concatenated(std::initializer_list<std::vector<Field>> lists);

/// Adds an option, or an argument where the name has no dashes, that takes a text, or several.
void add_text(CLI::App& command, const std::string& name, std::string& target,
              const std::string& help, const std::string& value_name = {});
void add_texts(CLI::App& command, const std::string& name, std::vector<std::string>& target,
               const std::string& help, const std::string& value_name = {},
               const std::string& group = {});

/// Refuses a command line without the option.
void require(CLI::App& command, const std::string& name);
/// No longer, where another option is given.
void require_unless(CLI::App& command, const std::string& name, const std::string& other);

/// Leaves the option out of the help.
void hide(CLI::App& command, const std::string& name);

/// Sets the values that shell completion suggests for the option.
void suggest_values(CLI::App& command, const std::string& name, std::vector<std::string> words);
/// The values for shell completion: those set by suggest_values(), or the choices of a field; else
/// none.
std::vector<std::string> suggested_values(const CLI::Option& option);

/// Lets an environment variable set the option where the command line does not.
void add_environment(CLI::App& command, const std::string& flag, const std::string& variable);

/// Rejects an empty text for each of these options; it would otherwise count as "not given".
void refuse_empty_values(CLI::App& command, std::initializer_list<const char*> names);

/// Refuses "-" for an option that names an output, which would create a file or folder called "-".
void refuse_standard_output(CLI::App& command, const std::string& name);

/// Adds the required -o; `kind`: FOLDER or FILE.
void add_output(CLI::App& command, std::string& output, const char* kind, const std::string& help);

}  // namespace pleat::program
