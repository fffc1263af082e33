// Selection: the sections of `pleat select`: scores of frames, and the selected clusters.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "pleat/core/error.h"
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

/// The selected clusters that get a colour of their own.
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

/// The score of the frames that --score names.
void add_named_score(const Drawing& drawing, const Table& table, Index every, Json& columns) {
    const std::string score = drawing.run.parameter("score");
    if (score.empty()) return;
    // If the table had a column of this name already, that of the score has the prefix score_.
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
    if (drawing.claim_file("clusters.tsv"))
        drawing.add(
            table_section("Clusters, selected ones first",
                          read_table(drawing.run.file("clusters.tsv"), drawing.limits.rows)));
    draw_scores(drawing);
    if (drawing.claim_file("best.pdb"))
        draw_models(drawing, "best.pdb", "Best frames of selected clusters", "selected cluster", 1);
    if (drawing.claim_file("medoids.pdb"))
        draw_models(drawing, "medoids.pdb", "Medoids of selected clusters", "selected cluster", 1);
    if (drawing.claim_file("explained.tsv"))
        drawing.add(
            table_section("Contacts, and the clusters that explain them",
                          read_table(drawing.run.file("explained.tsv"), drawing.limits.rows)));
}

}  // namespace pleat::report
