// Tables: splitting lines at tabs, with errors that name the line.
#include "pleat/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "pleat/core/error.h"
#include "pleat/core/read_file.h"

namespace pleat::report {

namespace {

void split(std::string_view line, std::vector<std::string_view>& cells) {
    cells.clear();
    while (true) {
        const std::size_t tab = line.find('\t');
        cells.push_back(line.substr(0, tab));
        if (tab == std::string_view::npos) return;
        line.remove_prefix(tab + 1);
    }
}

/// Takes the next line off the text, without its end.
std::string_view take_line(std::string_view& text) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

}  // namespace

std::optional<std::size_t> Table::find(std::string_view column) const {
    const auto found = std::find(columns.begin(), columns.end(), column);
    if (found == columns.end()) return std::nullopt;
    return static_cast<std::size_t>(found - columns.begin());
}

bool Table::has(std::initializer_list<std::string_view> names) const {
    return std::all_of(names.begin(), names.end(),
                       [&](auto name) { return find(name).has_value(); });
}

std::vector<double> Table::numbers(std::string_view column) const {
    const std::optional<std::size_t> at = find(column);
    if (!at)
        throw InputError(path.string(), 1,
                         fmt::format("expected a column '{}', found none", column));
    std::vector<double> values;
    values.reserve(rows.size());
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const std::optional<double> value = cell_number(rows[row][*at]);
        if (!value)
            throw InputError(
                path.string(), static_cast<std::int64_t>(row) + 2,
                fmt::format("expected a number as {}, found '{}'", column, rows[row][*at]));
        values.push_back(*value);
    }
    return values;
}

Table read_table(const std::filesystem::path& path, Index most, const RowVisitor& visit) {
    const std::vector<std::uint8_t> bytes = read_file(path);
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    Table table{.path = path, .columns = {}, .rows = {}};
    if (text.empty())
        throw InputError(path.string(), 0, "expected a header line, found an empty file");
    std::vector<std::string_view> cells;
    split(take_line(text), cells);
    table.columns.assign(cells.begin(), cells.end());
    for (std::int64_t line = 2; !text.empty(); ++line) {
        split(take_line(text), cells);
        if (cells.size() == 1 && cells[0].empty() && text.empty()) break;  // a blank last line
        if (cells.size() != table.columns.size())
            throw InputError(
                path.string(), line,
                fmt::format("expected {} cells, found {}", table.columns.size(), cells.size()));
        if (table.total < most) table.rows.emplace_back(cells.begin(), cells.end());
        if (visit) visit(table.total, cells);
        ++table.total;
    }
    return table;
}

std::optional<double> cell_number(std::string_view cell) {
    if (cell == "NA") return std::numeric_limits<double>::quiet_NaN();
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
    return value;
}

}  // namespace pleat::report
