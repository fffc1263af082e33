// Value ranges: reading first:last:step, with steps counted so that rounding loses no last value.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "pleat/cluster/cluster.h"
#include "pleat/core/error.h"

namespace pleat::cluster {

namespace {

// Distances beyond these bounds cannot be compared in float32.
constexpr double kMinCutoff = 1e-30, kMaxCutoff = 1e30, kMaxCount = 1e9;
constexpr double kMaxValues = 10000;
constexpr std::string_view kCutoffs = "a number from 1e-30 to 1e30 or first:last:step of such",
                           kCounts = "a whole number >= 1 or first:last[:step]";

[[noreturn]] void refuse(std::string_view option, std::string_view expected,
                         std::string_view found) {
    throw UsageError(fmt::format("--{}: expected {}, found '{}'", option, expected, found));
}

/// The numbers between colons; empty if one of them is not a number.
std::vector<double> numbers_between_colons(std::string_view text) {
    std::vector<double> numbers;
    while (true) {
        const std::size_t colon = text.find(':');
        const std::string_view word = text.substr(0, colon);
        double value = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(value))
            return {};
        numbers.push_back(value);
        if (colon == std::string_view::npos) return numbers;
        text.remove_prefix(colon + 1);
    }
}

/// How many steps of the range fit; a last value that rounding puts a little beyond the end counts.
double steps_of(const ValueRange& range) {
    return range.step > 0 ? std::floor((range.last - *range.first) / range.step + 1e-9) : 0.0;
}

void check_range(const ValueRange& range, std::string_view option, std::string_view expected,
                 const std::string& text) {
    if (!(range.step >= 0) || range.last < *range.first) refuse(option, expected, text);
    if (steps_of(range) >= kMaxValues)
        refuse(option, fmt::format("at most {} values", kMaxValues), text);
}

}  // namespace

std::vector<double> ValueRange::values() const {
    std::vector<double> all;
    if (!first) return all;
    const double steps = steps_of(*this);
    for (double n = 0; n <= steps; ++n) all.push_back(*first + n * step);
    return all;
}

std::string CutoffRange::text() const {
    if (!first) return {};
    return step > 0 ? fmt::format("{}:{}:{}", *first, last, step) : fmt::format("{}", *first);
}

void CutoffRange::check(std::string_view option) const {
    if (!first) return;
    if (!(*first >= kMinCutoff) || !(last <= kMaxCutoff)) refuse(option, kCutoffs, text());
    check_range(*this, option, kCutoffs, text());
}

CutoffRange CutoffRange::parse(std::string_view text, std::string_view option) {
    if (text.empty()) return {};
    const std::vector<double> numbers = numbers_between_colons(text);
    const bool has_step = numbers.size() == 3;
    if ((numbers.size() != 1 && !has_step) || (has_step && !(numbers[2] > 0)))
        refuse(option, kCutoffs, text);
    const CutoffRange range =
        has_step ? CutoffRange(numbers[0], numbers[1], numbers[2]) : CutoffRange(numbers[0]);
    range.check(option);
    return range;
}

std::string CountRange::text() const {
    if (!first) return {};
    if (step == 0) return fmt::format("{}", *first);
    return step == 1 ? fmt::format("{}:{}", *first, last)
                     : fmt::format("{}:{}:{}", *first, last, step);
}

void CountRange::check(std::string_view option) const {
    if (!first) return;
    for (const double number : {*first, last, step == 0 ? 1 : step})
        if (!(number >= 1 && number <= kMaxCount && number == std::floor(number)))
            refuse(option, kCounts, text());
    check_range(*this, option, kCounts, text());
}

CountRange CountRange::parse(std::string_view text, std::string_view option) {
    if (text.empty()) return {};
    const std::vector<double> numbers = numbers_between_colons(text);
    if (numbers.empty() || numbers.size() > 3 || (numbers.size() == 3 && numbers[2] == 0))
        refuse(option, kCounts, text);
    const CountRange range = numbers.size() == 1 ? CountRange(numbers[0])
                                                 : CountRange(numbers[0], numbers[1],
                                                              numbers.size() == 3 ? numbers[2] : 1);
    range.check(option);
    return range;
}

}  // namespace pleat::cluster
