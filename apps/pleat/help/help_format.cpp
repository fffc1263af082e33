// Help format: columns and line breaks.
#include "help/help_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>

namespace pleat::program {

namespace {

constexpr std::size_t kNameColumn = 2, kTextColumn = 30, kWidth = 80;

/// The options that --help shows of commands with many.
const std::map<std::string_view, const char*> kUsual = {
    {"couplings",
     "max-gaps output force device threads list sweep lambda-pair identity models structure focus "
     "parts"},
    {"mi",
     "max-gaps output force device threads list sweep order shuffles rank-by top structure focus"},
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

/// What --help shows of a command besides its arguments; empty: all.
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

}  // namespace pleat::program
