// Output: profiles, shapes, pair distances, and the tables of fits and ensembles.
#include "pleat/saxs/output.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "pleat/bio/ensemble/frame_table.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"
#include "pleat/saxs/fit/ensemble_fit.h"

namespace pleat::saxs {

namespace {

using Json = nlohmann::ordered_json;

std::string frame_label(const Result& result, Index frame) {
    const auto at = static_cast<std::size_t>(frame);
    return fmt::format("{}\t{}\t{}", frame, table_cell(result.files[at]),
                       result.frames_of_files[at]);
}

std::string profile_table(const Result& result) {
    std::string text = "q\tintensity\n";
    for (std::size_t k = 0; k < result.q.size(); ++k)
        text += fmt::format("{:.8g}\t{:.9g}\n", result.q[k], result.mean[k]);
    return text;
}

std::string pairs_table(const Result& result, double bin_width) {
    std::string text = "from\tto\tp\n";
    for (std::size_t n = 0; n < result.pairs.size(); ++n)
        text += fmt::format("{:.6g}\t{:.6g}\t{:.9g}\n", static_cast<double>(n) * bin_width,
                            static_cast<double>(n + 1) * bin_width, result.pairs[n]);
    return text;
}

std::string frames_table(const Result& result) {
    const bool has_fits = !result.frame_fits.empty(),
               has_numbers =
                   !result.scores.empty() && result.numbers.size() == result.shapes.size(),
               is_atomic = result.model == Resolution::all_atom;
    std::string text = fmt::format("frame{}\tfile\tframe_of_file\trg\ti0\tdmax{}",
                                   has_numbers ? "\tnumber" : "", has_fits ? "\tchi2\tc1\tc2" : "");
    text += score_names(result.scores, text) + '\n';
    for (std::size_t frame = 0; frame < result.shapes.size(); ++frame) {
        const Shape& shape = result.shapes[frame];
        text += fmt::format("{}", frame);
        if (has_numbers) text += fmt::format("\t{}", result.numbers[frame]);
        text += fmt::format(
            "\t{}\t{}\t{}\t{:.9g}\t{:.6g}", table_cell(result.files[frame]),
            result.frames_of_files[frame],
            shape.gyration_radius2 >= 0 ? fmt::format("{:.6g}", shape.gyration_radius) : "NA",
            shape.forward_intensity, shape.diameter);
        if (has_fits) {
            const Fit& fit = result.frame_fits[frame];
            text += fmt::format("\t{:.8g}\t{}\t{:.6g}", fit.chi2,
                                is_atomic ? fmt::format("{:.6g}", fit.contrast.c1) : "NA",
                                fit.contrast.c2);
        }
        text += score_cells(result.scores, static_cast<Index>(frame)) + '\n';
    }
    return text;
}

/// A curve and a model that was fitted to it.
std::string fit_table(const Profile& curve, const Fit& fit) {
    std::string text = "q\tintensity\tsigma\tmodel\tresidual\n";
    for (std::size_t k = 0; k < curve.size(); ++k)
        text += fmt::format("{:.8g}\t{:.8g}\t{:.8g}\t{:.8g}\t{:.5f}\n", curve.q[k],
                            curve.intensity[k], curve.sigma[k], fit.model[k],
                            (curve.intensity[k] - fit.model[k]) / curve.sigma[k]);
    return text;
}

/// Match points in percent D2O; NA: there is none.
std::string match_table(const Result& result) {
    const auto percent = [](double d2o) {
        return std::isfinite(d2o) ? fmt::format("{:.4f}", 100 * d2o) : std::string("NA");
    };
    std::string text = "name\tmatch_d2o_percent\twith_layer_percent\tvolume\tlength\tgain\n";
    for (const MatchPoint& one : result.match_points)
        text += fmt::format("{}\t{}\t{}\t{:.6g}\t{:.6g}\t{:.6g}\n", table_cell(one.name),
                            percent(one.d2o), percent(one.with_layer), one.volume, one.length,
                            one.gain);
    return text;
}

/// ln I against q^2 for points with positive intensities.
std::string guinier_table(const Result& result) {
    std::string text = "q2\tln_intensity\tsigma\tln_model\tused\n";
    for (std::size_t k = 0; k < result.curve.size(); ++k) {
        const double q = result.curve.q[k], intensity = result.curve.intensity[k];
        if (intensity <= 0 || result.fit.model[k] <= 0) continue;
        const bool used =
            result.guinier.is_valid && k >= result.guinier.first && k <= result.guinier.last;
        text += fmt::format("{:.8g}\t{:.8g}\t{:.8g}\t{:.8g}\t{}\n", q * q, std::log(intensity),
                            result.curve.sigma[k] / intensity, std::log(result.fit.model[k]),
                            used ? 1 : 0);
    }
    return text;
}

/// (q Rg)^2 I / I(0) against q Rg, with Rg and I(0) of the curve; q^2 I against q if the curve has
/// no Guinier range.
std::string kratky_table(const Result& result) {
    const bool is_reduced = result.guinier.is_valid;
    const double length = is_reduced ? result.guinier.gyration_radius : 1;
    const double height = is_reduced ? result.guinier.forward_intensity : 1;
    std::string text = is_reduced ? "q_rg\tkratky\tsigma\tmodel\n" : "q\tkratky\tsigma\tmodel\n";
    for (std::size_t k = 0; k < result.curve.size(); ++k) {
        const double x = result.curve.q[k] * length, factor = x * x / height;
        text +=
            fmt::format("{:.8g}\t{:.8g}\t{:.8g}\t{:.8g}\n", x, factor * result.curve.intensity[k],
                        factor * result.curve.sigma[k], factor * result.fit.model[k]);
    }
    return text;
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json fit_json(const Fit& fit, bool is_atomic) {
    Json json;
    json["scale"] = number(fit.scale);
    json["background"] = number(fit.background);
    json["c1"] = is_atomic ? number(fit.contrast.c1) : Json(nullptr);
    json["c2"] = number(fit.contrast.c2);
    json["c1_at_bound"] = fit.c1_at_bound;
    json["c2_at_bound"] = fit.c2_at_bound;
    json["points"] = fit.points;
    json["parameters"] = fit.parameters;
    json["chi2"] = number(fit.chi2);
    json["chi2_reduced"] = number(fit.chi2_reduced);
    return json;
}

Json weighted_json(const Weighted& weighted, bool is_atomic) {
    Json json = fit_json(weighted.fit, is_atomic);
    json["members"] = weighted.frames.size();
    json["effective_members"] = number(weighted.effective_frames);
    json["validation_chi2"] = number(weighted.validation);
    json["validation_error"] = number(weighted.validation_error);
    return json;
}

Json ensemble_json(const Result& result, bool is_atomic) {
    Json json;
    if (!result.ensemble.minimal.empty()) {
        for (const Weighted& one : result.ensemble.minimal) {
            Json entry = weighted_json(one, is_atomic);
            entry["all_sets_fitted"] = one.is_exhaustive;
            json["minimal"].push_back(std::move(entry));
        }
        json["minimal_chosen"] =
            result.ensemble.minimal[result.ensemble.minimal_chosen].frames.size();
    }
    if (!result.ensemble.scan.empty()) {
        for (const Reweighted& one : result.ensemble.scan) {
            Json entry = weighted_json(one.result, is_atomic);
            entry["theta"] = number(one.theta);
            json["maximum_entropy"].push_back(std::move(entry));
        }
        json["theta_chosen"] = number(result.ensemble.scan[result.ensemble.scan_chosen].theta);
    }
    return json;
}

Json probe_json(bool neutrons, double d2o) {
    Json json;
    json["radiation"] = neutrons ? "neutrons" : "x-rays";
    json["d2o"] = neutrons ? Json(d2o) : Json(nullptr);
    return json;
}

/// The fits of further curves, and of all together.
Json series_json(const Result& result, bool is_atomic) {
    Json json;
    for (const FurtherFit& one : result.further) {
        Json entry = probe_json(one.d2o.has_value(), one.d2o.value_or(0));
        entry["curve"] = one.curve.source;
        entry.update(fit_json(one.fit, is_atomic));
        json["curves"].push_back(std::move(entry));
    }
    json["points"] = result.joint.points;
    json["parameters"] = result.joint.parameters;
    json["chi2"] = number(result.joint.chi2);
    json["chi2_reduced"] = number(result.joint.chi2_reduced);
    return json;
}

Json match_points_json(const Result& result) {
    Json json = Json::array();
    for (const MatchPoint& one : result.match_points)
        json.push_back({{"name", one.name},
                        {"d2o", number(one.d2o)},
                        {"d2o_with_layer", number(one.with_layer)},
                        {"volume", number(one.volume)},
                        {"length", number(one.length)},
                        {"gain", number(one.gain)}});
    return json;
}

Json summary_json(const Result& result) {
    const bool is_atomic = result.model == Resolution::all_atom;
    Json json;
    json["model"] = name_of(result.model);
    json.update(probe_json(result.neutrons, result.d2o));
    json["fit"] = fit_json(result.fit, is_atomic);
    if (!result.further.empty()) json["series"] = series_json(result, is_atomic);
    if (!result.match_points.empty()) json["match_points"] = match_points_json(result);
    if (result.guinier.is_valid) {
        json["guinier"] = {{"rg", result.guinier.gyration_radius},
                           {"rg_error", result.guinier.gyration_radius_error},
                           {"i0", result.guinier.forward_intensity},
                           {"i0_error", result.guinier.forward_intensity_error},
                           {"q_min", result.curve.q[result.guinier.first]},
                           {"q_max", result.curve.q[result.guinier.last]},
                           {"points", result.guinier.last - result.guinier.first + 1},
                           {"chi2", number(result.guinier.chi2)}};
    } else {
        json["guinier"] = nullptr;
    }
    if (result.has_ensemble) json["ensemble"] = ensemble_json(result, is_atomic);
    return json;
}

/// The frames and weights of the minimal ensemble of each size.
std::string members_table(const Result& result) {
    std::string text = "members\tchosen\tframe\tfile\tframe_of_file\tweight\n";
    for (std::size_t size = 0; size < result.ensemble.minimal.size(); ++size) {
        const Weighted& one = result.ensemble.minimal[size];
        for (std::size_t m = 0; m < one.frames.size(); ++m)
            text += fmt::format("{}\t{}\t{}\t{:.6f}\n", one.frames.size(),
                                size == result.ensemble.minimal_chosen ? 1 : 0,
                                frame_label(result, one.frames[m]), one.weights[m]);
    }
    return text;
}

/// The fit and the validation of each size of minimal ensembles.
std::string sizes_table(const Result& result) {
    const std::vector<Weighted>& sizes = result.ensemble.minimal;
    const std::vector<bool> near = are_near_best(sizes);
    std::string text = "members\tchosen\tnear_best\tchi2\tvalidation_chi2\tvalidation_error\n";
    for (std::size_t n = 0; n < sizes.size(); ++n)
        text += fmt::format("{}\t{}\t{}\t{:.6g}\t{:.6g}\t{:.6g}\n", sizes[n].frames.size(),
                            n == result.ensemble.minimal_chosen ? 1 : 0, near[n] ? 1 : 0,
                            sizes[n].fit.chi2, sizes[n].validation, sizes[n].validation_error);
    return text;
}

std::string weights_table(const Result& result) {
    const Weighted& one = result.ensemble.scan[result.ensemble.scan_chosen].result;
    std::string text = "frame\tfile\tframe_of_file\tweight\n";
    for (std::size_t m = 0; m < one.frames.size(); ++m)
        text += fmt::format("{}\t{:.8g}\n", frame_label(result, one.frames[m]), one.weights[m]);
    return text;
}

void write_ensemble(RunDirectory& run, const Result& result) {
    if (!result.ensemble.minimal.empty()) {
        write_text(run.output("minimal_ensemble.tsv"), members_table(result));
        write_text(run.output("ensemble_sizes.tsv"), sizes_table(result));
        write_text(
            run.output("minimal_fit.tsv"),
            fit_table(result.curve, result.ensemble.minimal[result.ensemble.minimal_chosen].fit));
    }
    if (!result.ensemble.scan.empty()) {
        write_text(run.output("weights.tsv"), weights_table(result));
        write_text(
            run.output("reweighted_fit.tsv"),
            fit_table(result.curve, result.ensemble.scan[result.ensemble.scan_chosen].result.fit));
    }
}

}  // namespace

void write_results(RunDirectory& run, const Result& result, const Parameters& parameters) {
    write_text(run.output("profile.tsv"), profile_table(result));
    if (parameters.bin_width > 0)
        write_text(run.output("pr.tsv"), pairs_table(result, parameters.bin_width));
    if (result.shapes.size() > 1) {
        write_npy(run.output("profiles.npy"), result.intensity.data(),
                  {result.intensity.extent(0), result.intensity.extent(1)});
        write_npy(run.output("q.npy"), result.q.data(), {static_cast<Index>(result.q.size())});
        write_text(run.output("frames.tsv"), frames_table(result));
    }
    if (!result.match_points.empty())
        write_text(run.output("match_points.tsv"), match_table(result));
    if (!result.has_fit) return;
    write_text(run.output("fit.tsv"), fit_table(result.curve, result.fit));
    for (std::size_t n = 0; n < result.further.size(); ++n)
        write_text(run.output(fmt::format("series_{}_fit.tsv", n + 1)),
                   fit_table(result.further[n].curve, result.further[n].fit));
    write_text(run.output("guinier.tsv"), guinier_table(result));
    write_text(run.output("kratky.tsv"), kratky_table(result));
    write_text(run.output("fit.json"), summary_json(result).dump(2) + "\n");
    if (result.has_ensemble) write_ensemble(run, result);
}

void record_facts(RunDirectory& run, const Result& result) {
    run.fact("model", name_of(result.model));
    run.fact("frames", static_cast<std::int64_t>(result.shapes.size()));
    run.fact("scatterers", result.scatterers);
    double forward_intensity = 0, diameter = 0;
    for (const Shape& shape : result.shapes) {
        forward_intensity += shape.forward_intensity;
        diameter = std::max(diameter, shape.diameter);
    }
    const double gyration_radius = root_mean_gyration(result.shapes);
    if (std::isnan(gyration_radius))
        run.fact("rg", std::string_view("NA"));
    else
        run.fact("rg", gyration_radius);
    run.fact("i0", forward_intensity / static_cast<double>(result.shapes.size()));
    run.fact("dmax", diameter);
    if (result.guinier.is_valid) {
        const Guinier& guinier = result.guinier;
        run.fact("guinier_rg", guinier.gyration_radius);
        run.fact("guinier_q_min", result.curve.q[guinier.first]);
        run.fact("guinier_q_max", result.curve.q[guinier.last]);
        run.fact("guinier_chi2", guinier.chi2);
    }
    if (result.model == Resolution::all_atom) run.fact("c1", result.contrast.c1);
    run.fact("c2", result.contrast.c2);
    if (result.neutrons) run.fact("d2o", result.d2o);
    if (!result.match_points.empty()) {
        const double match = result.match_points.front().d2o;
        if (std::isfinite(match))
            run.fact("match_point", match);
        else
            run.fact("match_point", std::string_view("NA"));
    }
    if (!result.further.empty()) run.fact("joint_chi2", result.joint.chi2);
    if (!result.has_fit) return;
    run.fact("chi2", result.fit.chi2);
    run.fact("chi2_reduced", result.fit.chi2_reduced);
    run.fact("scale", result.fit.scale);
    run.fact("background", result.fit.background);
    run.fact("curve_points", result.fit.points);
}

std::vector<std::string_view> citations(const Result& result) {
    std::vector<std::string_view> keys = {"Antonov2012", "Debye1915"};
    keys.push_back(result.model == Resolution::all_atom ? "Fraser1978" : "Stovgaard2010");
    if (result.has_fit) keys.push_back("SchneidmanDuhovny2013");
    if (!result.match_points.empty()) keys.push_back("Jacrot1976");
    if (!result.ensemble.scan.empty()) keys.push_back("Rozycki2011");
    return keys;
}

}  // namespace pleat::saxs
