// Fields: reading, showing and checking an engine's options.
#include "pleat/core/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <type_traits>

#include "pleat/core/error.h"

namespace pleat {

namespace {

constexpr std::string_view kAutomatic = "auto";

bool is_automatic(const Field& field) {
    if (field.automatic.empty()) return false;
    if (const auto* target = std::get_if<double*>(&field.target)) return std::isnan(**target);
    if (const auto* target = std::get_if<std::int64_t*>(&field.target)) return **target == -1;
    return false;
}

/// "a number > 0 and <= 1 (angstrom) or auto": what a value of this option has to be.
std::string expectation(const Field& field) {
    if (std::holds_alternative<bool*>(field.target)) return "true or false";
    if (std::holds_alternative<std::string*>(field.target)) {
        if (field.choices.empty()) return "text";
        // The empty choice stands for none given, which nobody types.
        std::vector<std::string> named = field.choices;
        std::erase(named, "");
        return fmt::format("one of {}", fmt::join(named, ", "));
    }
    std::string text =
        std::holds_alternative<double*>(field.target) ? "a number" : "a whole number";
    const bool has_least = std::isfinite(field.least), has_most = std::isfinite(field.most);
    if (has_least) text += fmt::format(" {} {}", field.least_excluded ? ">" : ">=", field.least);
    if (has_least && has_most) text += " and";
    if (has_most) text += fmt::format(" <= {}", field.most);
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
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<bool> parsed_flag(std::string_view text) {
    for (const std::string_view yes : {"true", "yes", "on", "1"})
        if (text == yes) return true;
    for (const std::string_view no : {"false", "no", "off", "0"})
        if (text == no) return false;
    return std::nullopt;
}

bool in_range(const Field& field, double value) {
    const bool above = field.least_excluded ? value > field.least : value >= field.least;
    return std::isfinite(value) && above && value <= field.most;
}

/// Compared in 64 bits of precision: a double does not tell neighbours beyond 2^53 apart.
bool in_range(const Field& field, std::int64_t value) {
    const auto number = static_cast<long double>(value);
    const bool above = field.least_excluded ? number > field.least : number >= field.least;
    return above && number <= field.most;
}

template <class T>
void assign(Field& field, T* target, const std::string& text) {
    if (!field.automatic.empty() && (text == kAutomatic || text == field.automatic)) {
        if constexpr (std::is_same_v<T, double>)
            *target = std::numeric_limits<double>::quiet_NaN();
        else
            *target = -1;
        return;
    }
    const std::optional<T> value = parsed_number<T>(text);
    if (!value || !in_range(field, *value)) refuse(field, text);
    *target = *value;
}

void assign(Field& field, bool* target, const std::string& text) {
    const std::optional<bool> value = parsed_flag(text);
    if (!value) refuse(field, text);
    *target = *value;
}

void assign(Field& field, std::string* target, const std::string& text) {
    const auto& choices = field.choices;
    if (!choices.empty() && std::find(choices.begin(), choices.end(), text) == choices.end())
        refuse(field, text);
    *target = text;
}

}  // namespace

std::string Field::text() const {
    if (is_automatic(*this)) return automatic;
    if (const auto* value = std::get_if<std::string*>(&target)) return **value;
    return std::visit([](const auto* value) { return fmt::format("{}", *value); }, target);
}

void Field::set(const std::string& text) {
    std::visit([&](auto* pointer) { assign(*this, pointer, text); }, target);
}

void Field::check() const {
    if (is_automatic(*this)) return;
    bool good = true;
    if (const auto* number = std::get_if<double*>(&target)) good = in_range(*this, **number);
    if (const auto* integer = std::get_if<std::int64_t*>(&target))
        good = in_range(*this, **integer);
    if (const auto* word = std::get_if<std::string*>(&target))
        good =
            choices.empty() || std::find(choices.begin(), choices.end(), **word) != choices.end();
    if (!good) refuse(*this, text());
}

void check(const std::vector<Field>& fields) {
    for (const Field& field : fields) field.check();
}

}  // namespace pleat
