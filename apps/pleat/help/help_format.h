// Help format: the layout of --help, wrapped to 80 columns.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace pleat::program {

/// Examples, exit codes and links: the end of each command's help.
std::string help_footer(const std::string& examples);

/// Names in one column, descriptions wrapped beside them.
class HelpFormat : public CLI::Formatter {
public:
    std::string make_option(const CLI::Option* option, bool is_positional) const override;
    std::string make_subcommand(const CLI::App* command) const override;
    std::string make_help(const CLI::App* command, std::string name,
                          CLI::AppFormatMode mode) const override;
    std::string make_usage(const CLI::App* command, std::string name) const override;
};

}  // namespace pleat::program
