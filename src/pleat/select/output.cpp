// Output: tables of frames, clusters and contacts.
#include "pleat/select/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "pleat/core/files/output_file.h"
#include "pleat/core/files/printable.h"

namespace pleat::select {

namespace {

std::string cell(double value) {
    return std::isnan(value) ? std::string("NA") : fmt::format("{:.6g}", value);
}

template <class Values>
std::string cell_of(const Values& values, Index at) {
    return values.empty() ? "NA" : cell(static_cast<double>(values[static_cast<std::size_t>(at)]));
}

/// The best frame first.
std::string scores_table(const Report& report) {
    const Scores& scores = report.result.scores;
    const Index frames = report.evidence.frame_count();
    std::vector<Index> order(static_cast<std::size_t>(frames));
    for (Index frame = 0; frame < frames; ++frame)
        order[static_cast<std::size_t>(scores.place[static_cast<std::size_t>(frame)] - 1)] = frame;
    std::string text =
        "place\tframe\tcluster\tjoined\tcontacts\tleft\tdensity\tchi2\trmsd\t"
        "contact_part\tcluster_part\tcurve_part\tfile\tframe_of_file\n";
    for (const Index frame : order) {
        const auto at = static_cast<std::size_t>(frame);
        text += fmt::format("{}\t{}\t{}", scores.place[at], frame, report.evidence.assignment[at]);
        for (const std::string& value :
             {cell_of(scores.joined, frame), cell_of(scores.contacts, frame),
              cell_of(scores.left, frame), cell_of(report.evidence.density, frame),
              cell_of(report.evidence.chi2, frame), cell_of(report.rmsd, frame),
              cell_of(scores.contact_part, frame), cell_of(scores.cluster_part, frame),
              cell_of(scores.curve_part, frame)})
            text += '\t' + value;
        text += fmt::format("\t{}\t{}\n", table_cell(report.files[at]), report.frames_of_files[at]);
    }
    return text;
}

std::string clusters_table(const Report& report) {
    const auto frames = static_cast<double>(report.evidence.frame_count());
    std::string text =
        "selected\tcluster\tsize\tshare\tmedoid\tbest\tjoined\twhen_"
        "selected\tcontacts\tadded\tleft\t"
        "density\tchi2\tleast_chi2\n";
    for (const ClusterEvidence& one : report.result.clusters) {
        text += fmt::format("{}\t{}\t{}\t{:.6f}\t{}\t{}",
                            one.selected > 0 ? std::to_string(one.selected) : "NA", one.cluster,
                            one.size, static_cast<double>(one.size) / frames,
                            report.medoids[static_cast<std::size_t>(one.cluster)], one.best);
        for (const double value : {one.joined, one.when_selected, one.contacts, one.added, one.left,
                                   one.density, one.chi2, one.least_chi2})
            text += '\t' + cell(value);
        text += '\n';
    }
    return text;
}

/// Each contact with the share of frames that satisfy it, in all and in each selected cluster.
std::string explained_table(const Report& report) {
    const Evidence& evidence = report.evidence;
    std::vector<std::vector<Index>> groups(1);  // all, then the selected
    std::string text = "i\tj\tresidue_i\tresidue_j\tstrength\texplained_by\tall";
    for (const ClusterEvidence& one : report.result.clusters)
        if (one.selected > 0) {
            groups.emplace_back();
            text += fmt::format("\tselected_{}", one.selected);
        }
    text += '\n';
    std::vector<Index> place(report.medoids.size(), 0);
    for (const ClusterEvidence& one : report.result.clusters)
        place[static_cast<std::size_t>(one.cluster)] = one.selected;
    for (Index frame = 0; frame < evidence.frame_count(); ++frame) {
        groups[0].push_back(frame);
        const std::int32_t cluster = evidence.assignment[static_cast<std::size_t>(frame)];
        if (cluster < 0) continue;
        const Index selected = place[static_cast<std::size_t>(cluster)];
        if (selected > 0) groups[static_cast<std::size_t>(selected)].push_back(frame);
    }
    for (std::size_t c = 0; c < report.contacts.size(); ++c) {
        const ExpectedContact& contact = report.contacts[c];
        const Index by = report.result.explained_by[c];
        text += fmt::format("{}\t{}\t{}\t{}\t{:.6f}\t{}", contact.i, contact.j,
                            table_cell(contact.name_i), table_cell(contact.name_j),
                            contact.strength, by > 0 ? std::to_string(by) : "NA");
        for (const std::vector<Index>& group : groups) {
            Index count = 0;
            for (const Index frame : group)
                count += evidence.satisfied(frame, static_cast<Index>(c)) != 0;
            text += fmt::format("\t{:.4f}",
                                static_cast<double>(count) / static_cast<double>(group.size()));
        }
        text += '\n';
    }
    return text;
}

}  // namespace

void write_results(RunDirectory& run, const Report& report) {
    write_text(run.output("scores.tsv"), scores_table(report));
    write_text(run.output("clusters.tsv"), clusters_table(report));
    if (report.evidence.has_contacts())
        write_text(run.output("explained.tsv"), explained_table(report));
}

}  // namespace pleat::select
