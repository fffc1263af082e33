// Help format: the layout of --help, wrapped to 80 columns.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace pleat::program {

/// Examples, exit codes and links: the end of each command's help.
std::string help_footer(const std::string& examples);

/// Names in one column, descriptions wrapped beside them. Commands with many options show the usual
/// ones, and all in the mode AppFormatMode::All.
class HelpFormat : public CLI::Formatter {
public:
    std::string make_group(std::string group, bool is_positional,
                           std::vector<const CLI::Option*> options) const override;
    std::string make_option(const CLI::Option* option, bool is_positional) const override;
    std::string make_subcommand(const CLI::App* command) const override;
    std::string make_help(const CLI::App* command, std::string name,
                          CLI::AppFormatMode mode) const override;
    std::string make_usage(const CLI::App* command, std::string name) const override;

private:
    mutable std::vector<std::string> shown_;  ///< names of the options to show; empty: all
};

}  // namespace pleat::program
