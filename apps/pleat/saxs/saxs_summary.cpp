// SAXS summary: sizes, the fit, and the ensemble fits.
#include "saxs/saxs_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "pleat/core/files/text.h"
#include "pleat/saxs/fit/ensemble_fit.h"
#include "pleat/saxs/fit/fit.h"

namespace pleat::program {

namespace {

std::string shape_lines(const saxs::Result& result) {
    const auto& shapes = result.shapes;
    const auto rg = [](const saxs::Shape& shape) {
        return shape.gyration_radius2 >= 0 ? fmt::format("{:.2f}", shape.gyration_radius) : "NA";
    };
    std::string note;
    if (std::any_of(shapes.begin(), shapes.end(),
                    [](const saxs::Shape& shape) { return shape.gyration_radius2 < 0; }))
        note = "Rg NA: Rg^2 is negative at this contrast\n";
    if (shapes.size() == 1)
        return fmt::format("Rg {} angstrom, I(0) {:.4g} {}^2, Dmax {:.1f} angstrom\n{}",
                           rg(shapes[0]), shapes[0].forward_intensity,
                           result.neutrons ? "fm" : "electrons", shapes[0].diameter, note);
    const auto by_gyration = [](const saxs::Shape& a, const saxs::Shape& b) {
        return a.gyration_radius2 < b.gyration_radius2;
    };
    const auto [smallest, largest] = std::minmax_element(shapes.begin(), shapes.end(), by_gyration);
    const auto longest = std::max_element(
        shapes.begin(), shapes.end(),
        [](const saxs::Shape& a, const saxs::Shape& b) { return a.diameter < b.diameter; });
    return fmt::format("Rg {} to {} angstrom, Dmax up to {:.1f} angstrom\n{}", rg(*smallest),
                       rg(*largest), longest->diameter, note);
}

std::string fit_line(const std::string& name, const saxs::Fit& fit, bool is_atomic) {
    std::string text = fmt::format("{}: chi^2 {:.3f} per point, {:.3f} reduced ({} points)", name,
                                   fit.chi2, fit.chi2_reduced, fit.points);
    if (is_atomic)
        text += fmt::format(", c1 {:.3f}{}", fit.contrast.c1, fit.c1_at_bound ? " (bound)" : "");
    text += fmt::format(", c2 {:.3f}{}, scale {:.4g}", fit.contrast.c2,
                        fit.c2_at_bound ? " (bound)" : "", fit.scale);
    if (fit.background != 0) text += fmt::format(", background {:.4g}", fit.background);
    return text + "\n";
}

/// Rg and I(0) of the curve, with the range of points and how well the line fits them.
std::string guinier_line(const saxs::Result& result) {
    const saxs::Guinier& guinier = result.guinier;
    if (!guinier.is_valid) return "Guinier of the curve: no range of 5 points with q Rg <= 1.3\n";
    const double from = result.curve.q[guinier.first], to = result.curve.q[guinier.last];
    return fmt::format(
        "Guinier of the curve: Rg {:.2f} +- {:.2f} angstrom, I(0) {:.4g}; {} points "
        "from q = {:.4f} to {:.4f} (q Rg {:.2f} to {:.2f}), chi^2 of the line {:.2f}\n",
        guinier.gyration_radius, guinier.gyration_radius_error, guinier.forward_intensity,
        guinier.last - guinier.first + 1, from, to, from * guinier.gyration_radius,
        to * guinier.gyration_radius, guinier.chi2);
}

std::string probe_name(std::optional<double> d2o) {
    return d2o ? fmt::format("neutrons, {:g} % D2O", 100 * *d2o) : "X-rays";
}

/// The fits of further curves, and chi^2 of all.
std::string series_lines(const saxs::Result& result, bool is_atomic) {
    if (result.further.empty()) return {};
    std::string text;
    for (const saxs::FurtherFit& one : result.further)
        text += fit_line(
            fmt::format("Fit of {} ({})", printable(one.curve.source), probe_name(one.d2o)),
            one.fit, is_atomic);
    return text + fmt::format("All {} curves: chi^2 {:.3f} per point, {:.3f} reduced ({} points)\n",
                              result.further.size() + 1, result.joint.chi2,
                              result.joint.chi2_reduced, result.joint.points);
}

/// At most 12 match points; match_points.tsv has all.
std::string match_lines(const saxs::Result& result) {
    constexpr std::size_t kMaxLines = 12;
    const auto percent = [](double d2o) {
        return std::isfinite(d2o) ? fmt::format("{:.2f} % D2O", 100 * d2o) : "none";
    };
    std::string text;
    for (std::size_t n = 0; n < std::min(result.match_points.size(), kMaxLines); ++n) {
        const saxs::MatchPoint& one = result.match_points[n];
        text += fmt::format("Match point of the {}: {}", printable(one.name), percent(one.d2o));
        if (std::isfinite(one.with_layer) && result.contrast.c2 != 0)
            text += fmt::format(", with the hydration layer {}", percent(one.with_layer));
        text += fmt::format(" (volume {:.5g} angstrom^3)\n", one.volume);
    }
    if (result.match_points.size() > kMaxLines)
        text += fmt::format("{} more match points are in match_points.tsv\n",
                            result.match_points.size() - kMaxLines);
    if (!text.empty() && result.fit.c1_at_bound)
        text += fmt::format(
            "These volumes and match points are those of c1 {:.3f}, a bound of the fit; with c1 "
            "fixed at 1 they are those of the atoms' own volumes.\n",
            result.contrast.c1);
    return text;
}

/// Tells that a fit leaves more than noise of a curve; empty if it does not.
std::string residual_line(const Profile& curve, const saxs::Fit& fit) {
    // Curves that were made without noise leave residuals far below their errors.
    constexpr double kTooFew = 1e-3, kMinChi2 = 0.01;
    constexpr std::size_t kMinPoints = 20;
    if (curve.size() < kMinPoints || fit.chi2 < kMinChi2) return "";
    std::vector<double> residuals = curve.intensity;
    for (std::size_t k = 0; k < residuals.size(); ++k) residuals[k] -= fit.model[k];
    const double probability = saxs::few_runs_probability(residuals);
    if (probability >= kTooFew) return "";
    return fmt::format(
        "Residuals keep one sign for too long (probability {:.1g} in noise): a misfit whatever the "
        "errors, unless neighbouring points of the curve depend on one another.\n",
        probability);
}

/// Explains c1 or c2 at a bound; empty if neither is.
std::string bound_lines(const saxs::Result& result) {
    const bool has_background = result.fit.background != 0;
    const auto explain = [&](const std::string& name, const std::string& meaning) {
        return fmt::format(
            "{0} (bound): the best {0} lies beyond the values searched. {1} {2}--{0}-min and "
            "--{0}-max, or a structure with all parts and states that scatter (pleat refine "
            "samples domains on flexible linkers).\n",
            name, meaning, has_background ? "Try " : "Try --background, ");
    };
    std::string text;
    if (result.fit.c1_at_bound)
        text +=
            explain("c1", has_background
                              ? "The structure is not that of the sample (a missing part, another "
                                "conformation), or a background and c1 do the same here."
                              : "Either the volume of the structure is not that of the sample (a "
                                "missing part, another conformation), or the buffer was not "
                                "subtracted well.");
    if (result.fit.c2_at_bound)
        text += explain("c2",
                        "A hydration layer cannot replace what the structure lacks (a loop, a "
                        "glycan, a second conformation).");
    return text;
}

/// The fit and the validation of each size of minimal ensembles, and which sizes the curve does not
/// tell apart.
std::string size_lines(const std::vector<saxs::Weighted>& sizes) {
    if (sizes.size() < 2) return {};
    const std::vector<bool> near = saxs::are_near_best(sizes);
    std::string text = "  frames    chi^2  chi^2 on points left out\n", alike;
    for (std::size_t n = 0; n < sizes.size(); ++n) {
        text += fmt::format("  {:>6}  {:>7.3f}  {:.3f} +- {:.3f}\n", sizes[n].frames.size(),
                            sizes[n].fit.chi2, sizes[n].validation, sizes[n].validation_error);
        if (near[n])
            alike += fmt::format("{}{}", alike.empty() ? "" : ", ", sizes[n].frames.size());
    }
    if (std::count(near.begin(), near.end(), true) > 1)
        text += fmt::format(
            "  The curve does not tell ensembles of {} frames apart (points left out: within a "
            "standard error of the best); the smallest of these is chosen.\n",
            alike);
    return text;
}

std::string ensemble_lines(const saxs::Result& result, bool is_atomic) {
    std::string text;
    const saxs::EnsembleResult& ensemble = result.ensemble;
    if (!ensemble.minimal.empty()) {
        const saxs::Weighted& chosen = ensemble.minimal[ensemble.minimal_chosen];
        text += fit_line(fmt::format("Minimal ensemble of {} ({})", chosen.frames.size(),
                                     chosen.is_exhaustive ? "all sets fitted" : "heuristic search"),
                         chosen.fit, is_atomic);
        text += residual_line(result.curve, chosen.fit);
        for (std::size_t m = 0; m < chosen.frames.size(); ++m)
            text +=
                fmt::format("  {:.3f} of frame {} ({}, {})\n", chosen.weights[m], chosen.frames[m],
                            result.files[static_cast<std::size_t>(chosen.frames[m])],
                            result.frames_of_files[static_cast<std::size_t>(chosen.frames[m])]);
        text += size_lines(ensemble.minimal);
    }
    if (!ensemble.scan.empty()) {
        const saxs::Weighted& chosen = ensemble.scan[ensemble.scan_chosen].result;
        text += fit_line("Reweighted by maximum entropy", chosen.fit, is_atomic);
        text += fmt::format("  {:.1f} of {} frames remain effective (theta {:g})\n",
                            chosen.effective_frames, chosen.frames.size(),
                            ensemble.scan[ensemble.scan_chosen].theta);
    }
    return text;
}

}  // namespace

std::string saxs_summary(const SaxsRun& run, const saxs::Result& result) {
    const bool is_atomic = result.model == saxs::Resolution::all_atom;
    std::string text =
        fmt::format("{}{}: {} frame{}, {} scatterers ({}), {} points to q = {:g} 1/angstrom\n",
                    printable(run.sources.front()), run.sources.size() > 1 ? " and more" : "",
                    result.shapes.size(), result.shapes.size() == 1 ? "" : "s", result.scatterers,
                    saxs::name_of(result.model), result.q.size(), result.q.back());
    if (result.neutrons)
        text += fmt::format("Neutrons, {:g} % D2O in the solvent\n", 100 * result.d2o);
    text += shape_lines(result);
    text += match_lines(result);
    if (result.has_fit) {
        text +=
            fit_line(result.shapes.size() == 1 ? "Fit" : "Fit of the mean", result.fit, is_atomic);
        text += series_lines(result, is_atomic);
        if (result.shapes.size() == 1) text += residual_line(result.curve, result.fit);
        text += bound_lines(result);
        text += guinier_line(result);
        text += ensemble_lines(result, is_atomic);
        for (const std::string& warning : result.warnings) text += "WARNING: " + warning + "\n";
    } else {
        text += is_atomic
                    ? fmt::format("c1 {:g}, c2 {:g}\n", result.contrast.c1, result.contrast.c2)
                    : fmt::format("c2 {:g}\n", result.contrast.c2);
    }
    return text + fmt::format("\nThe run is in {}: profile.tsv, {}manifest.json and more\n",
                              printable(run.folder), result.has_fit ? "fit.json, fit.tsv, " : "");
}

}  // namespace pleat::program
