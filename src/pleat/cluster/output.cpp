// Output: tables of clusters, transitions, pairs, peaks and sweeps, and the tree's files.
#include "pleat/cluster/output.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "pleat/cluster/methods/linkage.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/files/output_file.h"

namespace pleat::cluster {

namespace {

std::string number_or_na(double value) {
    return std::isnan(value) ? "NA" : fmt::format("{:.6g}", value);
}

std::string cluster_table(const Result& result) {
    std::string text = "cluster\tsize\tshare\tmedoid\tmean\tradius\tsilhouette\tcentre\n";
    const auto items = static_cast<double>(result.clustering.assignment.size());
    for (std::size_t c = 0; c < result.clusters.size(); ++c) {
        const ClusterDescription& one = result.clusters[c];
        const std::vector<Index>& centres = result.clustering.centres;
        text += fmt::format("{}\t{}\t{:.6g}\t{}\t{:.6g}\t{:.6g}\t{}\t{}\n", c, one.size,
                            static_cast<double>(one.size) / items, one.medoid, one.mean, one.radius,
                            number_or_na(one.silhouette),
                            centres.empty() ? "NA" : fmt::format("{}", centres[c]));
    }
    return text;
}

std::string transition_table(const std::vector<std::int32_t>& assignment,
                             const std::vector<Index>& series) {
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> counts;
    for (std::size_t i = 1; i < assignment.size(); ++i)
        if (series.empty() || series[i] == series[i - 1])
            ++counts[{assignment[i - 1], assignment[i]}];
    std::string text = "from\tto\tcount\n";
    for (const auto& [step, count] : counts)
        text += fmt::format("{}\t{}\t{}\n", step.first, step.second, count);
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
                   const std::vector<Index>& series) {
    const std::vector<std::int32_t>& assignment = result.clustering.assignment;
    const auto count = static_cast<Index>(assignment.size());
    write_npy(run.output("assignment.npy"), assignment.data(), {count});
    write_text(run.output("clusters.tsv"), cluster_table(result));
    write_text(run.output("transitions.tsv"), transition_table(assignment, series));
    write_text(run.output("histogram.tsv"), histogram_table(result.statistics));
    if (!result.tree.empty()) write_tree(run, result.tree, count);
    if (!result.peaks.empty()) write_text(run.output("peaks.tsv"), peak_table(result));
    if (!result.sweep.empty()) {
        const bool by_k = parameters.k.values().size() > 1;
        write_text(run.output("sweep.tsv"), sweep_table(result, by_k));
    }
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
            case Method::jarvis_patrick: return {"Jarvis1973"};
            case Method::density_peaks: break;
        }
        return {"Rodriguez2014"};
    }();
    if (has_silhouettes) keys.push_back("Rousseeuw1987");
    return keys;
}

}  // namespace pleat::cluster
