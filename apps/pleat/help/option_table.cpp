// Option table: read off the parser.
#include "help/option_table.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "options/options.h"

namespace pleat::program {

namespace {

OptionEntry entry_of(const CLI::Option& option) {
    OptionEntry entry;
    if (option.get_positional()) {
        entry.value = option.get_name(true, false);
        entry.accepts_several = option.get_expected_max() > 1;
    } else {
        for (const std::string& letter : option.get_snames()) entry.flags.push_back("-" + letter);
        for (const std::string& name : option.get_lnames()) entry.flags.push_back("--" + name);
        if (option.get_type_size() != 0) entry.value = option.get_type_name();
    }
    entry.help = option.get_description();
    entry.group = option.get_group();
    entry.environment = option.get_envname();
    entry.choices = suggestions(option);
    return entry;
}

CommandEntry entry_of(const CLI::App& command, const std::string& name) {
    CommandEntry entry{name, command.get_description(), command.get_footer(), {}};
    for (const CLI::Option* option : command.get_options())
        if (!option->get_group().empty()) entry.options.push_back(entry_of(*option));
    return entry;
}

}  // namespace

bool OptionEntry::takes_folders() const { return value == "FOLDER" || value == "RUN"; }

bool OptionEntry::takes_files() const {
    constexpr std::array kTexts{"",     "NUMBER", "COUNT", "NAME",
                                "TEXT", "RANGE",  "ATOMS", "DISTANCE"};
    return choices.empty() && !takes_folders() &&
           std::find(kTexts.begin(), kTexts.end(), std::string_view(value)) == kTexts.end();
}

std::string OptionEntry::brief_help() const { return help.substr(0, help.rfind(" [")); }

std::vector<std::string> command_names(const std::vector<CommandEntry>& table) {
    std::vector<std::string> names;
    for (const CommandEntry& command : table)
        if (!command.name.empty()) names.push_back(command.name);
    return names;
}

std::vector<CommandEntry> option_table(const CLI::App& program) {
    std::vector<CommandEntry> table{entry_of(program, "")};
    const auto all = [](const CLI::App*) { return true; };
    for (const CLI::App* command : program.get_subcommands(all))
        table.push_back(entry_of(*command, command->get_name()));
    const std::vector<std::string> names = command_names(table);
    for (CommandEntry& command : table)
        for (OptionEntry& option : command.options)
            if (option.is_positional() && option.value == "COMMAND") option.choices = names;
    return table;
}

}  // namespace pleat::program
