// Run files: reads manifests and tables.
#include "pleat/report/run_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/parse_json.h"
#include "pleat/core/files/text.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/run/folder_claim.h"

namespace pleat::report {

namespace {

constexpr Index kFewRows = 100'000;  // a larger limit may keep the whole table

void split(std::string_view line, std::vector<std::string_view>& cells) {
    cells.clear();
    while (true) {
        const std::size_t tab = line.find('\t');
        cells.push_back(line.substr(0, tab));
        if (tab == std::string_view::npos) return;
        line.remove_prefix(tab + 1);
    }
}

/// Removes the first line from the text and returns it without its line end.
std::string_view next_line(std::string_view& text) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

std::size_t column_index(const Table& table, std::string_view column) {
    const std::optional<std::size_t> at = table.find(column);
    if (!at)
        throw InputError(table.path.string(), 1,
                         fmt::format("expected a column '{}', found none", column));
    return *at;
}

double number_of(const Table& table, std::string_view column, Index row, std::string_view cell) {
    const std::optional<double> value = cell_number(cell);
    if (!value)
        throw InputError(table.path.string(), row + 2,
                         fmt::format("expected a number as {}, found '{}'", column, cell));
    return *value;
}

}  // namespace

std::optional<std::size_t> Table::find(std::string_view column) const {
    const auto entry = std::find(columns.begin(), columns.end(), column);
    if (entry == columns.end()) return std::nullopt;
    return static_cast<std::size_t>(entry - columns.begin());
}

bool Table::has(std::initializer_list<std::string_view> names) const {
    return std::all_of(names.begin(), names.end(),
                       [&](auto name) { return find(name).has_value(); });
}

std::vector<double> Table::numbers(std::string_view column) const {
    const std::size_t at = column_index(*this, column);
    std::vector<double> values;
    values.reserve(rows.size());
    for (std::size_t row = 0; row < rows.size(); ++row)
        values.push_back(number_of(*this, column, static_cast<Index>(row), rows[row][at]));
    return values;
}

Table read_table(const std::filesystem::path& path, Index max_rows, const RowVisitor& visit) {
    constexpr std::int64_t kKept = 20, kPassed = 2;  // kept rows hold a text for each cell
    require_room(path, max_rows > kFewRows ? kKept : kPassed);
    const std::vector<std::uint8_t> bytes = read_file(path);
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    Table table{.path = path, .columns = {}, .rows = {}};
    if (text.empty())
        throw InputError(path.string(), 0, "expected a header line, found an empty file");
    std::vector<std::string_view> cells;
    split(next_line(text), cells);
    table.columns.assign(cells.begin(), cells.end());
    for (std::int64_t line = 2; !text.empty(); ++line) {
        split(next_line(text), cells);
        if (cells.size() == 1 && cells[0].empty() && text.empty())
            break;  // the last line may be blank
        if (cells.size() != table.columns.size())
            throw InputError(
                path.string(), line,
                fmt::format("expected {} cells, found {}", table.columns.size(), cells.size()));
        if (table.total < max_rows) table.rows.emplace_back(cells.begin(), cells.end());
        if (visit) visit(table.total, cells);
        ++table.total;
    }
    return table;
}

std::vector<std::vector<double>> read_columns(const std::filesystem::path& path,
                                              std::span<const std::string_view> names) {
    const Table head = read_table(path, 0);
    constexpr std::int64_t kNumbers = 6;  // a number of 8 bytes may be a digit and a tab
    require_room(path, kNumbers);
    std::vector<std::size_t> indices;
    for (const std::string_view name : names) indices.push_back(column_index(head, name));
    std::vector<std::vector<double>> columns(names.size());
    for (std::vector<double>& column : columns)
        column.reserve(static_cast<std::size_t>(head.total));
    read_table(path, 0, [&](Index row, std::span<const std::string_view> cells) {
        for (std::size_t n = 0; n < names.size(); ++n)
            columns[n].push_back(number_of(head, names[n], row, cells[indices[n]]));
    });
    return columns;
}

void require_room(const std::filesystem::path& path, std::int64_t times) {
    std::error_code none;
    const std::uintmax_t size = std::filesystem::file_size(path, none);
    if (none) return;  // reading the file reports the error
    require_memory(static_cast<std::int64_t>(size) * times, path.string(),
                   "leave this run out, or move the file out of its folder");
}

std::optional<double> cell_number(std::string_view cell) {
    if (cell == "NA") return std::numeric_limits<double>::quiet_NaN();
    double value = 0;
    return parse_number(cell, value) ? std::optional(value) : std::nullopt;
}

namespace {

constexpr const char* kManifest = "manifest.json";

}  // namespace

std::string folder_name(const std::filesystem::path& path) {
    if (path.empty()) return {};
    const std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
    const std::string last = whole.filename().string();
    return last.empty() ? whole.parent_path().filename().string() : last;
}

RunFolder::RunFolder(const std::filesystem::path& path) : path_(path) {
    std::error_code ignored;
    if (!is_folder(path))
        throw InputError(path.string(), 0, "expected the folder of a run, found none");
    if (!is_file(path / kManifest))
        throw InputError(path.string(), 0,
                         "expected the folder of a run with a manifest.json, found none");
    require_room(path / kManifest, kJsonRoom);
    manifest_ = parse_json(read_file(path / kManifest), path / kManifest);
    if (!manifest_.is_object() || manifest_.value("program", Json()) != "pleat")
        throw InputError((path / kManifest).string(), 0,
                         "expected a manifest of pleat, found other content");
    std::vector<std::string> others;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
        const std::string file = entry.path().filename().string();
        if (entry.is_regular_file(ignored) && file != kManifest && !is_hidden_name(file) &&
            complete_name(file).empty())
            others.push_back(file);
    }
    std::sort(others.begin(), others.end());
    const auto list = [&](const std::string& file) {
        const auto entry = std::find(others.begin(), others.end(), file);
        if (entry == others.end()) return;
        files_.push_back(file);
        others.erase(entry);
    };
    if (const auto outputs = manifest_.find("outputs");
        outputs != manifest_.end() && outputs->is_array())
        for (const Json& output : *outputs)
            if (output.is_object() && output.value("file", Json()).is_string())
                list(output["file"]);
    files_.insert(files_.end(), others.begin(), others.end());
}

std::string RunFolder::parameter(std::string_view name) const {
    const auto parameters = manifest_.find("parameters");
    if (parameters == manifest_.end() || !parameters->is_object()) return {};
    const auto value = parameters->find(name);
    if (value == parameters->end()) return {};
    return value->is_string() ? value->get<std::string>() : value->dump();
}

bool RunFolder::has(std::string_view file) const {
    return std::find(files_.begin(), files_.end(), file) != files_.end();
}

const Json& RunFolder::inputs() const {
    static const Json kNoInputs = Json::array();
    const auto inputs = manifest_.find("inputs");
    return inputs != manifest_.end() && inputs->is_array() ? *inputs : kNoInputs;
}

}  // namespace pleat::report
