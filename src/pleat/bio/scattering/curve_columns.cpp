// Curve columns: which columns of a table are q, intensity, error and dq.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "pleat/bio/scattering/curve_points.h"
#include "pleat/bio/scattering/curve_table.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

std::size_t width_of(const CurveTable& table) {
    std::size_t width = 0;
    for (const CurveRow& row : table.rows) width = std::max(width, row.values.size());
    return width;
}

double value_at(const CurveRow& row, std::size_t column) {
    return column < row.values.size() ? row.values[column] : NAN;
}

double median(std::vector<double> values) {
    if (values.empty()) return NAN;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Ratios of a column to the intensity where both are above 0.
std::vector<double> ratios(const CurveTable& table, std::size_t intensity, std::size_t column) {
    std::vector<double> all;
    for (const CurveRow& row : table.rows) {
        const double i = value_at(row, intensity), value = value_at(row, column);
        if (i > 0 && value > 0 && std::isfinite(value / i)) all.push_back(value / i);
    }
    return all;
}

/// The median distance of ln value to the cubic through its four neighbours: below 1e-3 for
/// computed profiles, above it for errors of measured points.
double roughness(const CurveTable& table, std::size_t column) {
    std::vector<double> logs, distances;
    for (const CurveRow& row : table.rows)
        if (value_at(row, column) > 0) logs.push_back(std::log(value_at(row, column)));
    for (std::size_t k = 2; k + 2 < logs.size(); ++k)
        distances.push_back(
            std::abs(logs[k] - (4 * (logs[k - 1] + logs[k + 1]) - logs[k - 2] - logs[k + 2]) / 6));
    return median(distances);
}

/// Whether values believed to be errors are those of a model: about the intensity of a curve that
/// falls, or as smooth as no error is and large; measured errors above the intensities are rough.
bool is_like_a_model(const CurveTable& table, std::size_t intensity, std::size_t column) {
    constexpr std::size_t kMinRatios = 10;
    const std::vector<double> all = ratios(table, intensity, column);
    double smallest = INFINITY, largest = 0;
    for (const CurveRow& row : table.rows) {
        const double i = value_at(row, intensity);
        if (!(i > 0)) continue;
        smallest = std::min(smallest, i);
        largest = std::max(largest, i);
    }
    if (all.size() < kMinRatios || !(largest > 1.2 * smallest)) return false;
    const auto near = std::count_if(all.begin(), all.end(),
                                    [](double ratio) { return ratio > 0.5 && ratio < 2; });
    return 10 * static_cast<std::size_t>(near) >= 9 * all.size() ||
           (median(all) > 0.5 && roughness(table, column) < (median(all) > 1 ? 5e-3 : 1e-3));
}

/// The refusal of a column that is like a model, which names one that is like an error.
[[noreturn]] void refuse_model(const std::string& file, const CurveTable& table,
                               std::size_t column) {
    std::string advice =
        "--columns 1,2 with --assume-error takes errors as a part of the intensity";
    for (std::size_t other = 3; other < width_of(table); ++other)
        if (median(ratios(table, 1, other)) < 0.5 && roughness(table, other) > 1e-3)
            advice =
                fmt::format("column {0} looks like one: --columns 1,2,{0} takes it", other + 1);
    throw InputError(
        file, table.rows.front().line,
        fmt::format("expected errors in column {}, found values like those of a model; "
                    "{} (--columns 1,2,{} takes it as it is)",
                    column + 1, advice, column + 1));
}

std::size_t column_of(const std::string& file, const CurveTable& table, const std::string& word) {
    std::size_t number = 0;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), number);
    const bool is_number = parsed.ec == std::errc() && parsed.ptr == word.data() + word.size();
    if (is_number && number > 0) return number - 1;
    const auto equal = [&](const std::string& name) {
        return std::equal(name.begin(), name.end(), word.begin(), word.end(), [](char a, char b) {
            return std::tolower(static_cast<unsigned char>(a)) ==
                   std::tolower(static_cast<unsigned char>(b));
        });
    };
    const auto found = std::find_if(table.columns.begin(), table.columns.end(), equal);
    if (found == table.columns.end())
        throw InputError(
            file, table.rows.front().line,
            table.columns.empty()
                ? fmt::format("expected names of columns, found none for '{}' (--columns takes "
                              "numbers from 1, too)",
                              word)
                : fmt::format("expected a column '{}' (--columns), found {}", word,
                              fmt::join(table.columns, ", ")));
    return static_cast<std::size_t>(found - table.columns.begin());
}

CurveColumns columns_as_told(const std::string& file, const CurveTable& table,
                             const std::string& told) {
    std::vector<std::size_t> columns;
    for (std::size_t from = 0; from <= told.size();) {
        const std::size_t end = std::min(told.find(',', from), told.size());
        std::string word = told.substr(from, end - from);
        word.erase(0, word.find_first_not_of(' '));
        word.resize(word.find_last_not_of(' ') + 1);
        columns.push_back(column_of(file, table, word));
        from = end + 1;
    }
    if (columns.size() < 2 || columns.size() > 4)
        throw UsageError(
            "give --columns Q,I,ERROR by names or numbers from 1, without the error "
            "or with DQ behind it");
    CurveColumns chosen{columns[0], columns[1], {}, {}};
    if (columns.size() > 2) chosen.error = columns[2];
    if (columns.size() > 3) chosen.spread = columns[3];
    return chosen;
}

/// By the names that the file has; `is_certain` false: some columns have no names, and no name says
/// what the errors are.
CurveColumns columns_by_name(const CurveTable& table, bool& is_certain) {
    CurveColumns chosen;
    std::optional<std::size_t> q, intensity;
    is_certain = true;
    for (std::size_t n = 0; n < table.columns.size(); ++n) {
        ColumnRole role = role_of(table.columns[n]);
        if (role == ColumnRole::momentum && q && table.columns[n].size() == 1)
            role = ColumnRole::error;  // "q I s"
        std::optional<std::size_t>* const column = role == ColumnRole::momentum    ? &q
                                                   : role == ColumnRole::intensity ? &intensity
                                                   : role == ColumnRole::error     ? &chosen.error
                                                   : role == ColumnRole::spread    ? &chosen.spread
                                                                                   : nullptr;
        if (column != nullptr && !*column)
            *column = n;
        else if (role != ColumnRole::other && n == 2 && table.columns.size() < width_of(table))
            is_certain = false;
    }
    chosen.q = q.value_or(0);
    chosen.intensity = intensity.value_or(1);
    if (chosen.error) is_certain = true;
    return chosen;
}

}  // namespace

CurveColumns choose_columns(const std::string& file, const CurveTable& table,
                            const ProfileOptions& options, Notes& notes) {
    const std::size_t width = width_of(table);
    bool is_certain = false;
    CurveColumns chosen;
    if (!options.columns.empty()) {
        chosen = columns_as_told(file, table, options.columns);
        is_certain = true;
    } else if (!table.columns.empty()) {
        chosen = columns_by_name(table, is_certain);
    }
    if (!is_certain && !chosen.error && table.rows.front().values.size() > 2) {
        chosen.error = 2;
        if (is_like_a_model(table, chosen.intensity, 2)) {
            if (!options.assumed_error) refuse_model(file, table, 2);
            chosen.error.reset();
            notes.push_back({NoteKind::columns,
                             "column 3 is like a model and not taken as the error",
                             "--columns 1,2,3"});
        }
    }
    // SASfit writes -1 for none.
    if (chosen.error && std::all_of(table.rows.begin(), table.rows.end(), [&](const CurveRow& row) {
            return value_at(row, *chosen.error) == -1;
        }))
        chosen.error.reset();
    if (table.columns.empty() && options.columns.empty() && table.rows.front().values.size() > 3)
        chosen.spread = 3;
    const std::size_t last = std::max({chosen.q, chosen.intensity, chosen.error.value_or(0)});
    if (last >= width)
        throw InputError(
            file, table.rows.front().line,
            fmt::format("expected a column {} (--columns), found {} columns", last + 1, width));
    if (options.columns.empty() && is_certain && width > 2) {
        const auto name = [&](std::size_t n) { return table.columns[n]; };
        std::vector<std::string> names = {name(chosen.q), name(chosen.intensity)};
        if (chosen.error) names.push_back(name(*chosen.error));
        const bool is_usual =
            chosen.q == 0 && chosen.intensity == 1 && chosen.error == 2 && width <= 4;
        if (!is_usual)
            notes.push_back(
                {NoteKind::columns,
                 fmt::format("columns {} read, as the file names them", fmt::join(names, ", ")),
                 "--columns Q,I,ERROR"});
    } else if (!options.columns.empty()) {
        notes.push_back(
            {NoteKind::columns, fmt::format("columns {} read as told", options.columns)});
    }
    return chosen;
}

}  // namespace pleat
