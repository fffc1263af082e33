// run_program: reads the command line, runs one command, and turns errors into lines and exit
// codes.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "help/help.h"
#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/error.h"
#include "pleat/core/failure.h"
#include "pleat/core/files/input_file.h"
#include "process/process.h"
#include "version/version_line.h"

namespace pleat::program {

namespace {

/// Prints each line of the text, preceded by the program's name. If printing fails, only the exit
/// code shows it.
void complain(std::string_view text) {
    while (true) {
        const std::size_t end = text.find('\n');
        std::fputs(fmt::format("pleat: {}\n", text.substr(0, end)).c_str(), stderr);
        if (end == std::string_view::npos) return;
        text.remove_prefix(end + 1);
    }
}

/// Opens /dev/null for each standard stream that is closed. Otherwise a file of the run could get
/// the stream's descriptor and receive the printed text.
void hold_closed_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) >= 0) continue;
        // open() returns the lowest free descriptor, which is that of the closed stream. It is
        // opened in the wrong direction on purpose, so that every use of the stream still fails.
        ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

/// `overview`: the program's own help, which CLI11 no longer returns after parsing a command.
void add_plain_commands(CLI::App& program, const std::string& overview,
                        std::vector<Command>& commands) {
    CLI::App* version = program.add_subcommand("version", "Show the version");
    commands.push_back(
        {version, [](const std::vector<std::string>&) { print(version_line() + "\n"); }});

    CLI::App* help = program.add_subcommand("help", "Show the help of a command");
    const auto topic = std::make_shared<std::string>();
    help->add_option("COMMAND", *topic, "Command to show the help of");
    commands.push_back({help, [&program, &overview, topic](const std::vector<std::string>&) {
                            if (topic->empty()) return print(overview);
                            try {
                                print(program.get_subcommand(*topic)->help());
                            } catch (const CLI::OptionNotFound&) {
                                throw UsageError(unknown_command(program, *topic));
                            }
                        }});
}

/// Runs the command that the command line names. All `ranks` parse the same command line.
void run(int count, char** values, Ranks& ranks) {
    CLI::App program("Protein science on CPUs and GPUs.", "pleat");
    set_help_format(program);
    program.set_version_flag("--version", version_line(), "Show the version");
    program.set_help_flag("-h,--help", "Show this help");
    program.set_help_all_flag("--help-all", "Show all options of a command");
    program.get_formatter()->label("Subcommands", "Commands");
    program.require_subcommand(0, 1);
    program.footer(
        help_footer("Example:\n  pleat couplings family.a3m.gz -o run\n\n"
                    "'pleat help COMMAND' shows the options of a command."));
    std::vector<Command> commands;
    std::string overview;
    commands.push_back(couplings_command(program, ranks));
    commands.push_back(mi_command(program, ranks));
    commands.push_back(mutants_command(program, ranks));
    commands.push_back(rmsd_command(program, ranks));
    commands.push_back(cluster_command(program, ranks));
    commands.push_back(saxs_command(program, ranks));
    commands.push_back(select_command(program, ranks));
    commands.push_back(refine_command(program, ranks));
    commands.push_back(table_command(program));
    commands.push_back(report_command(program));
    commands.push_back(info_command(program));
    commands.push_back(completion_command(program));
    commands.push_back(manual_command(program));
    add_plain_commands(program, overview, commands);
    for (const Command& command : commands) command.parser->group("Commands");
    overview = program.help();

    const auto show_help = [&](CLI::AppFormatMode mode) {
        const std::vector<CLI::App*> chosen = program.get_subcommands();
        if (ranks.is_leader()) print(chosen.empty() ? overview : chosen.front()->help("", mode));
    };
    try {
        program.parse(count, values);
    } catch (const CLI::CallForHelp&) {
        return show_help(CLI::AppFormatMode::Normal);
    } catch (const CLI::CallForAllHelp&) {
        return show_help(CLI::AppFormatMode::All);
    } catch (const CLI::CallForVersion&) {
        if (ranks.is_leader()) print(version_line() + "\n");
        return;
    } catch (const CLI::ParseError& error) {
        throw UsageError(usage_hint(program, error));
    }
    for (const Command& command : commands) {
        if (!command.parser->parsed()) continue;
        if (!command.knows_ranks) ranks.require_one_rank(command.parser->get_name());
        try {
            return command.run({values + 1, values + count});
        } catch (const UnmatchedAtoms& error) {
            const CLI::Option* match = command.parser->get_option_no_throw("--match");
            if (match == nullptr || match->count() > 0) throw;
            throw InputError(
                fmt::format("{}; --match sequence pairs other numbers and chains", error.what()));
        }
    }
    throw UsageError("expected a command, found none; 'pleat help' lists them");
}

}  // namespace

int run_program(int count, char** values) {
    hold_closed_streams();
    // Makes writing to a closed pipe fail instead of ending the process in the middle of a line.
    ::signal(SIGPIPE, SIG_IGN);
    // Likewise for a file that would exceed `ulimit -f`.
    ::signal(SIGXFSZ, SIG_IGN);
    const InputLedger ledger;
    std::optional<Ranks> ranks;
    Failure failure;
    try {
        ranks.emplace();
        run(count, values, *ranks);
        flush_standard_output();
    } catch (const std::exception&) {
        failure = current_failure();
    }
    if (ranks) return ranks->end(failure, complain);
    if (!failure.text.empty()) complain(failure.text);
    return failure.exit_code;
}

}  // namespace pleat::program
