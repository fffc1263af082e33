// Commands: the subcommands of the program.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace pleat::program {

class Ranks;

/// A subcommand: its parser, and the function that runs it once the options are read. Errors are
/// thrown.
struct Command {
    CLI::App* parser = nullptr;
    std::function<void(const std::vector<std::string>& arguments)> run;
    bool knows_ranks = false;  ///< several ranks may run it together; else main() refuses several
};

Command cluster_command(CLI::App& program, Ranks& ranks);
Command completion_command(CLI::App& program);
Command couplings_command(CLI::App& program, Ranks& ranks);
Command info_command(CLI::App& program);
Command manual_command(CLI::App& program);
Command mi_command(CLI::App& program, Ranks& ranks);
Command refine_command(CLI::App& program, Ranks& ranks);
Command report_command(CLI::App& program);
Command rmsd_command(CLI::App& program, Ranks& ranks);
Command saxs_command(CLI::App& program, Ranks& ranks);
Command saxs_calibrate_command(CLI::App& program);
Command select_command(CLI::App& program, Ranks& ranks);
Command table_command(CLI::App& program);

}  // namespace pleat::program
