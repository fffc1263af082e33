// Frames: the sections of distances between frames and of their clusters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/files/read_file.h"
#include "pleat/report/sections.h"
#include "pleat/report/thinned.h"

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

/// What the numbers of frames count where --frames left some out; else empty.
std::string frames_note(const RunFolder& run) {
    const std::string range = run.parameter("frames");
    return range.find_first_not_of(":") == std::string::npos
               ? ""
               : fmt::format("Frames are counted from 0 among those that --frames {} chose.",
                             range);
}

/// Two notes as one.
std::string both(const std::string& first, const std::string& second) {
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
         {"note", both(each, frames_note(drawing.run))},
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

/// A curve over many positions.
void draw_curve(Drawing& drawing, const std::string& title, const Json& x, const Json& y,
                const std::string& name, const std::string& item, const ThinnedCurve& curve) {
    drawing.add({{"kind", "curve"},
                 {"title", title},
                 {"note", both(curve.note(item), item == "frames" ? frames_note(drawing.run) : "")},
                 {"x", x},
                 {"y", y},
                 {"positions", finite(curve.positions)},
                 {"series", Json::array({{{"name", name}, {"values", finite(curve.values)}}})}});
}

/// The measure of each frame from one structure.
void draw_reference(Drawing& drawing, const Measure& measure) {
    const std::string_view names[] = {"frame", measure.name};
    const auto columns = read_columns(drawing.run.file("reference.tsv"), names);
    draw_curve(drawing, fmt::format("{} from the reference", measure.title), {{"label", "frame"}},
               {{"label", label_of(measure)}}, measure.title, "frames",
               thin_curve(columns[0], columns[1]));
}

/// "chain A ALA 52A" of the rows at these positions, which count from 1.
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

/// How far each residue fluctuates, in the order of the list.
void draw_fluctuations(Drawing& drawing) {
    const std::filesystem::path file = drawing.run.file("rmsf_residues.tsv");
    const std::string_view names[] = {"rmsf"};
    const std::vector<double> rmsf = read_columns(file, names)[0];
    std::vector<double> places(rmsf.size());
    std::iota(places.begin(), places.end(), 1.0);
    const ThinnedCurve curve = thin_curve(places, rmsf);
    draw_curve(drawing, "RMSF of residues", {{"label", "residue number, in the order of the list"}},
               {{"label", "RMSF (angstrom)"}}, "RMSF", "residues", curve);
    drawing.sections.back()["residues"] = residue_names(file, curve.positions);
    drawing.add(table_section("RMSF by residue", read_table(file, drawing.limits.rows)));
}

/// Runs of frames in one cluster.
void draw_assignment(Drawing& drawing) {
    const std::filesystem::path path = drawing.run.file("assignment.npy");
    constexpr std::int64_t kWide = 6;  // of each 4 bytes 8, and 16 of a run of one frame
    require_room(path, kWide);
    const NpyArray array = read_npy(path);
    if (array.shape.size() != 1)
        throw InputError(
            path.string(), 0,
            fmt::format("expected a cluster for each frame, found {} axes", array.shape.size()));
    const ThinnedSteps steps = thin_steps(array.as<std::int64_t>(path.string()));
    drawing.add({{"kind", "steps"},
                 {"title", "Cluster against time"},
                 {"note", both(steps.note("frames"), frames_note(drawing.run))},
                 {"x", {{"label", "frame"}}},
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
    constexpr std::int64_t kCopies = 6;  // as read, as text, in the data and in the page
    require_room(path, kCopies);
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
