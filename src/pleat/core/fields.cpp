// Fields: reading, showing and checking an engine's options.
#include "pleat/core/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat {

namespace {

constexpr std::string_view kAutomatic = "auto";

template <class T>
constexpr bool kIsOptional = false;
template <class T>
constexpr bool kIsOptional<std::optional<T>> = true;

/// Describes the valid values of an option: "a number > 0 and <= 1 (angstrom) or auto".
std::string expectation(const Field& field) {
    if (field.is_flag()) return "true or false";
    if (!field.is_number()) {
        std::vector<std::string> named = field.allowed();
        if (named.empty()) return "text";
        // An empty choice means that the option is not set.
        std::erase(named, "");
        return fmt::format("one of {}", fmt::join(named, ", "));
    }
    std::string text = field.is_whole_number() ? "a whole number" : "a number";
    const bool has_min = std::isfinite(field.min), has_max = std::isfinite(field.max);
    if (has_min) text += fmt::format(" {} {}", field.min_excluded ? ">" : ">=", field.min);
    if (has_min && has_max) text += " and";
    if (has_max) text += fmt::format(" <= {}", field.max);
    if (!field.unit.empty()) text += fmt::format(" ({})", field.unit);
    if (!field.automatic.empty()) text += fmt::format(" or {}", kAutomatic);
    return text;
}

[[noreturn]] void refuse(const Field& field, std::string_view found) {
    throw UsageError(
        fmt::format("--{}: expected {}, found '{}'", field.name, expectation(field), found));
}

template <class T>
std::optional<T> parsed_number(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    T value{};
    return parse_number(text, value) ? std::optional(value) : std::nullopt;
}

std::optional<bool> parsed_flag(std::string_view text) {
    for (const std::string_view yes : {"true", "yes", "on", "1"})
        if (text == yes) return true;
    for (const std::string_view no : {"false", "no", "off", "0"})
        if (text == no) return false;
    return std::nullopt;
}

bool in_range(const Field& field, double value) {
    const bool above = field.min_excluded ? value > field.min : value >= field.min;
    return std::isfinite(value) && above && value <= field.max;
}

/// Compares 64-bit integers; a double cannot distinguish neighbours beyond 2^53.
bool in_range(const Field& field, std::int64_t value) {
    const auto number = static_cast<long double>(value);
    const bool above = field.min_excluded ? number > field.min : number >= field.min;
    return above && number <= field.max;
}

template <class T>
T checked_number(const Field& field, const std::string& text) {
    const std::optional<T> value = parsed_number<T>(text);
    if (!value || !in_range(field, *value)) refuse(field, text);
    return *value;
}

template <class T>
void assign(Field& field, T* target, const std::string& text) {
    *target = checked_number<T>(field, text);
}

template <class T>
void assign(Field& field, std::optional<T>* target, const std::string& text) {
    *target = checked_number<T>(field, text);
}

void assign(Field& field, bool* target, const std::string& text) {
    const std::optional<bool> value = parsed_flag(text);
    if (!value) refuse(field, text);
    *target = *value;
}

void assign(Field& field, std::string* target, const std::string& text) {
    const auto& choices = field.choices;
    if (!choices.empty() && std::ranges::find(choices, text) == choices.end()) refuse(field, text);
    *target = text;
}

void assign(Field& field, Choice& choice, const std::string& text) {
    if (!choice.set(text)) refuse(field, text);
}

void assign(Field& field, TextTarget& target, const std::string& text) {
    target.set(text, field.name);
}

/// In numbers that are not std::optional, NaN and -1 mean "automatic".
bool is_automatic_number(const Field::Target& target) {
    if (const auto* number = std::get_if<double*>(&target)) return std::isnan(**number);
    if (const auto* count = std::get_if<std::int64_t*>(&target)) return **count == -1;
    return false;
}

}  // namespace

std::string_view Choice::name() const {
    const auto number = static_cast<std::size_t>(get_(value_));
    return number < names_.size() ? names_[number] : std::string_view();
}

bool Choice::set(std::string_view name) {
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end()) return false;
    set_(value_, static_cast<int>(found - names_.begin()));
    return true;
}

std::vector<std::string> Field::allowed() const {
    const auto* choice = std::get_if<Choice>(&target);
    return choice == nullptr
               ? choices
               : std::vector<std::string>(choice->names().begin(), choice->names().end());
}

bool Field::is_whole_number() const {
    return std::holds_alternative<std::int64_t*>(target) ||
           std::holds_alternative<std::optional<std::int64_t>*>(target);
}

bool Field::is_number() const {
    return is_whole_number() || std::holds_alternative<double*>(target) ||
           std::holds_alternative<std::optional<double>*>(target);
}

bool Field::is_automatic() const {
    if (automatic.empty()) return false;
    if (const auto* number = std::get_if<std::optional<double>*>(&target)) return !**number;
    if (const auto* count = std::get_if<std::optional<std::int64_t>*>(&target)) return !**count;
    return is_automatic_number(target);
}

void Field::set_automatic() {
    if (automatic.empty()) refuse(*this, kAutomatic);
    if (auto* number = std::get_if<std::optional<double>*>(&target)) (*number)->reset();
    if (auto* count = std::get_if<std::optional<std::int64_t>*>(&target)) (*count)->reset();
    if (auto* number = std::get_if<double*>(&target))
        **number = std::numeric_limits<double>::quiet_NaN();
    if (auto* count = std::get_if<std::int64_t*>(&target)) **count = -1;
}

std::string Field::text() const {
    if (is_automatic()) return automatic;
    return std::visit(
        [](const auto& value) -> std::string {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Choice>)
                return std::string(value.name());
            else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, TextTarget>)
                return value.text();
            else if constexpr (kIsOptional<std::decay_t<decltype(*value)>>)
                return *value ? fmt::format("{}", **value) : std::string();
            else
                return fmt::format("{}", *value);
        },
        target);
}

void Field::set(const std::string& text) {
    if (!automatic.empty() && is_number() && (text == kAutomatic || text == automatic)) {
        set_automatic();
        return;
    }
    std::visit([&](auto& own) { assign(*this, own, text); }, target);
}

void Field::check() const {
    if (is_automatic()) return;
    bool is_good = true;
    if (const auto* number = std::get_if<double*>(&target)) is_good = in_range(*this, **number);
    if (const auto* count = std::get_if<std::int64_t*>(&target)) is_good = in_range(*this, **count);
    if (const auto* number = std::get_if<std::optional<double>*>(&target))
        is_good = !**number || in_range(*this, ***number);
    if (const auto* count = std::get_if<std::optional<std::int64_t>*>(&target))
        is_good = !**count || in_range(*this, ***count);
    if (const auto* word = std::get_if<std::string*>(&target))
        is_good = choices.empty() || std::ranges::find(choices, **word) != choices.end();
    if (const auto* choice = std::get_if<Choice>(&target)) {
        const std::span<const std::string_view> names = choice->names();
        is_good = std::ranges::find(names, choice->name()) != names.end();
    }
    if (!is_good) refuse(*this, text());
}

void check(const std::vector<Field>& fields) {
    for (const Field& field : fields) field.check();
}

}  // namespace pleat
