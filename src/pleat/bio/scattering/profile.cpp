// Profiles: the table of numbers among titles and footers, checked, in 1/angstrom.
#include "pleat/bio/scattering/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/scattering/curve_points.h"
#include "pleat/core/error.h"
#include "pleat/core/notes.h"

namespace pleat {

namespace {

constexpr std::size_t kMinPoints = 3, kMaxColumns = 4;
constexpr Index kMaxPoints = 1000000;

struct Row {
    Index line = 0;
    std::vector<double> values;  ///< the numbers that the line begins with, at most 4
    std::size_t words = 0;       ///< of the whole line
    std::string text;
    bool decimal_commas = false;
};

// Files of DOS may end in a control-Z.
constexpr std::string_view kBlanks = " \t;\v\f\x1a";

/// What messages show of a line: printable ASCII, at most 60 characters.
std::string shown(std::string_view text) {
    constexpr std::size_t kMaxShown = 60;
    std::string clean(text.substr(0, kMaxShown));
    if (text.size() > kMaxShown) clean += "...";
    for (char& c : clean) {
        if (c == '\t') c = ' ';
        if (c < ' ' || c > '~') c = '?';
    }
    return clean;
}

/// The whole word as a number, Fortran's D exponents included; nan and inf are numbers here.
bool parse(std::string_view word, double& value) {
    std::string text(word);
    for (char& c : text) {
        if (c == 'D' || c == 'd') c = 'e';
    }
    if (text.starts_with('+')) text.erase(0, 1);
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ptr != text.data() + text.size()) return false;
    // Too large for a double is infinite, too small is 0.
    if (parsed.ec == std::errc::result_out_of_range) value = std::strtod(text.c_str(), nullptr);
    return parsed.ec != std::errc::invalid_argument;
}

/// Calls `visit` with each word between separators.
template <class Visit>
void for_each_word(std::string_view line, std::string_view separators, const Visit& visit) {
    std::size_t at = line.find_first_not_of(separators);
    while (at != std::string_view::npos) {
        const std::size_t end = std::min(line.find_first_of(separators, at), line.size());
        visit(line.substr(at, end - at));
        at = line.find_first_not_of(separators, end);
    }
}

/// Whether a line's numbers have commas for points: "0,01 10,5 0,1", without a point or a comma at
/// the end of a word, which parts words.
bool has_decimal_commas(std::string_view line) {
    std::size_t words = 0, commas = 0;
    bool is_decimal = line.find('.') == std::string_view::npos;
    for_each_word(line, kBlanks, [&](std::string_view word) {
        ++words;
        const std::size_t comma = word.find(',');
        if (comma == std::string_view::npos) return;
        ++commas;
        const auto is_digit = [&](std::size_t at) {
            return at < word.size() && word[at] >= '0' && word[at] <= '9';
        };
        is_decimal = is_decimal && comma > 0 && is_digit(comma - 1) && is_digit(comma + 1) &&
                     word.find(',', comma + 1) == std::string_view::npos;
    });
    return is_decimal && words > 1 && commas > 0;
}

Row split(std::string_view given, Index number) {
    Row row{.line = number, .values = {}, .words = 0, .text = {}};
    std::string line(given);
    row.decimal_commas = has_decimal_commas(given);
    if (row.decimal_commas) std::replace(line.begin(), line.end(), ',', '.');
    const std::string between = std::string(kBlanks) + ",";
    bool numbers = true;
    const std::size_t first = line.find_first_not_of(between);
    if (first != std::string::npos) row.text = shown(given.substr(first));
    for_each_word(line, between, [&](std::string_view word) {
        double value = 0;
        numbers = numbers && row.values.size() < kMaxColumns && parse(word, value);
        if (numbers) row.values.push_back(value);
        ++row.words;
    });
    return row;
}

/// Whether a line can be a point of a curve: two numbers alone, or three and anything behind.
bool is_point(const Row& row) {
    return row.values.size() >= 3 || (row.values.size() == 2 && row.words == 2);
}

/// The lines of the table. A table begins with three lines of points in succession, and ends where
/// a line begins with no number.
class TableFinder {
public:
    void take(Row row) {
        if (row.words == 0 || row.text.front() == '#') return;
        if (found_) {
            inside(std::move(row));
        } else if (is_point(row)) {
            rows_.push_back(std::move(row));
            found_ = rows_.size() == kMinPoints;
        } else {
            rows_.clear();
        }
        if (static_cast<Index>(rows_.size()) > kMaxPoints) too_many_ = true;
    }
    bool found() const { return found_; }
    bool too_many() const { return too_many_; }
    Index second_table() const { return behind_ >= kMinPoints ? behind_line_ : 0; }
    const std::vector<Row>& rows() const { return rows_; }

private:
    void inside(Row row) {
        if (row.values.empty()) {
            ended_ = true;
            behind_ = 0;
        } else if (!ended_) {
            rows_.push_back(std::move(row));
        } else if (is_point(row) && behind_ < kMinPoints) {
            if (behind_ == 0) behind_line_ = row.line;
            ++behind_;
        }
    }

    std::vector<Row> rows_;
    bool found_ = false, ended_ = false, too_many_ = false;
    std::size_t behind_ = 0;
    Index behind_line_ = 0;
};

std::vector<Row> find_table(ByteSource& source) {
    TableFinder finder;
    std::string_view line;
    while (source.next(line)) {
        finder.take(split(line, source.line()));
        if (finder.too_many())
            throw InputError(source.name(), source.line(),
                             fmt::format("expected at most {} points, found more", kMaxPoints));
    }
    if (source.line() == 0)
        throw InputError(source.name(), 0, "expected a scattering curve, found an empty file");
    if (!finder.found())
        throw InputError(source.name(), 0,
                         "expected 3 or more lines of numbers in succession (q, intensity, error), "
                         "found none");
    if (finder.second_table() > 0)
        throw InputError(source.name(), finder.second_table(),
                         "expected one table of numbers, found a second one behind other text");
    std::vector<Row> rows = finder.rows();
    // One or two lines of two numbers on top of three columns belong to the title.
    std::size_t title = 0;
    while (title < rows.size() && rows[title].values.size() < 3) ++title;
    if (title < kMinPoints && rows.size() >= title + kMinPoints)
        rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(title));
    return rows;
}

/// Converts q to 1/angstrom and notes which unit was assumed.
void convert_unit(const std::string& file, MomentumUnit unit, ProfileFile& read) {
    // Curves of molecules in solution end between 0.2 and 1 (or, at wide angles, 3) 1/angstrom.
    constexpr double kDivide = 1, kMinEnd = 0.01, kMaxEnd = 10;
    std::vector<double>& q = read.profile.q;
    const double end = q.back();
    const bool is_automatic = unit == MomentumUnit::automatic;
    read.per_nanometre = is_automatic ? end > kDivide : unit == MomentumUnit::per_nanometre;
    if (read.per_nanometre) {
        for (double& value : q) value /= 10;
        for (double& value : read.profile.dq) value /= 10;
    }
    const char* name = read.per_nanometre ? "1/nm" : "1/angstrom";
    if (q.back() < kMinEnd || q.back() > kMaxEnd)
        throw InputError(file, 0,
                         fmt::format("expected a curve that ends between q = {} and {} 1/angstrom, "
                                     "found {:g} {}",
                                     kMinEnd, kMaxEnd, end, name));
    read.notes.push_back(
        {NoteKind::unit,
         is_automatic ? fmt::format("q taken as {}, since the curve ends at {:g}", name, end)
                      : fmt::format("q taken as {} as told; the curve ends at {:g}", name, end)});
}

}  // namespace

ProfileFile read_profile(ByteSource& source, const ProfileOptions& options) {
    const std::vector<Row> rows = find_table(source);
    const bool with_errors = rows.front().values.size() >= 3;
    if (!with_errors && !options.assumed_error)
        throw InputError(source.name(), rows.front().line,
                         fmt::format("expected q, intensity and error, found no error in '{}'; {}",
                                     rows.front().text, CurvePoints::kAdvice));
    if (options.smear && rows.front().values.size() < kMaxColumns)
        throw InputError(source.name(), rows.front().line,
                         fmt::format("expected q, intensity, error and dq (--smear), found no dq "
                                     "in '{}'",
                                     rows.front().text));
    CurvePoints points(source.name(), options, with_errors);
    for (const Row& row : rows) points.add(row.line, row.values, is_point(row), row.text);
    ProfileFile read;
    Notes notes;
    read.profile = points.finish(notes);
    convert_unit(source.name(), options.unit, read);
    if (std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.decimal_commas; }))
        read.notes.push_back({NoteKind::format, "commas between digits read as decimal points"});
    read.notes.insert(read.notes.end(), notes.begin(), notes.end());
    return read;
}

std::span<const std::string_view> names_of(MomentumUnit) {
    static constexpr std::string_view kNames[] = {"auto", "1/angstrom", "1/nm"};
    return kNames;
}

std::vector<Field> fields(ProfileOptions& options) {
    return {{.name = "q-unit",
             .target = &options.unit,
             .help = "Unit of the curve's q; auto: 1/nm if the curve ends beyond 1"},
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
    constexpr Index kMaxBytes = Index{64} << 20;
    ByteSource source(path, kMaxBytes);
    return read_profile(source, options);
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
    const bool is_automatic = options.unit == MomentumUnit::automatic;
    convert_unit(name, is_automatic ? MomentumUnit::per_angstrom : options.unit, made);
    made.notes = std::move(notes);  // the unit was the caller's to tell
    return made;
}

}  // namespace pleat
