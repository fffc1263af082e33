// Analysis: each curve by itself, then the curves of a sample together.
#include "pleat/saxs/analysis/analysis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <numeric>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"
#include "pleat/saxs/analysis/curve_comparison.h"
#include "pleat/saxs/analysis/curve_features.h"
#include "pleat/saxs/analysis/pair_distances.h"
#include "pleat/saxs/fit/fit.h"

namespace pleat::saxs {

namespace {

constexpr double kSignificant = 0.01;
/// Least q Rg of the end of a curve with a P(r).
constexpr double kMinProduct = 1.3;

std::string name_of_file(const std::string& source) {
    const std::size_t slash = source.rfind('/');
    return slash == std::string::npos ? source : source.substr(slash + 1);
}

/// The concentration of each curve, or none.
std::vector<double> concentrations_of(const std::string& text, std::size_t curves) {
    std::vector<double> all;
    if (text.empty()) return all;
    for (const std::string_view cell : split(text, ',')) {
        double value = 0;
        if (!parse_number(cell, value) || !(value > 0) || !std::isfinite(value))
            throw UsageError(
                fmt::format("give --concentration as numbers above 0 in mg/ml; found '{}'", cell));
        all.push_back(value);
    }
    if (all.size() == 1) all.resize(curves, all.front());
    if (all.size() != curves)
        throw UsageError(fmt::format("give one --concentration for each of {} curves; found {}",
                                     curves, all.size()));
    return all;
}

void check_curve(const Profile& curve) {
    if (curve.size() < kMinAnalysedPoints)
        throw InputError(curve.source, 0,
                         fmt::format("expected {} or more points to analyse, found {}",
                                     kMinAnalysedPoints, curve.size()));
    if (std::ranges::none_of(curve.intensity, [](double x) { return x > 0; }))
        throw InputError(curve.source, 0, "expected positive intensities, found none");
}

/// The points with q up to `q_max`.
Profile points_up_to(const Profile& curve, double q_max) {
    Profile cut = curve;
    const auto end = std::ranges::upper_bound(curve.q, q_max) - curve.q.begin();
    for (std::vector<double>* values : {&cut.q, &cut.intensity, &cut.sigma, &cut.dq})
        if (!values->empty()) values->resize(static_cast<std::size_t>(end));
    return cut;
}

/// Rg of a curve without a Guinier range: from the q at which the intensity has fallen to a half
/// (q Rg = 1.44).
double rough_gyration_radius(const Profile& curve) {
    constexpr double kHalf = 1.44;
    const auto highest = std::ranges::max_element(curve.intensity);
    auto k = highest;
    while (std::next(k) != curve.intensity.end() && *k > *highest / 2) ++k;
    return kHalf /
           std::max(curve.q[static_cast<std::size_t>(k - curve.intensity.begin())], curve.q[1]);
}

/// What makes the first points of a curve doubtful.
std::vector<std::string> guinier_findings(const Profile& curve, const Guinier& guinier) {
    constexpr double kMaxDeviation = 3, kMaxTrend = 3, kMinStart = 1.0;
    if (!guinier.is_valid)
        return {
            "no Guinier range: no 5 points with positive intensities, falling, with q Rg <= 1.3"};
    std::vector<std::string> findings;
    if (std::abs(guinier.deviation_before) > kMaxDeviation) {
        const bool is_above = guinier.deviation_before > 0;
        findings.push_back(fmt::format(
            "points before the Guinier range lie {} its line by {:.1f} standard errors: {}; "
            "--q-min {:.3g} leaves {} out",
            is_above ? "above" : "below", std::abs(guinier.deviation_before),
            is_above ? "aggregates, or scatter from the beam stop"
                     : "repulsion between particles, or the beam stop's shadow",
            (curve.q[guinier.first_good - 1] + curve.q[guinier.first_good]) / 2,
            guinier.first_good));
    }
    if (std::abs(guinier.trend) > kMaxTrend)
        findings.push_back(
            fmt::format("residuals of the Guinier line bend {} by {:.1f} standard errors: {}",
                        guinier.trend > 0 ? "up" : "down", std::abs(guinier.trend),
                        guinier.trend > 0 ? "aggregates, several sizes or a long particle"
                                          : "repulsion between particles or a hollow particle"));
    const double start = curve.q[guinier.first] * guinier.gyration_radius;
    if (start > kMinStart)
        findings.push_back(fmt::format(
            "the Guinier range begins at q Rg {:.2f}: Rg and I(0) are extrapolations", start));
    if (!guinier.outliers.empty()) {
        std::vector<std::string> q;
        for (const std::size_t k : guinier.outliers) q.push_back(fmt::format("{:.5g}", curve.q[k]));
        findings.push_back(
            fmt::format("points of the Guinier range more than 4 errors off its line: q = {}",
                        fmt::join(q, ", ")));
    }
    return findings;
}

void add_findings(CurveAnalysis& one) {
    constexpr double kMaxTimes = 1.5;
    constexpr double kAgree = 3, kNegative = 3;
    std::vector<std::string>& findings = one.findings;
    findings = guinier_findings(one.curve, one.guinier);
    const PairDistances& pairs = one.pairs;
    if (!pairs.is_valid) {
        const double size =
            one.guinier.is_valid ? one.guinier.gyration_radius : rough_gyration_radius(one.curve);
        findings.push_back(
            size * one.curve.q.back() < kMinProduct
                ? fmt::format(
                      "no P(r): the curve ends at q {:.4g}, before its intensity has fallen enough",
                      one.curve.q.back())
                : "no P(r): no Dmax and smoothness explain the points");
        return;
    }
    for (std::size_t n = 0; n < pairs.r.size(); ++n)
        if (pairs.p[n] < -kNegative * pairs.p_error[n]) {
            findings.push_back(fmt::format(
                "P(r) is negative at r {:.0f} by more than three errors: repulsion between "
                "particles, a buffer subtracted too much, or parts of negative contrast",
                pairs.r[n]));
            break;
        }
    if (pairs.error_scale > kMaxTimes)
        findings.push_back(fmt::format(
            "P(r) fits with errors {:.2g} times as large as given, which its errors take into "
            "account",
            pairs.error_scale));
    if (const double chance = chance_of_residuals(one); chance < kMisfit)
        findings.push_back(fmt::format(
            "residuals of P(r) keep one sign for too long (probability {:.1g} in noise): no "
            "single P(r) of this Dmax fits, or neighbouring points depend on one another",
            chance));
    if (one.curve.q.front() * pairs.diameter > std::numbers::pi)
        findings.push_back(fmt::format(
            "the curve begins at q {:.4g}, above pi / Dmax: Dmax and Rg rest on assumptions",
            one.curve.q.front()));
    const Guinier& guinier = one.guinier;
    const double gap = pairs.gyration_radius - guinier.gyration_radius;
    if (guinier.is_valid && std::abs(gap) > kAgree * std::hypot(pairs.gyration_radius_error,
                                                                guinier.gyration_radius_error))
        findings.push_back(fmt::format(
            "Rg of P(r) {:.2f} and of Guinier's law {:.2f} disagree by more than three errors",
            pairs.gyration_radius, guinier.gyration_radius));
}

CurveAnalysis analyse_points(const Profile& given, std::string name,
                             std::optional<double> concentration,
                             const AnalysisParameters& parameters, Notes& notes) {
    // Beyond this end P(r) has no detail to determine and models of it no resolution.
    constexpr double kMaxProduct = 16;
    check_curve(given);
    CurveAnalysis one{.name = std::move(name), .concentration = concentration, .curve = given};
    one.curve = points_up_to(given, parameters.q_max);
    if (one.curve.size() < given.size())
        notes.push_back(
            {NoteKind::points,
             fmt::format("{}: {} of {} points beyond q {:.4g} left out; --q-max takes others",
                         one.name, given.size() - one.curve.size(), given.size(),
                         parameters.q_max)});
    check_curve(one.curve);
    one.guinier = guinier(one.curve);
    const double rough =
        one.guinier.is_valid ? one.guinier.gyration_radius : rough_gyration_radius(one.curve);
    const double end = kMaxProduct / rough;
    Profile cut = points_up_to(one.curve, end);
    if (cut.size() < one.curve.size() && cut.size() >= kMinAnalysedPoints) {
        notes.push_back(
            {NoteKind::points,
             fmt::format("{}: {} of {} points beyond q {:.4g} (q Rg 16) left out", one.name,
                         one.curve.size() - cut.size(), one.curve.size(), end)});
        one.curve = std::move(cut);
    }
    one.negative = static_cast<std::size_t>(
        std::ranges::count_if(one.curve.intensity, [](double x) { return x <= 0; }));
    one.scatter = scatter_of_neighbours(one.curve, one.curve.size());
    one.pairs = fit_pair_distances(one.curve, rough);
    if (!(one.pairs.gyration_radius * one.curve.q.back() >= kMinProduct)) one.pairs = {};
    if (one.guinier.is_valid) one.section = cross_section(one.curve, one.gyration_radius());
    one.features =
        curve_features(one, parameters.absolute_scale ? concentration : std::optional<double>());
    add_findings(one);
    return one;
}

/// Also compares the scatter of points with their errors, which chi^2 of a structure tells better.
CurveAnalysis analyse_one(const Profile& given, std::string name,
                          std::optional<double> concentration, const AnalysisParameters& parameters,
                          Notes& notes) {
    constexpr double kMinScatter = 0.5, kMaxScatter = 2;
    CurveAnalysis one = analyse_points(given, std::move(name), concentration, parameters, notes);
    if (one.scatter > kMaxScatter || one.scatter < kMinScatter)
        one.findings.push_back(fmt::format(
            "neighbouring points scatter {:.2g} times as much as their errors say{}",
            std::sqrt(one.scatter),
            one.scatter < kMinScatter ? ": errors are too large, or points are smoothed" : ""));
    return one;
}

/// Notes on a trend of Rg and of I(0) over the curves; `axis`: their numbers or concentrations.
void note_trends(std::span<const double> axis, bool are_concentrations, SampleAnalysis& analysis) {
    constexpr double kMinTrend = 3;
    std::vector<double> sizes, size_errors, forwards, forward_errors;
    for (std::size_t n = 0; n < axis.size(); ++n) {
        const Guinier& guinier = analysis.curves[n].guinier;
        if (!guinier.is_valid) return;
        const double scale = are_concentrations ? axis[n] : 1;
        sizes.push_back(guinier.gyration_radius);
        size_errors.push_back(guinier.error_of_points);
        forwards.push_back(guinier.forward_intensity / scale);
        forward_errors.push_back(guinier.forward_intensity_error / scale);
    }
    const double of_size = trend_of(axis, sizes, size_errors),
                 of_forward = trend_of(axis, forwards, forward_errors);
    const auto add = [&](const char* what, double trend, const char* rising, const char* falling) {
        if (std::abs(trend) < kMinTrend) return;
        analysis.notes.push_back(
            {NoteKind::points,
             fmt::format("{} {} with {} by {:.1f} standard errors: {}", what,
                         trend > 0 ? "rises" : "falls",
                         are_concentrations ? "the concentration" : "the number of the curve",
                         std::abs(trend), trend > 0 ? rising : falling),
             "", true});
    };
    if (are_concentrations) {
        add("Rg", of_size, "attraction or aggregates", "repulsion between particles");
        add("I(0) / c", of_forward, "attraction or aggregates", "repulsion between particles");
    } else {
        add("Rg", of_size, "radiation damage or a drift", "a drift");
        add("I(0)", of_forward, "radiation damage or a drift", "a drift");
    }
}

/// Adds the average of the first curve and all before the first that differs from it.
void add_average(std::span<const Profile> curves, const AnalysisParameters& parameters,
                 SampleAnalysis& analysis) {
    analysis.pairs = compare_curves(curves);
    std::vector<std::size_t> different;
    for (const CurvePair& pair : analysis.pairs)
        if (pair.first == 0 && pair.adjusted < kSignificant) different.push_back(pair.second);
    const std::size_t end = different.empty() ? curves.size() : different.front();
    analysis.averaged.resize(end);
    std::iota(analysis.averaged.begin(), analysis.averaged.end(), 0);
    if (!different.empty())
        analysis.notes.push_back(
            {NoteKind::points,
             fmt::format("{} of {} curves differ from the first by the correlation map test, from "
                         "number {} on: radiation damage, a drift or another sample; those before "
                         "it are averaged",
                         different.size(), curves.size(), end + 1),
             "", true});
    Profile mean = average_of(curves, analysis.averaged);
    mean.source = "average";
    const std::optional<double> concentration = analysis.curves.front().concentration;
    analysis.curves.push_back(
        analyse_one(mean, "average", concentration, parameters, analysis.notes));
}

/// The frames that an option names; nothing if it is empty.
std::optional<Block> frames_of(const std::string& text, std::size_t count, const char* option) {
    if (text.empty()) return {};
    const auto all = static_cast<Index>(count);
    const FrameRange range = parse_frame_range(text).resolved(all);
    const Index end = std::min(range.last, all);
    if (range.step != 1 || range.first >= end)
        throw UsageError(
            fmt::format("--{}: expected FIRST:END of {} frames, found '{}'", option, count, text));
    return Block{range.first, end - range.first};
}

void add_sample(std::span<const Profile> curves, const AnalysisParameters& parameters,
                SampleAnalysis& analysis) {
    const std::size_t count = curves.size();
    analysis.elution =
        analyse_elution(series_of(curves),
                        {frames_of(parameters.buffer_frames, count, "buffer-frames"),
                         frames_of(parameters.sample_frames, count, "sample-frames")},
                        &analysis.notes);
    Profile sample = analysis.elution->subtracted;
    sample.source = "subtracted";
    analysis.curves.push_back(analyse_one(sample, sample.source, {}, parameters, analysis.notes));
}

/// The curves at the q that all have. Throws InputError for a curve that is given twice.
std::vector<Profile> at_common_q(std::span<const Profile> curves, Notes& notes) {
    for (std::size_t j = 1; j < curves.size(); ++j)
        for (std::size_t i = 0; i < j; ++i)
            if (curves[i].intensity == curves[j].intensity)
                throw InputError(
                    curves[j].source, 0,
                    fmt::format("expected another measurement than {}, found the same intensities",
                                curves[i].source));
    const CurveSeries series = series_of(curves);
    std::vector<Profile> common;
    common.reserve(curves.size());
    for (std::size_t n = 0; n < curves.size(); ++n)
        common.push_back(mean_of(series, {static_cast<Index>(n), 1}));
    if (std::ranges::any_of(curves, [&](const Profile& c) { return c.size() != series.q.size(); }))
        notes.push_back(
            {NoteKind::points,
             fmt::format("curves are joined at the {} q that all have", series.q.size())});
    return common;
}

/// What is probably wrong with the curve to report becomes warnings.
void note_findings(SampleAnalysis& analysis) {
    for (const std::string& finding : analysis.result().findings)
        analysis.notes.push_back({NoteKind::assumption, finding, "", true});
}

}  // namespace

std::optional<CurveAnalysis> analyse_alone(const Profile& curve) {
    if (curve.size() < kMinAnalysedPoints ||
        std::ranges::none_of(curve.intensity, [](double x) { return x > 0; }))
        return {};
    // Lists of structures have one curve.
    static std::mutex mutex;
    static CurveAnalysis last;
    static Profile of;
    const std::lock_guard lock(mutex);
    if (of.q != curve.q || of.intensity != curve.intensity || of.sigma != curve.sigma) {
        AnalysisParameters parameters;
        parameters.q_max = curve.q.back();
        Notes of_curve;
        last = analyse_points(curve, name_of_file(curve.source), {}, parameters, of_curve);
        if (!(last.pairs.error_scale < kMaxErrorScale)) last.pairs = {};
        of = curve;
    }
    return last;
}

double CurveAnalysis::gyration_radius() const {
    return pairs.is_valid     ? pairs.gyration_radius
           : guinier.is_valid ? guinier.gyration_radius
                              : NAN;
}

void check(const AnalysisParameters& parameters, std::size_t curves) {
    const std::vector<double> concentrations = concentrations_of(parameters.concentration, curves);
    if (!(parameters.q_max > 0)) throw UsageError("give a q_max above 0");
    if (parameters.absolute_scale && concentrations.empty())
        throw UsageError("a mass by I(0) on an absolute scale needs the concentration");
    if (parameters.elution && !concentrations.empty())
        throw UsageError("leave --concentration out: it is not known of the frames of an elution");
    if (!parameters.elution &&
        (!parameters.buffer_frames.empty() || !parameters.sample_frames.empty()))
        throw UsageError("leave --buffer-frames and --sample-frames out, or add --elution");
}

SampleAnalysis analyse(std::span<const Profile> curves, const AnalysisParameters& parameters) {
    check(parameters, curves.size());
    const std::vector<double> concentrations =
        concentrations_of(parameters.concentration, curves.size());
    SampleAnalysis analysis;
    if (parameters.elution) {
        add_sample(curves, parameters, analysis);
        note_findings(analysis);
        return analysis;
    }
    for (std::size_t n = 0; n < curves.size(); ++n)
        analysis.curves.push_back(
            analyse_one(curves[n], name_of_file(curves[n].source),
                        concentrations.empty() ? std::optional<double>() : concentrations[n],
                        parameters, analysis.notes));
    if (curves.size() == 1) {
        note_findings(analysis);
        return analysis;
    }
    const bool are_different =
        !concentrations.empty() &&
        std::ranges::any_of(concentrations, [&](double c) { return c != concentrations.front(); });
    std::vector<double> axis = concentrations;
    if (!are_different) {
        axis.resize(curves.size());
        std::iota(axis.begin(), axis.end(), 1);
    }
    note_trends(axis, are_different, analysis);
    const std::vector<Profile> common = at_common_q(curves, analysis.notes);
    if (are_different) {
        Profile zero = extrapolate(common, concentrations);
        zero.source = "extrapolated";
        // I(0) / c is that of 1 mg/ml.
        analysis.curves.push_back(
            analyse_one(zero, "extrapolated", 1.0, parameters, analysis.notes));
        analysis.curves.back().concentration = 0;
    } else {
        add_average(common, parameters, analysis);
    }
    note_findings(analysis);
    return analysis;
}

}  // namespace pleat::saxs
