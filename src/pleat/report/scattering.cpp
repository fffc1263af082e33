// Scattering: the sections of profiles and of fits to a measured curve. A table's columns say what
// it holds.
#include <algorithm>
#include <cmath>
#include <limits>

#include "pleat/report/sections.h"

namespace pleat::report {

namespace {

constexpr const char* kQ = "q (1/angstrom)";

Json axis(const std::string& label, const char* scale = "linear") {
    return {{"label", label}, {"scale", scale}};
}

Json line(const std::string& name, const std::vector<double>& values) {
    return {{"name", name}, {"style", "line"}, {"values", finite(values)}};
}

Json points(const std::string& name, const std::vector<double>& values,
            const std::vector<double>& error) {
    return {
        {"name", name}, {"style", "points"}, {"values", finite(values)}, {"error", finite(error)}};
}

Json curve(const std::string& title, const Json& x, const Json& y,
           const std::vector<double>& positions, const std::vector<Json>& series) {
    return {
        {"kind", "curve"}, {"title", title}, {"x", x}, {"y", y}, {"positions", finite(positions)},
        {"series", series}};
}

std::string fit_title(const std::string& file) {
    if (file.starts_with("minimal")) return "Fit of the minimal ensemble";
    if (file.starts_with("reweighted")) return "Fit of the reweighted ensemble";
    return "Fit to the curve";
}

void draw_fit(Drawing& drawing, const Table& table, const std::string& file) {
    Json section = curve(fit_title(file), axis(kQ), axis("intensity", "log"), table.numbers("q"),
                         {points("measured", table.numbers("intensity"), table.numbers("sigma")),
                          line("model", table.numbers("model"))});
    section["residuals"] = {{"label", "residual / σ"},
                            {"values", finite(table.numbers("residual"))}};
    drawing.add(std::move(section));
}

/// Differences of measured values from a line, in their errors.
Json residuals(const std::vector<double>& measured, const std::vector<double>& model,
               const std::vector<double>& sigma) {
    std::vector<double> values;
    for (std::size_t k = 0; k < measured.size(); ++k)
        values.push_back((measured[k] - model[k]) / sigma[k]);
    return {{"label", "residual / σ"}, {"values", finite(values)}};
}

/// Draws the Guinier plot of a measured curve; the fitted points are a separate series.
void draw_guinier(Drawing& drawing, const Table& table) {
    // Guinier's law holds near q = 0; points far beyond its range would compress the plot into a
    // corner.
    constexpr double kShownRange = 3;  // times the largest q^2 of the fit
    std::vector<double> q2 = table.numbers("q2"), used = table.numbers("ln_intensity"),
                        others = used;
    std::vector<double> sigma = table.numbers("sigma"), model = table.numbers("ln_model");
    std::vector<double> flags =
        table.has({"used"}) ? table.numbers("used") : std::vector<double>(used.size(), 1);
    double last = 0;
    for (std::size_t k = 0; k < flags.size(); ++k) {
        if (flags[k] > 0) last = std::max(last, q2[k]);
        (flags[k] > 0 ? others : used)[k] = std::numeric_limits<double>::quiet_NaN();
    }
    if (last > 0) {
        const auto shown = static_cast<std::size_t>(
            std::find_if(q2.begin(), q2.end(), [&](double x) { return x > kShownRange * last; }) -
            q2.begin());
        for (std::vector<double>* values : {&q2, &used, &others, &sigma, &model, &flags})
            values->resize(shown);
    }
    std::vector<Json> series = {points("measured, in the Guinier range", used, sigma)};
    if (std::any_of(flags.begin(), flags.end(), [](double flag) { return flag <= 0; }))
        series.push_back(points("measured, outside it", others, sigma));
    series.push_back(line("model", model));
    Json section = curve("Guinier", axis("q^2 (1/angstrom^2)"), axis("ln I"), q2, series);
    section["residuals"] = residuals(used, model, sigma);
    drawing.add(std::move(section));
}

/// Draws P(r) of a measured curve, with a band of its standard deviation.
void draw_measured_distances(Drawing& drawing, const Table& table) {
    Json p = line("P(r) ± its standard deviation", table.numbers("p"));
    p["error"] = finite(table.numbers("p_error"));
    drawing.add(
        curve("Pair distances P(r)", axis("r (angstrom)"), axis("P(r)"), table.numbers("r"), {p}));
}

void draw_kratky(Drawing& drawing, const Table& table) {
    const bool reduced = table.has({"q_rg"});
    const std::vector<double> x = table.numbers(reduced ? "q_rg" : "q");
    std::vector<Json> series = {points("measured", table.numbers("kratky"), table.numbers("sigma")),
                                line("model", table.numbers("model"))};
    // The maximum of Guinier's law, near which compact particles have theirs.
    constexpr double kPeak = 1.7320508, kHeight = 1.1036383;
    if (reduced) {
        std::vector<double> height(x.size(), std::numeric_limits<double>::quiet_NaN());
        for (std::size_t k = 0; k < x.size() && x[k] < 2 * kPeak; ++k) height[k] = kHeight;
        series.push_back(line("peak of compact particles: 1.104 at 1.73", height));
    }
    drawing.add(curve("Kratky", axis(reduced ? "q Rg" : kQ),
                      axis(reduced ? "(q Rg)^2 I / I(0)" : "q^2 I"), x, series));
}

/// Draws the frames of an elution: their signal, Rg, and intensities.
void draw_elution(Drawing& drawing) {
    if (!drawing.claim_file("elution.tsv")) return;
    const Table table = read_table(drawing.run.file("elution.tsv"), kEveryRow);
    const std::vector<double> frames = table.numbers("frame"), signal = table.numbers("signal");
    std::vector<double> buffer(signal.size(), std::numeric_limits<double>::quiet_NaN()),
        sample = buffer;
    for (std::size_t f = 0; f < signal.size(); ++f) {
        const std::string& use = table.rows[f][*table.find("use")];
        if (use == "buffer") buffer[f] = signal[f];
        if (use == "sample") sample[f] = signal[f];
    }
    drawing.add(curve(
        "Elution", axis("frame"), axis("integral of I without buffer"), frames,
        {line("all frames", signal), points("buffer", buffer, {}), points("sample", sample, {})}));
    drawing.add(curve("Rg by frame", axis("frame"), axis("Rg (angstrom)"), frames,
                      {points("Rg", table.numbers("rg"), table.numbers("rg_error"))}));
    if (!drawing.claim_file("elution.npy")) return;
    const DistanceCells cells =
        read_distances(drawing.run.file("elution.npy"), drawing.limits.cells, 0);
    drawing.add({{"kind", "heat_map"},
                 {"title", "Intensities by frame"},
                 {"note", "log10 of the intensity without buffer; points of q in ascending order."},
                 {"unit", ""},
                 {"axis", "frame"},
                 {"block", cells.block},
                 {"items", cells.frames},
                 {"matrix", encode_rectangle(cells.values, cells.rows, cells.columns)},
                 {"other_axis", "point of q"},
                 {"other_items", cells.others}});
}

/// The Guinier and Kratky plots of a computed profile.
void draw_views(Drawing& drawing, const std::vector<double>& q,
                const std::vector<double>& intensity) {
    // Guinier's law holds up to about q Rg = 1.3, where I / I(0) is 0.57.
    constexpr double kMinRatio = 0.4;  // a little lower, to show where the law ends
    std::vector<double> squares, logarithms, kratky;
    bool in_range = true;
    for (std::size_t k = 0; k < q.size(); ++k) {
        kratky.push_back(q[k] * q[k] * intensity[k]);
        in_range = in_range && intensity[k] > kMinRatio * intensity[0];
        if (!in_range) continue;
        squares.push_back(q[k] * q[k]);
        logarithms.push_back(std::log(intensity[k]));
    }
    if (squares.size() > 1)
        drawing.add(curve("Guinier plot of the profile", axis("q^2 (1/angstrom^2)"), axis("ln I"),
                          squares, {line("model", logarithms)}));
    drawing.add(
        curve("Kratky plot of the profile", axis(kQ), axis("q^2 I"), q, {line("model", kratky)}));
}

void draw_profile(Drawing& drawing, const Table& table) {
    const std::vector<double> q = table.numbers("q"), intensity = table.numbers("intensity");
    drawing.add(curve("Scattering profile", axis(kQ), axis("intensity", "log"), q,
                      {line("model", intensity)}));
    if (!drawing.run.has("kratky.tsv") && !q.empty()) draw_views(drawing, q, intensity);
}

void draw_pair_distances(Drawing& drawing, const Table& table) {
    std::vector<double> middles = table.numbers("from"), p = table.numbers("p");
    const std::vector<double> ends = table.numbers("to");
    for (std::size_t k = 0; k < middles.size(); ++k) middles[k] = (middles[k] + ends[k]) / 2;
    if (middles.size() > 1) {  // the first bin holds the terms of each scatterer with itself
        middles.erase(middles.begin());
        p.erase(p.begin());
    }
    drawing.add(curve("Pair distances P(r)", axis("r (angstrom)"), axis("P(r)"), middles,
                      {line("model", p)}));
}

/// Draws a table if its columns are those of a known kind; returns whether they are.
bool draw_scattering_table(Drawing& drawing, const Table& table, const std::string& file) {
    if (table.has({"q", "intensity", "sigma", "model", "residual"})) {
        draw_fit(drawing, table, file);
    } else if (table.has({"q2", "ln_intensity", "sigma", "ln_model"})) {
        draw_guinier(drawing, table);
    } else if (table.has({"kratky", "sigma", "model"}) &&
               (table.has({"q_rg"}) || table.has({"q"}))) {
        draw_kratky(drawing, table);
    } else if (table.has({"r", "p", "p_error"})) {
        draw_measured_distances(drawing, table);
    } else if (table.has({"from", "to", "p"})) {
        draw_pair_distances(drawing, table);
    } else if (table.has({"q", "intensity"})) {
        draw_profile(drawing, table);
    } else {
        return false;
    }
    return true;
}

}  // namespace

void draw_scattering(Drawing& drawing) {
    draw_elution(drawing);
    std::vector<std::string> files = drawing.run.files();
    // Comparisons with an experiment come first.
    std::stable_partition(files.begin(), files.end(), [](const std::string& file) {
        return file.find("fit") != std::string::npos;
    });
    for (const std::string& file : files) {
        if (!file.ends_with(".tsv") || drawing.drawn.contains(file)) continue;
        if (file == "ensemble_sizes.tsv" && drawing.claim_file(file)) {
            drawing.add(table_section("Minimal ensembles by number of frames",
                                      read_table(drawing.run.file(file), kEveryRow)));
            continue;
        }
        // Reads the header first, to decide whether the whole table is needed.
        const Table head = read_table(drawing.run.file(file), 1);
        if (!head.has({"q"}) && !head.has({"q2"}) && !head.has({"q_rg"}) && !head.has({"p"}))
            continue;
        if (draw_scattering_table(drawing, read_table(drawing.run.file(file), kEveryRow), file))
            drawing.claim_file(file);
    }
}

}  // namespace pleat::report
