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
    return fmt::format("{}\t{}\t{}", frame, table_cell(result.files[frame]),
                       result.frames_of_files[frame]);
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
                   !result.scores.empty() && result.numbers.size() == result.frame_shapes.size(),
               is_atomic = result.model == Resolution::all_atom;
    std::string text = fmt::format("frame{}\tfile\tframe_of_file\trg\ti0\tdmax{}",
                                   has_numbers ? "\tnumber" : "", has_fits ? "\tchi2\tc1\tc2" : "");
    text += score_names(result.scores, text) + '\n';
    for (std::size_t frame = 0; frame < result.frame_shapes.size(); ++frame) {
        const Shape& shape = result.frame_shapes[frame];
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

/// A table of a curve and a model fitted to it.
std::string fit_table(const Profile& curve, const Fit& fit) {
    std::string text = "q\tintensity\tsigma\tmodel\tresidual\n";
    for (std::size_t k = 0; k < curve.size(); ++k)
        text += fmt::format("{:.8g}\t{:.8g}\t{:.8g}\t{:.8g}\t{:.5f}\n", curve.q[k],
                            curve.intensity[k], curve.sigma[k], fit.model[k],
                            (curve.intensity[k] - fit.model[k]) / curve.sigma[k]);
    return text;
}

/// A table of match points in percent D2O; NA if there is none.
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

/// A table of (q Rg)^2 I / I(0) against q Rg, with the curve's Rg and I(0); q^2 I against q if the
/// curve has no Guinier range.
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
    for (const ResultColumn& column : columns(fit)) {
        if (column.file != "fit.json") continue;
        const auto* const value = std::get_if<double>(&column.value.content);
        if (value != nullptr)
            json[column.name] = number(*value);
        else if (const auto* const whole = std::get_if<std::int64_t>(&column.value.content))
            json[column.name] = *whole;
        else
            json[column.name] = std::get<bool>(column.value.content);
    }
    if (!is_atomic) json["c1"] = nullptr;
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

/// The fits of further curves, and the joint fit.
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
    json["pair_distances"] = nullptr;
    if (result.alone && result.alone->pairs.is_valid) {
        const PairDistances& pairs = result.alone->pairs;
        json["pair_distances"] = {{"rg", pairs.gyration_radius},
                                  {"rg_error", pairs.gyration_radius_error},
                                  {"dmax", pairs.diameter},
                                  {"dmax_low", pairs.diameter_low},
                                  {"dmax_high", pairs.diameter_high}};
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
    const std::vector<bool> near = are_within_error_of_best(sizes);
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

/// The columns of an observable's table; `with`: what the chosen weights give.
std::vector<TableColumn> observable_columns(const ObservableFits& all, const ObservableFit& with) {
    const auto number = [](const char* name, auto of) {
        return TableColumn{name, [of](std::size_t n, std::string& text) {
                               append_cell(text, static_cast<double>(of(n)), {.digits = 8});
                           }};
    };
    const auto& list = all.list;
    return {table_column("name", [&](std::size_t n) { return table_cell(list[n].name); }),
            number("measured", [&](std::size_t n) { return list[n].value; }),
            number("error", [&](std::size_t n) { return list[n].error; }),
            table_column("kind", [&](std::size_t n) { return name_of(list[n].kind); }),
            table_column("average", [&](std::size_t n) { return name_of(list[n].averaging); }),
            number("mean_before", [&](std::size_t n) { return all.before.means[n]; }),
            number("mean", [&](std::size_t n) { return with.means[n]; }),
            number("multiplier", [&](std::size_t n) { return with.multipliers[n]; })};
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
        write_text(
            run.output("reweighted_fit.tsv"),
            fit_table(result.curve, result.ensemble.scan[result.ensemble.scan_chosen].result.fit));
    }
}

/// What the manifest says.
ResultColumns facts(const Result& result) {
    double forward_intensity = 0, diameter = 0;
    for (const Shape& shape : result.frame_shapes) {
        forward_intensity += shape.forward_intensity;
        diameter = std::max(diameter, shape.diameter);
    }
    const double gyration_radius = root_mean_gyration(result.frame_shapes);
    const Guinier& guinier = result.guinier;
    const bool is_atomic = result.model == Resolution::all_atom;
    ResultColumns all = {
        {"model", "the model of scatterers that was used", name_of(result.model), "results"},
        {"frames", "number of frames", std::ssize(result.frame_shapes), "results"},
        {"scatterers", "number of scatterers", result.scatterers, "results"},
        fact("rg", std::isnan(gyration_radius) ? ColumnValue("NA") : ColumnValue(gyration_radius),
             "angstrom, root mean square of the frames"),
        fact("i0", forward_intensity / static_cast<double>(result.frame_shapes.size()),
             "electrons^2, mean of the frames"),
        fact("dmax", diameter, "angstrom, of the largest frame")};
    if (guinier.is_valid) {
        all.push_back(fact("guinier_rg", guinier.gyration_radius, "angstrom, of the curve"));
        all.push_back(fact("guinier_q_min", result.curve.q[guinier.first], "1/angstrom"));
        all.push_back(fact("guinier_q_max", result.curve.q[guinier.last], "1/angstrom"));
        all.push_back(fact("guinier_chi2", guinier.chi2, "per degree of freedom"));
    }
    if (result.alone && result.alone->pairs.is_valid) {
        const PairDistances& pairs = result.alone->pairs;
        all.push_back(fact("curve_rg", pairs.gyration_radius, "angstrom, by P(r) of the curve"));
        all.push_back(fact("curve_rg_error", pairs.gyration_radius_error, "angstrom"));
        all.push_back(fact("curve_dmax", pairs.diameter, "angstrom, by P(r) of the curve"));
        all.push_back(fact("curve_dmax_low", pairs.diameter_low, "angstrom, of its 90 % interval"));
        all.push_back(fact("curve_dmax_high", pairs.diameter_high, "angstrom"));
    }
    if (is_atomic) all.push_back(fact("c1", result.contrast.c1, "scale factor of the radii"));
    all.push_back({"c2", "hydration-layer contrast", result.contrast.c2, "results"});
    if (result.neutrons) all.push_back(fact("d2o", result.d2o, "D2O fraction"));
    if (!result.match_points.empty()) {
        const double match = result.match_points.front().d2o;
        all.push_back(fact("match_point",
                           std::isfinite(match) ? ColumnValue(match) : ColumnValue("NA"),
                           "D2O fraction"));
    }
    if (!result.further.empty())
        all.push_back(fact("joint_chi2", result.joint.chi2, "of all curves together"));
    if (!result.observables.list.empty()) {
        const std::size_t chosen = result.ensemble.scan_chosen;
        all.push_back(fact("observables", std::ssize(result.observables.list),
                           "number of observables besides the curve"));
        all.push_back(fact("observables_chi2_before", result.observables.before.chi2,
                           "per observable, with equal weights"));
        all.push_back(fact("observables_chi2", result.observables.fits[chosen].chi2,
                           "per observable, with the weights"));
        all.push_back(fact("theta", result.ensemble.scan[chosen].theta, "of the weights"));
        all.push_back(fact("effective_frames", result.ensemble.scan[chosen].result.effective_frames,
                           "of the weights"));
    }
    if (!result.has_fit) return all;
    const ResultColumns fit = {fact("chi2", result.fit.chi2, "of the fit"),
                               fact("chi2_reduced", result.fit.chi2_reduced, "of the fit"),
                               fact("scale", result.fit.scale, "of the fit"),
                               fact("background", result.fit.background, "of the fit"),
                               fact("curve_points", result.fit.points, "of the curve")};
    return joined({all, fit});
}

/// A number of each frame.
ColumnValue of_frames(const Result& result, double Shape::*part) {
    std::vector<double> all;
    for (const Shape& shape : result.frame_shapes) all.push_back(shape.*part);
    return ColumnValue::owned(std::move(all));
}

}  // namespace

ResultColumns columns(const Fit& fit) {
    constexpr const char* kFile = "fit.json";
    return {
        {"scale", "factor of the profile", fit.scale, kFile},
        {"background", "constant that was added", fit.background, kFile},
        {"c1", "scale factor of the radii in the excluded volume", fit.contrast.c1, kFile},
        {"c2", "hydration-layer contrast", fit.contrast.c2, kFile},
        {"c1_at_bound", "whether the fit of c1 ended at a bound", fit.c1_at_bound, kFile},
        {"c2_at_bound", "whether the fit of c2 ended at a bound", fit.c2_at_bound, kFile},
        {"points", "number of points", fit.points, kFile},
        {"parameters", "number of fitted parameters", fit.parameters, kFile},
        {"chi2", "mean over the points of ((I - model) / sigma)^2", fit.chi2, kFile},
        {"chi2_reduced", "the sum divided by points - parameters; None if there are no more points",
         ColumnValue(fit.chi2_reduced).or_none(!std::isnan(fit.chi2_reduced)), kFile},
        {"model", "float64 [point], scaled and with background, at the curve's q", fit.model}};
}

ResultColumns columns(const Weighted& weighted) {
    return {
        {"frames", "int64 [n], from 0, ascending", weighted.frames},
        {"weights", "float64 [n], not negative, sum 1", weighted.weights},
        {"fit", "Fit of their mean", ColumnValue::kept("Fit")},
        {"validation", "chi^2 per point on points that the fit did not see", weighted.validation},
        {"validation_error", "its standard error", weighted.validation_error},
        {"effective", "exp(entropy of the weights), how many frames count",
         weighted.effective_frames},
        {"exhaustive",
         "for minimal ensembles, whether all sets of up to as many frames were fitted",
         weighted.is_exhaustive}};
}

ResultColumns columns(const FixedContrastModel& made) {
    return {
        {"model",
         "Model, one channel, or with a layer two of weight 1, so that I(q) = "
         "partial.sum(axis=-2)",
         ColumnValue::kept("Model")},
        {"xyz", "float32 [frame, scatterer, 3], angstrom",
         ColumnValue::kept("NDArray[np.float32]")},
        {"scales", "float32 [frame, 1, scatterer], water at each site; None without a layer",
         ColumnValue(made.scales).or_none(made.scales.size() > 0)},
        {"atoms",
         "int64 [scatterer], the first atom of each (for a site: of the scatterer that touches "
         "it); their residues in the topology help to divide the scatterers into rigid bodies",
         made.atoms},
        {"type_names",
         "list of str [type]; beads with other electrons than a complete residue are types of "
         "their own with the same name",
         made.type_names},
        {"sites", "number of sites of the hydration layer, the last scatterers", made.sites},
        {"name", "the model that was used", made.name},
        {"notes", "list of str, what was left out or assumed", ColumnValue::kept("list[Note]")}};
}

ResultColumns columns(const Reweighting& found) {
    static const Reweighted kNone;
    static const ObservableFit kNoFit;
    const ObservableFits& all = found.observables;
    const bool is_there = found.chosen < found.scan.size();
    const Reweighted& chosen = is_there ? found.scan[found.chosen] : kNone;
    const ObservableFit& fit = is_there ? all.fits[found.chosen] : kNoFit;
    const auto of_list = [&](auto get) {
        std::vector<decltype(get(Observable()))> values;
        for (const Observable& one : all.list) values.push_back(get(one));
        return values;
    };
    const auto of_scan = [&](auto get) {
        std::vector<double> values;
        for (const Reweighted& one : found.scan) values.push_back(get(one));
        return ColumnValue::owned(std::move(values));
    };
    const auto frames = std::ssize(chosen.result.weights);
    Array<double, 2> weights(std::ssize(found.scan), frames);
    for (std::size_t n = 0; n < found.scan.size(); ++n)
        std::ranges::copy(found.scan[n].result.weights, weights[static_cast<Index>(n)].begin());
    using Text = std::string;
    return {
        {"weights", "float64 [frame], sum 1, at `theta`", chosen.result.weights},
        {"theta", "strength of the entropy term of `weights`", chosen.theta},
        {"chi2_before", "chi^2 per observable with equal weights", all.before.chi2},
        {"chi2", "chi^2 per observable with `weights`", fit.chi2},
        {"phi", "effective frames over frames, exp of the relative entropy",
         frames > 0 ? chosen.result.effective_frames / static_cast<double>(frames) : 0},
        {"effective", "exp(entropy of the weights), how many frames count",
         chosen.result.effective_frames},
        {"names", "list of str [observable]", of_list([](const Observable& o) { return o.name; })},
        {"measured", "float64 [observable], as given",
         ColumnValue::owned(of_list([](const Observable& o) { return o.value; }))},
        {"errors", "float64 [observable], as given",
         ColumnValue::owned(of_list([](const Observable& o) { return o.error; }))},
        {"kinds", "list of str [observable]: 'gaussian', 'upper' or 'lower'",
         of_list([](const Observable& o) { return Text(name_of(o.kind)); })},
        {"averages", "list of str [observable]: 'mean', 'r^-3' or 'r^-6'",
         of_list([](const Observable& o) { return Text(name_of(o.averaging)); })},
        {"means_before", "float64 [observable], with equal weights, in the unit of the values",
         all.before.means},
        {"means", "float64 [observable], with `weights`", fit.means},
        {"multipliers",
         "float64 [observable]: lambda of weights exp(-sum lambda a / error of a), with a the "
         "value or its power",
         fit.multipliers},
        {"chosen", "index of `theta` in `thetas`", static_cast<Index>(found.chosen)},
        {"thetas", "float64 [theta], falling",
         of_scan([](const Reweighted& r) { return r.theta; })},
        {"scan_chi2", "float64 [theta], chi^2 per observable",
         of_scan([](const Reweighted& r) { return r.result.fit.chi2; })},
        {"scan_effective", "float64 [theta], effective frames",
         of_scan([](const Reweighted& r) { return r.result.effective_frames; })},
        {"validation",
         "float64 [theta], chi^2 per observable on those that were left out; 0 where none were",
         of_scan([](const Reweighted& r) { return r.result.validation; })},
        {"validation_error", "float64 [theta], its standard error",
         of_scan([](const Reweighted& r) { return r.result.validation_error; })},
        {"scan_weights", "float64 [theta, frame]", ColumnValue::owned(std::move(weights))},
        {"notes", "list of str, what was assumed", ColumnValue::kept("list[Note]")},
        {"warnings", "list of str, what is probably wrong (also Python warnings)", found.warnings}};
}

ResultColumns columns(const Result& result, double bin_width) {
    ResultColumns all = {
        {"q",
         "float64 [q], 1/angstrom; with data more points than asked for if the structure needs "
         "them",
         result.q},
        {"intensity", "float64 [frame, q], electrons^2 or with neutrons fm^2, at c1 and c2",
         result.intensity},
        {"mean", "float64 [q], of the frames", result.mean, "profile.tsv", "intensity"},
        {"c1", "scale factor of the radii in the excluded volume", result.contrast.c1},
        {"rg", "float64 [frame], angstrom; NaN where its square is negative",
         of_frames(result, &Shape::gyration_radius)},
        {"i0", "float64 [frame], electrons^2", of_frames(result, &Shape::forward_intensity)},
        {"dmax", "float64 [frame], angstrom", of_frames(result, &Shape::diameter)},
        {"pr",
         "float64 [bin], P(r) of the mean, bins of `bin_width` angstrom; None with bin_width=0",
         ColumnValue(result.pairs).or_none(!result.pairs.empty()), "pr.tsv", "p"},
        {"bin_width", "width of the bins of P(r), angstrom", bin_width, "parameters", "bin-width"},
        {"files", "list of str [frame]", result.files},
        {"notes", "list of str, what was assumed or left out", ColumnValue::kept("list[Note]")},
        {"warnings", "list of str, what is probably wrong (also Python warnings)", result.warnings},
        {"device", "the device that computed", ColumnValue::kept("str"), "manifest"},
        {"match_points",
         "list of dict of the molecule and its chains, with neutrons: name; d2o, the fraction of "
         "D2O at which it scatters as the solvent; d2o_with_layer, the same with its hydration "
         "layer; volume displaced, angstrom^3; length in H2O and gain in D2O, fm",
         ColumnValue::kept("list[dict[str, Any]]")},
        {"curve", "pleat.Profile, the points that were fitted; None without data",
         ColumnValue::kept("Profile | None")},
        {"fit", "pleat.saxs.Fit of the mean; None without data", ColumnValue::kept("_Fit | None")},
        {"guinier",
         "dict of rg, rg_error, i0, i0_error and the points first to last; None if the curve has "
         "no such range",
         ColumnValue::kept("dict[str, float] | None")},
        {"series", "list of pleat.saxs.Fit, of each further curve",
         ColumnValue::kept("list[_Fit]")},
        {"joint", "dict of chi2, chi2_reduced, points, parameters of all curves together, or None",
         ColumnValue::kept("dict[str, float] | None")},
        {"minimal",
         "list of pleat.saxs.Weights, the best ensembles by number of frames; numbers that do not "
         "improve the fit are left out",
         ColumnValue::kept("list[_Weights]")},
        {"minimal_chosen", "index into `minimal`, or None",
         ColumnValue(result.ensemble.minimal_chosen).or_none(!result.ensemble.minimal.empty())},
        {"reweighted",
         "list of pleat.saxs.Weights of all frames, by maximum entropy at each of `thetas`",
         ColumnValue::kept("list[_Weights]")},
        {"thetas", "float64, the strengths of the entropy term",
         ColumnValue(result.ensemble.scan, record_field("", &Reweighted::theta))},
        {"reweighted_chosen", "index into `reweighted`, or None",
         ColumnValue(result.ensemble.scan_chosen).or_none(!result.ensemble.scan.empty())}};
    return joined({all, facts(result)});
}

void write_results(RunDirectory& run, const Result& result, const Parameters& parameters) {
    write_text(run.output("profile.tsv"), profile_table(result));
    if (parameters.bin_width > 0)
        write_text(run.output("pr.tsv"), pairs_table(result, parameters.bin_width));
    if (result.frame_shapes.size() > 1) {
        write_npy(run.output("profiles.npy"), result.intensity.data(),
                  {result.intensity.extent(0), result.intensity.extent(1)});
        write_npy(run.output("q.npy"), result.q.data(), {std::ssize(result.q)});
        write_text(run.output("frames.tsv"), frames_table(result));
    }
    if (!result.match_points.empty())
        write_text(run.output("match_points.tsv"), match_table(result));
    if (!result.ensemble.scan.empty()) write_text(run.output("weights.tsv"), weights_table(result));
    const ObservableFits& observables = result.observables;
    if (!observables.list.empty())
        write_table(run.output("observables.tsv"), observables.list.size(),
                    observable_columns(observables, observables.fits[result.ensemble.scan_chosen]));
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

void record_facts(RunDirectory& run, const Result& result) { record(run, facts(result)); }

std::vector<std::string_view> citations(const Result& result) {
    std::vector<std::string_view> keys = {"Antonov2012", "Debye1915"};
    keys.push_back(result.model == Resolution::all_atom ? "Fraser1978" : "Stovgaard2010");
    if (result.has_fit) keys.push_back("SchneidmanDuhovny2013");
    if (!result.match_points.empty()) keys.push_back("Jacrot1976");
    if (!result.ensemble.scan.empty()) keys.push_back("Rozycki2011");
    if (!result.observables.list.empty()) keys.push_back("Bottaro2020");
    return keys;
}

}  // namespace pleat::saxs
