// Profiles: curves of files in any format and of arrays, checked, in 1/angstrom.
#include "pleat/bio/scattering/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/scattering/curve_table.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat {

namespace {

constexpr Index kMaxBytes = Index{64} << 20;

/// Fills in the format and names of tables from a structured format.
std::vector<CurveTable> stored(std::vector<CurveTable> tables, const char* format) {
    for (CurveTable& table : tables) {
        table.name = printable(table.name);
        table.q_unit = printable(plain_text(table.q_unit));
        table.is_stored = true;
        table.formats = {fmt::format("read as {}", format)};
        const auto has = [&](std::size_t n) {
            return std::ranges::any_of(
                table.rows, [n](const CurveRow& row) { return std::isfinite(row.values[n]); });
        };
        table.columns = {"q", "I"};
        if (has(2) || has(3)) table.columns.push_back(has(2) ? "error" : "model");
        if (has(3)) table.columns.push_back("dq");
        std::int64_t number = 0;
        for (CurveRow& row : table.rows) {
            row.values.resize(table.columns.size());
            row.line = ++number;
        }
    }
    return tables;
}

/// Whether the names of columns are those of P(r) or g(r).
bool has_names_of_distances(const CurveTable& table) {
    return !table.columns.empty() && !is_density_name(table.columns.front()) &&
           std::ranges::any_of(table.columns, is_density_name) &&
           std::ranges::find(table.columns, ColumnRole::momentum, role_of) == table.columns.end();
}

/// Whether the numbers begin with 0 at 0 and end with 0, like P(r) and unlike any measured curve.
bool has_shape_of_distances(const CurveTable& table) {
    constexpr std::size_t kMinRows = 10, kRise = 4;
    constexpr double kMaxLast = 0.01;  // of the largest
    std::vector<double> values;
    for (const CurveRow& row : table.rows)
        if (row.values.size() > 1) values.push_back(row.values[1]);
    return values.size() >= kMinRows && table.rows.front().values[0] == 0 && values[0] == 0 &&
           std::is_sorted(values.begin(), values.begin() + kRise) && values[1] > 0 &&
           std::abs(values.back()) < kMaxLast * std::ranges::max(values);
}

[[noreturn]] void refuse_distances(const std::string& file, const CurveTable& table,
                                   const char* advice) {
    throw InputError(
        file, table.rows.front().line,
        fmt::format("expected a scattering curve I(q), found what looks like a distribution of "
                    "distances, P(r){}",
                    advice));
}

/// The tables of a text, sasCIF or XML.
std::vector<CurveTable> read_tables(ByteSource& source) {
    std::string text, first;
    std::string_view line;
    while (source.next(line)) {
        text.append(line);
        text += '\n';
        if (first.empty() && !trimmed(line).starts_with('#')) first = trimmed(line).substr(0, 64);
    }
    if (source.line() == 0)
        throw InputError(source.name(), 0, "expected a scattering curve, found an empty file");
    if (first.starts_with("<?xml") || first.starts_with("<!--") || first.starts_with("<SAS"))
        return stored(curves_from_xml(source.name(), text), "CanSAS 1D XML");
    if (first.starts_with("data_") && text.find("\n_") != std::string::npos)
        return stored(curves_from_cif(source.name(), text), "sasCIF");
    std::vector<CurveTable> tables = tables_of_text(source.name(), plain_text(text));
    if (std::ranges::all_of(tables, has_names_of_distances))
        refuse_distances(source.name(), tables.front(), "");
    std::erase_if(tables, has_names_of_distances);
    return tables;
}

/// The index of the curve that a file itself singles out: the only table that may be a curve, or
/// the only one with errors.
std::optional<std::size_t> offered_curve(const std::vector<CurveTable>& tables) {
    std::vector<std::size_t> curves, with_errors;
    for (std::size_t n = 0; n < tables.size(); ++n) {
        const std::vector<std::string>& columns = tables[n].columns;
        const auto has = [&](ColumnRole role) {
            return std::ranges::find(columns, role, role_of) != columns.end();
        };
        if (!tables[n].is_default_curve) continue;
        if (columns.empty() || has(ColumnRole::momentum)) curves.push_back(n);
        if (has(ColumnRole::momentum) && has(ColumnRole::error)) with_errors.push_back(n);
    }
    if (curves.size() == 1) return curves.front();
    if (with_errors.size() != 1) return {};
    // A table may continue after other text.
    const auto width = [&](std::size_t n) { return tables[n].rows.front().values.size(); };
    const auto alike = std::ranges::count(curves, width(with_errors.front()), width);
    return alike == 1 ? std::optional(with_errors.front()) : std::nullopt;
}

/// Returns the table of --curve, else the one that the file singles out.
CurveTable choose_curve(const std::string& file, std::vector<CurveTable> tables,
                        const ProfileOptions& options, Notes& notes) {
    constexpr std::size_t kMaxNames = 20;
    std::string names;
    for (std::size_t n = 0; n < std::min(tables.size(), kMaxNames); ++n)
        names += fmt::format("{}'{}'", n > 0 ? ", " : "", tables[n].name);
    if (tables.size() > kMaxNames) names += ", ...";
    std::optional<std::size_t> chosen;
    bool is_first = false;  // of the entries of one file
    if (options.curve.empty()) {
        chosen = offered_curve(tables);
        is_first = !chosen && tables.front().is_stored;
        if (is_first) {
            const auto first = std::ranges::find(tables, true, &CurveTable::is_default_curve);
            chosen = first == tables.end() ? 0 : static_cast<std::size_t>(first - tables.begin());
        }
        if (!chosen)
            throw InputError(file, tables.back().rows.front().line,
                             fmt::format("expected one curve, found {}: {}; --curve NAME takes one",
                                         tables.size(), names));
    } else {
        std::size_t number = 0;
        const auto named = std::ranges::find(tables, options.curve, &CurveTable::name);
        if (named != tables.end())
            chosen = static_cast<std::size_t>(named - tables.begin());
        else if (parse_number(options.curve, number) && number >= 1 && number <= tables.size())
            chosen = number - 1;
        if (!chosen)
            throw InputError(file, 0,
                             fmt::format("expected a curve '{}' (--curve), found {}",
                                         printable(options.curve), names));
    }
    if (tables.size() > 1)
        notes.push_back({NoteKind::several,
                         fmt::format("curve {} of {} read: '{}'", *chosen + 1, tables.size(),
                                     tables[*chosen].name),
                         "--curve NAME", is_first});
    return std::move(tables[*chosen]);
}

/// Throws InputError for too few numbers, and for q in something other than an inverse length.
void check_table(const std::string& file, const CurveTable& table, const ProfileOptions& options) {
    constexpr std::size_t kFew = 10;
    if (options.curve.empty() && options.columns.empty() && table.columns.empty() &&
        table.rows.size() < std::min(kFew, table.text_line_count))
        throw InputError(file, table.rows.front().line,
                         fmt::format("expected a curve, found {} lines of numbers in {} of text; "
                                     "--columns 1,2,3 reads them",
                                     table.rows.size(), table.text_line_count));
    if (options.columns.empty() && table.columns.empty() && has_shape_of_distances(table))
        refuse_distances(file, table, "; --columns 1,2,3 takes it as it is");
    if (options.unit == MomentumUnit::automatic && !table.q_unit.empty() &&
        unit_named(table.q_unit) == MomentumUnit::automatic)
        throw InputError(file, 0,
                         fmt::format("expected q in 1/angstrom or 1/nm, found '{}'; --q-unit says "
                                     "which it is",
                                     table.q_unit));
}

void leave_out_below(const std::string& file, double q_min, ProfileFile& read) {
    Profile& curve = read.profile;
    const auto count = std::ranges::lower_bound(curve.q, q_min) - curve.q.begin();
    if (count == 0) return;
    const std::size_t left = curve.size() - static_cast<std::size_t>(count);
    if (left < kMinCurvePoints)
        throw InputError(file, 0,
                         fmt::format("expected {} or more points from q = {:g} 1/angstrom on "
                                     "(--q-min), found {}",
                                     kMinCurvePoints, q_min, left));
    read.notes.push_back({NoteKind::points,
                          fmt::format("{} of {} points below q = {:g} 1/angstrom left out", count,
                                      curve.size(), q_min),
                          "--q-min 0"});
    for (std::vector<double>* values : {&curve.q, &curve.intensity, &curve.sigma, &curve.dq})
        if (!values->empty()) values->erase(values->begin(), values->begin() + count);
}

ProfileFile profile_of(const std::string& file, std::vector<CurveTable> tables,
                       const ProfileOptions& options) {
    Notes notes;
    const CurveTable table = choose_curve(file, std::move(tables), options, notes);
    check_table(file, table, options);
    for (const std::string& format : table.formats) notes.push_back({NoteKind::format, format});
    const CurveColumns columns = choose_columns(file, table, options, notes);
    const CurveRow& front = table.rows.front();
    if (!columns.error && !options.assumed_error)
        throw InputError(file, front.line,
                         fmt::format("expected q, intensity and error, found no error in '{}'; {}",
                                     text_of(front), kErrorAdvice));
    if (options.smear && !columns.spread)
        throw InputError(file, front.line,
                         fmt::format("expected q, intensity, error and dq (--smear), found no dq "
                                     "in '{}'",
                                     text_of(front)));
    ProfileFile read;
    read.profile = read_points(file, table, columns, options, notes);
    read.notes = {convert_unit(file, options, unit_named(table.q_unit), read)};
    read.notes.insert(read.notes.end(), notes.begin(), notes.end());
    leave_out_below(file, options.q_min, read);
    return read;
}

}  // namespace

ProfileFile read_profile(ByteSource& source, const ProfileOptions& options) {
    return profile_of(source.name(), read_tables(source), options);
}

std::span<const std::string_view> names_of(MomentumUnit) {
    static constexpr std::string_view kNames[] = {"auto", "1/angstrom", "1/nm"};
    return kNames;
}

std::vector<Field> fields(ProfileOptions& options) {
    return {
        {.name = "q-unit",
         .target = &options.unit,
         .help = "Unit of the curve's q; auto: as the file says, else by the size of the molecule"},
        {.name = "columns",
         .target = &options.columns,
         .help = "Columns of q, intensity and error (and dq) of the curve, by names or numbers "
                 "from 1, separated by commas",
         .value_name = "Q,I,ERROR"},
        {.name = "curve",
         .target = &options.curve,
         .help = "Curve to read from a file with several, by its name or by its number from 1",
         .value_name = "NAME"},
        {.name = "q-min",
         .target = &options.q_min,
         .help = "Leave out points of the curve below this q",
         .unit = "1/angstrom",
         .min = 0,
         .max = 10},
        {.name = "assume-error",
         .target = &options.assumed_error,
         .help = "Error of points without an error, as a fraction of their intensity",
         .min = 0,
         .max = 10,
         .min_excluded = true,
         .automatic = "such curves are refused"},
        {.name = "smear",
         .target = &options.smear,
         .help = "Smear the model by column 4 of the curve, the standard deviation of q"}};
}

ProfileFile read_profile(const std::filesystem::path& path, const ProfileOptions& options) {
    auto bytes = std::make_unique<ByteReader>(path);
    if (!bytes->peek(8).starts_with("\x89HDF")) {
        ByteSource source(std::move(bytes), kMaxBytes);
        return read_profile(source, options);
    }
    std::vector<char> all;
    const Index left = bytes->left();
    bytes->read(all, static_cast<std::size_t>(left < 0 ? kMaxBytes : std::min(left, kMaxBytes)));
    if (!bytes->at_end())
        throw InputError(bytes->name(), 0,
                         fmt::format("expected at most {} bytes of HDF5, found more", kMaxBytes));
    return profile_of(bytes->name(),
                      stored(curves_from_hdf5(bytes->name(), {all.data(), all.size()}), "NXcanSAS"),
                      options);
}

ProfileFile make_profile(const std::string& name, std::span<const double> q,
                         std::span<const double> intensity, std::span<const double> sigma,
                         const ProfileOptions& options, std::span<const double> dq) {
    const bool with_errors = !sigma.empty();
    if (q.size() != intensity.size() || (with_errors && q.size() != sigma.size()))
        throw InputError(name, 0,
                         fmt::format("expected q, intensity and error of one length, found {}, {} "
                                     "and {}",
                                     q.size(), intensity.size(), sigma.size()));
    if (options.smear && (!with_errors || dq.size() != q.size()))
        throw InputError(name, 0,
                         fmt::format("expected q, intensity, error and dq of one length, found {}, "
                                     "{}, {} and {}",
                                     q.size(), intensity.size(), sigma.size(), dq.size()));
    if (q.size() < kMinCurvePoints || q.size() > kMaxCurvePoints)
        throw InputError(name, 0,
                         fmt::format("expected from {} to {} points, found {}", kMinCurvePoints,
                                     kMaxCurvePoints, q.size()));
    if (!with_errors && !options.assumed_error)
        throw InputError(
            name, 0,
            fmt::format("expected q, intensity and error, found no error; {}", kErrorAdvice));
    CurveTable table{.name = name, .q_unit = "1/angstrom", .columns = {"q", "I"}};
    if (with_errors) table.columns.push_back("error");
    if (options.smear) table.columns.push_back("dq");
    for (std::size_t n = 0; n < q.size(); ++n) {
        CurveRow& row = table.rows.emplace_back();
        row.line = static_cast<std::int64_t>(n) + 1;
        row.values = {q[n], intensity[n]};
        if (with_errors) row.values.push_back(sigma[n]);
        if (options.smear) row.values.push_back(dq[n]);
    }
    ProfileFile made = profile_of(name, {std::move(table)}, options);
    made.notes.erase(made.notes.begin());  // the unit was the caller's to tell
    return made;
}

}  // namespace pleat
