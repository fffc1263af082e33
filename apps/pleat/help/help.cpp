// Help: columns and line breaks, options read off the parser, and edit distances of names.
#include "help/help.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>

#include "options/options.h"

namespace pleat::program {

namespace {

constexpr std::size_t kNameColumn = 2, kTextColumn = 30, kWidth = 80;

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
    entry.choices = suggested_values(option);
    return entry;
}

/// The options that --help shows of commands with many.
const std::map<std::string_view, const char*> kUsual = {
    {"couplings",
     "max-gaps output force device threads list sweep lambda-pair identity models structure focus "
     "parts"},
    {"mi",
     "max-gaps output force device threads list sweep order null shuffles top structure focus"},
    {"mutants",
     "row focus target mutants sequences max-gaps output force device threads first-number doubles "
     "align"},
    {"rmsd",
     "topology select frames output force device threads measure against reference rmsf metric "
     "cutoff"},
    {"cluster",
     "topology select frames output force device threads sweep method cutoff k assign "
     "write-members"},
    {"saxs",
     "topology select frames data q-unit output force device threads model neutrons background "
     "max-members"},
    {"select",
     "ensemble topology select frames score alignment contacts data output force device threads "
     "max-clusters"},
    {"refine",
     "linkers rigid pae sequence mode frames data output force device threads seed "
     "cluster-cutoff"}};

/// The options that --help shows for a command in addition to its arguments; empty: all.
std::vector<std::string> usual_options(const std::string& command) {
    const auto found = kUsual.find(command);
    if (found == kUsual.end()) return {};
    std::istringstream names(found->second);
    std::vector<std::string> shown = {"help", "help-all"};
    shown.insert(shown.end(), std::istream_iterator<std::string>(names), {});
    return shown;
}

/// A name and its description; a name too long for its column has a line of its own.
std::string entry(const std::string& name, const std::string& description) {
    std::string out = std::string(kNameColumn, ' ') + name, word;
    std::size_t at = out.size();
    const auto new_line = [&] {
        out += '\n' + std::string(kTextColumn, ' ');
        at = kTextColumn;
    };
    if (at + 2 > kTextColumn) {
        new_line();
    } else {
        out.append(kTextColumn - at, ' ');
        at = kTextColumn;
    }
    std::istringstream words(description);
    while (words >> word) {
        if (at > kTextColumn && at + 1 + word.size() > kWidth) new_line();
        if (at > kTextColumn) {
            out += ' ';
            ++at;
        }
        out += word;
        at += word.size();
    }
    return out + '\n';
}

CommandEntry entry_of(const CLI::App& command, const std::string& name) {
    CommandEntry entry{name, command.get_description(), command.get_footer(), {}};
    for (const CLI::Option* option : command.get_options())
        if (!option->get_group().empty()) entry.options.push_back(entry_of(*option));
    return entry;
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other
/// (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> best(a.size() + 1,
                                               std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                best[i][j] = i + j;
                continue;
            }
            best[i][j] = std::min({best[i - 1][j] + 1, best[i][j - 1] + 1,
                                   best[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best[i][j] = std::min(best[i][j], best[i - 2][j - 2] + 1);
        }
    }
    return best[a.size()][b.size()];
}

/// Sorts the words of an option's name, so that "max_q" of other programs matches "q-max".
std::vector<std::string> sorted_words(std::string_view name) {
    std::vector<std::string> words(1);
    for (const char c : name) {
        if (c == '-' || c == '_')
            words.emplace_back();
        else
            words.back() += c;
    }
    std::sort(words.begin(), words.end());
    return words;
}

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

std::string question(const std::string& name) {
    return name.empty() ? "" : fmt::format("did you mean '{}'? ", name);
}

std::string unknown_option(const CLI::App& parser, const std::string& word) {
    std::vector<std::string> names;
    for (const CLI::Option* option : parser.get_options())
        if (!option->get_group().empty())
            for (const std::string& name : option->get_lnames()) names.push_back(name);
    const std::string given = word.substr(0, word.find('='));
    const std::string near =
        nearest_name(given.substr(given.find_first_not_of('-') == 1 ? 1 : 2), names);
    return fmt::format("unknown option '{}'; {}", given, question(near.empty() ? "" : "--" + near));
}

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

std::string HelpFormat::make_option(const CLI::Option* option, bool is_positional) const {
    std::string name = make_option_name(option, is_positional);
    if (const std::size_t comma = name.find(','); comma != std::string::npos)
        name.insert(comma + 1, " ");
    else if (!is_positional)
        name.insert(0, "    ");
    if (!is_positional && option->get_type_size() != 0) name += " " + option->get_type_name();
    std::string description = option->get_description();
    if (!option->get_envname().empty())
        description += fmt::format(" [environment: {}]", option->get_envname());
    return entry(name, description);
}

std::string HelpFormat::make_subcommand(const CLI::App* command) const {
    return entry(command->get_name(), command->get_description());
}

std::string HelpFormat::make_help(const CLI::App* command, std::string name,
                                  CLI::AppFormatMode mode) const {
    shown_.clear();
    if (mode != CLI::AppFormatMode::All) shown_ = usual_options(command->get_name());
    std::string help = CLI::Formatter::make_help(command, std::move(name), mode);
    // Groups come with a blank line before and after.
    for (std::size_t at = 0; (at = help.find("\n\n\n", at)) != std::string::npos;)
        help.erase(at, 1);
    if (shown_.empty()) return help;
    return help + fmt::format("\n'pleat {} --help-all' shows all options\n", command->get_name());
}

std::string HelpFormat::make_group(std::string group, bool is_positional,
                                   std::vector<const CLI::Option*> options) const {
    if (!is_positional && !shown_.empty())
        std::erase_if(options, [&](const CLI::Option* option) {
            return std::find(shown_.begin(), shown_.end(), option->get_lnames().front()) ==
                   shown_.end();
        });
    return options.empty() ? "" : CLI::Formatter::make_group(group, is_positional, options);
}

std::string HelpFormat::make_usage(const CLI::App* command, std::string name) const {
    if (command->get_parent() == nullptr) return "Usage: pleat COMMAND [OPTIONS]\n";
    std::string usage = "Usage: pleat " + command->get_name();
    for (const CLI::Option* option :
         command->get_options([](const CLI::Option* one) { return one->get_positional(); }))
        usage += " " + make_option_usage(option);
    return usage + " [OPTIONS]\n";
}

}  // namespace

std::string help_footer(const std::string& examples) {
    return examples +
           "\n\nExit codes:\n"
           "  0 done  1 a bug of pleat  2 wrong usage  3 wrong input  4 device or memory\n"
           "  5 a result cannot be written  130 stopped by the user";
}

CLI::App* add_command(CLI::App& program, const std::string& name, const std::string& help,
                      const std::string& examples) {
    CLI::App* const command = program.add_subcommand(name, help);
    command->footer(help_footer(examples));
    return command;
}

void set_help_format(CLI::App& program) { program.formatter(std::make_shared<HelpFormat>()); }

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

std::string nearest_name(std::string_view word, const std::vector<std::string>& names) {
    std::size_t best = std::max<std::size_t>(1, word.size() / 3) + 1;
    std::string nearest;
    if (word.size() < 2) return nearest;
    for (const std::string& name : names) {
        const bool is_near = name.starts_with(word) || sorted_words(name) == sorted_words(word);
        const std::size_t found = is_near ? 1 : distance(word, name);
        if (found < best) {
            best = found;
            nearest = name;
        }
    }
    return nearest;
}

std::string unknown_command(const CLI::App& program, std::string_view word) {
    std::vector<std::string> names;
    for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
    return fmt::format("unknown command '{}'; {}'pleat help' lists the commands", word,
                       question(nearest_name(word, names)));
}

std::string usage_hint(const CLI::App& program, const CLI::ParseError& error) {
    const std::vector<CLI::App*> chosen = program.get_subcommands();
    const std::vector<std::string> before = program.remaining();
    if (chosen.empty()) {
        if (before.empty() || !is_option(before.front()))
            return before.empty() ? fmt::format("{}; 'pleat help' lists the commands", error.what())
                                  : unknown_command(program, before.front());
        return unknown_option(program, before.front()) +
               "options follow a command, which "
               "'pleat help' lists";
    }
    const CLI::App& command = *chosen.front();
    const std::string help = fmt::format("'pleat help {}' shows the options", command.get_name());
    const std::vector<std::string> left = command.remaining();
    const auto option = std::find_if(left.begin(), left.end(), is_option);
    if (option != left.end()) return unknown_option(command, *option) + help;
    if (!before.empty())
        return fmt::format("unexpected '{}' before '{}'; options follow the command, {}",
                           before.front(), command.get_name(), help);
    if (!left.empty()) return fmt::format("unexpected argument '{}'; {}", left.front(), help);
    const std::string text = error.what();
    if (const std::size_t end = text.find(": At Most 1 required"); end != std::string::npos)
        return fmt::format("give {} once; {}", text.substr(0, end), help);
    return fmt::format("{}; {}", text, help);
}

}  // namespace pleat::program
