// Profiles: the table of numbers among titles and footers, checked, in 1/angstrom.
#include "pleat/bio/scattering/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "pleat/bio/input/byte_source.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

constexpr std::size_t kMinPoints = 3;
constexpr Index kMaxPoints = 1000000;
constexpr double kLargest = 1e30;  // squares of what is read must stay finite

struct Row {
    Index line = 0;
    std::vector<double> values;  ///< the numbers that the line begins with, at most 3
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
        numbers = numbers && row.values.size() < 3 && parse(word, value);
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

/// Collects up to ten complaints about points and makes the curve of those that are sound.
class Points {
public:
    Points(const std::string& file, const ProfileOptions& options, bool with_errors)
        : file_(file), complaints_(file), options_(options), with_errors_(with_errors) {}

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
        } else if (sigma < 0) {
            complaints_.add(row.line, fmt::format("expected an error above 0, found {:g}", sigma));
        } else {
            keep(row.line, q, intensity, sigma);
        }
    }
    /// The curve by rising q. Appends what was done to `notes`.
    Profile finish(std::vector<std::string>& notes) {
        complaints_.throw_if_any();
        const std::size_t all = profile_.size() + without_error_;
        if (profile_.size() < kMinPoints || profile_.size() < without_error_)
            throw InputError(file_, first_without_error_,
                             fmt::format("expected errors above 0, found none at {} of {} points; "
                                         "{}",
                                         without_error_, all, kAdvice));
        if (without_error_ > 0)
            notes.push_back(fmt::format(
                "{} of {} points without a usable error left out{}", without_error_, all,
                options_.assumed_error ? "" : " (--assume-error keeps those of an intensity)"));
        if (assumed_ > 0)
            notes.push_back(fmt::format("errors of {} of {} points taken as {:g} of the intensity",
                                        assumed_, profile_.size(), *options_.assumed_error));
        sort(notes);
        profile_.source = file_;
        return std::move(profile_);
    }

    static constexpr const char* kAdvice = "--assume-error takes errors as a part of the intensity";

private:
    /// Keeps the order of points of equal q.
    void sort(std::vector<std::string>& notes) {
        const std::vector<double>& q = profile_.q;
        std::size_t falls = 0, repeats = 0;
        for (std::size_t k = 1; k < q.size(); ++k) {
            falls += q[k] < q[k - 1];
            repeats += q[k] == q[k - 1];
        }
        if (falls > 0) {
            refuse_second_curve();
            std::vector<std::size_t> order(q.size());
            std::iota(order.begin(), order.end(), std::size_t{0});
            std::stable_sort(order.begin(), order.end(),
                             [&](std::size_t a, std::size_t b) { return q[a] < q[b]; });
            Profile sorted;
            for (const std::size_t k : order) {
                sorted.q.push_back(profile_.q[k]);
                sorted.intensity.push_back(profile_.intensity[k]);
                sorted.sigma.push_back(profile_.sigma[k]);
            }
            profile_ = std::move(sorted);
            notes.push_back(
                fmt::format("points sorted by q, which falls at {} of {}", falls, profile_.size()));
        } else if (repeats > 0) {
            notes.push_back(fmt::format("q repeats at {} of {} points, which all count", repeats,
                                        profile_.size()));
        }
    }

    /// A q that begins again halfway down is a second curve without a line between.
    void refuse_second_curve() const {
        const std::vector<double>& q = profile_.q;
        const auto [min, max] = std::minmax_element(q.begin(), q.end());
        bool rises = false;
        for (std::size_t k = 1; k < q.size(); ++k) {
            rises = rises || q[k] > q[k - 1];
            if (!rises || q[k - 1] - q[k] <= (*max - *min) / 2 || k + kMinPoints > q.size())
                continue;
            bool goes_on = true;
            for (std::size_t n = k + 1; n < k + kMinPoints; ++n)
                goes_on = goes_on && q[n] > q[n - 1];
            if (goes_on)
                throw InputError(
                    file_, lines_[k],
                    fmt::format("expected one curve, found q that begins again at {:g} "
                                "after {:g}",
                                q[k], q[k - 1]));
        }
    }

    void keep(Index line, double q, double intensity, double sigma) {
        if (sigma == 0 && options_.assumed_error && intensity != 0) {
            sigma = *options_.assumed_error * std::abs(intensity);
            assumed_ += sigma >= 1 / kLargest;
        }
        if (!(sigma >= 1 / kLargest)) {
            if (without_error_++ == 0) first_without_error_ = line;
            return;
        }
        profile_.q.push_back(q);
        profile_.intensity.push_back(intensity);
        profile_.sigma.push_back(sigma);
        lines_.push_back(line);
    }

    const std::string file_;
    Complaints complaints_;
    const ProfileOptions& options_;
    const bool with_errors_;
    Profile profile_;
    std::vector<Index> lines_;  ///< of the points kept
    std::size_t assumed_ = 0, without_error_ = 0;
    Index first_without_error_ = 0;
};

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
    }
    const char* name = read.per_nanometre ? "1/nm" : "1/angstrom";
    if (q.back() < kMinEnd || q.back() > kMaxEnd)
        throw InputError(file, 0,
                         fmt::format("expected a curve that ends between q = {} and {} 1/angstrom, "
                                     "found {:g} {}",
                                     kMinEnd, kMaxEnd, end, name));
    read.notes.push_back(
        is_automatic ? fmt::format("q taken as {}, since the curve ends at {:g}", name, end)
                     : fmt::format("q taken as {} as told; the curve ends at {:g}", name, end));
}

}  // namespace

ProfileFile read_profile(ByteSource& source, const ProfileOptions& options) {
    const std::vector<Row> rows = find_table(source);
    const bool with_errors = rows.front().values.size() >= 3;
    if (!with_errors && !options.assumed_error)
        throw InputError(source.name(), rows.front().line,
                         fmt::format("expected q, intensity and error, found no error in '{}'; {}",
                                     rows.front().text, Points::kAdvice));
    Points points(source.name(), options, with_errors);
    for (const Row& row : rows) points.add(row);
    ProfileFile read;
    std::vector<std::string> notes;
    read.profile = points.finish(notes);
    convert_unit(source.name(), options.unit, read);
    if (std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.decimal_commas; }))
        read.notes.push_back("commas between digits read as decimal points");
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
             .automatic = "such curves are refused"}};
}

ProfileFile read_profile(const std::filesystem::path& path, const ProfileOptions& options) {
    constexpr Index kMaxBytes = Index{64} << 20;
    ByteSource source(path, kMaxBytes);
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
    if (q.size() < kMinPoints || q.size() > static_cast<std::size_t>(kMaxPoints))
        throw InputError(name, 0,
                         fmt::format("expected from {} to {} points, found {}", kMinPoints,
                                     kMaxPoints, q.size()));
    if (!with_errors && !options.assumed_error)
        throw InputError(
            name, 0,
            fmt::format("expected q, intensity and error, found no error; {}", Points::kAdvice));
    Points points(name, options, with_errors);
    for (std::size_t n = 0; n < q.size(); ++n) {
        Row row{.line = static_cast<Index>(n) + 1,
                .values = {q[n], intensity[n]},
                .words = 2,
                .text = {}};
        if (with_errors) row.values.push_back(sigma[n]);
        row.words = row.values.size();
        row.text = fmt::format("{:g}", fmt::join(row.values, " "));
        points.add(row);
    }
    ProfileFile made;
    std::vector<std::string> notes;
    made.profile = points.finish(notes);
    const bool is_automatic = options.unit == MomentumUnit::automatic;
    convert_unit(name, is_automatic ? MomentumUnit::per_angstrom : options.unit, made);
    made.notes = std::move(notes);  // the unit was the caller's to tell
    return made;
}

}  // namespace pleat
