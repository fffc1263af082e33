// Refinement: the sections of frames that Monte Carlo chains drew, as distributions and by step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/report/reduced_curve.h"
#include "pleat/report/sections.h"

namespace pleat::report {

namespace {

constexpr std::size_t kBins = 40;

/// What the page shows of a column: its title and unit.
struct Shown {
    std::string title, unit;
};

std::optional<Shown> shown_of(const std::string& column) {
    static const std::map<std::string, Shown> kKnown = {
        {"rg", {"Rg", "angstrom"}},
        {"dmax", {"Dmax (CA)", "angstrom"}},
        {"chi2", {"chi^2 per point", ""}},
        {"ln_likelihood", {"ln of the likelihood", ""}}};
    if (const auto known = kKnown.find(column); known != kKnown.end()) return known->second;
    if (!column.starts_with("distance_")) return std::nullopt;
    std::string domains = column.substr(9);
    std::replace(domains.begin(), domains.end(), '_', '-');
    return Shown{"distance of domains " + domains, "angstrom"};
}

Json axis(const Shown& shown) {
    return {{"label",
             shown.unit.empty() ? shown.title : fmt::format("{} ({})", shown.title, shown.unit)}};
}

void draw_distribution(Drawing& drawing, const Shown& shown, const std::vector<double>& values) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const double width = (*high - *low) / static_cast<double>(kBins);
    if (!(width > 0)) return;
    std::vector<double> from, to, counts(kBins, 0.0);
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        from.push_back(*low + width * static_cast<double>(bin));
        to.push_back(*low + width * static_cast<double>(bin + 1));
    }
    for (const double value : values)
        ++counts[std::min(static_cast<std::size_t>((value - *low) / width), kBins - 1)];
    drawing.add({{"kind", "histogram"},
                 {"title", "Distribution of " + shown.title},
                 {"x", axis(shown)},
                 {"y", {{"label", "frames"}}},
                 {"from", finite(from)},
                 {"to", finite(to)},
                 {"count", finite(counts)}});
}

/// Frames are in the order of their step.
void draw_by_frame(Drawing& drawing, const Shown& shown, const std::vector<double>& frames,
                   const std::vector<double>& values) {
    const ReducedCurve curve = reduce_curve(frames, values);
    drawing.add(
        {{"kind", "curve"},
         {"title", shown.title + " by frame"},
         {"note", curve.note("frames")},
         {"x", {{"label", "frame"}}},
         {"y", axis(shown)},
         {"positions", finite(curve.positions)},
         {"series", Json::array({{{"name", shown.title}, {"values", finite(curve.values)}}})}});
}

}  // namespace

void draw_refinement(Drawing& drawing) {
    const std::string file = "frames.tsv";
    if (!drawing.run.has(file)) return;
    const Table head = read_table(drawing.run.file(file), 0);
    if (!head.has({"frame", "chain", "step", "rg"})) return;
    for (const std::string& column : head.columns) {
        const std::optional<Shown> shown = shown_of(column);
        if (!shown) continue;
        const std::string_view names[] = {"frame", column};
        const auto columns = read_columns(drawing.run.file(file), names);
        const bool is_finite = std::all_of(columns[1].begin(), columns[1].end(),
                                           [](double value) { return std::isfinite(value); });
        if (columns[1].empty() || !is_finite) continue;
        draw_distribution(drawing, *shown, columns[1]);
        draw_by_frame(drawing, *shown, columns[0], columns[1]);
    }
}

}  // namespace pleat::report
