// Conformations: frames ranked by several scores, and frames that Monte Carlo chains drew.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/report/reduced_data.h"
#include "pleat/report/sections.h"

namespace pleat::report {

namespace {

constexpr Index kMaxDots = 20000;

struct Score {
    const char* name;
    const char* label;
};
constexpr std::array<Score, 6> kScores = {
    {{"rmsd", "RMSD from the first selected cluster (angstrom)"},
     {"contacts", "fraction of satisfied contacts"},
     {"left", "fraction of the contacts left open by the first cluster"},
     {"density", "fraction of frames nearby"},
     {"chi2", "chi^2"},
     {"joined", "joined score"}}};

bool is_selection(const Drawing& drawing) {
    if (!drawing.run.has("scores.tsv")) return false;
    return read_table(drawing.run.file("scores.tsv"), 0)
        .has({"place", "frame", "cluster", "joined"});
}

/// The values of rows 0, every, 2 every, ...
std::vector<double> sampled(const std::vector<double>& values, Index every) {
    std::vector<double> kept;
    for (std::size_t row = 0; row < values.size(); row += static_cast<std::size_t>(every))
        kept.push_back(values[row]);
    return kept;
}

/// The selected clusters that get their own colour.
Json shown_groups(const Drawing& drawing) {
    Json groups = Json::array();
    if (!drawing.run.has("clusters.tsv")) return groups;
    const Table table = read_table(drawing.run.file("clusters.tsv"), drawing.limits.rows);
    if (!table.has({"selected", "cluster"})) return groups;
    const std::vector<double> selected = table.numbers("selected");
    const std::vector<double> cluster = table.numbers("cluster");
    constexpr std::size_t kMaxColours = 6;
    for (std::size_t row = 0; row < selected.size() && groups.size() < kMaxColours; ++row)
        if (!std::isnan(selected[row]))
            groups.push_back(
                {{"value", cluster[row]},
                 {"name", fmt::format("{:.0f}: cluster {:.0f}", selected[row], cluster[row])}});
    return groups;
}

void add_named_score(const Drawing& drawing, const Table& table, Index every, Json& columns) {
    const std::string score = drawing.run.parameter("score");
    if (score.empty()) return;
    // If the table already had a column of this name, the score's column has the prefix score_.
    const std::string prefixed = "score_" + score;
    const std::string name = table.find(prefixed) ? prefixed : score;
    if (!table.find(name)) return;
    columns.push_back({{"name", name},
                       {"label", score},
                       {"values", finite(sampled(table.numbers(name), every))}});
}

void draw_scores(Drawing& drawing) {
    const Table table =
        read_table(drawing.run.file("scores.tsv"), std::numeric_limits<Index>::max());
    const Index every = std::max<Index>(1, (table.total + kMaxDots - 1) / kMaxDots);
    Json columns = Json::array();
    for (const Score& score : kScores) {
        if (!table.find(score.name)) continue;
        const std::vector<double> values = sampled(table.numbers(score.name), every);
        if (std::all_of(values.begin(), values.end(), [](double x) { return std::isnan(x); }))
            continue;
        columns.push_back(
            {{"name", score.name}, {"label", score.label}, {"values", finite(values)}});
    }
    add_named_score(drawing, table, every, columns);
    const auto has = [&](const char* name) {
        return std::any_of(columns.begin(), columns.end(),
                           [&](const Json& one) { return one["name"] == name; });
    };
    drawing.add({{"kind", "scatter"},
                 {"title", "Scores of frames"},
                 {"note", every > 1 ? fmt::format("Every {}th frame is drawn.", every) : ""},
                 {"item", "frame"},
                 {"numbers", sampled(table.numbers("frame"), every)},
                 {"columns", columns},
                 {"x", has("rmsd") ? "rmsd" : "joined"},
                 {"y", has("contacts") ? "contacts"
                       : has("chi2")   ? "chi2"
                                       : "density"},
                 {"group",
                  {{"label", "cluster"},
                   {"values", sampled(table.numbers("cluster"), every)},
                   {"shown", shown_groups(drawing)}}}});
    Table shown = table;
    shown.rows.resize(std::min(shown.rows.size(), static_cast<std::size_t>(drawing.limits.rows)));
    drawing.add(table_section("Frames, best first", shown));
}

}  // namespace

void draw_selection(Drawing& drawing) {
    if (!is_selection(drawing)) return;
    drawing.claim_file("scores.tsv");
    drawing.add_table("clusters.tsv", "Clusters, selected ones first");
    draw_scores(drawing);
    if (drawing.claim_file("best.pdb"))
        draw_models(drawing, "best.pdb", "Best frames of selected clusters", "selected cluster", 1);
    if (drawing.claim_file("medoids.pdb"))
        draw_models(drawing, "medoids.pdb", "Medoids of selected clusters", "selected cluster", 1);
    drawing.add_table("explained.tsv", "Contacts, and the clusters that explain them");
}

namespace {

constexpr std::size_t kBins = 40;

/// Title and unit of a column on the page.
struct Shown {
    std::string title, unit;
};

std::optional<Shown> shown_of(const std::string& column) {
    static const std::map<std::string, Shown> kKnown = {
        {"rg", {"Rg", "angstrom"}},
        {"dmax", {"Dmax (CA)", "angstrom"}},
        {"end_to_end", {"end-to-end distance (CA)", "angstrom"}},
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

/// Total weights of frames in equal bins from the minimum to the maximum value.
struct Distribution {
    double low = 0, width = 0;

    explicit Distribution(const std::vector<double>& values) {
        const auto [min, max] = std::minmax_element(values.begin(), values.end());
        low = *min;
        width = (*max - *min) / static_cast<double>(kBins);
    }
    double edge(std::size_t bin) const { return low + width * static_cast<double>(bin); }
    /// [bin]: sum of weights; without `weights` each value counts 1.
    std::vector<double> sums(const std::vector<double>& values,
                             const std::vector<double>& weights = {}) const {
        std::vector<double> sums(kBins, 0.0);
        for (std::size_t n = 0; n < values.size(); ++n)
            sums[std::min(static_cast<std::size_t>((values[n] - low) / width), kBins - 1)] +=
                weights.empty() ? 1.0 : weights[n];
        return sums;
    }
};

std::vector<double> percentages(std::vector<double> sums) {
    double total = 0;
    for (const double sum : sums) total += sum;
    for (double& sum : sums) sum *= 100 / total;
    return sums;
}

/// Of shares in percent.
double entropy(const std::vector<double>& shares) {
    double sum = 0;
    for (const double share : shares)
        if (share > 0) sum -= share / 100 * std::log(share / 100);
    return sum;
}

void draw_distribution(Drawing& drawing, const Shown& shown, const std::vector<double>& values) {
    const Distribution bins(values);
    if (!(bins.width > 0)) return;
    std::vector<double> from, to;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        from.push_back(bins.edge(bin));
        to.push_back(bins.edge(bin + 1));
    }
    drawing.add({{"kind", "histogram"},
                 {"title", "Distribution of " + shown.title},
                 {"x", axis(shown)},
                 {"y", {{"label", "frames"}}},
                 {"from", finite(from)},
                 {"to", finite(to)},
                 {"count", finite(bins.sums(values))}});
}

/// Draws the distribution of the sampled frames, and of those that explain the curve, by weight.
void draw_selected(Drawing& drawing, const Shown& shown, const std::vector<double>& values,
                   const std::vector<double>& weights) {
    const Distribution bins(values);
    if (!(bins.width > 0)) return;
    std::vector<double> centres;
    for (std::size_t bin = 0; bin < kBins; ++bin)
        centres.push_back(bins.edge(bin) + bins.width / 2);
    const std::vector<double> drawn = percentages(bins.sums(values)),
                              selected = percentages(bins.sums(values, weights));
    drawing.add({{"kind", "curve"},
                 {"title", "Distribution of " + shown.title + ": drawn and weighted by the curve"},
                 {"note", fmt::format("entropy ratio (weighted to drawn): {:.2f}",
                                      entropy(selected) / entropy(drawn))},
                 {"x", axis(shown)},
                 {"y", {{"label", "% in a bin"}}},
                 {"positions", finite(centres)},
                 {"series", Json::array({{{"name", "drawn"}, {"values", finite(drawn)}},
                                         {{"name", "weighted"}, {"values", finite(selected)}}})}});
}

/// [frame]: weights by which the run in `saxs` fits the frames to a curve; empty without them.
std::vector<double> frame_weights(const RunFolder& run, std::size_t frames) {
    const std::filesystem::path path = run.file("saxs") / "weights.tsv";
    if (!std::filesystem::is_regular_file(path)) return {};
    const std::string_view names[] = {"frame", "weight"};
    const auto columns = read_columns(path, names);
    std::vector<double> weights(frames, 0.0);
    double sum = 0;
    for (std::size_t n = 0; n < columns[0].size(); ++n) {
        const double frame = columns[0][n], weight = columns[1][n];
        if (!(frame >= 0 && frame < static_cast<double>(frames) && weight >= 0))
            throw InputError(path.string(), static_cast<std::int64_t>(n) + 2,
                             fmt::format("expected a frame from 0 to {} and its weight, found {} "
                                         "and {}",
                                         frames - 1, frame, weight));
        weights[frame] = weight;
        sum += weight;
    }
    return sum > 0 ? weights : std::vector<double>();
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
        const std::vector<double> weights = frame_weights(drawing.run, columns[1].size());
        if (weights.empty() || shown->unit.empty())
            draw_distribution(drawing, *shown, columns[1]);
        else
            draw_selected(drawing, *shown, columns[1], weights);
        draw_by_frame(drawing, *shown, columns[0], columns[1]);
    }
}

}  // namespace pleat::report
