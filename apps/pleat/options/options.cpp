// Options: one CLI11 option for each field, and checks of CLI11's.
#include "options/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <cmath>
#include <map>
#include <utility>

#include "pleat/core/error.h"

namespace pleat::program {

namespace {

/// The values that completion suggests for each option. CLI11 only stores values it enforces.
std::map<const CLI::Option*, std::vector<std::string>>& all_suggestions() {
    static std::map<const CLI::Option*, std::vector<std::string>> words;
    return words;
}

/// The non-empty choices; an empty choice means "not given".
std::vector<std::string> words_of(const Field& field) {
    std::vector<std::string> words = field.allowed();
    std::erase(words, "");
    return words;
}

std::string flag_names(const Field& field, const std::string& name) {
    return field.letter == '\0' ? "--" + name : fmt::format("-{},--{}", field.letter, name);
}

std::string value_name(const Field& field) {
    if (!field.value_name.empty()) return field.value_name;
    if (field.is_number()) return field.is_whole_number() ? "COUNT" : "NUMBER";
    return field.allowed().empty() ? "TEXT" : "NAME";
}

/// "> 0", "0 to 1", ">= 1": empty where any value will do.
std::string range_text(const Field& field) {
    const bool has_min = std::isfinite(field.min), has_max = std::isfinite(field.max);
    if (has_min && has_max) {
        return field.min_excluded ? fmt::format("above {} to {}", field.min, field.max)
                                  : fmt::format("{} to {}", field.min, field.max);
    }
    if (has_min) return fmt::format("{} {}", field.min_excluded ? "above" : "at least", field.min);
    if (has_max) return fmt::format("at most {}", field.max);
    return {};
}

/// The help with unit, choices, range and default in brackets.
std::string described(const Field& field) {
    std::vector<std::string> notes;
    if (!field.unit.empty()) notes.push_back(field.unit);
    const std::vector<std::string> words = words_of(field);
    if (!words.empty()) notes.push_back(fmt::format("{}", fmt::join(words, ", ")));
    if (!field.is_flag() && !range_text(field).empty()) notes.push_back(range_text(field));
    if (!field.is_flag() && !field.text().empty()) notes.push_back("default " + field.text());
    if (notes.empty()) return field.help;
    return fmt::format("{} [{}]", field.help, fmt::join(notes, "; "));
}

/// Sets a value given on the command line. Throws for an empty text, for example from an unset
/// shell variable, which would otherwise silently mean the default.
void set_given(Field& field, const std::string& text) {
    if (text.empty() && std::holds_alternative<std::string*>(field.target))
        throw UsageError(fmt::format("--{}: expected a text, found an empty one", field.name));
    field.set(text);
}

void add_flag(CLI::App& command, const std::string& group, const Field& field, bool* target) {
    const bool given_value = !field.negated_flag;
    const std::string name = field.negated_flag ? "no-" + field.name : field.name;
    std::string help = field.help;
    if (field.negated_flag) {
        // "Weight sequences ..." becomes "Do not weight sequences ...".
        help[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(help[0])));
        help = "Do not " + help;
    }
    command
        .add_flag_callback(
            flag_names(field, name), [target, given_value] { *target = given_value; }, help)
        ->group(group);
}

}  // namespace

void add_fields(CLI::App& command, const std::string& group, const std::vector<Field>& fields) {
    for (const Field& field : fields) {
        if (const auto* target = std::get_if<bool*>(&field.target)) {
            add_flag(command, group, field, *target);
            continue;
        }
        CLI::Option* const option = command.add_option_function<std::string>(
            flag_names(field, field.name),
            [own = field](const std::string& text) mutable { set_given(own, text); },
            described(field));
        option->type_name(value_name(field))->group(group);
        all_suggestions()[option] = words_of(field);
    }
}

std::vector<Field> concatenated(std::initializer_list<std::vector<Field>> lists) {
    std::vector<Field> all;
    for (const std::vector<Field>& list : lists) all.insert(all.end(), list.begin(), list.end());
    return all;
}

void add_text(CLI::App& command, const std::string& name, std::string& target,
              const std::string& help, const std::string& value_name) {
    CLI::Option* const option = command.add_option(name, target, help);
    if (!value_name.empty()) option->type_name(value_name);
}

void add_texts(CLI::App& command, const std::string& name, std::vector<std::string>& target,
               const std::string& help, const std::string& value_name, const std::string& group) {
    CLI::Option* const option = command.add_option(name, target, help);
    if (!value_name.empty()) option->type_name(value_name);
    if (!group.empty()) option->group(group);
}

void require(CLI::App& command, const std::string& name) { command.get_option(name)->required(); }

void require_unless(CLI::App& command, const std::string& name, const std::string& other) {
    CLI::Option* const required = command.get_option(name);
    command.get_option(other)->each([required](const std::string&) { required->required(false); });
}

void hide(CLI::App& command, const std::string& name) { command.get_option(name)->group(""); }

void suggest_values(CLI::App& command, const std::string& name, std::vector<std::string> words) {
    all_suggestions()[command.get_option(name)] = std::move(words);
}

std::vector<std::string> suggested_values(const CLI::Option& option) {
    const auto found = all_suggestions().find(&option);
    return found == all_suggestions().end() ? std::vector<std::string>() : found->second;
}

void add_environment(CLI::App& command, const std::string& flag, const std::string& variable) {
    command.get_option(flag)->envname(variable);
}

void refuse_empty_values(CLI::App& command, std::initializer_list<const char*> names) {
    const auto check = [](const std::string& text) {
        return text.empty() ? std::string("expected a name, found none") : std::string();
    };
    for (const char* const name : names)
        command.get_option(std::string("--") + name)->check(CLI::Validator(check, ""));
}

void refuse_standard_output(CLI::App& command, const std::string& name) {
    const auto check = [](const std::string& text) {
        return text == "-" ? std::string(
                                 "results cannot go to standard output; name a file or "
                                 "folder (./- for one that is called -)")
                           : std::string();
    };
    command.get_option(name)->check(CLI::Validator(check, ""));
}

void add_output(CLI::App& command, std::string& output, const char* kind, const std::string& help) {
    command.add_option("-o,--output", output, help)->type_name(kind)->required()->group("Run");
    refuse_standard_output(command, "--output");
    refuse_empty_values(command, {"output"});
}

}  // namespace pleat::program
