// pleat completion and pleat manual: scripts for shells and manual pages, made from the options and
// their help.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "commands.h"
#include "help/help.h"
#include "options/options.h"
#include "pleat/core/error.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/version.h"
#include "process/process.h"

namespace pleat::program {

namespace {

using Table = std::vector<CommandEntry>;

constexpr const char* kCompletionExamples =
    "Examples:\n"
    "  source <(pleat completion bash)\n"
    "  pleat completion fish > ~/.config/fish/completions/pleat.fish\n\n"
    "An installed pleat brings these scripts along, in the places where the shells look.";

constexpr const char* kManualExamples =
    "Examples:\n"
    "  pleat manual couplings | man -l -\n"
    "  pleat manual -o share/man/man1\n\n"
    "An installed pleat brings these pages along: 'man pleat-couplings'.";

/// Quotes a text in single quotes for a shell, after putting a backslash before each character of
/// `marked`.
std::string quoted(const std::string& text, std::string_view marked = {}) {
    std::string out = "'";
    for (const char letter : text) {
        if (marked.find(letter) != std::string_view::npos) out += '\\';
        out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    }
    return out + "'";
}

/// Quotes a text for fish, where a backslash escapes a quote.
std::string fish_quoted(const std::string& text) {
    std::string out = "'";
    for (const char letter : text) {
        if (letter == '\'' || letter == '\\') out += '\\';
        out += letter;
    }
    return out + "'";
}

// bash

/// The branches of a bash `case` that set the allowed values of each option.
std::string bash_values(const CommandEntry& command) {
    std::string out;
    for (const OptionEntry& option : command.options) {
        if (option.is_positional() || option.value.empty()) continue;
        const char* const kind = option.takes_folders() ? "folders"
                                 : option.takes_files() ? "files"
                                                        : "words";
        out += fmt::format("                {}) kind={} words='{}'", fmt::join(option.flags, " | "),
                           kind, fmt::join(option.choices, " "));
        out += " ;;\n";
    }
    return out;
}

std::string bash_command(const CommandEntry& command) {
    std::vector<std::string> flags, words;
    const char* kind = "words";
    for (const OptionEntry& option : command.options) {
        flags.insert(flags.end(), option.flags.begin(), option.flags.end());
        if (!option.is_positional()) continue;
        words.insert(words.end(), option.choices.begin(), option.choices.end());
        if (option.takes_folders()) kind = "folders";
        if (option.takes_files()) kind = "files";
    }
    const std::string values = bash_values(command);
    return fmt::format(
        "        {})\n"
        "            flags='{}' kind={} words='{}'\n{}"
        "            ;;\n",
        command.name, fmt::join(flags, " "), kind, fmt::join(words, " "),
        values.empty() ? "" : "            case $previous in\n" + values + "            esac\n");
}

std::string bash_script(const Table& table) {
    std::string commands, own;
    for (const OptionEntry& option : table.front().options)
        own += fmt::format(" {}", fmt::join(option.flags, " "));
    for (std::size_t c = 1; c < table.size(); ++c) commands += bash_command(table[c]);
    return fmt::format(
        R"(# Completion of pleat for bash, as `pleat completion bash` writes it.
_pleat() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
    local flags='{}' kind=words words='{}'
    # bash takes the = of --flag=value for a word of its own.
    if [[ $current == = ]]; then
        current=
    elif [[ $previous == = ]]; then
        previous=${{COMP_WORDS[COMP_CWORD - 2]}}
    fi
    [[ $COMP_CWORD -eq 1 ]] || case ${{COMP_WORDS[1]}} in
{}    esac
    COMPREPLY=()
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$current")
    elif [[ $kind == words ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    else
        [[ $kind == folders ]] && kind=-d || kind=-f
        mapfile -t COMPREPLY < <(compgen "$kind" -- "$current")
        compopt -o filenames 2>/dev/null
    fi
}}
complete -F _pleat pleat
)",
        own.substr(1), fmt::join(command_names(table), " "), commands);
}

// zsh

std::string zsh_action(const OptionEntry& option) {
    if (!option.choices.empty()) return fmt::format("({})", fmt::join(option.choices, " "));
    if (option.takes_folders()) return "_files -/";
    return option.takes_files() ? "_files" : " ";
}

/// Formats one option as an argument of zsh's function _arguments.
std::string zsh_argument(const OptionEntry& option) {
    // The description of a value must not contain colons or brackets.
    const std::string value = quoted(option.value, ":[]");
    const std::string action = quoted(zsh_action(option));
    if (option.is_positional())
        return fmt::format("{}:{}:{}", option.accepts_several ? "'*'" : "", value, action);
    const std::string help = quoted(option.brief_help(), ":[]\\");
    std::string names = quoted(option.flags.back() + (option.value.empty() ? "" : "="));
    if (option.flags.size() > 1) {
        names =
            fmt::format("{}{{{},{}}}", quoted(fmt::format("({})", fmt::join(option.flags, " "))),
                        option.flags.front() + (option.value.empty() ? "" : "+"),
                        option.flags.back() + (option.value.empty() ? "" : "="));
    }
    const std::string shown = fmt::format("{}'['{}']'", names, help);
    return option.value.empty() ? shown : fmt::format("{}:{}:{}", shown, value, action);
}

std::string zsh_script(const Table& table) {
    std::string names, cases;
    for (std::size_t c = 1; c < table.size(); ++c) {
        const CommandEntry& command = table[c];
        names += fmt::format("        {}\n", quoted(command.name + ":" + command.help));
        cases += fmt::format("        {})\n            _arguments -s -S", command.name);
        for (const OptionEntry& option : command.options)
            cases += fmt::format(" \\\n                {}", zsh_argument(option));
        cases += " ;;\n";
    }
    return fmt::format(
        R"(#compdef pleat
# Completion of pleat for zsh, as `pleat completion zsh` writes it.
_pleat() {{
    local -a commands=(
{}    )
    if (( CURRENT == 2 )); then
        if [[ $words[2] == -* ]]; then
            _arguments '--version[Show the version]' '(-h --help)'{{-h,--help}}'[Show this help]'
        else
            _describe -t commands command commands
        fi
        return
    fi
    shift words
    (( CURRENT-- ))
    case $words[1] in
{}    esac
}}
if [[ $funcstack[1] == _pleat ]]; then
    _pleat "$@"
else
    compdef _pleat pleat
fi
)",
        names, cases);
}

// fish

std::string fish_option(const CommandEntry& command, const OptionEntry& option) {
    std::string line = fmt::format("complete -c pleat -n '__pleat_command {}'", command.name);
    for (const std::string& flag : option.flags)
        line += flag.starts_with("--") ? " -l " + flag.substr(2) : " -s " + flag.substr(1);
    if (!option.choices.empty())
        line += fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
    else if (option.takes_folders())
        line += " -x -a '(__fish_complete_directories)'";
    else if (option.takes_files())
        line += " -r -F";
    else if (!option.value.empty())
        line += " -x";
    return line + (option.is_positional() ? "" : " -d " + fish_quoted(option.brief_help())) + "\n";
}

std::string fish_script(const Table& table) {
    std::string out =
        "# Completion of pleat for fish, as `pleat completion fish` writes it.\n"
        "function __pleat_command\n"
        "    set -l words (commandline -opc)\n"
        "    test (count $words) -ge 2; and test $words[2] = $argv[1]\n"
        "end\n"
        "complete -c pleat -n __fish_use_subcommand -f -l version -d 'Show the version'\n"
        "complete -c pleat -n __fish_use_subcommand -f -s h -l help -d 'Show this help'\n";
    for (std::size_t c = 1; c < table.size(); ++c) {
        const CommandEntry& command = table[c];
        out += fmt::format("complete -c pleat -n __fish_use_subcommand -f -a {} -d {}\n",
                           command.name, fish_quoted(command.help));
        for (const OptionEntry& option : command.options)
            if (!option.is_positional() || !option.takes_files())
                out += fish_option(command, option);
    }
    return out;
}

/// Escapes text for troff: dashes stay searchable, and no line looks like a request.
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

}  // namespace

Command completion_command(CLI::App& program) {
    CLI::App* parser = add_command(
        program, "completion", "Print the script that completes pleat's command line in a shell.",
        kCompletionExamples);
    const auto shell = std::make_shared<std::string>();
    add_text(*parser, "SHELL", *shell, "bash, zsh or fish");
    require(*parser, "SHELL");
    suggest_values(*parser, "SHELL", {"bash", "zsh", "fish"});
    return {parser, [&program, shell](const std::vector<std::string>&) {
                const std::map<std::string, std::string (*)(const Table&)> scripts{
                    {"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};
                const auto script = scripts.find(*shell);
                if (script == scripts.end())
                    throw UsageError(
                        fmt::format("SHELL: expected bash, zsh or fish, found '{}'", *shell));
                print(script->second(option_table(program)));
            }};
}

Command manual_command(CLI::App& program) {
    CLI::App* parser =
        add_command(program, "manual", "Print the manual page of a command, or write those of all.",
                    kManualExamples);
    const auto name = std::make_shared<std::string>();
    const auto folder = std::make_shared<std::string>();
    add_text(*parser, "COMMAND", *name,
             "Command whose page is printed; where not given, pleat itself");
    add_text(*parser, "-o,--output", *folder, "Write the pages of all commands into this folder",
             "FOLDER");
    refuse_standard_output(*parser, "--output");
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
