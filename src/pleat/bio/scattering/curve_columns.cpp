// Curve columns: what columns and units of q are called by the programs that write curves, and
// which columns of a table are q, intensity, error and dq.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "pleat/bio/scattering/curve_table.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat {

namespace {

/// Keeps only letters, in lower case and outside brackets: "I(q) [1/cm]" becomes "i".
std::string key_of(std::string_view name) {
    std::string key;
    int depth = 0;
    for (const char c : in_lower_case(name)) {
        depth += c == '(' || c == '[';
        if (depth == 0 && c >= 'a' && c <= 'z') key += c;
        depth -= (c == ')' || c == ']') && depth > 0;
    }
    return key;
}

std::string without_marks(std::string_view text) {
    constexpr std::string_view kAround = " \t#%!\"'<>|*";
    const std::size_t from = text.find_first_not_of(kAround);
    if (from == std::string_view::npos) return {};
    return std::string(text.substr(from, text.find_last_not_of(kAround) - from + 1));
}

/// Splits a line at separators; a unit in brackets stays with the name before it.
std::vector<std::string> parts_of(std::string_view line, std::string_view separator) {
    std::vector<std::string> parts;
    while (!line.empty()) {
        const std::size_t end = std::min(line.find(separator), line.size());
        const std::string part = without_marks(line.substr(0, end));
        line.remove_prefix(std::min(end + separator.size(), line.size()));
        // Tables written by pandas begin with an unnamed column.
        if (part.empty() && !(parts.empty() && separator == ",")) continue;
        const bool is_unit = part.starts_with('[') || part.starts_with('(');
        if (is_unit && !parts.empty())
            parts.back() += " " + part;
        else
            parts.push_back(part);
    }
    return parts;
}

}  // namespace

ColumnRole role_of(std::string_view name) {
    static constexpr std::pair<ColumnRole, std::string_view> kNames[] = {
        {ColumnRole::momentum,
         " q s h x sexp qexp qvec qvector momentumtransfer scatteringvector qvalues qa qnm "
         "qinvangstrom qinvnm "},
        {ColumnRole::intensity,
         " i y iexp iq is int intensity intensities expintensity jexp iobs counts icm expi "
         "experimentalintensity "},
        {ColumnRole::error,
         " e err error errors sig sigma dy di idev std sd stddev stddevi esd experror sigi sigmai "
         "erri ierr ierror errori sigcm sigmaiq intensityerror uncertainty "},
        {ColumnRole::spread, " dq sigmaq sigq dsigq qdev qerr qerror dx "},
        {ColumnRole::other,
         " r pr p fit ifit model modelintensity jreg ireg imod imodel icalc calc theory atom shape "
         "border size radius diameter distance "}};
    // "q A-1": a unit behind a blank.
    const std::string start = in_lower_case(name.substr(0, 2));
    const std::string key = key_of(start == "q " || start == "s " ? name.substr(0, 1) : name);
    for (const auto& [role, names] : kNames)
        if (names.find(" " + key + " ") != std::string_view::npos) return role;
    for (const std::string_view part : {"err", "sig", "std", "uncert"})
        if (key.find(part) != std::string::npos && key.find('q') == std::string::npos)
            return ColumnRole::error;
    // Irena's SMR_Qvec, SMR_Int, and Q_sample, R_sample, S_sample.
    const std::string low = in_lower_case(name);
    if (low.ends_with("_qvec") || low.starts_with("q_")) return ColumnRole::momentum;
    if (low.ends_with("_int") || low.starts_with("r_")) return ColumnRole::intensity;
    if (low.starts_with("s_")) return ColumnRole::error;
    return low.starts_with("w_") ? ColumnRole::spread : ColumnRole::unknown;
}

bool is_density_name(std::string_view name) {
    const std::string key = key_of(name);
    return key == "p" || key == "g" || key.ends_with("pr") || key.ends_with("distribution");
}

std::vector<std::string> column_names(std::string_view line, std::size_t width) {
    if (line.find("Dif/Atom/Shape/Bord") != std::string_view::npos)  // CRYSOL's .int
        return {"q", "I", "atom", "shape", "border"};
    // After the names, some programs write the goodness of a fit.
    const std::string low = in_lower_case(line);
    const std::size_t end = std::min({low.find("chi"), low.find("//"), line.size()});
    line = line.substr(0, end);
    std::vector<std::string> best;
    for (const std::string_view separator : {"\t", "|", ",", ";", "  ", " "}) {
        std::vector<std::string> parts = parts_of(line, separator);
        for (std::string& part : parts)
            if (const std::size_t colon = part.rfind(": "); colon != std::string::npos)
                part = without_marks(part.substr(colon + 2));
        const auto first = std::ranges::find_if(parts, [](const std::string& part) {
            return role_of(part) == ColumnRole::momentum || role_of(part) == ColumnRole::other;
        });
        const auto has = [&](ColumnRole role) {
            return std::ranges::find(parts, role, role_of) != parts.end();
        };
        // As many names as columns, in any order; an unknown name may come first.
        const bool are_all =
            parts.size() == width && has(ColumnRole::momentum) && has(ColumnRole::intensity) &&
            std::ranges::find(parts.begin() + 1, parts.end(), ColumnRole::unknown, role_of) ==
                parts.end();
        // Words in prose are not column names: "noise; q in 1/angstrom", "q_min = 0.01".
        const bool is_list =
            first == parts.begin() && std::ranges::none_of(parts, &std::string::empty, key_of);
        if (!are_all) parts.erase(parts.begin(), first);
        const bool has_intensity =
            has(ColumnRole::intensity) || std::ranges::any_of(parts, is_density_name);
        const bool is_whole = is_list && parts.size() == width && !parts.empty() &&
                              role_of(parts.front()) == ColumnRole::momentum;
        if (parts.size() < 2 || parts.size() > width || !(has_intensity || is_whole)) continue;
        if (best.empty() || (best.size() != width && parts.size() == width)) best = parts;
    }
    return best;
}

MomentumUnit unit_named(std::string_view text) {
    // Removes marks of exponents: "[A^{-1}]" becomes "[a-1]".
    std::string word;
    for (const char c : in_lower_case(text))
        if (std::string_view("^{}*$\\").find(c) == std::string_view::npos)
            word += c == '_' ? ' ' : c;
    static constexpr std::string_view kPerNanometre[] = {"1/nm",        "nm-1",         "1/nanomet",
                                                         "nanometer-1", "inverse nano", "inv nm"};
    static constexpr std::string_view kPerAngstrom[] = {
        "1/ang", "1/a", "a-1", "angstrom-1", "ang-1", "inverse ang", "per ang", "inv ang"};
    const auto is_letter = [&](std::size_t k) {
        return k < word.size() && std::isalpha(static_cast<unsigned char>(word[k]));
    };
    const auto is_there = [&](std::string_view spelling) {
        const std::size_t at = word.find(spelling);
        // "1/area" and "sigma-1" name no unit.
        return at != std::string::npos && !(spelling == "1/a" && is_letter(at + 3)) &&
               !(spelling[0] != '1' && at > 0 && is_letter(at - 1));
    };
    if (std::ranges::any_of(kPerNanometre, is_there)) return MomentumUnit::per_nanometre;
    if (std::ranges::any_of(kPerAngstrom, is_there)) return MomentumUnit::per_angstrom;
    return MomentumUnit::automatic;
}

MomentumUnit unit_in_prose(std::string_view line) {
    // FoXS computes in 1/angstrom alone.
    if (line.find("SAXS profile: number of points") != std::string_view::npos)
        return MomentumUnit::per_angstrom;
    std::string low = " " + in_lower_case(line.substr(0, 300)) + " ";
    for (char& c : low)
        if (std::string_view("\t\"_([=:").find(c) != std::string_view::npos) c = ' ';
    static constexpr std::string_view kTopics[] = {" q ",   " s ",      " q-",
                                                   " unit", "momentum", "scattering vector"};
    const bool is_about_q = std::ranges::any_of(
        kTopics, [&](std::string_view topic) { return low.find(topic) != std::string::npos; });
    return is_about_q ? unit_named(low) : MomentumUnit::automatic;
}

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

/// The ratio of a column to the intensity at points where both are positive.
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

/// Whether a column of supposed errors looks like a model curve: close to the intensities of a
/// decaying curve, or large and smoother than errors. Measured errors above the intensities are
/// rough.
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
    const auto near =
        std::ranges::count_if(all, [](double ratio) { return ratio > 0.5 && ratio < 2; });
    return 10 * static_cast<std::size_t>(near) >= 9 * all.size() ||
           (median(all) > 0.5 && roughness(table, column) < (median(all) > 1 ? 5e-3 : 1e-3));
}

/// Throws InputError for a column that looks like a model; names one that looks like errors.
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
        table.columns.empty() ? table.column_names_above : table.columns;
    const auto found = std::ranges::find(names, in_lower_case(word), in_lower_case);
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

/// Chooses columns by their names. Sets `is_certain` to false if some columns have no names and
/// none is named as the errors.
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

/// Adds notes about columns that were detected or chosen by name.
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
