// Profiles: curves of files in any format and of arrays, checked, in 1/angstrom.
#include "pleat/bio/scattering/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/input/byte_reader.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/scattering/curve_files.h"
#include "pleat/bio/scattering/curve_points.h"
#include "pleat/bio/scattering/curve_table.h"
#include "pleat/core/error.h"
#include "pleat/core/files/printable.h"
#include "pleat/core/notes.h"

namespace pleat {

namespace {

constexpr std::size_t kMinPoints = 3;
constexpr Index kMaxPoints = 1000000, kMaxBytes = Index{64} << 20;

/// Curves of a structured format as tables.
std::vector<CurveTable> tables_of(const std::vector<StoredCurve>& curves, const char* format) {
    std::vector<CurveTable> tables;
    for (const StoredCurve& curve : curves) {
        CurveTable& table = tables.emplace_back();
        table.name = printable(curve.name);
        table.unit = unit_named(plain_text(curve.q_unit));
        if (table.unit == MomentumUnit::automatic) table.unknown_unit = printable(curve.q_unit);
        table.is_stored = true;
        table.notes.push_back({NoteKind::format, fmt::format("read as {}", format)});
        const auto has = [&](std::size_t n) {
            return std::any_of(curve.points.begin(), curve.points.end(),
                               [n](const auto& point) { return std::isfinite(point[n]); });
        };
        table.columns = {"q", "I"};
        if (has(2) || has(3)) table.columns.push_back(has(2) ? "error" : "model");
        if (has(3)) table.columns.push_back("dq");
        for (const auto& point : curve.points) {
            CurveRow& row = table.rows.emplace_back();
            row.line = static_cast<Index>(table.rows.size());
            row.values.assign(point.begin(),
                              point.begin() + static_cast<std::ptrdiff_t>(table.columns.size()));
            row.text = fmt::format("{:g}", fmt::join(row.values, " "));
        }
    }
    return tables;
}

/// The tables of a text, sasCIF or XML.
std::vector<CurveTable> read_tables(ByteSource& source) {
    std::string text, first;
    std::string_view line;
    while (source.next(line)) {
        text.append(line);
        text += '\n';
        const std::size_t from = line.find_first_not_of(" \t");
        if (first.empty() && from != std::string_view::npos && line[from] != '#')
            first = line.substr(from, 64);
    }
    if (source.line() == 0)
        throw InputError(source.name(), 0, "expected a scattering curve, found an empty file");
    if (first.starts_with("<?xml") || first.starts_with("<!--") || first.starts_with("<SAS"))
        return tables_of(curves_from_xml(source.name(), text), "CanSAS 1D XML");
    if (first.starts_with("data_") && text.find("\n_") != std::string::npos)
        return tables_of(curves_from_cif(source.name(), text), "sasCIF");
    return tables_of_text(source.name(), plain_text(text));
}

/// The table that is read: by --curve, else the only one that may be a curve or that has errors.
CurveTable choose_curve(const std::string& file, std::vector<CurveTable> tables,
                        const ProfileOptions& options, Notes& notes) {
    std::vector<std::string> names;
    std::vector<std::size_t> curves, with_errors;
    for (std::size_t n = 0; n < tables.size(); ++n) {
        const std::vector<std::string>& columns = tables[n].columns;
        const auto has = [&](ColumnRole role) {
            return std::any_of(columns.begin(), columns.end(),
                               [role](const std::string& name) { return role_of(name) == role; });
        };
        names.push_back("'" + tables[n].name + "'");
        if (columns.empty() || has(ColumnRole::momentum)) curves.push_back(n);
        if (has(ColumnRole::momentum) && has(ColumnRole::error)) with_errors.push_back(n);
    }
    constexpr std::size_t kMaxNames = 20;
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMaxNames));
    const std::string all = fmt::format("{}{}", fmt::join(names.begin(), end, ", "),
                                        names.size() > kMaxNames ? ", ..." : "");
    std::optional<std::size_t> chosen;
    if (!options.curve.empty()) {
        std::size_t number = 0;
        const char* const last = options.curve.data() + options.curve.size();
        const auto parsed = std::from_chars(options.curve.data(), last, number);
        for (std::size_t n = 0; n < tables.size() && !chosen; ++n)
            if (tables[n].name == options.curve) chosen = n;
        if (!chosen && parsed.ec == std::errc() && parsed.ptr == last && number >= 1 &&
            number <= tables.size())
            chosen = number - 1;
        if (!chosen)
            throw InputError(file, 0,
                             fmt::format("expected a curve '{}' (--curve), found {}",
                                         printable(options.curve), all));
    } else if (curves.size() == 1) {
        chosen = curves.front();
    } else if (with_errors.size() == 1) {
        chosen = with_errors.front();
        // The same table may go on behind other text.
        const auto width = [&](std::size_t n) { return tables[n].rows.front().values.size(); };
        for (const std::size_t n : curves)
            if (n != with_errors.front() && width(n) == width(with_errors.front())) chosen.reset();
    }
    const bool is_first = !chosen && tables.front().is_stored;  // entries of one file
    if (is_first) chosen = 0;
    if (!chosen)
        throw InputError(file, curves.empty() ? 0 : tables[curves.back()].rows.front().line,
                         fmt::format("expected one curve, found {}: {}; --curve NAME takes one",
                                     tables.size(), all));
    if (tables.size() > 1)
        notes.push_back(
            {NoteKind::several,
             fmt::format("curve {} of {} read: {}", *chosen + 1, tables.size(), names[*chosen]),
             "--curve NAME", is_first});
    CurveTable& table = tables[*chosen];
    constexpr std::size_t kFew = 10;
    if (options.curve.empty() && options.columns.empty() && table.columns.empty() &&
        table.rows.size() < std::min(kFew, table.other_lines))
        throw InputError(file, table.rows.front().line,
                         fmt::format("expected a curve, found {} lines of numbers in {} of text; "
                                     "--columns 1,2,3 reads them",
                                     table.rows.size(), table.other_lines));
    if (options.unit == MomentumUnit::automatic && !table.unknown_unit.empty())
        throw InputError(file, 0,
                         fmt::format("expected q in 1/angstrom or 1/nm, found '{}'; --q-unit says "
                                     "which it is",
                                     table.unknown_unit));
    return std::move(table);
}

/// Rows of few numbers above a table with names are not measured: GNOM extrapolates there.
void drop_extrapolated(CurveTable& table, std::size_t columns, Notes& notes) {
    std::size_t count = 0;
    while (count < table.rows.size() && table.rows[count].values.size() < columns) ++count;
    if (table.columns.empty() || count == 0 || count == table.rows.size()) return;
    notes.push_back(
        {NoteKind::points, fmt::format("{} of {} points without intensity and error left out",
                                       count, table.rows.size())});
    table.rows.erase(table.rows.begin(), table.rows.begin() + static_cast<std::ptrdiff_t>(count));
}

void leave_out_below(const std::string& file, double q_min, ProfileFile& read) {
    Profile& curve = read.profile;
    const auto count = static_cast<std::size_t>(
        std::lower_bound(curve.q.begin(), curve.q.end(), q_min) - curve.q.begin());
    if (count == 0) return;
    if (curve.size() < count + kMinPoints)
        throw InputError(file, 0,
                         fmt::format("expected {} or more points from q = {:g} 1/angstrom on "
                                     "(--q-min), found {}",
                                     kMinPoints, q_min, curve.size() - count));
    read.notes.push_back({NoteKind::points,
                          fmt::format("{} of {} points below q = {:g} 1/angstrom left out", count,
                                      curve.size(), q_min),
                          "--q-min 0"});
    for (std::vector<double>* values : {&curve.q, &curve.intensity, &curve.sigma, &curve.dq})
        if (!values->empty())
            values->erase(values->begin(), values->begin() + static_cast<std::ptrdiff_t>(count));
}

ProfileFile profile_of(const std::string& file, std::vector<CurveTable> tables,
                       const ProfileOptions& options) {
    Notes notes;
    CurveTable table = choose_curve(file, std::move(tables), options, notes);
    notes.insert(notes.end(), table.notes.begin(), table.notes.end());
    const CurveColumns columns = choose_columns(file, table, options, notes);
    const CurveRow& front = table.rows.front();
    if (!columns.error && !options.assumed_error)
        throw InputError(file, front.line,
                         fmt::format("expected q, intensity and error, found no error in '{}'; {}",
                                     front.text, CurvePoints::kAdvice));
    if (options.smear && !columns.spread)
        throw InputError(file, front.line,
                         fmt::format("expected q, intensity, error and dq (--smear), found no dq "
                                     "in '{}'",
                                     front.text));
    std::vector<std::size_t> wanted = {columns.q, columns.intensity};
    if (columns.error || options.smear) wanted.push_back(columns.error.value_or(columns.intensity));
    if (options.smear) wanted.push_back(*columns.spread);
    const std::size_t last = *std::max_element(wanted.begin(), wanted.end());
    drop_extrapolated(table, last + 1, notes);
    CurvePoints points(file, options, columns.error.has_value());
    for (const CurveRow& row : table.rows) {
        std::vector<double> values;
        if (row.values.size() > last)
            for (const std::size_t column : wanted) values.push_back(row.values[column]);
        points.add(row.line, values, row.is_point, row.text);
    }
    ProfileFile read;
    read.profile = points.finish(notes);
    convert_unit(file, options, table.unit, read);
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
         .help = "Curve to read of a file of several, by its name or number from 1",
         .value_name = "NAME"},
        {.name = "q-min",
         .target = &options.q_min,
         .help = "Leave out points of the curve below this q",
         .unit = "1/angstrom",
         .min = 0,
         .max = 10},
        {.name = "assume-error",
         .target = &options.assumed_error,
         .help = "Error of points that come without one, as a fraction of their intensity",
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
    return profile_of(
        bytes->name(),
        tables_of(curves_from_hdf5(bytes->name(), {all.data(), all.size()}), "NXcanSAS"), options);
}

double gyration_of_atoms(const Ensemble& ensemble) {
    const bool is_on_disk = ensemble.on_disk.is_on_disk();  // [frame, atom, axis] there
    const Array<float, 2> stored = is_on_disk ? ensemble.on_disk.frame(0) : Array<float, 2>();
    const Index atoms = is_on_disk ? stored.extent(0) : ensemble.atom_count();
    double square = 0;
    for (Index axis = 0; axis < 3; ++axis) {
        const auto position = [&](Index n) {
            return static_cast<double>(is_on_disk ? stored(n, axis) : ensemble.xyz(0, axis, n));
        };
        double mean = 0;
        for (Index n = 0; n < atoms; ++n) mean += position(n) / static_cast<double>(atoms);
        for (Index n = 0; n < atoms; ++n)
            square += (position(n) - mean) * (position(n) - mean) / static_cast<double>(atoms);
    }
    return std::sqrt(square);
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
    if (q.size() < kMinPoints || q.size() > static_cast<std::size_t>(kMaxPoints))
        throw InputError(name, 0,
                         fmt::format("expected from {} to {} points, found {}", kMinPoints,
                                     kMaxPoints, q.size()));
    if (!with_errors && !options.assumed_error)
        throw InputError(name, 0,
                         fmt::format("expected q, intensity and error, found no error; {}",
                                     CurvePoints::kAdvice));
    CurvePoints points(name, options, with_errors);
    for (std::size_t n = 0; n < q.size(); ++n) {
        std::vector<double> values = {q[n], intensity[n]};
        if (with_errors) values.push_back(sigma[n]);
        if (options.smear) values.push_back(dq[n]);
        points.add(static_cast<Index>(n) + 1, values, true,
                   fmt::format("{:g}", fmt::join(values, " ")));
    }
    ProfileFile made;
    Notes notes;
    made.profile = points.finish(notes);
    convert_unit(name, options, MomentumUnit::per_angstrom, made);
    made.notes = std::move(notes);  // the unit was the caller's to tell
    leave_out_below(name, options.q_min, made);
    return made;
}

}  // namespace pleat
