// Option table: the options of every command that help shows, for completion and manual pages.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace pleat::program {

/// One option or positional argument of a command.
struct OptionEntry {
    std::vector<std::string> flags;  ///< "-o", "--output"; none for a positional argument
    std::string value;               ///< what help calls the value; empty for a flag without one
    std::string help, group, environment;
    std::vector<std::string> choices;  ///< words that the value may be; empty: any text
    bool accepts_several = false;      ///< a positional argument that may be given more than once

    bool is_positional() const { return flags.empty(); }
    /// Whether the value names files, or folders alone.
    bool takes_files() const;
    bool takes_folders() const;
    /// The help without the notes in brackets behind it.
    std::string brief_help() const;
};

/// One command; that of an empty name is the program itself.
struct CommandEntry {
    std::string name, help;
    std::string footer;  ///< examples, notes and exit codes: see help_footer()
    std::vector<OptionEntry> options;
};

/// The program, then its commands in the order of the overview.
std::vector<CommandEntry> option_table(const CLI::App& program);

/// The names of the commands.
std::vector<std::string> command_names(const std::vector<CommandEntry>& table);

}  // namespace pleat::program
