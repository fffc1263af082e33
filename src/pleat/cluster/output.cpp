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
#include "pleat/core/files/printable.h"

namespace pleat::cluster {

namespace {

std::string number_or_na(double value) {
    return std::isnan(value) ? "NA" : fmt::format("{:.6g}", value);
}

std::string medoid_cells(const ChainItems& chains, const ClusterDescription& cluster) {
    const auto chain = static_cast<std::size_t>(chains.chain_of(cluster.medoid));
    return fmt::format("\t{}\t{}", chains.frame_of(cluster.medoid),
                       table_cell(chains.names[chain]));
}

std::string cluster_table(const Result& result, const FrameScores& scores,
                          const ChainItems& chains) {
    std::string text = fmt::format(
        "cluster\tsize\tshare\tmedoid\tmean\tradius\tsilhouette\tcentre{}{}\n",
        chains.are_chains() ? "\tmedoid_frame\tmedoid_chain" : "", score_summary_names(scores));
    std::vector<std::vector<Index>> members =
        scores.empty() ? std::vector<std::vector<Index>>() : result.clustering.members();
    for (std::vector<Index>& items : members)
        for (Index& item : items) item = chains.frame_of(item);
    const auto items = static_cast<double>(result.clustering.assignment.size());
    for (std::size_t c = 0; c < result.clusters.size(); ++c) {
        const ClusterDescription& one = result.clusters[c];
        const std::vector<Index>& centres = result.clustering.centres;
        const std::string medoid = one.size > 0 ? fmt::format("{}", one.medoid) : "NA";
        text += fmt::format("{}\t{}\t{:.6g}\t{}\t{}\t{}\t{}\t{}", c, one.size,
                            static_cast<double>(one.size) / items, medoid, number_or_na(one.mean),
                            number_or_na(one.radius), number_or_na(one.silhouette),
                            centres.empty() ? "NA" : fmt::format("{}", centres[c]));
        if (chains.are_chains()) text += medoid_cells(chains, one);
        if (!scores.empty()) text += score_summary_cells(scores, members[c]);
        text += '\n';
    }
    return text;
}

/// Writes the clusters of the chains of each frame, and how often each combination of clusters
/// occurs, whichever chains have them.
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

std::string transition_table(const std::vector<Transition>& transitions) {
    std::string text = "from\tto\tcount\n";
    for (const Transition& one : transitions)
        text += fmt::format("{}\t{}\t{}\n", one.from, one.to, one.count);
    return text;
}

std::string probability_table(const std::vector<Transition>& transitions) {
    std::string text = "from\tto\tcount\tfrom_count\tprobability\n";
    for (const Transition& one : transitions)
        text += fmt::format("{}\t{}\t{}\t{}\t{:.6g}\n", one.from, one.to, one.count, one.from_count,
                            one.probability);
    return text;
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

std::string distribution_table(const std::vector<DwellCount>& dwells) {
    std::string text = "cluster\tdwell\tvisits\tcut\n";
    for (const DwellCount& one : dwells)
        text += fmt::format("{}\t{}\t{}\t{}\n", one.cluster, one.dwell, one.visits, one.cut);
    return text;
}

std::string histogram_table(const PairStatistics& pairs) {
    std::string text = "from\tto\tpairs\n";
    const std::vector<std::int64_t>& histogram = pairs.histogram();
    for (std::size_t n = 0; n < histogram.size(); ++n) {
        const bool is_open = static_cast<Index>(n) == kMaxBins - 1;
        const double from = static_cast<double>(n) * pairs.bin_width();
        text += fmt::format("{:.6g}\t{}\t{}\n", from,
                            is_open ? "NA" : fmt::format("{:.6g}", from + pairs.bin_width()),
                            histogram[n]);
    }
    return text;
}

std::string peak_table(const Result& result) {
    std::string text = "item\tdensity\tseparation\tdenser\tcluster\n";
    for (std::size_t i = 0; i < result.peaks.size(); ++i) {
        const Peak& peak = result.peaks[i];
        text += fmt::format("{}\t{}\t{:.6g}\t{}\t{}\n", i, peak.density, peak.separation,
                            peak.nearest_denser < 0 ? "NA" : fmt::format("{}", peak.nearest_denser),
                            result.clustering.assignment[i]);
    }
    return text;
}

std::string round_table(const Result& result) {
    std::string text = "item\tround\tmean\n";
    for (std::size_t i = 0; i < result.rounds.size(); ++i) {
        const DensityRound& one = result.rounds[i];
        text += fmt::format("{}\t{}\t{:.6g}\n", i,
                            one.round == DensityRound::kLeft ? "NA" : fmt::format("{}", one.round),
                            one.mean);
    }
    return text;
}

std::string sweep_table(const Result& result, bool by_k) {
    std::string text =
        fmt::format("{}\tclusters\tlargest\tnoise\tsilhouette\n", by_k ? "k" : "cutoff");
    for (const SweepPoint& point : result.sweep)
        text += fmt::format("{:.6g}\t{}\t{}\t{}\t{}\n", point.value, point.clusters, point.largest,
                            point.noise, number_or_na(point.silhouette));
    return text;
}

void write_tree(RunDirectory& run, const std::vector<Merge>& tree, Index count) {
    write_newick(run.output("tree.nwk"), tree, count);
    std::vector<double> rows;
    for (const Merge& merge : tree)
        for (const double value :
             {double(merge.first), double(merge.second), merge.height, double(merge.size)})
            rows.push_back(value);
    write_npy(run.output("linkage.npy"), rows.data(), {static_cast<Index>(tree.size()), 4});
}

}  // namespace

void write_results(RunDirectory& run, const Result& result, const Parameters& parameters,
                   const std::vector<Index>& series, const FrameScores& scores,
                   const ChainItems& chains) {
    const std::vector<std::int32_t>& assignment = result.clustering.assignment;
    const auto count = static_cast<Index>(assignment.size());
    write_npy(run.output("assignment.npy"), assignment.data(), {count});
    write_text(run.output("clusters.tsv"), cluster_table(result, scores, chains));
    if (chains.are_chains()) write_chains(run, assignment, chains);
    write_text(run.output("transitions.tsv"),
               transition_table(count_transitions(assignment, series)));
    write_text(run.output("histogram.tsv"), histogram_table(result.statistics));
    if (!result.tree.empty()) write_tree(run, result.tree, count);
    if (!result.peaks.empty()) write_text(run.output("peaks.tsv"), peak_table(result));
    if (!result.rounds.empty()) write_text(run.output("rounds.tsv"), round_table(result));
    if (!result.sweep.empty()) {
        const bool by_k = parameters.k.values().size() > 1;
        write_text(run.output("sweep.tsv"), sweep_table(result, by_k));
    }
}

void write_states(RunDirectory& run, const std::vector<std::int32_t>& assignment,
                  const std::vector<Index>& series, Index lag, std::optional<double> interval) {
    const std::vector<DwellCount> dwells = count_dwells(assignment, series);
    write_text(run.output("transition_probabilities.tsv"),
               probability_table(count_transitions(assignment, series, lag)));
    write_text(run.output("dwell_times.tsv"), dwell_table(dwells, interval));
    write_text(run.output("dwell_distribution.tsv"), distribution_table(dwells));
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
            case Method::density_peaks: break;
        }
        return {"Rodriguez2014"};
    }();
    if (has_silhouettes) keys.push_back("Rousseeuw1987");
    return keys;
}

}  // namespace pleat::cluster
