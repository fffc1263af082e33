// Job caller: options of a call as the words of a command line, which the command reads.
#include "jobs/job_caller.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "commands.h"
#include "help/usage_hint.h"
#include "pleat/core/error.h"
#include "process/ranks.h"

namespace pleat::program {

namespace {

/// The words of a flag that has this value: some flags are called --no-NAME.
std::string flag_word(const CLI::App& parser, const std::string& name, bool value) {
    const bool is_negated = parser.get_option_no_throw("--" + name) == nullptr &&
                            parser.get_option_no_throw("--no-" + name) != nullptr;
    if (value == is_negated && (is_negated || parser.get_option_no_throw("--" + name) != nullptr))
        return {};
    return (is_negated ? "--no-" : "--") + name;
}

std::vector<std::string> words_of(const JobCall& call, const CLI::App& parser) {
    std::vector<std::string> words = {call.command};
    // A name that begins with a dash would be an option.
    const auto path = [](const std::string& file) {
        return file.starts_with('-') ? "./" + file : file;
    };
    const bool has_flag = parser.get_option_no_throw("--ensemble") != nullptr;
    if (has_flag && !call.inputs.empty()) words.emplace_back("--ensemble");
    for (const std::string& input : call.inputs) words.push_back(path(input));
    const bool joins_files = parser.get_option_no_throw("--each") != nullptr;
    if (joins_files && !call.inputs.empty()) words.emplace_back("--each");
    for (const auto& [name, value] : call.options) {
        if (const bool* flag = std::get_if<bool>(&value)) {
            const std::string word = flag_word(parser, name, *flag);
            if (!word.empty()) words.push_back(word);
        } else {
            words.push_back(fmt::format("--{}={}", name, std::get<std::string>(value)));
        }
    }
    return words;
}

}  // namespace

JobListResult run_jobs(const JobCall& call, std::unique_ptr<Progress> shown) {
    JobCaller caller{.shown = std::move(shown)};
    Ranks ranks(caller);
    CLI::App program("", "pleat");
    program.require_subcommand(1, 1);
    const std::vector<Command> commands = {
        couplings_command(program, ranks), mi_command(program, ranks),
        rmsd_command(program, ranks),      cluster_command(program, ranks),
        saxs_command(program, ranks),      select_command(program, ranks),
        refine_command(program, ranks),    mutants_command(program, ranks)};
    std::vector<std::string> names;
    names.reserve(commands.size());
    for (const Command& command : commands) names.push_back(command.parser->get_name());
    const auto named = std::find(names.begin(), names.end(), call.command);
    if (named == names.end())
        throw UsageError(fmt::format("expected one of the commands {}, found '{}'",
                                     fmt::join(names, ", "), call.command));
    const Command& command = commands[static_cast<std::size_t>(named - names.begin())];
    const std::vector<std::string> words = words_of(call, *command.parser);
    try {
        program.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::ParseError& error) {
        throw UsageError(usage_hint(program, error));
    }
    command.run(words);
    if (!caller.result) throw std::logic_error("a list of jobs has no result");
    return std::move(*caller.result);
}

}  // namespace pleat::program
