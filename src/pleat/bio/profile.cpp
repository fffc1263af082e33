// Profiles: the table of numbers among titles and footers, checked, in 1/angstrom.
#include "pleat/bio/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "pleat/core/error.h"

namespace pleat {

namespace {

constexpr std::size_t kLeastPoints = 3;
constexpr Index kMostPoints = 1000000;
constexpr double kLargest = 1e30;  // squares of what is read must stay finite

struct Row {
    Index line = 0;
    std::vector<double> values;  ///< the numbers that the line begins with, at most 3
    std::size_t words = 0;       ///< of the whole line
    std::string text;
};

/// What messages show of a line: printable ASCII, at most 60 characters.
std::string shown(std::string_view text) {
    constexpr std::size_t kMost = 60;
    std::string clean(text.substr(0, kMost));
    if (text.size() > kMost) clean += "...";
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

Row split(std::string_view line, Index number) {
    // Files of DOS may end in a control-Z.
    constexpr std::string_view kBetween = " \t,;\v\f\x1a";
    Row row{.line = number, .values = {}, .words = 0, .text = {}};
    bool numbers = true;
    std::size_t at = line.find_first_not_of(kBetween);
    if (at != std::string_view::npos) row.text = shown(line.substr(at));
    while (at != std::string_view::npos) {
        const std::size_t end = std::min(line.find_first_of(kBetween, at), line.size());
        double value = 0;
        numbers = numbers && row.values.size() < 3 && parse(line.substr(at, end - at), value);
        if (numbers) row.values.push_back(value);
        ++row.words;
        at = line.find_first_not_of(kBetween, end);
    }
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
            found_ = rows_.size() == kLeastPoints;
        } else {
            rows_.clear();
        }
        if (static_cast<Index>(rows_.size()) > kMostPoints) too_many_ = true;
    }
    bool found() const { return found_; }
    bool too_many() const { return too_many_; }
    Index second_table() const { return behind_ >= kLeastPoints ? behind_line_ : 0; }
    const std::vector<Row>& rows() const { return rows_; }

private:
    void inside(Row row) {
        if (row.values.empty()) {
            ended_ = true;
            behind_ = 0;
        } else if (!ended_) {
            rows_.push_back(std::move(row));
        } else if (is_point(row) && behind_ < kLeastPoints) {
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
                             fmt::format("expected at most {} points, found more", kMostPoints));
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
    return finder.rows();
}

/// Collects up to ten complaints about points and makes the curve of those that are sound.
class Points {
public:
    Points(const std::string& file, const ProfileOptions& options, bool with_errors)
        : complaints_(file), options_(options), with_errors_(with_errors) {}

    void add(const Row& row) {
        const std::size_t wanted = with_errors_ ? 3 : 2;
        if (row.values.size() < wanted || !is_point(row)) {
            complaints_.add(
                row.line,
                fmt::format("expected {}, found '{}'",
                            with_errors_ ? "q, intensity and error" : "q and intensity", row.text));
            return;
        }
        const double q = row.values[0], intensity = row.values[1];
        const double sigma = with_errors_ ? row.values[2] : 0;
        if (!std::isfinite(q) || !std::isfinite(intensity) || !std::isfinite(sigma)) {
            complaints_.add(row.line, fmt::format("expected finite numbers, found '{}'", row.text));
        } else if (std::abs(intensity) > kLargest || sigma > kLargest ||
                   (sigma > 0 && sigma < 1 / kLargest)) {
            complaints_.add(row.line,
                            fmt::format("expected intensity and error of at most {:g} and an error "
                                        "of at least {:g}, found '{}'",
                                        kLargest, 1 / kLargest, row.text));
        } else if (q < 0) {
            complaints_.add(row.line, fmt::format("expected q of 0 or more, found {:g}", q));
        } else if (!profile_.q.empty() && q <= profile_.q.back()) {
            complaints_.add(row.line,
                            fmt::format("expected q above that of the point before, {:g}, "
                                        "found {:g}",
                                        profile_.q.back(), q));
        } else if (sigma < 0) {
            complaints_.add(row.line, fmt::format("expected an error above 0, found {:g}", sigma));
        } else {
            keep(row.line, q, intensity, sigma);
        }
    }
    Profile finish() {
        complaints_.throw_if_any();
        return std::move(profile_);
    }
    std::size_t assumed() const { return assumed_; }

private:
    void keep(Index line, double q, double intensity, double sigma) {
        if (sigma == 0) {
            sigma = options_.assumed_error * std::abs(intensity);
            ++assumed_;
        }
        if (!(sigma >= 1 / kLargest)) {
            complaints_.add(line, std::isnan(options_.assumed_error)
                                      ? "expected an error above 0, found 0"
                                      : "expected an intensity to take an error from, found 0");
            return;
        }
        profile_.q.push_back(q);
        profile_.intensity.push_back(intensity);
        profile_.sigma.push_back(sigma);
    }

    Complaints complaints_;
    const ProfileOptions& options_;
    const bool with_errors_;
    Profile profile_;
    std::size_t assumed_ = 0;
};

/// Brings q to 1/angstrom and says what was taken for its unit.
void settle_unit(const std::string& file, MomentumUnit unit, ProfileFile& read) {
    // Curves of molecules in solution end between 0.2 and 1 (or, at wide angles, 3) 1/angstrom.
    constexpr double kDivide = 1, kLeastEnd = 0.01, kMostEnd = 10;
    std::vector<double>& q = read.profile.q;
    const double end = q.back();
    const bool is_automatic = unit == MomentumUnit::automatic;
    read.per_nanometre = is_automatic ? end > kDivide : unit == MomentumUnit::per_nanometre;
    if (read.per_nanometre) {
        for (double& value : q) value /= 10;
    }
    const char* name = read.per_nanometre ? "1/nm" : "1/angstrom";
    if (q.back() < kLeastEnd || q.back() > kMostEnd)
        throw InputError(file, 0,
                         fmt::format("expected a curve that ends between q = {} and {} 1/angstrom, "
                                     "found {:g} {}",
                                     kLeastEnd, kMostEnd, end, name));
    read.notes.push_back(
        is_automatic ? fmt::format("q taken as {}, since the curve ends at {:g}", name, end)
                     : fmt::format("q taken as {} as told; the curve ends at {:g}", name, end));
}

void note_assumed(std::size_t assumed, double error, ProfileFile& read) {
    if (assumed == 0) return;
    read.notes.push_back(fmt::format("errors of {} of {} points taken as {:g} of the intensity",
                                     assumed, read.profile.size(), error));
}

}  // namespace

ProfileFile read_profile(ByteSource& source, const ProfileOptions& options) {
    const std::vector<Row> rows = find_table(source);
    const bool with_errors = rows.front().values.size() >= 3;
    if (!with_errors && std::isnan(options.assumed_error))
        throw InputError(source.name(), rows.front().line,
                         fmt::format("expected q, intensity and error, found no error in '{}'",
                                     rows.front().text));
    Points points(source.name(), options, with_errors);
    for (const Row& row : rows) points.add(row);
    ProfileFile read;
    read.profile = points.finish();
    settle_unit(source.name(), options.unit, read);
    note_assumed(points.assumed(), options.assumed_error, read);
    return read;
}

ProfileOptions ProfileChoices::options() const {
    return {.unit = unit == "1/angstrom" ? MomentumUnit::per_angstrom
                    : unit == "1/nm"     ? MomentumUnit::per_nanometre
                                         : MomentumUnit::automatic,
            .assumed_error = assumed_error};
}

std::vector<Field> fields(ProfileChoices& choices) {
    return {{.name = "q-unit",
             .target = &choices.unit,
             .help = "Unit of the curve's q; auto: 1/nm where it ends beyond 1",
             .choices = {"auto", "1/angstrom", "1/nm"}},
            {.name = "assume-error",
             .target = &choices.assumed_error,
             .help = "Error of points that come without one, as a part of their intensity",
             .least = 0,
             .most = 10,
             .least_excluded = true,
             .automatic = "such curves are refused"}};
}

ProfileFile read_profile(const std::filesystem::path& path, const ProfileOptions& options) {
    ByteSource source(path);
    return read_profile(source, options);
}

ProfileFile make_profile(const std::string& name, std::span<const double> q,
                         std::span<const double> intensity, std::span<const double> sigma,
                         const ProfileOptions& options) {
    const bool with_errors = !sigma.empty();
    if (q.size() != intensity.size() || (with_errors && q.size() != sigma.size()))
        throw InputError(name, 0,
                         fmt::format("expected q, intensity and error of one length, found {}, {} "
                                     "and {}",
                                     q.size(), intensity.size(), sigma.size()));
    if (q.size() < kLeastPoints || q.size() > static_cast<std::size_t>(kMostPoints))
        throw InputError(name, 0, fmt::format("expected from {} to {} points, found {}",
                                              kLeastPoints, kMostPoints, q.size()));
    if (!with_errors && std::isnan(options.assumed_error))
        throw InputError(name, 0, "expected q, intensity and error, found no error");
    Points points(name, options, with_errors);
    for (std::size_t n = 0; n < q.size(); ++n) {
        Row row{.line = static_cast<Index>(n) + 1, .values = {q[n], intensity[n]}, .words = 2, .text = {}};
        if (with_errors) row.values.push_back(sigma[n]);
        row.words = row.values.size();
        row.text = fmt::format("{:g}", fmt::join(row.values, " "));
        points.add(row);
    }
    ProfileFile made;
    made.profile = points.finish();
    const bool is_automatic = options.unit == MomentumUnit::automatic;
    settle_unit(name, is_automatic ? MomentumUnit::per_angstrom : options.unit, made);
    made.notes.clear();  // the unit was the caller's to tell
    note_assumed(points.assumed(), options.assumed_error, made);
    return made;
}

}  // namespace pleat
