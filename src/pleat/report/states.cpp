// States: the sections about a trajectory's transitions between clusters and its dwell times.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/report/sections.h"

namespace pleat::report {

namespace {

/// Clusters from this number on are left out: the first ones are the largest.
constexpr double kMaxClusters = 40;

/// Columns of the rows in which all clusters are shown. `clusters`: how many columns, the first
/// ones, are clusters.
struct ShownRows {
    std::vector<std::vector<double>> columns;
    std::string note;
};

ShownRows shown_rows(const std::filesystem::path& file, std::span<const std::string_view> names,
                     std::size_t clusters) {
    const std::vector<std::vector<double>> all = read_columns(file, names);
    ShownRows shown{std::vector<std::vector<double>>(all.size()), ""};
    for (std::size_t row = 0; row < all.front().size(); ++row) {
        const bool is_shown = std::all_of(
            all.begin(), all.begin() + static_cast<std::ptrdiff_t>(clusters),
            [&](const std::vector<double>& column) { return column[row] < kMaxClusters; });
        for (std::size_t n = 0; n < all.size() && is_shown; ++n)
            shown.columns[n].push_back(all[n][row]);
        if (!is_shown)
            shown.note = fmt::format(" Only the first {} clusters are shown.", kMaxClusters);
    }
    return shown;
}

/// A number among the results of the run; null if there is none.
Json result_of(const RunFolder& run, const char* name) {
    const Json results = run.manifest().value("results", Json::object());
    const Json value = results.is_object() ? results.value(name, Json()) : Json();
    return value.is_number() ? value : Json();
}

void draw_transitions(Drawing& drawing) {
    const std::filesystem::path file = drawing.run.file("transition_probabilities.tsv");
    constexpr std::string_view kNames[] = {"from", "to", "count", "probability"};
    const ShownRows shown = shown_rows(file, kNames, 2);
    const std::string lag = drawing.run.parameter("lag");
    const bool is_next = lag.empty() || lag == "1";
    drawing.add({{"kind", "transitions"},
                 {"title", "Transitions between clusters"},
                 {"note", fmt::format("From the cluster of a frame (row) to that of the {} of the "
                                      "same file (column); -1 is noise.{}",
                                      is_next ? "next frame" : fmt::format("frame {} later", lag),
                                      shown.note)},
                 {"from", finite(shown.columns[0])},
                 {"to", finite(shown.columns[1])},
                 {"count", finite(shown.columns[2])},
                 {"probability", finite(shown.columns[3])}});
    drawing.add(table_section("Transitions", read_table(file, drawing.limits.rows)));
}

void draw_dwells(Drawing& drawing) {
    constexpr std::string_view kNames[] = {"cluster", "dwell", "visits", "cut"};
    const ShownRows shown = shown_rows(drawing.run.file("dwell_distribution.tsv"), kNames, 1);
    drawing.add({{"kind", "dwells"},
                 {"title", "Dwell times"},
                 {"note",
                  "How long the trajectory stays in a cluster once it has come there. Of "
                  "visits that the begin or end of a file cuts the length is not known." +
                      shown.note},
                 {"cluster", finite(shown.columns[0])},
                 {"dwell", finite(shown.columns[1])},
                 {"visits", finite(shown.columns[2])},
                 {"cut", finite(shown.columns[3])},
                 {"interval", result_of(drawing.run, "ps_per_frame")}});
}

}  // namespace

void draw_states(Drawing& drawing) {
    drawing.claim_file("series.tsv");
    if (drawing.claim_file("transition_probabilities.tsv")) {
        drawing.claim_file("transitions.tsv");
        draw_transitions(drawing);
    }
    if (drawing.claim_file("dwell_distribution.tsv")) draw_dwells(drawing);
    if (drawing.claim_file("dwell_times.tsv"))
        drawing.add(
            table_section("Dwell times by cluster",
                          read_table(drawing.run.file("dwell_times.tsv"), drawing.limits.rows)));
}

}  // namespace pleat::report
