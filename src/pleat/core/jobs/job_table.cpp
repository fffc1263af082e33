// Job table: text of the rows, and reading it back.
#include "pleat/core/jobs/job_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/run/manifest.h"
#include "pleat/core/version.h"

namespace pleat {

namespace {

constexpr std::string_view kStatusNames[] = {"waiting", "unfinished", "done", "failed"};
constexpr std::string_view kCallLine = "# command: pleat ";
constexpr std::string_view kSweptLine = "# swept: ";

/// A word as a shell reads it.
std::string quoted(const std::string& word) {
    const auto is_plain = [](unsigned char c) {
        return std::isalnum(c) != 0 ||
               std::string_view("_@%+=:,./-").find(static_cast<char>(c)) != std::string_view::npos;
    };
    if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

/// The words of a line of quoted() words.
std::vector<std::string> shell_words(std::string_view line) {
    std::vector<std::string> words(1);
    bool is_quoted = false;
    for (std::size_t k = 0; k < line.size(); ++k) {
        if (line[k] == '\'')
            is_quoted = !is_quoted;
        else if (line[k] == ' ' && !is_quoted)
            words.emplace_back();
        else if (line[k] != '\\' || is_quoted || k + 1 == line.size())
            words.back() += line[k];
        else
            words.back() += line[++k];
    }
    return words;
}

std::string cell_text(const std::string& cell) { return cell == "NA" ? std::string() : cell; }

std::size_t column_of(const std::vector<std::string>& columns, std::string_view name,
                      const std::string& path) {
    const auto found = std::ranges::find(columns, name);
    if (found == columns.end())
        throw InputError(
            path, 0, fmt::format("expected a table of jobs with a column '{}', found none", name));
    return static_cast<std::size_t>(found - columns.begin());
}

bool is_among(const std::string& name, const std::vector<std::string>& names) {
    return std::ranges::find(names, name) != names.end();
}

/// Appends the names that are not among `names` yet.
void add_names(const std::vector<std::string>& added, std::vector<std::string>& names) {
    for (const std::string& name : added)
        if (!is_among(name, names)) names.push_back(name);
}

/// The value in the row's column of this name, first among options, then numbers; else empty.
std::string value_of(const std::string& name, const JobTable& table, const JobRow& row) {
    for (std::size_t k = 0; k < table.options.size(); ++k)
        if (table.options[k] == name && !row.settings[k].empty()) return row.settings[k];
    for (std::size_t k = 0; k < table.numbers.size(); ++k)
        if (table.numbers[k] == name) return row.numbers[k];
    return {};
}

/// Joins the rows and columns of two tables.
JobTable joined(const JobTable& earlier, const JobTable& table) {
    JobTable all;
    all.call = table.call;
    for (const JobTable* one : {&table, &earlier}) {
        add_names(one->options, all.options);
        add_names(one->swept_options, all.swept_options);
        add_names(one->numbers, all.numbers);
    }
    std::erase_if(all.numbers,
                  [&](const std::string& name) { return is_among(name, all.options); });
    for (const JobTable* one : {&earlier, &table})
        for (JobRow row : one->rows) {
            std::vector<std::string> settings, numbers;
            for (const std::string& name : all.options)
                settings.push_back(value_of(name, *one, row));
            for (const std::string& name : all.numbers)
                numbers.push_back(value_of(name, *one, row));
            row.settings = std::move(settings);
            row.numbers = std::move(numbers);
            all.rows.push_back(std::move(row));
        }
    return all;
}

}  // namespace

JobTable::JobTable(std::vector<std::string> words, const JobPlan& plan,
                   std::vector<std::string> number_names)
    : call(std::move(words)),
      options(plan.options),
      swept_options(plan.swept_options),
      numbers(std::move(number_names)) {
    // A column of settings says the same.
    std::erase_if(numbers, [&](const std::string& name) { return is_among(name, options); });
    for (const Job& job : plan.jobs) {
        JobRow row{.name = job.name,
                   .settings = std::vector<std::string>(options.size()),
                   .folder = job.folder.string(),
                   .numbers = std::vector<std::string>(numbers.size())};
        for (const JobSetting& setting : job.settings)
            row.settings[column_of(options, setting.option, {})] = setting.value;
        rows.push_back(std::move(row));
    }
}

JobTable::JobTable(const std::filesystem::path& folder) {
    const std::string path = (folder / kJobTable).string();
    const std::vector<std::uint8_t> bytes = read_file(path);
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    std::vector<std::string> columns;
    std::size_t status = 0, seconds = 0, result = 0, error = 0;
    for (std::int64_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.starts_with(kCallLine)) call = shell_words(line.substr(kCallLine.size()));
        if (line.starts_with(kSweptLine))
            for (const auto word : split(line.substr(kSweptLine.size()), ' '))
                swept_options.emplace_back(word);
        if (line.empty() || line.starts_with('#')) continue;
        const std::vector<std::string> cells = split_cells(line);
        if (columns.empty()) {
            columns = cells;
            status = column_of(columns, "status", path);
            seconds = column_of(columns, "seconds", path);
            result = column_of(columns, "result", path);
            error = column_of(columns, "error", path);
            if (!(0 < status && status + 2 == seconds && seconds < result && result + 1 == error))
                throw InputError(path, number, "expected the columns of jobs, found others");
            options.assign(columns.begin() + 1, columns.begin() + static_cast<Index>(status));
            numbers.assign(columns.begin() + static_cast<Index>(seconds) + 1,
                           columns.begin() + static_cast<Index>(result));
            continue;
        }
        const auto known = std::find(std::begin(kStatusNames), std::end(kStatusNames),
                                     cells.size() == columns.size() ? cells[status] : "");
        if (known == std::end(kStatusNames))
            throw InputError(
                path, number,
                fmt::format("expected {} cells of a job, found '{}'", columns.size(), line));
        JobRow row{.name = cells[0],
                   .folder = cells[result],
                   .status = static_cast<JobStatus>(known - std::begin(kStatusNames)),
                   .device = cell_text(cells[status + 1]),
                   .seconds = cell_text(cells[seconds]),
                   .error = cell_text(cells[error])};
        const std::filesystem::path below = row.folder;
        if (below.is_absolute() || *below.begin() == "..")
            throw InputError(
                path, number,
                fmt::format("expected a folder below this one, found '{}'", row.folder));
        for (std::size_t k = 1; k < status; ++k) row.settings.push_back(cell_text(cells[k]));
        for (std::size_t k = seconds + 1; k < result; ++k)
            row.numbers.push_back(cell_text(cells[k]));
        rows.push_back(std::move(row));
    }
    if (columns.empty()) throw InputError(path, 0, "expected a table of jobs, found none");
}

std::string JobTable::text() const {
    std::vector<std::string> words;
    for (const std::string& word : call) words.push_back(quoted(word));
    std::string out = fmt::format("# version: pleat {}\n{}{}\n", kVersion, kCallLine,
                                  printable(fmt::format("{}", fmt::join(words, " "))));
    if (!swept_options.empty())
        out += fmt::format("{}{}\n", kSweptLine, fmt::join(swept_options, " "));
    out += fmt::format("{}\n", fmt::join(columns(), "\t"));
    for (const JobRow& row : rows) {
        std::vector<std::string> line = cells(row);
        for (std::string& cell : line) cell = table_cell(cell);
        out += fmt::format("{}\n", fmt::join(line, "\t"));
    }
    return out;
}

std::vector<std::string> JobTable::columns() const {
    std::vector<std::string> names = {"name"};
    names.insert(names.end(), options.begin(), options.end());
    names.insert(names.end(), {"status", "device", "seconds"});
    names.insert(names.end(), numbers.begin(), numbers.end());
    names.insert(names.end(), {"result", "error"});
    return names;
}

std::vector<std::string> JobTable::cells(const JobRow& row) const {
    std::vector<std::string> all = {row.name};
    all.insert(all.end(), row.settings.begin(), row.settings.end());
    all.insert(all.end(), {std::string(kStatusNames[static_cast<std::size_t>(row.status)]),
                           row.device, row.seconds});
    all.insert(all.end(), row.numbers.begin(), row.numbers.end());
    all.insert(all.end(), {row.folder, row.error});
    return all;
}

std::string JobTable::counts() const {
    std::vector<std::string> counts;
    for (const JobStatus status :
         {JobStatus::done, JobStatus::failed, JobStatus::unfinished, JobStatus::waiting}) {
        const auto count =
            std::ranges::count_if(rows, [&](const JobRow& row) { return row.status == status; });
        if (count > 0 || status == JobStatus::done)
            counts.push_back(
                fmt::format("{} {}", count, kStatusNames[static_cast<std::size_t>(status)]));
    }
    return fmt::format("{}", fmt::join(counts, ", "));
}

bool JobTable::all_ended() const {
    return std::ranges::all_of(rows, [](const JobRow& row) {
        return row.status == JobStatus::done || row.status == JobStatus::failed;
    });
}

void update(JobRow& row, const std::filesystem::path& folder,
            const std::vector<std::string>& numbers) {
    if (row.status == JobStatus::failed) return;
    const EarlierRun run = read_earlier_run(folder / "manifest.json");
    row.status = run.is_ours ? JobStatus::unfinished : JobStatus::waiting;
    if (!run.is_ours || run.status != "finished") return;
    row.status = JobStatus::done;
    row.device = run.device;
    row.seconds = fmt::format("{:.2f}", run.seconds);
    row.numbers.assign(numbers.size(), "");
    for (std::size_t k = 0; k < numbers.size(); ++k)
        if (const auto found = run.results.find(numbers[k]);
            found != run.results.end() && found->second != "nan")
            row.numbers[k] = found->second;
}

void set_failed(JobRow& row, const Failure& failure) {
    row.status = JobStatus::failed;
    row.error = first_line(failure.text);
    row.exit_code = failure.exit_code;
}

void refuse_other_runs(const JobTable& table) {
    const auto is_refused = [](const JobRow& row) {
        return row.status == JobStatus::failed && row.exit_code == UsageError("").exit_code();
    };
    if (std::ranges::all_of(table.rows, is_refused)) throw UsageError(table.rows.front().error);
}

void copy_outcome(JobRow& row, const JobRow& other) {
    row.status = other.status;
    row.device = other.device;
    row.seconds = other.seconds;
    row.numbers = other.numbers;
    row.error = other.error;
    row.exit_code = other.exit_code;
}

JobTable earlier_jobs(const std::filesystem::path& folder, const JobTable& table) {
    JobTable earlier;
    try {
        earlier = JobTable(folder);
    } catch (const InputError&) {
        return {};
    }
    std::set<std::string> folders;
    for (const JobRow& row : table.rows) folders.insert(row.folder);
    std::erase_if(earlier.rows, [&](const JobRow& row) {
        return folders.count(row.folder) > 0 ||
               !read_earlier_run(folder / row.folder / "manifest.json").is_ours;
    });
    for (JobRow& row : earlier.rows) update(row, folder / row.folder, earlier.numbers);
    return earlier;
}

void write_job_table(const std::filesystem::path& folder, const JobTable& earlier,
                     const JobTable& table) {
    write_text(folder / kJobTable, (earlier.rows.empty() ? table : joined(earlier, table)).text());
}

JobTable renew_job_table(const std::filesystem::path& folder) {
    JobTable table(folder);
    for (JobRow& row : table.rows) update(row, folder / row.folder, table.numbers);
    write_job_table(folder, {}, table);
    return table;
}

std::string row_line(const JobRow& row, const std::vector<std::string>& numbers) {
    std::string line = row.folder + ": ";
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        if (row.numbers[k].empty()) continue;
        std::string text = row.numbers[k];
        double value = 0;
        if (parse_number(text, value) && text.find_first_of(".e") != std::string::npos)
            text = fmt::format("{:.4g}", value);
        line += fmt::format("{} {}, ", numbers[k], text);
    }
    return line + row.seconds + " s";
}

}  // namespace pleat
