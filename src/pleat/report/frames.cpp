// Frames: matrices of distances or scores, histograms, clusters, and their states in trajectories.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/npy.h"
#include "pleat/report/reduced_data.h"
#include "pleat/report/sections.h"

namespace pleat::report {

namespace {

/// Larger models are left out, since a browser opens a page as a whole.
constexpr std::size_t kMaxModelBytes = 6'000'000;

/// A measure of two frames: its name in files, its title on the page, its unit, and its value for a
/// frame and itself.
struct Measure {
    const char *name, *title, *unit;
    double self;
};
constexpr Measure kMeasures[] = {{"rmsd", "RMSD", "angstrom", 0},
                                 {"drmsd", "dRMSD", "angstrom", 0},
                                 {"tm", "TM-score", "", 1},
                                 {"gdt_ts", "GDT_TS", "", 1},
                                 {"lddt", "lDDT", "", 1}};

/// "RMSD (angstrom)"
std::string label_of(const Measure& measure) {
    return *measure.unit == '\0' ? measure.title
                                 : fmt::format("{} ({})", measure.title, measure.unit);
}

/// The measure that the run's --metric names; RMSD by default.
const Measure& measure_of(const RunFolder& run) {
    const std::string metric = run.parameter("metric");
    for (const Measure& measure : kMeasures)
        if (metric == measure.name) return measure;
    return kMeasures[0];
}

/// A note on how frames are numbered if --frames left some out; else empty.
std::string frames_note(const RunFolder& run) {
    const std::string range = run.parameter("frames");
    return range.find_first_not_of(':') == std::string::npos
               ? ""
               : fmt::format("Frames are numbered from 0 among those that --frames {} selects.",
                             range);
}

/// Says why there are no transitions if the run's frames are not a trajectory.
std::string order_note(const RunFolder& run) {
    const Json results = run.manifest().value("results", Json::object());
    if (!results.is_object() || results.value("trajectory", Json()) != "no") return "";
    return "There are no transitions and dwell times: these are not frames of a trajectory (DCD, "
           "XTC, TRR, AMBER NetCDF), and --timestep does not say that they are in order of time.";
}

/// Which chain and frame an item is, if the items are chains.
std::string chains_note(const RunFolder& run) {
    if (!run.has("chains.tsv")) return "";
    const Table table = read_table(run.file("chains.tsv"), 0);
    std::vector<std::string> names;
    for (const std::string& column : table.columns)
        if (column.starts_with("chain_")) names.push_back(column.substr(column.find('_') + 1));
    return fmt::format("The items are the chains {}, one after the other, {} frames each.",
                       fmt::join(names, ", "), table.total);
}

/// Joins two remarks into one text.
std::string join(const std::string& first, const std::string& second) {
    return first + (first.empty() || second.empty() ? "" : " ") + second;
}

void draw_matrix(Drawing& drawing, const std::string& file, const Measure& measure) {
    const DistanceCells cells =
        read_distances(drawing.run.file(file), drawing.limits.cells, measure.self);
    const std::string each =
        cells.block > 1
            ? fmt::format("Each cell is the mean over the pairs of {0} x {0} frames.", cells.block)
            : "";
    drawing.add(
        {{"kind", "heat_map"},
         {"title", fmt::format("{} of frames", measure.title)},
         {"note", join(each, frames_note(drawing.run))},
         {"unit", measure.unit},
         {"axis", "frame"},
         {"block", cells.block},
         {"items", cells.frames},
         {"matrix", cells.symmetric ? encode_symmetric(cells.values, cells.rows, true)
                                    : encode_rectangle(cells.values, cells.rows, cells.columns)}});
    if (cells.symmetric) return;
    drawing.sections.back()["other_axis"] = "other frame";
    drawing.sections.back()["other_items"] = cells.others;
}

void draw_histogram(Drawing& drawing, const std::string& file, const Measure& measure) {
    const Table table = read_table(drawing.run.file(file), std::numeric_limits<Index>::max());
    drawing.add({{"kind", "histogram"},
                 {"title", fmt::format("Histogram of {}", measure.title)},
                 {"x", {{"label", label_of(measure)}}},
                 {"y", {{"label", drawing.run.has("reference.tsv") ? "frames" : "pairs"}}},
                 {"from", finite(table.numbers("from"))},
                 {"to", finite(table.numbers("to"))},
                 {"count", finite(table.numbers("pairs"))}});
}

/// Adds a curve, shortened if necessary. `item`: what a position is, for the remark ("frames").
void draw_curve(Drawing& drawing, const std::string& title, const Json& x, const Json& y,
                const std::string& name, const std::string& item, const ReducedCurve& curve) {
    drawing.add({{"kind", "curve"},
                 {"title", title},
                 {"note", join(curve.note(item), item == "frames" ? frames_note(drawing.run) : "")},
                 {"x", x},
                 {"y", y},
                 {"positions", finite(curve.positions)},
                 {"series", Json::array({{{"name", name}, {"values", finite(curve.values)}}})}});
}

void draw_reference(Drawing& drawing, const Measure& measure) {
    const std::string_view names[] = {"frame", measure.name};
    const auto columns = read_columns(drawing.run.file("reference.tsv"), names);
    draw_curve(drawing, fmt::format("{} from the reference", measure.title), {{"label", "frame"}},
               {{"label", label_of(measure)}}, measure.title, "frames",
               reduce_curve(columns[0], columns[1]));
}

/// "chain A, ALA 52A" for the rows with these numbers, from 1.
Json residue_names(const std::filesystem::path& file, const std::vector<double>& positions) {
    const Table head = read_table(file, 0);
    const auto at = [&](const char* name) { return head.find(name); };
    Json names = Json::array();
    std::size_t next = 0;
    read_table(file, 0, [&](Index row, std::span<const std::string_view> cells) {
        if (next == positions.size() || positions[next] != static_cast<double>(row + 1)) return;
        ++next;
        std::string name;
        if (at("chain") && !cells[*at("chain")].empty())
            name = fmt::format("chain {}, ", cells[*at("chain")]);
        if (at("residue_name")) name += fmt::format("{} ", cells[*at("residue_name")]);
        names.push_back(at("residue") ? name + std::string(cells[*at("residue")]) : "");
    });
    return names;
}

/// Draws a column of a residue table, in file order. `name`: "RMSF"; `unit`: " (angstrom)".
void draw_residues(Drawing& drawing, const char* table, std::string_view column,
                   const std::string& name, const std::string& unit) {
    const std::filesystem::path file = drawing.run.file(table);
    const std::vector<double> values = read_columns(file, {&column, 1})[0];
    std::vector<double> rows(values.size());
    std::iota(rows.begin(), rows.end(), 1.0);
    const ReducedCurve curve = reduce_curve(rows, values);
    draw_curve(drawing, name + " of residues",
               {{"label", "residue number, in the order of the list"}}, {{"label", name + unit}},
               name, "residues", curve);
    drawing.sections.back()["residues"] = residue_names(file, curve.positions);
    drawing.add(table_section(name + " by residue", read_table(file, drawing.limits.rows)));
}

/// The cluster of each frame, as stretches of frames in one cluster.
void draw_assignment(Drawing& drawing) {
    const std::filesystem::path path = drawing.run.file("assignment.npy");
    constexpr std::int64_t kWide = 6;  // 4 bytes become 8, and up to 16 in a stretch
    require_room(path, kWide);
    const NpyArray array = read_npy(path);
    if (array.shape.size() != 1)
        throw InputError(path.string(), 0,
                         fmt::format("expected one cluster number per frame, found {} axes",
                                     array.shape.size()));
    const std::string item = drawing.run.has("chains.tsv") ? "item" : "frame";
    const ReducedSteps steps = reduce_steps(array.as<std::int64_t>(path.string()));
    drawing.add({{"kind", "steps"},
                 {"title", "Cluster against time"},
                 {"note", join(join(steps.note(item + "s"), chains_note(drawing.run)),
                               join(frames_note(drawing.run), order_note(drawing.run)))},
                 {"x", {{"label", item}}},
                 {"y", {{"label", "cluster"}}},
                 {"values", steps.labels},
                 {"lengths", steps.lengths}});
}

void draw_clusters(Drawing& drawing) {
    const Table table = read_table(drawing.run.file("clusters.tsv"), drawing.limits.rows);
    if (table.has({"cluster", "size"})) {
        Json labels = Json::array();
        for (const auto& row : table.rows) labels.push_back(row[*table.find("cluster")]);
        drawing.add({{"kind", "bars"},
                     {"title", "Cluster sizes"},
                     {"x", {{"label", "cluster"}}},
                     {"y", {{"label", drawing.run.has("chains.tsv") ? "chains" : "frames"}}},
                     {"labels", labels},
                     {"values", finite(table.numbers("size"))}});
    }
    drawing.add(table_section("Clusters", table));
}

/// Draws the number of clusters and the silhouette over a sweep of cutoffs or k.
void draw_sweep(Drawing& drawing) {
    const Table table = read_table(drawing.run.file("sweep.tsv"), drawing.limits.rows);
    const std::string along = table.columns.front();
    std::vector<Json> series;
    // The silhouette suggests the best setting, so the page shows it first.
    std::vector<std::string> names = table.columns;
    std::stable_partition(names.begin(), names.end(),
                          [](const std::string& name) { return name == "silhouette"; });
    for (const std::string& name : names) {
        if (name == along) continue;
        series.push_back({{"name", name}, {"values", finite(table.numbers(name))}});
    }
    drawing.add({{"kind", "curve"},
                 {"title", "Sweep"},
                 {"x", {{"label", along}}},
                 {"y", {{"label", ""}}},
                 {"choose", true},
                 {"positions", finite(table.numbers(along))},
                 {"series", series}});
}

std::string text_of(const std::filesystem::path& path) {
    constexpr std::int64_t kCopies =
        6;  // copies of the models: as bytes, as text, in the JSON data and in the page
    require_room(path, kCopies);
    const std::vector<std::uint8_t> bytes = read_file(path);
    return {bytes.begin(), bytes.end()};
}

/// The cluster of each leaf, if leaves are the items of assignment.npy and few enough for a page.
Json leaf_clusters(const RunFolder& run) {
    constexpr std::size_t kMaxLeaves = 20'000;
    if (!run.has("assignment.npy")) return nullptr;
    const NpyArray array = read_npy(run.file("assignment.npy"));
    if (array.shape.size() != 1 || array.shape[0] > static_cast<Index>(kMaxLeaves)) return nullptr;
    return array.as<std::int64_t>(run.file("assignment.npy").string());
}

/// The tree of a null model: its branches are as long as the substitutions on them.
void draw_phylogeny(Drawing& drawing) {
    drawing.add({{"kind", "phylogeny"},
                 {"title", "Tree of the sequences"},
                 {"note",
                  "Branches are as long as the substitutions on them, over all columns, in one "
                  "most parsimonious history."},
                 {"newick", text_of(drawing.run.file("substitutions.nwk"))}});
    drawing.claim_file("tree.nwk");  // the same with other lengths
}

/// Draws a dendrogram, cut at the run's --cutoff or into the run's number of clusters.
void draw_tree(Drawing& drawing) {
    drawing.add({{"kind", "tree"},
                 {"title", "Dendrogram"},
                 {"x", {{"label", "merging distance (angstrom)"}}},
                 {"newick", text_of(drawing.run.file("tree.nwk"))}});
    Json& section = drawing.sections.back();
    section["assignment"] = leaf_clusters(drawing.run);
    const Json results = drawing.run.manifest().value("results", Json::object());
    const auto number = [&](const char* name) {
        const Json value = results.is_object() ? results.value(name, Json()) : Json();
        return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
    };
    // A sweep over cutoffs records the chosen cutoff in its results.
    std::optional<double> cut = number("cutoff");
    if (!cut) cut = cell_number(drawing.run.parameter("cutoff"));
    if (cut && *cut > 0 && std::isfinite(*cut)) {
        section["cut"] = *cut;
    } else if (const auto clusters = number("clusters"); clusters && *clusters >= 1) {
        section["clusters"] = static_cast<Index>(*clusters);
    }
}

}  // namespace

void draw_models(Drawing& drawing, const std::string& file, const char* title, const char* item,
                 Index first) {
    const std::string text = text_of(drawing.run.file(file));
    Json models = Json::array();
    std::string model;
    std::size_t bytes = 0, left_out = 0;
    const auto close = [&] {
        if (model.empty()) return;
        bytes += model.size();
        if (bytes <= kMaxModelBytes)
            models.push_back(model + "END\n");
        else
            ++left_out;
        model.clear();
    };
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = std::string_view(text).substr(at, end - at);
        if (line.starts_with("ATOM") || line.starts_with("HETATM")) model.append(line) += '\n';
        if (line.starts_with("ENDMDL")) close();
        at = end + 1;
    }
    close();
    if (models.empty()) return;
    const std::string note =
        left_out > 0 ? fmt::format("{} more models are in {}.", left_out, file) : "";
    drawing.add({{"kind", "models"},
                 {"title", title},
                 {"note", note},
                 {"item", item},
                 {"first", first},
                 {"models", models}});
}

void draw_frames(Drawing& drawing) {
    if (drawing.claim_file("assignment.npy")) draw_assignment(drawing);
    if (drawing.claim_file("clusters.tsv")) draw_clusters(drawing);
    draw_states(drawing);
    if (drawing.claim_file("sweep.tsv")) draw_sweep(drawing);
    if (drawing.claim_file("medoids.pdb"))
        draw_models(drawing, "medoids.pdb", "Medoids", "cluster");
    if (drawing.claim_file("medoids.cif"))
        drawing.notes.push_back(
            fmt::format("{}: medoids.cif is not drawn, since only models in PDB format can be",
                        drawing.run.name()));
    if (drawing.claim_file("substitutions.nwk")) draw_phylogeny(drawing);
    if (drawing.claim_file("tree.nwk")) draw_tree(drawing);
    if (drawing.claim_file("superposed.pdb"))
        draw_models(drawing, "superposed.pdb", "Superposed frames", "frame");
    for (const Measure& measure : kMeasures) {
        const std::string file = std::string(measure.name) + ".npy";
        if (drawing.claim_file(file)) draw_matrix(drawing, file, measure);
    }
    const Measure& measure = measure_of(drawing.run);
    if (drawing.claim_file("histogram.tsv")) draw_histogram(drawing, "histogram.tsv", measure);
    if (drawing.claim_file("reference.tsv")) draw_reference(drawing, measure);
    if (drawing.claim_file("rmsf_residues.tsv"))
        draw_residues(drawing, "rmsf_residues.tsv", "rmsf", "RMSF", " (angstrom)");
    if (drawing.claim_file("lddt_residues.tsv"))
        draw_residues(drawing, "lddt_residues.tsv", "mean", "lDDT", "");
}

namespace {

/// Clusters from this number on are left out: the first ones are the largest.
constexpr double kMaxClusters = 40;

/// The columns of a table, restricted to rows whose clusters are all shown. `clusters`: the number
/// of leading columns that are clusters.
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
    drawing.add_table("dwell_times.tsv", "Dwell times by cluster");
}

}  // namespace pleat::report
