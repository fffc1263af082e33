// Output: tables of clusters, transitions, pairs, peaks and sweeps, and the tree's files.
#include "pleat/cluster/output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "pleat/bio/ensemble/frame_table.h"
#include "pleat/cluster/methods/methods.h"
#include "pleat/cluster/states.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"

namespace pleat::cluster {

namespace {

std::vector<RecordField> cluster_fields() {
    using One = ClusterDescription;
    return {record_field("size", &One::size), record_field("medoid", &One::medoid, {.missing = -1}),
            record_field("mean", &One::mean), record_field("radius", &One::radius),
            record_field("silhouette", &One::silhouette)};
}
/// `swept`: the name of what is varied.
std::vector<RecordField> sweep_fields(std::string swept) {
    return {record_field("value", &SweepPoint::value, {.name = std::move(swept)}),
            record_field("clusters", &SweepPoint::clusters),
            record_field("largest", &SweepPoint::largest),
            record_field("noise", &SweepPoint::noise),
            record_field("silhouette", &SweepPoint::silhouette)};
}
std::vector<RecordField> peak_fields() {
    return {record_field("density", &Peak::density), record_field("separation", &Peak::separation),
            record_field("denser", &Peak::nearest_denser, {.missing = -1})};
}
std::vector<RecordField> round_fields() {
    return {record_field("round", &DensityRound::round, {.missing = DensityRound::kLeft}),
            record_field("mean", &DensityRound::mean)};
}

void write_clusters(RunDirectory& run, const Result& result, const ResultColumns& columns,
                    const FrameScores& scores, const ChainItems& chains) {
    std::vector<std::vector<Index>> members =
        scores.empty() ? std::vector<std::vector<Index>>() : result.clustering.members();
    for (std::vector<Index>& items : members)
        for (Index& item : items) item = chains.frame_of(item);
    const auto items = static_cast<double>(result.clustering.assignment.size());
    const std::vector<Index>& centres = result.clustering.centres;
    std::vector<TableColumn> table =
        with_columns(table_columns(columns, "clusters.tsv"), "size", {row_numbers("cluster")});
    const auto share = table_column("share", [&](std::size_t row) {
        return fmt::format("{:.6g}", static_cast<double>(result.clusters[row].size) / items);
    });
    table = with_columns(std::move(table), "medoid", {share});
    table.push_back(table_column("centre", [&](std::size_t row) {
        return centres.empty() ? "NA" : std::to_string(centres[row]);
    }));
    if (chains.are_chains()) {
        table.push_back(table_column("medoid_frame", [&](std::size_t row) {
            return chains.frame_of(result.clusters[row].medoid);
        }));
        table.push_back(table_column("medoid_chain", [&](std::size_t row) {
            const Index chain = chains.chain_of(result.clusters[row].medoid);
            return table_cell(chains.names[chain]);
        }));
    }
    if (!scores.empty())
        table.push_back(table_column(score_summary_names(scores).substr(1), [&](std::size_t row) {
            return score_summary_cells(scores, members[row]).substr(1);
        }));
    write_table(run.output("clusters.tsv"), result.clusters.size(), table);
}

/// Writes the clusters of each frame's chains, and how often each combination of clusters occurs,
/// regardless of which chain has which.
void write_chains(RunDirectory& run, const std::vector<std::int32_t>& assignment,
                  const ChainItems& chains) {
    struct Combination {
        Index frames = 0, first = 0;
    };
    std::map<std::vector<std::int32_t>, Combination> combinations;
    std::string text = "frame";
    for (const std::string& name : chains.names)
        text += fmt::format("\tchain_{}", table_cell(name));
    text += "\tcombination\n";
    for (Index frame = 0; frame < chains.frames; ++frame) {
        text += fmt::format("{}", frame);
        std::vector<std::int32_t> clusters;
        for (std::size_t chain = 0; chain < chains.names.size(); ++chain)
            clusters.push_back(assignment[chain * static_cast<std::size_t>(chains.frames) +
                                          static_cast<std::size_t>(frame)]);
        text += fmt::format("\t{}", fmt::join(clusters, "\t"));
        std::ranges::sort(clusters);
        text += fmt::format("\t{}\n", fmt::join(clusters, " "));
        Combination& one = combinations.try_emplace(clusters, Combination{0, frame}).first->second;
        ++one.frames;
    }
    write_text(run.output("chains.tsv"), text);
    std::vector<std::pair<std::vector<std::int32_t>, Combination>> by_size(combinations.begin(),
                                                                           combinations.end());
    std::ranges::sort(by_size, [](const auto& a, const auto& b) {
        return std::pair(-a.second.frames, a.second.first) <
               std::pair(-b.second.frames, b.second.first);
    });
    text = "combination\tframes\tshare\tfirst_frame\n";
    for (const auto& [clusters, one] : by_size)
        text += fmt::format("{}\t{}\t{:.6g}\t{}\n", fmt::join(clusters, " "), one.frames,
                            static_cast<double>(one.frames) / static_cast<double>(chains.frames),
                            one.first);
    write_text(run.output("combinations.tsv"), text);
}

std::string dwell_table(const std::vector<DwellCount>& dwells, std::optional<double> interval) {
    std::string text =
        "cluster\tframes\tvisits\tmean\tmedian\tlongest\tcut\tlongest_cut\tmean_ps\tmedian_ps\t"
        "longest_ps\n";
    for (const DwellTimes& one : summarise_dwells(dwells)) {
        const double frames[] = {one.mean, one.median, static_cast<double>(one.longest)};
        std::string in_frames, in_time;
        for (const double value : frames) {
            in_frames += one.visits == 0 ? "\tNA" : fmt::format("\t{:.6g}", value);
            in_time +=
                one.visits == 0 || !interval ? "\tNA" : fmt::format("\t{:.6g}", value * *interval);
        }
        text +=
            fmt::format("{}\t{}\t{}{}\t{}\t{}{}\n", one.cluster, one.items, one.visits, in_frames,
                        one.cut, one.cut == 0 ? "NA" : fmt::format("{}", one.longest_cut), in_time);
    }
    return text;
}

/// Rows of SciPy's linkage.
Array<double, 2> linkage(const std::vector<Merge>& tree) {
    Array<double, 2> rows(std::ssize(tree), Index{4});
    for (Index row = 0; row < rows.extent(0); ++row) {
        const Merge& merge = tree[row];
        rows(row, 0) = merge.first;
        rows(row, 1) = merge.second;
        rows(row, 2) = merge.height;
        rows(row, 3) = merge.size;
    }
    return rows;
}

ResultColumns facts(const Result& result) {
    const SweepPoint* chosen = nullptr;
    for (const SweepPoint& point : result.sweep)
        if (chosen == nullptr || point.silhouette > chosen->silhouette ||
            (std::isnan(chosen->silhouette) && !std::isnan(point.silhouette)))
            chosen = &point;
    Index largest = 0;
    for (const ClusterDescription& one : result.clusters) largest = std::max(largest, one.size);
    const PairStatistics& pairs = result.statistics;
    return {
        fact("items", std::ssize(result.clustering.assignment), "number of items"),
        fact("clusters", std::ssize(result.clusters), "number of clusters"),
        fact("largest", largest, "items of the largest"),
        fact("noise",
             std::ranges::count_if(result.clustering.assignment, [](auto one) { return one < 0; }),
             "items in none"),
        {"cutoff", "the cutoff of the clustering, or None",
         ColumnValue(result.cutoff).or_none(!std::isnan(result.cutoff)), "results"},
        fact("chosen",
             ColumnValue(chosen != nullptr ? chosen->value : 0).or_none(chosen != nullptr),
             "the value of the sweep with the highest silhouette"),
        {"silhouette", "of all items, or None",
         ColumnValue(result.silhouette).or_none(!std::isnan(result.silhouette)), "results"},
        fact("pairs", pairs.pairs(), "number of pairs"),
        {"min", "the smallest distance", pairs.min(), "results"},
        {"mean", "the mean distance", pairs.mean(), "results"},
        {"max", "the largest distance", pairs.max(), "results"}};
}

}  // namespace

ResultColumns columns(const Result& result, const std::string& swept) {
    const auto asked_for = [](const auto& records, std::vector<RecordField> fields) {
        return ColumnValue(records, std::move(fields)).or_none(!records.empty());
    };
    const std::vector<Index>& centres = result.clustering.centres;
    const std::vector<std::int64_t>& histogram = result.statistics.histogram();
    ResultColumns all = {
        {"assignment", "int32 [item]; 0 is the largest cluster, -1 noise",
         result.clustering.assignment, "assignment.npy"},
        {"nearest",
         "int32 [item, 2], with `assign` the nearest and the second nearest medoid (one column if "
         "there is only one), below the cutoff or not; None without",
         ColumnValue::kept("NDArray[np.int32] | None")},
        {"distances", "float32 [item, 2], distances to these",
         ColumnValue::kept("NDArray[np.float32] | None")},
        {"series",
         "int64 [series], items of each stretch that the files hold without a gap; None: all items "
         "are one",
         ColumnValue::kept("NDArray[np.int64] | None")},
        {"is_trajectory",
         "whether the items of a series follow each other in time, as read from DCD, XTC, TRR and "
         "AMBER NetCDF files; pleat.report then draws transitions and dwell times",
         ColumnValue::kept("bool")},
        {"chains",
         "with `each_chain` the names of the chains: item c * frames + f is chain c of frame f; "
         "else None",
         ColumnValue::kept("list[str] | None")},
        {"clusters",
         "records (size, medoid, mean, radius, silhouette); of a medoid without items medoid is "
         "-1, and mean and radius are NaN",
         {result.clusters, cluster_fields()},
         "clusters.tsv"},
        {"centres", "int64 [cluster], None for methods without them",
         ColumnValue(centres).or_none(!centres.empty())},
        {"tree", "float64 [item - 1, 4], as SciPy's linkage; None if the method has none",
         ColumnValue::owned(linkage(result.tree)).or_none(!result.tree.empty()), "linkage.npy"},
        {"sweep", "records of the values that were tried; None if there are none",
         asked_for(result.sweep, sweep_fields(swept)), "sweep.tsv"},
        {"peaks", "records of density peaks; None for other methods",
         asked_for(result.peaks, peak_fields()), "peaks.tsv"},
        {"rounds",
         "records of iterated density (round from 1 in which an item was dropped, 0: left; mean "
         "distance to the others left then); None for other methods",
         asked_for(result.rounds, round_fields()), "rounds.tsv"},
        {"histogram", "int64 [bin], of the distances, in bins of `bin_width`",
         ColumnValue(histogram).or_none(!histogram.empty()), "histogram.tsv", "pairs"},
        {"bin_width", "width of the bins of the histogram", result.statistics.bin_width(),
         "parameters", "bin-width"},
        {"method", "the method: 'gromos', 'average', ...", ColumnValue::kept("str"), "parameters"},
        {"sweep_of", "'k' or 'cutoff', what `sweep` varies; None without a sweep",
         ColumnValue::kept("Literal['k', 'cutoff'] | None")},
        {"device", "the device that computed", ColumnValue::kept("str"), "manifest"}};
    return joined({all, facts(result)});
}

std::vector<RecordField> transition_fields() {
    return {record_field("from", &Transition::from), record_field("to", &Transition::to),
            record_field("count", &Transition::count),
            record_field("from_count", &Transition::from_count),
            record_field("probability", &Transition::probability)};
}

std::vector<RecordField> dwell_fields() {
    return {record_field("cluster", &DwellCount::cluster),
            record_field("dwell", &DwellCount::dwell), record_field("visits", &DwellCount::visits),
            record_field("cut", &DwellCount::cut)};
}

std::vector<RecordField> dwell_time_fields() {
    using Times = DwellTimes;
    return {
        record_field("cluster", &Times::cluster), record_field("items", &Times::items),
        record_field("visits", &Times::visits),   record_field("mean", &Times::mean),
        record_field("median", &Times::median),   record_field("longest", &Times::longest),
        record_field("cut", &Times::cut),         record_field("longest_cut", &Times::longest_cut)};
}

void write_results(RunDirectory& run, const Result& result, const Parameters& parameters,
                   const std::vector<Index>& series, const FrameScores& scores,
                   const ChainItems& chains) {
    const std::vector<std::int32_t>& assignment = result.clustering.assignment;
    const ResultColumns all = columns(result, parameters.k.values().size() > 1 ? "k" : "cutoff");
    write_arrays(run, all, "assignment.npy");
    write_clusters(run, result, all, scores, chains);
    if (chains.are_chains()) write_chains(run, assignment, chains);
    const std::vector<Transition> transitions = count_transitions(assignment, series);
    std::vector<TableColumn> table = table_columns("", {transitions, transition_fields()});
    table.resize(3);  // without probabilities
    write_table(run.output("transitions.tsv"), transitions.size(), table);
    write_histogram(run, result.statistics);
    if (!result.tree.empty()) {
        write_newick(run.output("tree.nwk"), result.tree, std::ssize(assignment));
        write_arrays(run, all, "linkage.npy");
    }
    const auto write_items = [&](const char* file, std::size_t rows,
                                 const std::vector<TableColumn>& more) {
        if (rows == 0) return;
        std::vector<TableColumn> columns = table_columns(all, file);
        columns.insert(columns.begin(), row_numbers("item"));
        write_table(run.output(file), rows, with_columns(std::move(columns), "", more));
    };
    write_items("peaks.tsv", result.peaks.size(), table_columns("cluster", assignment));
    write_items("rounds.tsv", result.rounds.size(), {});
    if (!result.sweep.empty())
        write_table(run.output("sweep.tsv"), result.sweep.size(), table_columns(all, "sweep.tsv"));
}

void record_facts(RunDirectory& run, const Result& result) { record(run, facts(result)); }

void write_states(RunDirectory& run, const std::vector<std::int32_t>& assignment,
                  const std::vector<Index>& series, Index lag, std::optional<double> interval) {
    const std::vector<DwellCount> dwells = count_dwells(assignment, series);
    const std::vector<Transition> transitions = count_transitions(assignment, series, lag);
    write_table(run.output("transition_probabilities.tsv"), transitions.size(),
                table_columns("", {transitions, transition_fields()}));
    write_text(run.output("dwell_times.tsv"), dwell_table(dwells, interval));
    write_table(run.output("dwell_distribution.tsv"), dwells.size(),
                table_columns("", {dwells, dwell_fields()}));
}

std::vector<std::string_view> citations(Method method, bool has_silhouettes) {
    std::vector<std::string_view> keys = [&]() -> std::vector<std::string_view> {
        switch (method) {
            case Method::gromos:
            case Method::gmx: return {"Daura1999"};
            case Method::single: return {"Prim1957"};
            case Method::complete:
            case Method::average: return {"Muellner2011"};
            case Method::ward: return {"Ward1963", "Muellner2011"};
            case Method::kmedoids: return {"Schubert2021"};
            case Method::dbscan: return {"Ester1996"};
            case Method::iterated_density: return {};
            case Method::jarvis_patrick: return {"Jarvis1973"};
            case Method::kcenters: return {"Gonzalez1985"};
            case Method::density_peaks: break;
        }
        return {"Rodriguez2014"};
    }();
    if (has_silhouettes) keys.push_back("Rousseeuw1987");
    return keys;
}

}  // namespace pleat::cluster
