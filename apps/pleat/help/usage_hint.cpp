// Usage hints: edit distances, and the words that the parser left over.
#include "help/usage_hint.h"

#include <fmt/format.h>

#include <algorithm>

namespace pleat::program {

namespace {

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

/// The words of an option in alphabetical order: "max_q" of other programs is "q-max" here.
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

}  // namespace

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
