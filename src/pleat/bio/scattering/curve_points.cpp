// Curve points: complaints about points, their order, settings that overlap, equal q, and the unit
// of q.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "pleat/bio/scattering/curve_table.h"
#include "pleat/bio/scattering/guinier.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

constexpr double kLargest = 1e30;  // squares of what is read must stay finite

struct Point {
    std::int64_t line = 0;
    double q = 0, intensity = 0, sigma = 0, dq = 0;
};
using Points = std::vector<Point>;

/// The number of points of one kind, and the line of the first one.
struct Count {
    std::size_t points = 0;
    std::int64_t line = 0;

    void add(const Point& point) {
        if (points++ == 0) line = point.line;
    }
};

/// Returns what is wrong with the numbers of a point; empty if they are valid.
std::string complaint(const Point& point, const CurveRow& row) {
    if (std::abs(point.intensity) > kLargest || point.sigma > kLargest ||
        (point.sigma > 0 && point.sigma < 1 / kLargest))
        return fmt::format(
            "expected intensity and error of at most {:g} and an error of at least {:g}, found "
            "'{}'",
            kLargest, 1 / kLargest, text_of(row));
    if (point.q < 0) return fmt::format("expected q of 0 or more, found {:g}", point.q);
    if (point.sigma < 0) return fmt::format("expected an error above 0, found {:g}", point.sigma);
    if (point.dq < 0) return fmt::format("expected dq of 0 or more, found {:g}", point.dq);
    return {};
}

/// Throws unless most points have finite numbers and errors; adds a note on the others.
void check_counts(const std::string& file, std::size_t sound, const Count& without_error,
                  const Count& not_finite, const ProfileOptions& options, Notes& notes) {
    const std::size_t finite = sound + without_error.points, all = finite + not_finite.points;
    if (not_finite.points > finite)
        throw InputError(file, not_finite.line,
                         fmt::format("expected finite numbers, found none at {} of {} points",
                                     not_finite.points, all));
    if (sound < kMinCurvePoints && without_error.points == 0)
        throw InputError(
            file, 0, fmt::format("expected {} or more points, found {}", kMinCurvePoints, sound));
    if (sound < std::max(kMinCurvePoints, without_error.points))
        throw InputError(file, without_error.line,
                         fmt::format("expected errors above 0, found none at {} of {} points; {}",
                                     without_error.points, finite, kErrorAdvice));
    if (not_finite.points > 0)
        notes.push_back(
            {NoteKind::points, fmt::format("{} of {} points without finite numbers (NaN) left out",
                                           not_finite.points, all)});
    if (without_error.points > 0)
        notes.push_back({NoteKind::points,
                         fmt::format("{} of {} points without a usable error left out",
                                     without_error.points, finite),
                         options.assumed_error ? ""
                                               : "--assume-error, which keeps those of an "
                                                 "intensity"});
}

/// Column 4 may be a model in files of other programs.
void check_dq(const std::string& file, const Points& points) {
    const Point& widest = *std::ranges::max_element(points, {}, &Point::dq);
    const double end = std::ranges::max_element(points, {}, &Point::q)->q;
    if (widest.dq == 0)
        throw InputError(file, points.front().line,
                         "expected dq above 0 in column 4 (--smear), found 0 at all points");
    if (widest.dq > end / 2)
        throw InputError(file, widest.line,
                         fmt::format("expected dq in column 4 (--smear) of at most half of the "
                                     "largest q ({:g}), found {:g}",
                                     end, widest.dq));
}

Points sound_points(const std::string& file, const CurveTable& table, const CurveColumns& columns,
                    const ProfileOptions& options, Notes& notes) {
    const bool smear = options.smear;
    const std::size_t last = std::max({columns.q, columns.intensity, columns.error.value_or(0),
                                       smear ? columns.spread.value_or(0) : 0});
    // Short rows above a table with column names are not measured: GNOM extrapolates there.
    const auto is_whole = [&](const CurveRow& row) { return row.values.size() > last; };
    auto first = std::ranges::find_if(table.rows, is_whole);
    if (table.columns.empty() || first == table.rows.end()) first = table.rows.begin();
    if (first != table.rows.begin())
        notes.push_back(
            {NoteKind::points, fmt::format("{} of {} points without intensity and error left out",
                                           first - table.rows.begin(), table.rows.size())});
    Complaints complaints(file);
    Count assumed, without_error, not_finite, negative;
    Points points;
    for (; first != table.rows.end(); ++first) {
        const CurveRow& row = *first;
        if (!is_whole(row) || !row.is_point) {
            complaints.add(row.line, fmt::format("expected {}, found '{}'",
                                                 smear ? "q, intensity, error and dq (--smear)"
                                                 : columns.error ? "q, intensity and error"
                                                                 : "q and intensity",
                                                 text_of(row)));
            continue;
        }
        Point point{row.line, row.values[columns.q], row.values[columns.intensity],
                    columns.error ? row.values[*columns.error] : 0,
                    smear ? row.values[*columns.spread] : 0};
        if (!std::isfinite(point.q + point.intensity + point.sigma + point.dq)) {
            not_finite.add(point);
            continue;
        }
        if (point.q < 0 && options.q_min > 0) {
            negative.add(point);
            continue;
        }
        if (const std::string wrong = complaint(point, row); !wrong.empty()) {
            complaints.add(row.line, wrong);
            continue;
        }
        const bool is_assumed = point.sigma == 0 && options.assumed_error;
        if (is_assumed) point.sigma = *options.assumed_error * std::abs(point.intensity);
        if (point.sigma < 1 / kLargest) {
            without_error.add(point);
            continue;
        }
        if (is_assumed) assumed.add(point);
        points.push_back(point);
    }
    complaints.throw_if_any();
    check_counts(file, points.size(), without_error, not_finite, options, notes);
    if (negative.points > 0)
        notes.push_back(
            {NoteKind::points, fmt::format("{} points of negative q left out", negative.points)});
    if (smear) check_dq(file, points);
    if (assumed.points > 0)
        notes.push_back({NoteKind::errors,
                         fmt::format("errors of {} of {} points taken as {:g} of the intensity",
                                     assumed.points, points.size(), *options.assumed_error)});
    return points;
}

void refuse_second_curve(const std::string& file, const Points& points) {
    const auto [min, max] = std::ranges::minmax_element(points, {}, &Point::q);
    const double half = (max->q - min->q) / 2;
    double begin = points.front().q;  // of the rising points before k
    bool rises = false;
    for (std::size_t k = 1; k < points.size(); ++k) {
        const double before = points[k - 1].q, q = points[k].q;
        rises = rises || q > before;
        if (q >= before) continue;
        std::size_t end = k + 1;  // of the rising points from k
        while (end < points.size() && points[end].q > points[end - 1].q) ++end;
        const double overlap = std::min(before, points[end - 1].q) - std::max(begin, q);
        const bool begins_again = before - q > half && q >= begin;
        if (rises && end - k >= kMinCurvePoints && (begins_again || overlap > half))
            throw InputError(
                file, points[k].line,
                fmt::format("expected one curve, found q that begins again at {:g} after {:g}", q,
                            before));
        begin = q;
    }
}

void sort(const std::string& file, Points& points, Notes& notes) {
    std::size_t falls = 0;
    for (std::size_t k = 1; k < points.size(); ++k) falls += points[k].q < points[k - 1].q;
    if (falls == 0) return;
    refuse_second_curve(file, points);
    std::ranges::stable_sort(points, {}, &Point::q);
    notes.push_back({NoteKind::order, fmt::format("points sorted by q, which falls at {} of {}",
                                                  falls, points.size())});
}

void merge(const std::string& file, Points& points, Notes& notes) {
    Points merged;
    for (auto first = points.begin(), last = first; first != points.end(); first = last) {
        Point mean{first->line, first->q};
        double weights = 0;
        for (; last != points.end() && last->q == first->q; ++last) {
            const double weight = 1 / (last->sigma * last->sigma);
            weights += weight;
            mean.intensity += weight * last->intensity;
            mean.dq += weight * last->dq * last->dq;
        }
        mean.intensity /= weights;
        mean.sigma = 1 / std::sqrt(weights);
        mean.dq = std::sqrt(mean.dq / weights);
        merged.push_back(last == first + 1 ? *first : mean);
    }
    if (merged.size() == points.size()) return;
    if (merged.size() < kMinCurvePoints)
        throw InputError(file, 0,
                         fmt::format("expected {} or more different q, found {} at {} points",
                                     kMinCurvePoints, merged.size(), points.size()));
    notes.push_back({NoteKind::order,
                     fmt::format("points of equal q merged by their weights 1 / error^2: {} of {} "
                                 "remain",
                                 merged.size(), points.size())});
    points = std::move(merged);
}

/// Returns why the errors in a file are probably not errors; empty if they may be.
std::string doubt_of_errors(const Points& points, bool are_all_one) {
    if (are_all_one) return "all errors are 1, as where a file has none";
    // Variances, or another quantity.
    constexpr double kSmallest = 1e-5;  // of the intensity
    std::size_t larger = 0, tiny = 0;
    for (const Point& point : points) {
        larger += point.sigma > std::abs(point.intensity);
        tiny += point.sigma < kSmallest * std::abs(point.intensity);
    }
    if (20 * larger >= 19 * points.size())
        return fmt::format("errors exceed the intensities at {} of {} points", larger,
                           points.size());
    if (20 * tiny >= 19 * points.size())
        return fmt::format("errors are below {:g} of the intensities at {} of {} points", kSmallest,
                           tiny, points.size());
    return {};
}

}  // namespace

std::string text_of(const CurveRow& row) {
    return row.text.empty() ? fmt::format("{:g}", fmt::join(row.values, " ")) : row.text;
}

Profile read_points(const std::string& file, const CurveTable& table, const CurveColumns& columns,
                    const ProfileOptions& options, Notes& notes) {
    Points points = sound_points(file, table, columns, options, notes);
    const bool are_all_one =
        std::ranges::all_of(points, [](const Point& point) { return point.sigma == 1; });
    sort(file, points, notes);
    merge(file, points, notes);
    const std::string doubt = columns.error ? doubt_of_errors(points, are_all_one) : "";
    if (!doubt.empty())
        notes.push_back({NoteKind::errors, doubt + ": chi^2 then means nothing",
                         "--columns Q,I with --assume-error", true});
    Profile curve;
    for (const Point& point : points) {
        curve.q.push_back(point.q);
        curve.intensity.push_back(point.intensity);
        curve.sigma.push_back(point.sigma);
        if (options.smear) curve.dq.push_back(point.dq);
    }
    curve.source = file;
    return curve;
}

namespace {

// Solution scattering curves end between 0.2 and 1 1/angstrom, or 3 at wide angles.
constexpr double kMinEnd = 0.01, kMaxEnd = 10, kWideEnd = 3.5;
/// Range of Guinier radii (angstrom) of molecules that are measured.
constexpr double kMinGyration = 6, kMaxGyration = 1000;

std::string_view name_of_unit(bool per_nanometre) {
    return names_of(MomentumUnit())[per_nanometre ? 2 : 1];
}

struct Decision {
    bool per_nanometre = false;
    std::string reason;
    std::string doubt = {};  ///< a note with it is a warning; empty: none
};

/// Guesses the unit of q of a curve. `line`: the Guinier fit with q as in the file; `begins_low`:
/// whether the curve begins inside the Guinier region.
Decision guess(const Profile& curve, const Guinier& line, bool begins_low,
               std::optional<double> structure) {
    const double end = curve.q.back(), length = line.gyration_radius;
    const bool by_end = end > 1;
    // The unit is surely 1/nm if the curve shows the size of a molecule, or if it begins at small
    // angles and ends beyond wide angles.
    constexpr double kMaxProduct = 1, kMaxStart = 1;
    const bool is_surely_nm = end > kMaxEnd || (end > kWideEnd && curve.q.front() < kMaxStart) ||
                              (line.is_valid && curve.q[line.first] * length < kMaxProduct &&
                               10 * length >= kMinGyration && 10 * length <= kMaxGyration);
    const Decision of_end{by_end, fmt::format("since the curve ends at {:g}", end),
                          by_end && !is_surely_nm ? "; nothing else decides it" : ""};
    const auto in_other = [&](bool per_nanometre) {
        return fmt::format(" (in {} it would be {:.1f})", name_of_unit(!per_nanometre),
                           per_nanometre ? length : 10 * length);
    };
    if (!line.is_valid || end > kWideEnd) return of_end;
    if (structure) {
        constexpr double kMaxRatio = 2;  // of the two
        const double angstrom = std::abs(std::log(length / *structure));
        const double nanometre = std::abs(std::log(10 * length / *structure));
        const bool is_nanometre = nanometre < angstrom;
        return {is_nanometre,
                fmt::format("since Guinier's Rg is then {:.1f} angstrom and that of the structure "
                            "{:.1f}",
                            is_nanometre ? 10 * length : length, *structure),
                std::min(angstrom, nanometre) > std::log(kMaxRatio) ? in_other(is_nanometre) : ""};
    }
    // A molecule of 6 to 20 angstrom, or one of 60 to 200 angstrom, for which lower angles must be
    // measured.
    constexpr double kSurelyAngstrom = 20, kMinStart = 0.025, kMinNmEnd = 0.5, kMaxChi2 = 5;
    const auto by_size = [&](bool per_nanometre, bool is_doubtful) {
        return Decision{per_nanometre,
                        fmt::format("since Guinier's Rg is then {:.1f} angstrom",
                                    per_nanometre ? 10 * length : length),
                        is_doubtful ? in_other(per_nanometre) : ""};
    };
    if (length >= kSurelyAngstrom) return by_end ? by_size(false, false) : of_end;
    if (length >= kMinGyration)
        return by_end ? by_size(curve.q.front() >= kMinStart, true) : of_end;
    const bool is_good =
        begins_low && line.chi2 < kMaxChi2 && 10 * length >= kMinGyration && end > kMinNmEnd;
    return !by_end && is_good ? by_size(true, false) : of_end;
}

}  // namespace

Note convert_unit(const std::string& file, const ProfileOptions& options, MomentumUnit named,
                  ProfileFile& read) {
    Profile& curve = read.profile;
    const double end = curve.q.back();
    const Guinier line = guinier(curve, 60);
    constexpr double kMaxStart = 0.5;  // of q Rg
    const bool begins_low = line.is_valid && curve.q[line.first] * line.gyration_radius < kMaxStart;
    const bool is_told = options.unit != MomentumUnit::automatic;
    const MomentumUnit known = is_told ? options.unit : named;
    Decision decision{
        known == MomentumUnit::per_nanometre,
        is_told ? fmt::format("as told; the curve ends at {:g}", end) : "as the file says"};
    if (known == MomentumUnit::automatic)
        decision = guess(curve, line, begins_low, options.structure_gyration);
    read.per_nanometre = decision.per_nanometre;
    if (read.per_nanometre)
        for (std::vector<double>* const values : {&curve.q, &curve.dq})
            for (double& value : *values) value /= 10;
    const std::string_view unit = name_of_unit(read.per_nanometre),
                           other_unit = name_of_unit(!read.per_nanometre);
    if (curve.q.back() < kMinEnd || curve.q.back() > kMaxEnd)
        throw InputError(file, 0,
                         fmt::format("expected a curve that ends between q = {} and {} 1/angstrom, "
                                     "found {:g} {}",
                                     kMinEnd, kMaxEnd, end, unit));
    Note note{NoteKind::unit,
              fmt::format("q taken as {}{} {}", unit, known == MomentumUnit::automatic ? "," : "",
                          decision.reason)};
    // In the other unit the radius would also be that of a molecule.
    const double here = line.gyration_radius * (read.per_nanometre ? 10 : 1);
    const double other = line.gyration_radius * (read.per_nanometre ? 1 : 10);
    const auto is_size = [](double rg) { return rg >= kMinGyration && rg <= kMaxGyration; };
    const bool is_wrong = begins_low && !is_size(here) && is_size(other);
    if (is_wrong)
        note.text +=
            fmt::format("; Guinier's Rg of {:.1f} angstrom is not that of a molecule", here);
    else
        note.text += decision.doubt;
    note.is_warning = is_wrong || !decision.doubt.empty();
    if (is_wrong || !is_told) note.option = fmt::format("--q-unit {}", other_unit);
    return note;
}

}  // namespace pleat
