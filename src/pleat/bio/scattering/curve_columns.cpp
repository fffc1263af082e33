// Curve columns: which columns of a table are q, intensity, error and dq.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "pleat/bio/scattering/curve_table.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

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

/// Whether a column that should be errors looks like a model: close to the intensities of a curve
/// that falls, or smoother than errors are, and large. (Measured errors above the intensities are
/// rough.)
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

std::size_t column_of(const std::string& file, const CurveTable& table, std::string_view word) {
    std::size_t number = 0;
    if (parse_number(word, number) && number > 0) return number - 1;
    const std::vector<std::string>& names =
        table.columns.empty() ? table.words_above : table.columns;
    const auto found = std::ranges::find(names, lower_case(word), lower_case);
    if (found == names.end())
        throw InputError(
            file, table.rows.front().line,
            names.empty()
                ? fmt::format("expected names of columns, found none for '{}' (--columns takes "
                              "numbers from 1, too)",
                              word)
                : fmt::format("expected a column '{}' (--columns), found {}", word,
                              fmt::join(names, ", ")));
    return static_cast<std::size_t>(found - names.begin());
}

CurveColumns columns_as_told(const std::string& file, const CurveTable& table,
                             const std::string& told) {
    std::vector<std::size_t> columns;
    for (const std::string_view word : words(told, ","))
        columns.push_back(column_of(file, table, trimmed(word)));
    if (columns.size() < 2 || columns.size() > 4 ||
        ("," + told + ",").find(",,") != std::string::npos)
        throw UsageError(
            "give --columns Q,I,ERROR by names or numbers from 1, without the error "
            "or with DQ behind it");
    CurveColumns chosen{columns[0], columns[1]};
    if (columns.size() > 2) chosen.error = columns[2];
    if (columns.size() > 3) chosen.spread = columns[3];
    return chosen;
}

/// By the names that the file has; `is_certain` false: some columns have no names, and no name says
/// what the errors are.
CurveColumns columns_by_name(const CurveTable& table, bool& is_certain) {
    std::optional<std::size_t> q, intensity, error, spread;
    is_certain = true;
    for (std::size_t n = 0; n < table.columns.size(); ++n) {
        ColumnRole role = role_of(table.columns[n]);
        if (role == ColumnRole::momentum && q && table.columns[n].size() == 1)
            role = ColumnRole::error;  // "q I s"
        std::optional<std::size_t>* const column = role == ColumnRole::momentum    ? &q
                                                   : role == ColumnRole::intensity ? &intensity
                                                   : role == ColumnRole::error     ? &error
                                                   : role == ColumnRole::spread    ? &spread
                                                                                   : nullptr;
        if (column != nullptr && !*column)
            *column = n;
        else if (role != ColumnRole::other && n == 2 && table.columns.size() < width_of(table))
            is_certain = false;
    }
    is_certain = is_certain || error;
    return {q.value_or(0), intensity.value_or(1), error, spread};
}

/// Notes about columns that were chosen by detection or by name.
void note_columns(const CurveTable& table, const CurveColumns& chosen, const std::string& told,
                  Notes& notes) {
    if (!told.empty()) {
        notes.push_back({NoteKind::columns, fmt::format("columns {} read as told", told)});
        return;
    }
    const bool is_usual = chosen.q == 0 && chosen.intensity == 1 && chosen.error == 2;
    const std::size_t width = width_of(table);
    if (width < 3 || (is_usual && width <= 4)) return;
    std::string names = table.columns[chosen.q] + ", " + table.columns[chosen.intensity];
    if (chosen.error) names += ", " + table.columns[*chosen.error];
    notes.push_back({NoteKind::columns,
                     fmt::format("columns {} read, as the file names them", names),
                     "--columns Q,I,ERROR"});
}

}  // namespace

CurveColumns choose_columns(const std::string& file, const CurveTable& table,
                            const ProfileOptions& options, Notes& notes) {
    const bool is_told = !options.columns.empty(), has_names = !table.columns.empty();
    const std::size_t width = width_of(table), front = table.rows.front().values.size();
    bool is_certain = is_told;
    CurveColumns chosen;
    if (is_told)
        chosen = columns_as_told(file, table, options.columns);
    else if (has_names)
        chosen = columns_by_name(table, is_certain);
    if (!is_certain && !chosen.error && front > 2) {
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
    if (chosen.error && std::ranges::all_of(table.rows, [&](const CurveRow& row) {
            return value_at(row, *chosen.error) == -1;
        }))
        chosen.error.reset();
    if (!has_names && !is_told && front > 3) chosen.spread = 3;
    const std::size_t last = std::max({chosen.q, chosen.intensity, chosen.error.value_or(0)});
    if (last >= width)
        throw InputError(
            file, table.rows.front().line,
            fmt::format("expected a column {} (--columns), found {} columns", last + 1, width));
    if (is_certain) note_columns(table, chosen, options.columns, notes);
    return chosen;
}

}  // namespace pleat
