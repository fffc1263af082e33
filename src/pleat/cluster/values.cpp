// Values: parsing first:last:step, with steps counted so that rounding loses no last value.
#include "pleat/cluster/values.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "pleat/core/error.h"

namespace pleat::cluster {

namespace {

constexpr double kMostValues = 10000;

[[noreturn]] void refuse(std::string_view option, std::string_view expected,
                         std::string_view text) {
    throw UsageError(fmt::format("--{}: expected {}, found '{}'", option, expected, text));
}

/// The numbers between colons; empty where one is none.
std::vector<double> parts_of(std::string_view text) {
    std::vector<double> parts;
    while (true) {
        const std::size_t colon = text.find(':');
        const std::string_view part = text.substr(0, colon);
        double value = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
        if (error != std::errc{} || end != part.data() + part.size() || !std::isfinite(value))
            return {};
        parts.push_back(value);
        if (colon == std::string_view::npos) return parts;
        text.remove_prefix(colon + 1);
    }
}

std::vector<double> values_of(const std::vector<double>& parts, std::string_view option,
                              std::string_view expected, std::string_view text) {
    const double first = parts[0], last = parts[1], step = parts[2];
    if (!(step > 0) || last < first) refuse(option, expected, text);
    // A last value that rounding puts a little beyond the end still counts.
    const double steps = std::floor((last - first) / step + 1e-9);
    if (steps >= kMostValues) refuse(option, fmt::format("at most {} values", kMostValues), text);
    std::vector<double> values;
    for (double n = 0; n <= steps; ++n) values.push_back(first + n * step);
    return values;
}

}  // namespace

std::vector<double> parse_cutoffs(std::string_view text, std::string_view option) {
    // Beyond these float32 has no distances to compare.
    constexpr std::string_view kExpected =
        "a number above 0, from 1e-30 to 1e30, or first:last:step of such";
    const std::vector<double> parts = parts_of(text);
    const bool is_one = parts.size() == 1;
    if ((!is_one && parts.size() != 3) || !(parts[0] >= 1e-30) || parts[is_one ? 0 : 1] > 1e30)
        refuse(option, kExpected, text);
    return parts.size() == 1 ? parts : values_of(parts, option, kExpected, text);
}

std::vector<double> parse_counts(std::string_view text, std::string_view option) {
    constexpr std::string_view kExpected = "a whole number from 1 on or first:last[:step]";
    std::vector<double> parts = parts_of(text);
    bool good = !parts.empty() && parts.size() <= 3;
    for (const double part : parts)
        good = good && part >= 1 && part <= 1e9 && part == std::floor(part);
    if (!good) refuse(option, kExpected, text);
    if (parts.size() == 1) return parts;
    if (parts.size() == 2) parts.push_back(1);
    return values_of(parts, option, kExpected, text);
}

}  // namespace pleat::cluster
