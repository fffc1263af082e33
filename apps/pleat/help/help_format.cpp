// Help format: columns and line breaks.
#include "help/help_format.h"

#include <fmt/format.h>

#include <sstream>

namespace pleat::program {

namespace {

constexpr std::size_t kNameColumn = 2, kTextColumn = 30, kWidth = 80;

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

}  // namespace

std::string help_footer(const std::string& examples) {
    return examples +
           "\n\nExit codes:\n"
           "  0 done  1 a bug of pleat  2 wrong usage  3 wrong input  4 device or memory\n"
           "  5 a result cannot be written  130 stopped by the user";
}

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
    std::string help = CLI::Formatter::make_help(command, std::move(name), mode);
    // Groups come with a blank line before and after.
    for (std::size_t at = 0; (at = help.find("\n\n\n", at)) != std::string::npos;)
        help.erase(at, 1);
    return help;
}

std::string HelpFormat::make_usage(const CLI::App* command, std::string name) const {
    if (command->get_parent() == nullptr) return "Usage: pleat COMMAND [OPTIONS]\n";
    std::string usage = "Usage: pleat " + command->get_name();
    for (const CLI::Option* option :
         command->get_options([](const CLI::Option* one) { return one->get_positional(); }))
        usage += " " + make_option_usage(option);
    return usage + " [OPTIONS]\n";
}

}  // namespace pleat::program
