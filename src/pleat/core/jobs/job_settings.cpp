// Job settings: values and ranges of options, and their products.
#include "pleat/core/jobs/job_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"

namespace pleat {

namespace {

[[noreturn]] void refuse_many(std::string_view where) {
    throw UsageError(fmt::format("{}: expected at most {} jobs, found more", where, kMaxJobs));
}

/// The values of `first:last:step`, rounded to twelve digits so that 0.05 + 2 * 0.05 is 0.15.
std::vector<std::string> range_values(std::string_view text, const std::string& where) {
    double ends[3] = {};
    const std::vector<std::string_view> parts = split(text, ':');
    bool is_good = parts.size() == 3;
    for (std::size_t k = 0; is_good && k < 3; ++k) {
        const auto [end, error] =
            std::from_chars(parts[k].data(), parts[k].data() + parts[k].size(), ends[k]);
        is_good = error == std::errc{} && end == parts[k].data() + parts[k].size() &&
                  std::isfinite(ends[k]);
    }
    const double steps = is_good && ends[2] != 0 ? (ends[1] - ends[0]) / ends[2] : -1.0;
    if (!is_good || !(steps >= 0))
        throw UsageError(fmt::format(
            "{}: expected a range first:last:step with a step from the first value to the last, "
            "found '{}'",
            where, text));
    if (steps >= static_cast<double>(kMaxJobs)) refuse_many(where);
    std::vector<std::string> values;
    for (int k = 0; k <= std::floor(steps + 1e-9); ++k)
        values.push_back(fmt::format("{:.12g}", ends[0] + k * ends[2]));
    return values;
}

std::vector<JobSettings> parse_values(const std::string& sweep, std::vector<Field>& options) {
    const std::size_t equals = sweep.find('=');
    if (equals == std::string::npos || equals == 0)
        throw UsageError(
            fmt::format("--sweep: expected option=values or @FILE, found '{}'", sweep));
    const Field& option = find_option(options, sweep.substr(0, equals), "--sweep");
    const std::string_view text = std::string_view(sweep).substr(equals + 1);
    std::vector<JobSettings> rows;
    for (const std::string_view part : split(text, ',')) {
        const std::string where = fmt::format("--sweep {}", option.name);
        const auto colons = std::count(part.begin(), part.end(), ':');
        const bool is_series = std::holds_alternative<TextTarget>(option.target);  // of numbers
        const bool is_range = (option.is_number() && colons > 0) || (is_series && colons == 2);
        const std::vector<std::string> values =
            is_range ? range_values(part, where) : std::vector{std::string(stripped(part))};
        for (const std::string& value : values) {
            if (value.empty())
                throw UsageError(fmt::format("{}: expected values, found '{}'", where, text));
            rows.push_back({{option.name, value}});
        }
        if (rows.size() > kMaxJobs) refuse_many(where);
    }
    return rows;
}

std::vector<JobSettings> parse_table(const std::string& path, std::vector<Field>& options) {
    const std::vector<std::uint8_t> bytes = read_file(path, kMaxListBytes);
    const std::vector<ListedLine> lines = listed_lines(
        path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, kMaxJobs + 1);
    if (lines.size() < 2)
        throw InputError(path, 0, "expected a line of options and one per setting, found fewer");
    std::vector<std::string> names;
    for (const std::string& cell : split_cells(lines.front().text))
        names.push_back(find_option(options, cell, path).name);
    std::vector<JobSettings> rows;
    for (std::size_t row = 1; row < lines.size(); ++row) {
        const std::vector<std::string> cells = split_cells(lines[row].text);
        if (cells.size() != names.size() ||
            std::find(cells.begin(), cells.end(), "") != cells.end())
            throw InputError(
                path, lines[row].number,
                fmt::format("expected {} values, found '{}'", names.size(), lines[row].text));
        rows.emplace_back();
        for (std::size_t k = 0; k < names.size(); ++k) rows.back().push_back({names[k], cells[k]});
    }
    return rows;
}

std::size_t position(const std::vector<Field>& options, const std::string& name) {
    const auto same = [&](const Field& option) { return option.name == name; };
    return static_cast<std::size_t>(std::find_if(options.begin(), options.end(), same) -
                                    options.begin());
}

}  // namespace

Field& find_option(std::vector<Field>& options, const std::string& name, std::string_view where) {
    for (Field& option : options)
        if (option.name == name) return option;
    throw UsageError(
        fmt::format("{}: expected an option of this command that changes results, "
                    "without dashes, found '{}'",
                    where, name));
}

std::string apply_settings(const JobSettings& settings, std::vector<Field>& options) {
    std::string texts;
    for (const JobSetting& setting : settings) {
        Field& option = find_option(options, setting.option, "--sweep");
        option.set(setting.value);
        texts += option.text() + '\t';
    }
    return texts;
}

std::vector<JobSettings> parse_sweeps(const std::vector<std::string>& sweeps,
                                      std::vector<Field>& options) {
    std::vector<JobSettings> all(1);
    std::set<std::string> names;
    for (const std::string& sweep : sweeps) {
        const std::vector<JobSettings> rows = sweep.starts_with('@')
                                                  ? parse_table(sweep.substr(1), options)
                                                  : parse_values(sweep, options);
        for (const JobSetting& setting : rows.front())
            if (!names.insert(setting.option).second)
                throw UsageError(
                    fmt::format("--sweep: expected each option once, found '{}' again; list all "
                                "its values in one place",
                                setting.option));
        std::set<std::string> texts;
        for (const JobSettings& row : rows)
            if (!texts.insert(apply_settings(row, options)).second)
                throw UsageError(
                    fmt::format("--sweep {}: expected different values, found '{}' "
                                "again",
                                row.front().option, row.back().value));
        if (all.size() * rows.size() > kMaxJobs) refuse_many("--sweep");
        std::vector<JobSettings> product;
        for (const JobSettings& before : all)
            for (const JobSettings& row : rows) {
                product.push_back(before);
                product.back().insert(product.back().end(), row.begin(), row.end());
            }
        all = std::move(product);
    }
    for (JobSettings& settings : all)
        std::stable_sort(settings.begin(), settings.end(),
                         [&](const JobSetting& a, const JobSetting& b) {
                             return position(options, a.option) < position(options, b.option);
                         });
    return all;
}

}  // namespace pleat
