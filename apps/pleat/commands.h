// Commands: the subcommands of the program, and the program itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace pleat::program {

class Ranks;

/// A subcommand: its parser, and the function that runs it after parsing. Errors are thrown.
struct Command {
    CLI::App* parser = nullptr;
    std::function<void(const std::vector<std::string>& arguments)> run;
    bool knows_ranks =
        false;  ///< several ranks may run it together; else run_program() refuses several
};

Command cluster_command(CLI::App& program, Ranks& ranks);
Command completion_command(CLI::App& program);
Command couplings_command(CLI::App& program, Ranks& ranks);
Command info_command(CLI::App& program);
Command manual_command(CLI::App& program);
Command mi_command(CLI::App& program, Ranks& ranks);
Command mutants_command(CLI::App& program, Ranks& ranks);
Command refine_command(CLI::App& program, Ranks& ranks);
Command report_command(CLI::App& program);
Command rmsd_command(CLI::App& program, Ranks& ranks);
Command saxs_command(CLI::App& program, Ranks& ranks);
Command select_command(CLI::App& program, Ranks& ranks);
Command table_command(CLI::App& program);

/// Runs the command that the command line names, as main() of the program does: errors are printed
/// to stderr. `values` begins with the name of the program. Returns the exit code.
int run_program(int count, char** values);

}  // namespace pleat::program
