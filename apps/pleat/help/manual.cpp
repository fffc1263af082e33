// pleat manual: manual pages, as man shows them, made from the options and their help.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "commands.h"
#include "help/help_format.h"
#include "help/option_table.h"
#include "help/usage_hint.h"
#include "options/option_checks.h"
#include "pleat/core/error.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/version.h"
#include "process/standard_output.h"

namespace pleat::program {

namespace {

using Table = std::vector<CommandEntry>;

/// Text as troff wants it: dashes that can be searched and copied, no line that reads as a request.
std::string escaped(const std::string& text) {
    std::string out;
    for (const char letter : text) {
        if ((out.empty() || out.back() == '\n') && (letter == '.' || letter == '\'')) out += "\\&";
        if (letter == '-')
            out += "\\-";
        else if (letter == '\\')
            out += "\\e";
        else
            out += letter;
    }
    return out;
}

std::string page_name(const CommandEntry& command) {
    return command.name.empty() ? "pleat" : "pleat-" + command.name;
}

std::string called(const CommandEntry& command) {
    return command.name.empty() ? "pleat" : "pleat " + command.name;
}

std::string entry(const std::string& tag, const std::string& text) {
    return fmt::format(".TP\n{}\n{}\n", tag, escaped(text));
}

std::string option_tag(const OptionEntry& option) {
    if (option.is_positional())
        return fmt::format("\\fI{}\\fR{}", escaped(option.value),
                           option.accepts_several ? "..." : "");
    std::vector<std::string> flags;
    for (const std::string& flag : option.flags) flags.push_back("\\fB" + escaped(flag) + "\\fR");
    return fmt::format("{}{}", fmt::join(flags, ", "),
                       option.value.empty() ? "" : " \\fI" + escaped(option.value) + "\\fR");
}

std::string synopsis(const CommandEntry& command) {
    if (command.name.empty()) return "\\fBpleat\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n";
    std::string out = "\\fB" + escaped(called(command)) + "\\fR";
    for (const OptionEntry& option : command.options)
        if (option.is_positional()) out += " " + option_tag(option);
    return out + " [\\fIOPTIONS\\fR]\n";
}

/// The options, each group under its heading.
std::string options_section(const CommandEntry& command) {
    std::string out, group, arguments;
    for (const OptionEntry& option : command.options) {
        if (option.is_positional()) {
            arguments += entry(option_tag(option), option.help);
            continue;
        }
        if (option.group != group) out += fmt::format(".SS {}\n", escaped(group = option.group));
        out += entry(option_tag(option), option.help);
    }
    return (arguments.empty() ? "" : ".SH ARGUMENTS\n" + arguments) +
           (out.empty() ? "" : ".SH OPTIONS\n" + out);
}

/// Splits "0 done  1 a bug of pleat" into exit codes, which are separated by two blanks or a line
/// end.
std::string exit_codes(std::string text) {
    std::string out;
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;)
        text.replace(at, 1, "  ");
    while (!text.empty()) {
        const std::size_t end = std::min(text.find("  "), text.size());
        const std::string one = text.substr(0, end);
        text.erase(0, end + 2);
        const std::size_t blank = one.find(' ');
        if (blank != std::string::npos) out += entry(one.substr(0, blank), one.substr(blank + 1));
    }
    return out;
}

/// The text at the end of --help: examples, notes and exit codes.
struct Footer {
    std::string examples, notes, exit_codes;
};

Footer read_footer(const std::string& text) {
    Footer footer;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find("\n\n", at), text.size());
        const std::string part = text.substr(at, end - at);
        at = end + 2;
        const std::string below = part.substr(part.find('\n') + 1);
        if (part.starts_with("Exit codes:"))
            footer.exit_codes = exit_codes(below);
        else if (part.starts_with("Example"))
            footer.examples += escaped(below) + "\n";
        else
            footer.notes += ".PP\n" + escaped(part) + "\n";
    }
    return footer;
}

std::string environment_section(const CommandEntry& command) {
    std::string out;
    for (const OptionEntry& option : command.options)
        if (!option.environment.empty())
            out += entry("\\fB" + option.environment + "\\fR",
                         fmt::format("as {}, which overrules it", option.flags.back()));
    return out.empty() ? out : ".SH ENVIRONMENT\n" + out;
}

std::string manual_page(const CommandEntry& command, const Table& table) {
    const std::string name = page_name(command);
    std::string title = name;
    std::transform(title.begin(), title.end(), title.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    const Footer footer = read_footer(command.footer);
    std::string help = command.help;
    while (help.ends_with('.')) help.pop_back();
    std::string out = fmt::format(
        ".\\\" Manual page of {0}, as `pleat manual` writes it.\n"
        ".TH {1} 1 \"\" \"pleat {2}\" \"pleat\"\n"
        ".SH NAME\n{3} \\- {4}\n.SH SYNOPSIS\n{5}",
        called(command), escaped(title), kVersion, escaped(name), escaped(help), synopsis(command));
    if (command.name.empty()) {
        out += ".SH COMMANDS\n";
        for (const CommandEntry& other : table)
            if (!other.name.empty())
                out += entry("\\fB" + escaped(other.name) + "\\fR", other.help);
    }
    out += options_section(command);
    if (!footer.examples.empty()) out += ".SH EXAMPLES\n.nf\n" + footer.examples + ".fi\n";
    if (!footer.notes.empty()) out += ".SH NOTES\n" + footer.notes.substr(4);
    out += environment_section(command);
    if (!footer.exit_codes.empty()) out += ".SH EXIT STATUS\n" + footer.exit_codes;
    out += ".SH SEE ALSO\n";
    std::vector<std::string> others;
    for (const CommandEntry& other : table)
        if (other.name != command.name && other.name != "help" && other.name != "version")
            others.push_back("\\fB" + escaped(page_name(other)) + "\\fR(1)");
    return out + fmt::format("{}\n", fmt::join(others, ",\n"));
}

const CommandEntry& entry_named(const CLI::App& program, const Table& table,
                                const std::string& name) {
    const auto found = std::find_if(table.begin(), table.end(),
                                    [&](const CommandEntry& one) { return one.name == name; });
    if (found != table.end()) return *found;
    throw UsageError(unknown_command(program, name));
}

void write_pages(const Table& table, const std::filesystem::path& folder) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed)
        throw OutputError(fmt::format("{}: cannot be made: {}", folder.string(), failed.message()));
    for (const CommandEntry& command : table) {
        if (command.name == "help" || command.name == "version") continue;
        write_text(folder / (page_name(command) + ".1"), manual_page(command, table));
    }
}

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat manual couplings | man -l -\n"
    "  pleat manual -o share/man/man1\n\n"
    "An installed pleat brings these pages along: 'man pleat-couplings'.";

}  // namespace

Command manual_command(CLI::App& program) {
    CLI::App* parser = program.add_subcommand(
        "manual", "Print the manual page of a command, or write those of all.");
    const auto name = std::make_shared<std::string>();
    const auto folder = std::make_shared<std::string>();
    parser->add_option("COMMAND", *name,
                       "Command whose page is printed; where not given, pleat itself");
    parser->add_option("-o,--output", *folder, "Write the pages of all commands into this folder")
        ->type_name("FOLDER")
        ->check(not_standard_output());
    parser->footer(help_footer(kExamples));
    return {parser, [&program, name, folder](const std::vector<std::string>&) {
                const Table table = option_table(program);
                if (folder->empty())
                    return print(manual_page(entry_named(program, table, *name), table));
                if (!name->empty())
                    throw UsageError(
                        fmt::format("--output: expected no COMMAND beside it, since it writes all "
                                    "pages, found '{}'",
                                    *name));
                write_pages(table, *folder);
            }};
}

}  // namespace pleat::program
