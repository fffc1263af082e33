// Help: the layout of --help, the table of all options, and hints at what is wrong with a command
// line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace pleat::program {

/// Examples, exit codes and links: the end of each command's help.
std::string help_footer(const std::string& examples);

/// A new command of the program, whose help ends with the examples.
CLI::App* add_command(CLI::App& program, const std::string& name, const std::string& help,
                      const std::string& examples);

/// Lays out the program's help: names in one column, and wrapped descriptions in a second. Commands
/// with many options show the usual ones, and all in the mode AppFormatMode::All.
void set_help_format(CLI::App& program);

/// One option or positional argument of a command.
struct OptionEntry {
    std::vector<std::string> flags;  ///< "-o", "--output"; none for a positional argument
    std::string value;               ///< what help calls the value; empty for a flag without one
    std::string help, group, environment;
    std::vector<std::string> choices;  ///< words that the value may be; empty: any text
    bool accepts_several = false;      ///< a positional argument that may be given more than once

    bool is_positional() const { return flags.empty(); }
    /// Whether the value names files, or only folders.
    bool takes_files() const;
    bool takes_folders() const;
    /// The help text without the notes in brackets at its end.
    std::string brief_help() const;
};

/// One command; the program itself has an empty name.
struct CommandEntry {
    std::string name, help;
    std::string footer;  ///< examples, notes and exit codes: see help_footer()
    std::vector<OptionEntry> options;
};

/// The program, then its commands in the order of the overview.
std::vector<CommandEntry> option_table(const CLI::App& program);

std::vector<std::string> command_names(const std::vector<CommandEntry>& table);

/// The name with the fewest differences from `word`, or that begins with it or has its words in
/// another order; empty if none is near.
/// Two neighbouring letters in the wrong order count as one difference.
std::string nearest_name(std::string_view word, const std::vector<std::string>& names);

/// "unknown command 'X'; did you mean 'Y'? 'pleat help' lists the commands".
std::string unknown_command(const CLI::App& program, std::string_view word);

/// Returns what the user should correct after a parsing error: the first unknown option, command or
/// argument, else the parser's message; and which help shows more.
std::string usage_hint(const CLI::App& program, const CLI::ParseError& error);

}  // namespace pleat::program
