// Job list: the table of many jobs, and a plot for each swept option.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "pleat/core/jobs/job_table.h"
#include "pleat/report/sections.h"

namespace pleat::report {

namespace {

constexpr std::size_t kMaxShownInputs = 8;  // with a colour each
constexpr std::size_t kMaxLabelBytes = 60;

/// A column of numbers for all jobs; NaN if a job has none.
struct NumberColumn {
    std::string name, label;
    std::vector<double> values;

    /// Whether jobs with the same name have different numbers.
    bool varies(const std::vector<JobRow>& rows) const {
        for (std::size_t n = 1; n < values.size(); ++n)
            if (rows[n].name == rows[n - 1].name && std::isfinite(values[n]) &&
                std::isfinite(values[n - 1]) && values[n] != values[n - 1])
                return true;
        return false;
    }
    Json json() const { return {{"name", name}, {"label", label}, {"values", finite(values)}}; }
};

/// The cells as numbers. Words are numbered by appearance if `counts_words`; else they are NaN.
NumberColumn read_column(const JobTable& table, std::size_t column, bool counts_words) {
    NumberColumn read{.name = table.columns()[column], .label = {}, .values = {}};
    std::vector<std::string> words;
    for (const JobRow& row : table.rows) {
        const std::string cell = table.cells(row)[column];
        const std::optional<double> number = cell_number(cell.empty() ? "NA" : cell);
        if (!number && std::find(words.begin(), words.end(), cell) == words.end())
            words.push_back(cell);
        read.values.push_back(number.value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    read.label = read.name;
    if (words.empty() || !counts_words) return read;
    for (std::size_t k = 0; k < words.size() && read.label.size() < kMaxLabelBytes; ++k)
        read.label += fmt::format("{}{}: {}", k == 0 ? " (" : ", ", k, words[k]);
    read.label += ")";
    for (std::size_t n = 0; n < table.rows.size(); ++n) {
        const std::string cell = table.cells(table.rows[n])[column];
        const auto found = std::find(words.begin(), words.end(), cell);
        read.values[n] = found == words.end() ? std::numeric_limits<double>::quiet_NaN()
                                              : static_cast<double>(found - words.begin());
    }
    return read;
}

Json groups_by_input(const JobTable& table) {
    std::vector<std::string> inputs;
    std::vector<Index> values;
    Json shown = Json::array();
    for (const JobRow& row : table.rows) {
        const auto found = std::find(inputs.begin(), inputs.end(), row.name);
        values.push_back(static_cast<Index>(found - inputs.begin()));
        if (found != inputs.end()) continue;
        if (inputs.size() < kMaxShownInputs)
            shown.push_back({{"value", values.back()}, {"name", row.name}});
        inputs.push_back(row.name);
    }
    return {{"label", "input"}, {"values", values}, {"shown", shown}};
}

/// A plot of the results over each swept option.
void add_plots(const JobTable& table, Json& sections) {
    const std::size_t options = table.options.size();
    std::vector<NumberColumn> swept, results;
    for (std::size_t k = 0; k < options; ++k) {
        const auto& names = table.swept_options;
        if (std::find(names.begin(), names.end(), table.options[k]) != names.end())
            swept.push_back(read_column(table, k + 1, true));
    }
    for (std::size_t k = 0; k < table.numbers.size(); ++k)
        results.push_back(read_column(table, options + 4 + k, false));
    results.push_back(read_column(table, options + 3, false));  // seconds
    std::erase_if(results, [&](const NumberColumn& column) { return !column.varies(table.rows); });
    if (results.empty()) return;
    Json columns = Json::array(), jobs = Json::array();
    for (const NumberColumn& column : swept) columns.push_back(column.json());
    for (const NumberColumn& column : results) columns.push_back(column.json());
    for (std::size_t n = 0; n < table.rows.size(); ++n) jobs.push_back(n + 1);
    for (const NumberColumn& column : swept)
        sections.push_back({{"kind", "scatter"},
                            {"title", "Results by " + column.name},
                            {"item", "job"},
                            {"numbers", jobs},
                            {"columns", columns},
                            {"x", column.name},
                            {"y", results.front().name},
                            {"group", groups_by_input(table)}});
}

std::vector<SampledRun> sampled_runs(const JobTable& table, const std::filesystem::path& folder) {
    const auto option = std::find(table.options.begin(), table.options.end(), "shuffles");
    std::vector<SampledRun> runs;
    if (option == table.options.end()) return runs;
    const auto at = static_cast<std::size_t>(option - table.options.begin());
    for (const JobRow& row : table.rows)
        runs.push_back(
            {folder / row.folder,
             cell_number(row.settings[at]).value_or(std::numeric_limits<double>::quiet_NaN())});
    return runs;
}

}  // namespace

bool is_job_list(const std::filesystem::path& folder) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(folder / kJobTable, ignored) &&
           !std::filesystem::exists(folder / "manifest.json", ignored);
}

Json draw_job_list(const std::filesystem::path& folder, const std::string& name,
                   const Limits& limits) {
    require_room(folder / kJobTable, kJsonRoom);
    const JobTable table(folder);
    Table shown{.path = folder / kJobTable,
                .columns = table.columns(),
                .rows = {},
                .total = static_cast<Index>(table.rows.size())};
    for (const JobRow& row : table.rows) {
        if (static_cast<Index>(shown.rows.size()) == limits.rows) break;
        shown.rows.push_back(table.cells(row));
    }
    Json sections = Json::array();
    sections.push_back(table_section("Jobs", shown));
    add_plots(table, sections);
    if (Json error = null_error_section(sampled_runs(table, folder)); !error.is_null())
        sections.push_back(std::move(error));
    const std::string sentence = fmt::format("{} job{}: {}.", table.rows.size(),
                                             table.rows.size() == 1 ? "" : "s", table.counts());
    return {{"name", name},
            {"title", name + ": list of jobs"},
            {"headline", {{"sentence", sentence}, {"tiles", Json::array()}}},
            {"manifest",
             {{"program", "pleat"},
              {"arguments", table.call},
              {"status", table.counts()},
              {"results", {{"jobs", table.rows.size()}}}}},
            {"notes", Json::array()},
            {"files", {kJobTable}},
            {"sections", std::move(sections)}};
}

}  // namespace pleat::report
