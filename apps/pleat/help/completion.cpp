// pleat completion: scripts that complete pleat's command line in bash, zsh and fish.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <memory>

#include "commands.h"
#include "help/help_format.h"
#include "help/option_table.h"
#include "options/options.h"
#include "pleat/core/error.h"
#include "process/standard_output.h"

namespace pleat::program {

namespace {

using Table = std::vector<CommandEntry>;

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

/// The lines of a `case` that set what the value of each option may be.
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

constexpr const char* kExamples =
    "Examples:\n"
    "  source <(pleat completion bash)\n"
    "  pleat completion fish > ~/.config/fish/completions/pleat.fish\n\n"
    "An installed pleat brings these scripts along, in the places where the shells look.";

}  // namespace

Command completion_command(CLI::App& program) {
    CLI::App* parser = program.add_subcommand(
        "completion", "Print the script that completes pleat's command line in a shell.");
    const auto shell = std::make_shared<std::string>();
    const CLI::Option* option =
        parser->add_option("SHELL", *shell, "bash, zsh or fish")->required();
    suggest(*option, {"bash", "zsh", "fish"});
    parser->footer(help_footer(kExamples));
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

}  // namespace pleat::program
