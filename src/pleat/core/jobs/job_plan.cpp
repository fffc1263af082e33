// Job plan: values and ranges of options, lists of inputs, and names of jobs and their folders.
#include "pleat/core/jobs/job_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/run/folder_claim.h"
#include "pleat/core/run/manifest.h"

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
    for (std::size_t k = 0; is_good && k < 3; ++k)
        is_good = parse_number(parts[k], ends[k]) && std::isfinite(ends[k]);
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
        const auto colons = std::ranges::count(part, ':');
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
        if (cells.size() != names.size() || std::ranges::find(cells, "") != cells.end())
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
    return static_cast<std::size_t>(std::ranges::find_if(options, same) - options.begin());
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
        std::ranges::stable_sort(settings, [&](const JobSetting& a, const JobSetting& b) {
            return position(options, a.option) < position(options, b.option);
        });
    return all;
}

namespace {

constexpr std::size_t kMaxFolderBytes = 120;
constexpr const char* kNameColumn = "name";
constexpr const char* kInputColumn = "input";

/// Removes one of these endings unless nothing would be left.
void cut_ending(std::string& name, std::initializer_list<std::string_view> endings) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos || dot == 0) return;
    if (std::ranges::find(endings, in_lower_case(name.substr(dot + 1))) != endings.end())
        name.resize(dot);
}

/// Paths separated by blanks; blanks between double quotes belong to a path.
std::vector<std::string> split_paths(std::string_view text) {
    std::vector<std::string> paths;
    bool is_quoted = false, is_open = false;
    for (const char c : text) {
        if (c == '"') {
            is_quoted = !is_quoted;
        } else if (is_quoted || c != ' ') {
            if (!is_open) paths.emplace_back();
            paths.back() += c;
            is_open = true;
            continue;
        }
        if (!is_quoted && c == ' ') is_open = false;
    }
    return paths;
}

struct ListColumns {
    std::optional<std::size_t> name, input;
    bool is_option = false;  ///< the input is that of the option
    std::map<std::size_t, std::string> options;
    std::size_t count = 0;
};

class ListReader {
public:
    ListReader(std::string_view list, const std::string& input_column, bool several_files,
               std::vector<Field>& options, const std::string& input_option)
        : list_(list),
          input_column_(input_column),
          input_option_(input_option),
          several_files_(several_files),
          options_(options) {}

    std::vector<JobInput> read(std::string_view text) {
        std::vector<ListedLine> lines = listed_lines(list_, text, kMaxJobs + 1);
        std::optional<ListColumns> columns;
        if (!lines.empty() &&
            is_header(split_cells(lines.front().text),
                      lines.size() > 1 ? split_cells(lines[1].text).front() : "")) {
            columns = read_header(lines.front());
            lines.erase(lines.begin());
        }
        if (lines.empty())
            throw InputError(fmt::format("{}: expected an input per line, found none", list_));
        std::vector<JobInput> inputs;
        inputs.reserve(lines.size());
        for (const ListedLine& line : lines)
            inputs.push_back(columns ? read_row(line, *columns) : read_line(line));
        return inputs;
    }

private:
    bool is_input(const std::string& cell) const {
        return cell == kInputColumn || cell == input_column_;
    }
    bool is_input_option(const std::string& cell) const {
        return !cell.empty() && cell == input_option_;
    }
    bool is_option(const std::string& cell) const {
        return std::ranges::any_of(options_,
                                   [&](const Field& option) { return option.name == cell; });
    }
    /// `next`: the first cell of the next line.
    bool is_header(const std::vector<std::string>& cells, const std::string& next) const {
        const auto is_path = [&](const std::string& cell) {
            std::error_code ignored;
            if (!std::filesystem::exists(cell, ignored)) return false;
            // A folder "data" beside a list of curves is none of its inputs.
            return !is_input_option(cell) || is_file(cell) || !is_file(next);
        };
        const auto is_column = [&](const std::string& cell) {
            return is_input(cell) || is_input_option(cell) ||
                   (cells.size() > 1 && (cell == kNameColumn || is_option(cell)));
        };
        const bool has_path = std::ranges::any_of(cells, is_path);
        if (cells.size() > 1 && std::ranges::all_of(cells, is_column)) return true;
        return std::ranges::any_of(cells, is_column) && !has_path;
    }

    ListColumns read_header(const ListedLine& line) {
        const std::vector<std::string> cells = split_cells(line.text);
        ListColumns columns{.name = {}, .input = {}, .options = {}, .count = cells.size()};
        std::set<std::string> seen;
        for (std::size_t k = 0; k < cells.size(); ++k) {
            if (is_input(cells[k]) && !columns.input)
                columns.input = k;
            else if (cells[k] == kNameColumn)
                columns.name = k;
            else if (is_option(cells[k]))
                columns.options[k] = cells[k];
            else
                throw InputError(
                    list_, line.number,
                    fmt::format("expected columns 'name', '{}' and options of this command that "
                                "change results, found '{}'",
                                input_column_, cells[k]));
            if (!seen.insert(cells[k]).second)
                throw InputError(
                    list_, line.number,
                    fmt::format("expected each column once, found '{}' again", cells[k]));
        }
        if (!columns.input)
            for (const auto& [column, option] : columns.options)
                if (is_input_option(option)) columns.input = column;
        if (!columns.input)
            throw InputError(list_, line.number,
                             fmt::format("expected a column '{}', found none", input_column_));
        const auto is_used = columns.options.find(*columns.input);
        columns.is_option = is_used != columns.options.end();
        if (columns.is_option) columns.options.erase(is_used);
        return columns;
    }

    JobInput make(std::int64_t line, const std::string& name,
                  std::vector<std::string> files) const {
        if (files.empty()) throw InputError(list_, line, "expected a path, found none");
        if (files.size() > 1 && !several_files_)
            throw InputError(
                list_, line,
                fmt::format("expected one path (in double quotes if it has blanks), found {}",
                            files.size()));
        JobInput input{.name = name.empty() ? job_name(files.front()) : name,
                       .files = std::move(files)};
        if (!is_plain_name(input.name) || is_hidden_name(input.name))
            throw InputError(
                list_, line,
                fmt::format("expected a name that a folder can have, found '{}'", input.name));
        return input;
    }

    JobInput read_line(const ListedLine& line) const {
        const std::vector<std::string> cells = split_cells(line.text);
        if (cells.size() == 1) return make(line.number, {}, {cells.front()});
        std::vector<std::string> files;
        for (std::size_t k = 1; k < cells.size(); ++k)
            for (std::string& path : split_paths(cells[k])) files.push_back(std::move(path));
        return make(line.number, cells.front(), std::move(files));
    }

    JobInput read_row(const ListedLine& line, const ListColumns& columns) {
        std::vector<std::string> cells = split_cells(line.text);
        if (cells.size() > columns.count)
            throw InputError(list_, line.number,
                             fmt::format("expected {} cells as in the first line, found {}",
                                         columns.count, cells.size()));
        cells.resize(columns.count);  // empty cells at the end may be left out
        JobInput input = make(line.number, columns.name ? cells[*columns.name] : std::string(),
                              split_paths(cells[*columns.input]));
        if (columns.is_option) {
            input.settings.push_back({input_option_, input.files.front()});
            input.files.erase(input.files.begin());
        }
        for (const auto& [column, option] : columns.options)
            if (!cells[column].empty()) input.settings.push_back({option, cells[column]});
        try {
            apply_settings(input.settings, options_);
        } catch (const UsageError& error) {
            throw InputError(list_, line.number, error.what());
        }
        return input;
    }

    const std::string list_, input_column_, input_option_;
    const bool several_files_;
    std::vector<Field>& options_;
};

std::string folder_name(const JobSettings& settings) {
    std::string name;
    for (const JobSetting& setting : settings) {
        const auto is_bad = [](unsigned char c) { return c == '/' || c < ' ' || c == 127; };
        if (std::ranges::any_of(setting.value, is_bad))
            throw UsageError(fmt::format(
                "--sweep {}: expected values that the name of a folder can have, found '{}'; a "
                "path can be in a column of --list",
                setting.option, setting.value));
        name += fmt::format("{}{}={}", name.empty() ? "" : ",", setting.option, setting.value);
    }
    return name;
}

/// Returns the folder names of the settings and, if they are numbered, a table that explains them.
std::vector<std::string> folder_names(const std::vector<JobSettings>& sweep, std::string& table) {
    std::vector<std::string> names;
    names.reserve(sweep.size());
    for (const JobSettings& settings : sweep) names.push_back(folder_name(settings));
    if (std::ranges::all_of(names,
                            [](const std::string& name) { return name.size() <= kMaxFolderBytes; }))
        return names;
    table = "folder";
    for (const JobSetting& setting : sweep.front()) table += '\t' + setting.option;
    for (std::size_t k = 0; k < names.size(); ++k) {
        names[k] = fmt::format("s{:04}", k + 1);
        table += '\n' + names[k];
        for (const JobSetting& setting : sweep[k]) table += '\t' + setting.value;
    }
    table += '\n';
    return names;
}

void check_names(const std::vector<JobInput>& inputs) {
    std::map<std::string, std::string> file_of;
    for (const JobInput& input : inputs) {
        const std::string& file = input.files.empty() ? input.name : input.files.front();
        for (const std::string_view taken : {kJobTable, kSettingsTable, "manifest.json"})
            if (input.name == taken)
                throw UsageError(fmt::format(
                    "expected inputs of names other than '{}', found '{}'; rename this file", taken,
                    file));
        if (!is_plain_name(input.name) || is_hidden_name(input.name))
            throw UsageError(fmt::format("expected the name of a file, found '{}'", file));
        const auto [same, is_new] = file_of.emplace(input.name, file);
        if (!is_new)
            throw UsageError(
                fmt::format("expected inputs of different names, found '{}' and '{}', which are "
                            "both '{}'; rename one, leave it out, or name them in a --list",
                            same->second, file, input.name));
    }
}

}  // namespace

std::string job_name(const std::filesystem::path& file) {
    std::string name = file.filename().string();
    if (name.empty() && file.has_parent_path()) name = file.parent_path().filename().string();
    if (name.size() > 1 && name.front() == '@') name.erase(0, 1);
    cut_ending(name, {"gz", "zst", "zstd"});
    cut_ending(name, {"fasta", "fa",      "fas", "afa",    "a2m", "a3m",  "sto", "stk", "stockholm",
                      "aln",   "clustal", "clu", "psicov", "msa", "txt",  "pdb", "ent", "cif",
                      "mmcif", "dcd",     "xtc", "trr",    "nc",  "ncdf", "npy"});
    return name;
}

std::vector<JobInput> parse_job_list(std::string_view name, std::string_view text,
                                     const std::string& input_column, bool several_files,
                                     std::vector<Field>& options, const std::string& input_option) {
    return ListReader(name, input_column, several_files, options, input_option).read(text);
}

JobPlan plan_jobs(const std::vector<JobInput>& inputs, const std::vector<JobSettings>& sweep) {
    check_names(inputs);
    if (inputs.size() * sweep.size() > kMaxJobs)
        throw UsageError(fmt::format("expected at most {} jobs, found {} inputs with {} settings",
                                     kMaxJobs, inputs.size(), sweep.size()));
    JobPlan plan;
    const auto add_column = [&](const std::string& option) {
        if (std::ranges::find(plan.options, option) == plan.options.end())
            plan.options.push_back(option);
    };
    for (const JobInput& input : inputs)
        for (const JobSetting& setting : input.settings) add_column(setting.option);
    for (const JobSetting& setting : sweep.front()) {
        if (std::ranges::find(plan.options, setting.option) != plan.options.end())
            throw UsageError(fmt::format(
                "--sweep {}: expected an option that the list does not set, found a column of it",
                setting.option));
        plan.swept_options.push_back(setting.option);
    }
    for (const std::string& option : plan.swept_options) add_column(option);
    const std::vector<std::string> folders = folder_names(sweep, plan.settings_table);
    for (const JobInput& input : inputs)
        for (std::size_t k = 0; k < sweep.size(); ++k) {
            Job job{.name = input.name,
                    .files = input.files,
                    .settings = input.settings,
                    .folder = std::filesystem::path(input.name) / folders[k]};
            if (folders[k].empty()) job.folder = input.name;
            job.settings.insert(job.settings.end(), sweep[k].begin(), sweep[k].end());
            plan.jobs.push_back(std::move(job));
        }
    return plan;
}

}  // namespace pleat
