// Frames: the sections of distances between frames and of their clusters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "pleat/core/error.h"
#include "pleat/core/npy.h"
#include "pleat/core/read_file.h"
#include "pleat/report/sections.h"

namespace pleat::report {

namespace {

/// A page is opened whole: models beyond this many bytes are left out, and said to be.
constexpr std::size_t kMostModelBytes = 6'000'000;

/// A measure of two frames: its file, what a page calls it, its unit, and its value of a frame
/// beside itself.
struct Measure {
    const char *name, *title, *unit;
    double self;
};
constexpr Measure kMeasures[] = {{"rmsd", "RMSD", "angstrom", 0},
                                 {"drmsd", "dRMSD", "angstrom", 0},
                                 {"tm", "TM-score", "", 1},
                                 {"gdt_ts", "GDT_TS", "", 1}};

/// "RMSD (angstrom)"
std::string label_of(const Measure& measure) {
    return *measure.unit == '\0' ? measure.title
                                 : fmt::format("{} ({})", measure.title, measure.unit);
}

/// The one that the run's --metric names; RMSD where it names none.
const Measure& measure_of(const RunFolder& run) {
    const std::string metric = run.parameter("metric");
    for (const Measure& measure : kMeasures)
        if (metric == measure.name) return measure;
    return kMeasures[0];
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
         {"note", each},
         {"unit", measure.unit},
         {"axis", "frame"},
         {"block", cells.block},
         {"items", cells.frames},
         {"matrix", cells.symmetric ? pack_symmetric(cells.values, cells.rows, true)
                                    : pack_rectangle(cells.values, cells.rows, cells.columns)}});
    if (cells.symmetric) return;
    drawing.sections.back()["other_axis"] = "other frame";
    drawing.sections.back()["other_items"] = cells.others;
}

void draw_histogram(Drawing& drawing, const std::string& file, const Measure& measure) {
    const Table table = read_table(drawing.run.file(file), std::numeric_limits<Index>::max());
    drawing.add({{"kind", "histogram"},
                 {"title", fmt::format("Histogram of {}", measure.title)},
                 {"x", {{"label", label_of(measure)}}},
                 {"y", {{"label", "pairs"}}},
                 {"from", finite(table.numbers("from"))},
                 {"to", finite(table.numbers("to"))},
                 {"count", finite(table.numbers("pairs"))}});
}

/// The measure of each frame from one structure, and the list.
void draw_reference(Drawing& drawing, const Measure& measure) {
    const Table table =
        read_table(drawing.run.file("reference.tsv"), std::numeric_limits<Index>::max());
    drawing.add({{"kind", "curve"},
                 {"title", fmt::format("{} from the reference", measure.title)},
                 {"x", {{"label", "frame"}}},
                 {"y", {{"label", label_of(measure)}}},
                 {"positions", finite(table.numbers("frame"))},
                 {"series", Json::array({{{"name", measure.title},
                                          {"values", finite(table.numbers(measure.name))}}})}});
}

/// How far each residue fluctuates, in the order of the list.
void draw_fluctuations(Drawing& drawing) {
    const Table table =
        read_table(drawing.run.file("rmsf_residues.tsv"), std::numeric_limits<Index>::max());
    const std::vector<double> rmsf = table.numbers("rmsf");
    std::vector<double> places(rmsf.size());
    std::iota(places.begin(), places.end(), 1.0);
    drawing.add({{"kind", "curve"},
                 {"title", "RMSF of residues"},
                 {"x", {{"label", "residue, in the order of the list"}}},
                 {"y", {{"label", "RMSF (angstrom)"}}},
                 {"positions", finite(places)},
                 {"series", Json::array({{{"name", "RMSF"}, {"values", finite(rmsf)}}})}});
    Table shown = table;
    shown.rows.resize(std::min(shown.rows.size(), static_cast<std::size_t>(drawing.limits.rows)));
    drawing.add(table_section("RMSF by residue", shown));
}

/// Runs of frames in one cluster.
void draw_assignment(Drawing& drawing) {
    const std::filesystem::path path = drawing.run.file("assignment.npy");
    const NpyArray array = read_npy(path);
    if (array.shape.size() != 1)
        throw InputError(
            path.string(), 0,
            fmt::format("expected a cluster for each frame, found {} axes", array.shape.size()));
    Json values = Json::array(), lengths = Json::array();
    std::int64_t last = 0, length = 0;
    const auto close = [&] {
        if (length == 0) return;
        values.push_back(last);
        lengths.push_back(length);
    };
    for (const std::int64_t cluster : array.as<std::int64_t>(path.string())) {
        if (length > 0 && cluster != last) {
            close();
            length = 0;
        }
        last = cluster;
        ++length;
    }
    close();
    drawing.add({{"kind", "steps"},
                 {"title", "Cluster against time"},
                 {"x", {{"label", "frame"}}},
                 {"y", {{"label", "cluster"}}},
                 {"values", values},
                 {"lengths", lengths}});
}

void draw_clusters(Drawing& drawing) {
    const Table table = read_table(drawing.run.file("clusters.tsv"), drawing.limits.rows);
    if (table.has({"cluster", "size"})) {
        Json labels = Json::array();
        for (const auto& row : table.rows) labels.push_back(row[*table.find("cluster")]);
        drawing.add({{"kind", "bars"},
                     {"title", "Cluster sizes"},
                     {"x", {{"label", "cluster"}}},
                     {"y", {{"label", "frames"}}},
                     {"labels", labels},
                     {"values", finite(table.numbers("size"))}});
    }
    drawing.add(table_section("Clusters", table));
}

/// Numbers of clusters and silhouettes along a sweep over cut-offs or k.
void draw_sweep(Drawing& drawing) {
    const Table table = read_table(drawing.run.file("sweep.tsv"), drawing.limits.rows);
    const std::string along = table.columns.front();
    std::vector<Json> series;
    for (const std::string& name : table.columns) {
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
    const std::vector<std::uint8_t> bytes = read_file(path);
    return {bytes.begin(), bytes.end()};
}

/// A tree, cut where the run cut it if it names a height.
void draw_tree(Drawing& drawing) {
    drawing.add({{"kind", "tree"},
                 {"title", "Dendrogram"},
                 {"x", {{"label", "distance of joining (angstrom)"}}},
                 {"newick", text_of(drawing.run.file("tree.nwk"))}});
    const std::optional<double> cut = cell_number(drawing.run.parameter("cutoff"));
    if (cut && *cut > 0 && std::isfinite(*cut)) drawing.sections.back()["cut"] = *cut;
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
        if (bytes <= kMostModelBytes)
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
    if (drawing.take("assignment.npy")) draw_assignment(drawing);
    if (drawing.take("clusters.tsv")) draw_clusters(drawing);
    if (drawing.take("sweep.tsv")) draw_sweep(drawing);
    if (drawing.take("medoids.pdb")) draw_models(drawing, "medoids.pdb", "Medoids", "cluster");
    if (drawing.take("medoids.cif"))
        drawing.notes.push_back(fmt::format(
            "{}: medoids.cif is not drawn, only models in PDB format are", drawing.run.name()));
    if (drawing.take("tree.nwk")) draw_tree(drawing);
    if (drawing.take("superposed.pdb"))
        draw_models(drawing, "superposed.pdb", "Superposed frames", "frame");
    for (const Measure& measure : kMeasures) {
        const std::string file = std::string(measure.name) + ".npy";
        if (drawing.take(file)) draw_matrix(drawing, file, measure);
    }
    const Measure& measure = measure_of(drawing.run);
    if (drawing.take("histogram.tsv")) draw_histogram(drawing, "histogram.tsv", measure);
    if (drawing.take("reference.tsv")) draw_reference(drawing, measure);
    if (drawing.take("rmsf_residues.tsv")) draw_fluctuations(drawing);
}

}  // namespace pleat::report
