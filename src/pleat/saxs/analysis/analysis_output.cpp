// Analysis output: numbers declared once, tables for the page, and the file that GNOM writes.
#include "pleat/saxs/analysis/analysis_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pleat/core/files/npy.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"
#include "pleat/saxs/analysis/pair_distances.h"

namespace pleat::saxs {

namespace {

/// A number of one curve; NaN if the curve does not determine it.
struct CurveNumber {
    const char *name, *help;
    double value;
};

/// q of a point of the Guinier range.
double guinier_q(const CurveAnalysis& one, std::size_t point) {
    return one.guinier.is_valid ? one.curve.q[point] : NAN;
}

std::vector<CurveNumber> numbers_of(const CurveAnalysis& one) {
    const Guinier& guinier = one.guinier;
    const PairDistances& pairs = one.pairs;
    const CurveFeatures& features = one.features;
    const auto valid = [](bool is_valid, double value) { return is_valid ? value : NAN; };
    const bool has_line = guinier.is_valid, has_pairs = pairs.is_valid;
    return {
        {"rg", "Rg of P(r), angstrom", valid(has_pairs, pairs.gyration_radius)},
        {"rg_error", "its standard error", valid(has_pairs, pairs.gyration_radius_error)},
        {"i0", "I(0) of P(r), in the curve's unit", valid(has_pairs, pairs.forward_intensity)},
        {"i0_error", "its standard error", valid(has_pairs, pairs.forward_intensity_error)},
        {"dmax", "largest distance, angstrom: the median", valid(has_pairs, pairs.diameter)},
        {"dmax_low", "begin of its 90 % interval", valid(has_pairs, pairs.diameter_low)},
        {"dmax_high", "end of its 90 % interval", valid(has_pairs, pairs.diameter_high)},
        {"chi2", "of the smooth curve of P(r), per point", valid(has_pairs, pairs.chi2)},
        {"error_scale", "factor of the curve's errors with which P(r) fits",
         valid(has_pairs, pairs.error_scale)},
        {"good_parameters", "number of parameters that the points determine",
         valid(has_pairs, pairs.good_parameters)},
        {"shannon_channels", "Dmax (q_max - q_min) / pi", valid(has_pairs, pairs.shannon_channels)},
        {"guinier_rg", "Rg by Guinier's law, angstrom", valid(has_line, guinier.gyration_radius)},
        {"guinier_rg_error", "its standard error: noise, choice of the range, curvature of shapes",
         valid(has_line, guinier.gyration_radius_error)},
        {"guinier_rg_noise", "the part of noise", valid(has_line, guinier.error_of_points)},
        {"guinier_i0", "I(0) by Guinier's law", valid(has_line, guinier.forward_intensity)},
        {"guinier_i0_error", "its standard error",
         valid(has_line, guinier.forward_intensity_error)},
        {"guinier_q_min", "begin of the Guinier range, 1/angstrom", guinier_q(one, guinier.first)},
        {"guinier_q_max", "end of the Guinier range, 1/angstrom", guinier_q(one, guinier.last)},
        {"guinier_chi2", "of its line, per degree of freedom", valid(has_line, guinier.chi2)},
        {"section_rc", "Rc of the cross-section of a rod, angstrom",
         valid(one.section.is_valid, one.section.radius)},
        {"section_rc_error", "its standard error",
         valid(one.section.is_valid, one.section.radius_error)},
        {"rod_length", "length of a rod of this Rc and Rg, angstrom",
         valid(one.section.is_valid, one.section.length)},
        {"kratky_position",
         "q Rg of the peak of the dimensionless Kratky plot (Guinier's law: 1.73)",
         features.kratky_position},
        {"kratky_height", "height of that peak (Guinier's law: 1.10)", features.kratky_height},
        {"porod_exponent", "-d ln I / d ln q for q Rg from 2 to 6", features.porod_exponent},
        {"porod_exponent_error", "its standard error", features.porod_exponent_error},
        {"porod_volume", "volume of a protein, angstrom^3", features.porod_volume},
        {"volume_of_correlation", "I(0) / integral q I dq, angstrom^2",
         features.volume_of_correlation},
        {"mass_vp", "mass of a protein by its Porod volume, kDa", features.mass_of_porod_volume},
        {"mass_vc", "mass of a protein by its volume of correlation, kDa",
         features.mass_of_correlation},
        {"mass_i0", "mass of a protein by I(0) and concentration, kDa",
         features.mass_of_intensity}};
}

std::string join(const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) all += (all.empty() ? "" : "; ") + text;
    return all;
}

/// ln I against q^2 for points with positive intensities.
std::string guinier_table(const CurveAnalysis& one) {
    const Guinier& guinier = one.guinier;
    std::string text = "q2\tln_intensity\tsigma\tln_model\tused\n";
    const double start = std::log(guinier.forward_intensity),
                 slope = -guinier.gyration_radius * guinier.gyration_radius / 3;
    for (std::size_t k = 0; k < one.curve.size(); ++k) {
        const double q = one.curve.q[k], intensity = one.curve.intensity[k];
        if (intensity <= 0) continue;
        text += fmt::format("{:.8g}\t{:.8g}\t{:.8g}\t{:.8g}\t{}\n", q * q, std::log(intensity),
                            one.curve.sigma[k] / intensity, start + slope * q * q,
                            k >= guinier.first && k <= guinier.last ? 1 : 0);
    }
    return text;
}

std::string kratky_table(const CurveAnalysis& one) {
    const double rg = one.pairs.gyration_radius, forward = one.pairs.forward_intensity;
    std::string text = "q_rg\tkratky\tsigma\tmodel\n";
    for (std::size_t k = 0; k < one.curve.size(); ++k) {
        const double x = one.curve.q[k] * rg, factor = x * x / forward;
        text += fmt::format("{:.8g}\t{:.8g}\t{:.8g}\t{:.8g}\n", x, factor * one.curve.intensity[k],
                            factor * one.curve.sigma[k], factor * one.pairs.model[k]);
    }
    return text;
}

std::string fit_table(const CurveAnalysis& one) {
    std::string text = "q\tintensity\tsigma\tmodel\tresidual\n";
    for (std::size_t k = 0; k < one.curve.size(); ++k)
        text += fmt::format("{:.8g}\t{:.8g}\t{:.8g}\t{:.8g}\t{:.5f}\n", one.curve.q[k],
                            one.curve.intensity[k], one.curve.sigma[k], one.pairs.model[k],
                            (one.curve.intensity[k] - one.pairs.model[k]) / one.curve.sigma[k]);
    return text;
}

/// P(r) and the smooth curve down to q = 0 in the layout of GNOM, which other programs read.
std::string gnom_text(const CurveAnalysis& one) {
    const PairDistances& pairs = one.pairs;
    const Profile& curve = one.curve;
    std::string text = fmt::format(
        "           ####      Results of pleat in the layout of GNOM         ####\n\n"
        "    Input  1:                      {}\n"
        "    Real space range:                    0.0000 to {:12.4f}\n"
        "    Current ALPHA:                   {:.4E}\n"
        "    Reciprocal space Rg:             {:.4E}\n"
        "    Reciprocal space I(0):           {:.4E}\n"
        "    Real space Rg:                   {:.4E} +-   {:.4E}\n"
        "    Real space I(0):                 {:.4E} +-   {:.4E}\n\n"
        "      S          J EXP       ERROR       J REG       I REG\n\n",
        printable(one.name), pairs.r.back(), std::pow(10, pairs.log_alpha), pairs.gyration_radius,
        pairs.forward_intensity, pairs.gyration_radius, pairs.gyration_radius_error,
        pairs.forward_intensity, pairs.forward_intensity_error);
    constexpr std::size_t kSteps = 20;
    std::vector<double> q;
    for (std::size_t n = 0; n < kSteps; ++n)
        q.push_back(curve.q.front() * static_cast<double>(n) / kSteps);
    const std::vector<double> smooth = intensity_of(pairs, q);
    for (std::size_t n = 0; n < kSteps && curve.q.front() > 0; ++n)
        text += fmt::format("   {:.6E}{:48}{:.6E}\n", q[n], "", smooth[n]);
    for (std::size_t k = 0; k < curve.size(); ++k)
        text += fmt::format("   {:.6E}   {:.6E}   {:.6E}   {:.6E}   {:.6E}\n", curve.q[k],
                            curve.intensity[k], curve.sigma[k], pairs.model[k], pairs.model[k]);
    text +=
        "\n           Distance distribution  function of particle  \n\n"
        "      R          P(R)      ERROR\n\n";
    for (std::size_t n = 0; n < pairs.r.size(); ++n)
        text += fmt::format("  {:.4E}  {:.4E}  {:.4E}\n", pairs.r[n], pairs.p[n], pairs.p_error[n]);
    return text + fmt::format(
                      "\n          Reciprocal space: Rg = {:8.2f}     , I(0) = {:.4E}\n"
                      "     Real space: Rg = {:8.2f} +- {:.3f}  I(0) = {:.4E} +- {:.4E}\n",
                      pairs.gyration_radius, pairs.forward_intensity, pairs.gyration_radius,
                      pairs.gyration_radius_error, pairs.forward_intensity,
                      pairs.forward_intensity_error);
}

std::string curve_text(const Profile& curve) {
    std::string text = "# q (1/angstrom), intensity, error\n";
    for (std::size_t k = 0; k < curve.size(); ++k)
        text +=
            fmt::format("{:.8g} {:.8g} {:.8g}\n", curve.q[k], curve.intensity[k], curve.sigma[k]);
    return text;
}

const char* use_of(const Elution& elution, Index frame) {
    const auto is_in = [&](Block some) {
        return frame >= some.first && frame < some.first + some.count;
    };
    return is_in(elution.sample) ? "sample" : is_in(elution.buffer) ? "buffer" : "";
}

/// The frames, their intensities for the page, and the mean buffer.
void write_elution(RunDirectory& run, const Elution& elution) {
    // The error of Rg is without the curvature of shapes, which frames of one peak have in common.
    std::string text = "frame\tname\tuse\tsignal\tsignal_error\trg\trg_error\ti0\ti0_error\n";
    for (std::size_t f = 0; f < elution.signal.size(); ++f) {
        const Guinier& line = elution.guinier[f];
        const auto value = [&](double number) {
            return line.is_valid ? fmt::format("{:.6g}", number) : "NA";
        };
        text += fmt::format("{}\t{}\t{}\t{:.6g}\t{:.3g}\t{}\t{}\t{}\t{}\n", f,
                            printable(elution.names[f]), use_of(elution, static_cast<Index>(f)),
                            elution.signal[f], elution.error[f], value(line.gyration_radius),
                            value(std::hypot(line.error_of_points, line.error_of_range)),
                            value(line.forward_intensity), value(line.forward_intensity_error));
    }
    write_text(run.output("elution.tsv"), text);
    write_npy(run.output("elution.npy"), elution.logarithms.data(),
              {elution.logarithms.extent(0), elution.logarithms.extent(1)});
    write_text(run.output("buffer.dat"), curve_text(elution.mean_buffer));
}

std::string summary_of(const Elution& elution) {
    const auto range = [](Block frames) {
        return fmt::format("{} to {}", frames.first, frames.first + frames.count - 1);
    };
    return fmt::format(
        "Elution of {} frames: buffer {}{}, sample {} (frames count from 0; probability of such "
        "differences {:.2g} and {:.2g})\n",
        elution.signal.size(), range(elution.buffer),
        elution.buffer_is_behind ? " (behind the peak)" : "", range(elution.sample),
        elution.buffer_probability, elution.sample_probability);
}

std::string comparison_table(const SampleAnalysis& analysis) {
    std::string text = "first\tsecond\tlongest_run\tprobability\tadjusted\n";
    for (const CurvePair& pair : analysis.pairs)
        text += fmt::format("{}\t{}\t{}\t{:.4g}\t{:.4g}\n", pair.first + 1, pair.second + 1,
                            pair.longest_run, pair.probability, pair.adjusted);
    return text;
}

}  // namespace

std::vector<TableColumn> analysis_columns(const SampleAnalysis& analysis) {
    std::vector<TableColumn> all;
    all.push_back(table_column(
        "curve", [&](std::size_t row) -> std::string_view { return analysis.curves[row].name; }));
    all.push_back({"concentration", [&](std::size_t row, std::string& text) {
                       append_cell(text, analysis.curves[row].concentration.value_or(NAN));
                   }});
    all.push_back(
        table_column("points", [&](std::size_t row) { return analysis.curves[row].curve.size(); }));
    all.push_back(
        table_column("negative", [&](std::size_t row) { return analysis.curves[row].negative; }));
    const std::vector<CurveNumber> names = numbers_of({});
    for (std::size_t n = 0; n < names.size(); ++n)
        all.push_back({names[n].name, [&analysis, n](std::size_t row, std::string& text) {
                           append_cell(text, numbers_of(analysis.curves[row])[n].value);
                       }});
    all.push_back(table_column("shape", [&](std::size_t row) -> std::string_view {
        return analysis.curves[row].features.shape;
    }));
    all.push_back(table_column(
        "findings", [&](std::size_t row) { return join(analysis.curves[row].findings); }));
    return all;
}

ResultColumns columns(const SampleAnalysis& analysis) {
    static const CurveAnalysis kNone;
    const CurveAnalysis& one = analysis.curves.empty() ? kNone : analysis.result();
    ResultColumns all;
    for (const CurveNumber& number : numbers_of(one))
        all.push_back({number.name, number.help, number.value, "results"});
    const Elution elution = analysis.elution.value_or(Elution());
    const ResultColumns more = {
        {"shape", "compact, elongated, flexible or disordered, with the criterion",
         one.features.shape, "results"},
        {"points", "number of points that were used", static_cast<Index>(one.curve.size()),
         "results"},
        {"negative", "number of them with a negative intensity", static_cast<Index>(one.negative),
         "results"},
        {"findings", "list of str, what is probably wrong with the curve", one.findings},
        {"averaged", "number of curves in the average; 0: none",
         static_cast<Index>(analysis.averaged.size()), "results"},
        {"signal", "float64 [frame] of an elution: integral of I over q without buffer",
         elution.signal, "elution.tsv"},
        {"signal_error", "float64 [frame], its standard error", elution.error, "elution.tsv"},
        {"r", "float64 [distance], angstrom", one.pairs.r, "pr.tsv"},
        {"p",
         "float64 [distance], P(r) with I(q) = 4 pi integral P(r) sin(q r) / (q r) dr, the mean "
         "over Dmax and smoothness",
         one.pairs.p, "pr.tsv"},
        {"p_error", "float64 [distance], its standard deviation", one.pairs.p_error, "pr.tsv"},
        {"q", "float64 [point], 1/angstrom, of the points that were used", one.curve.q, "fit.tsv"},
        {"intensity", "float64 [point]", one.curve.intensity, "fit.tsv"},
        {"sigma", "float64 [point]", one.curve.sigma, "fit.tsv"},
        {"model", "float64 [point], the smooth curve of P(r)", one.pairs.model, "fit.tsv"},
        {"curves", "dict {name: list} of the numbers of all curves, as in analysis.tsv",
         ColumnValue::kept("dict[str, list[str]]")},
        {"notes", "list of str, what was assumed or left out", ColumnValue::kept("list[Note]")}};
    return joined({all, more});
}

void write_results(RunDirectory& run, const SampleAnalysis& analysis) {
    const CurveAnalysis& one = analysis.result();
    write_table(run.output("analysis.tsv"), analysis.curves.size(), analysis_columns(analysis));
    if (one.guinier.is_valid) write_text(run.output("guinier.tsv"), guinier_table(one));
    if (one.pairs.is_valid) {
        const ResultColumns all = columns(analysis);
        write_table(run.output("pr.tsv"), one.pairs.r.size(), table_columns(all, "pr.tsv"));
        write_text(run.output("pr.out"), gnom_text(one));
        write_text(run.output("kratky.tsv"), kratky_table(one));
        write_text(run.output("fit.tsv"), fit_table(one));
    }
    if (analysis.elution) write_elution(run, *analysis.elution);
    if (analysis.elution || analysis.curves.size() > 1)
        write_text(run.output(one.name + ".dat"), curve_text(one.curve));
    if (!analysis.pairs.empty())
        write_text(run.output("comparison.tsv"), comparison_table(analysis));
    record(run, columns(analysis));
}

std::string summary_of(const SampleAnalysis& analysis) {
    const CurveAnalysis& one = analysis.result();
    const Guinier& guinier = one.guinier;
    const PairDistances& pairs = one.pairs;
    const CurveFeatures& features = one.features;
    std::string text =
        fmt::format("{}: {} points, q {:.4g} to {:.4g} 1/angstrom\n", printable(one.name),
                    one.curve.size(), one.curve.q.front(), one.curve.q.back());
    if (analysis.elution) text = summary_of(*analysis.elution) + text;
    if (analysis.averaged.size() > 1)
        text += fmt::format("Average of {} curves\n", analysis.averaged.size());
    if (guinier.is_valid)
        text += fmt::format(
            "Rg {:.2f} +- {:.2f} angstrom, I(0) {:.4g} +- {:.2g} (Guinier, {} points, q Rg {:.2f} "
            "to {:.2f}); error: noise {:.2f}, range {:.2f}, curvature {:.2f}\n",
            guinier.gyration_radius, guinier.gyration_radius_error, guinier.forward_intensity,
            guinier.forward_intensity_error, guinier.last - guinier.first + 1,
            one.curve.q[guinier.first] * guinier.gyration_radius,
            one.curve.q[guinier.last] * guinier.gyration_radius, guinier.error_of_points,
            guinier.error_of_range, guinier.error_of_curvature);
    if (one.section.is_valid)
        text += fmt::format(
            "Rc {:.2f} +- {:.2f} angstrom (cross-section of a rod of {:.0f} angstrom, q {:.3f} to "
            "{:.3f})\n",
            one.section.radius, one.section.radius_error, one.section.length,
            one.curve.q[one.section.first], one.curve.q[one.section.last]);
    if (pairs.is_valid)
        text += fmt::format(
            "Rg {:.2f} +- {:.2f} angstrom, I(0) {:.4g} +- {:.2g}, Dmax {:.1f} angstrom (90 % "
            "between {:.1f} and {:.1f}) (P(r), chi^2 {:.2f} per point, {:.1f} good parameters of "
            "{:.1f} Shannon channels)\n",
            pairs.gyration_radius, pairs.gyration_radius_error, pairs.forward_intensity,
            pairs.forward_intensity_error, pairs.diameter, pairs.diameter_low, pairs.diameter_high,
            pairs.chi2, pairs.good_parameters, pairs.shannon_channels);
    if (!features.shape.empty()) text += fmt::format("Shape: {}\n", features.shape);
    if (std::isfinite(features.porod_exponent))
        text += fmt::format("Porod exponent {:.2f} +- {:.2f} (q Rg 2 to 6)\n",
                            features.porod_exponent, features.porod_exponent_error);
    std::string masses;
    const auto add = [&](double mass, const char* by) {
        if (std::isfinite(mass))
            masses += fmt::format("{}{:.4g} kDa {}", masses.empty() ? "" : ", ", mass, by);
    };
    add(features.mass_of_porod_volume, "(Porod volume)");
    add(features.mass_of_correlation, "(volume of correlation)");
    add(features.mass_of_intensity, "(I(0) and concentration)");
    constexpr double kSmall = 20;
    if (!masses.empty())
        text += fmt::format("Mass, if a compact protein: {}{}\n", masses,
                            features.mass_of_correlation < kSmall
                                ? "; below 20 kDa they may be a third too small"
                                : "");
    if (one.negative > 0)
        text += fmt::format("{} of {} intensities are negative\n", one.negative, one.curve.size());
    return text;
}

std::vector<std::string_view> citations(const SampleAnalysis& analysis) {
    std::vector<std::string_view> keys = {"Hansen2000", "Rambo2013", "Fischer2010", "Piiadov2019"};
    if (!analysis.pairs.empty()) keys.push_back("Franke2015");
    return keys;
}

}  // namespace pleat::saxs
