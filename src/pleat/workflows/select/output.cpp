// Output: tables of frames, clusters and contacts.
#include "pleat/workflows/select/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "pleat/bio/ensemble/frame_table.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"

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
std::string scores_table(const Ensemble& ensemble, const Result& result) {
    const Scores& scores = result.scores;
    const auto frames = static_cast<Index>(result.assignment.size());
    std::vector<Index> order(static_cast<std::size_t>(frames));
    for (Index frame = 0; frame < frames; ++frame)
        order[static_cast<std::size_t>(scores.position[static_cast<std::size_t>(frame)] - 1)] =
            frame;
    std::string text =
        "place\tframe\tcluster\tjoined\tcontacts\tleft\tdensity\tchi2\trmsd\t"
        "contact_part\tcluster_part\tcurve_part\tscore_part\tfile\tframe_of_file";
    text += score_names(ensemble.scores, text) + '\n';
    for (const Index frame : order) {
        const auto at = static_cast<std::size_t>(frame);
        text += fmt::format("{}\t{}\t{}", scores.position[at], frame, result.assignment[at]);
        for (const std::string& value :
             {cell_of(scores.joint_rank, frame), cell_of(scores.contacts, frame),
              cell_of(scores.unexplained_share, frame), cell_of(result.density, frame),
              cell_of(result.chi2, frame), cell_of(result.rmsd, frame),
              cell_of(scores.contact_rank, frame), cell_of(scores.cluster_rank, frame),
              cell_of(scores.curve_rank, frame), cell_of(scores.score_rank, frame)})
            text += '\t' + value;
        const FrameOrigin& origin = ensemble.origins[at];
        text += fmt::format("\t{}\t{}{}\n",
                            table_cell(ensemble.files[static_cast<std::size_t>(origin.file)]),
                            origin.frame, score_cells(ensemble.scores, frame));
    }
    return text;
}

std::string clusters_table(const Result& result, const FrameScores& scores) {
    std::vector<std::vector<Index>> members(scores.empty() ? 0 : result.medoids.size());
    for (std::size_t frame = 0; !members.empty() && frame < result.assignment.size(); ++frame)
        if (result.assignment[frame] >= 0)
            members[static_cast<std::size_t>(result.assignment[frame])].push_back(
                static_cast<Index>(frame));
    const auto frames = static_cast<double>(result.assignment.size());
    std::string text =
        "selected\tcluster\tsize\tshare\tmedoid\tbest\tjoined\twhen_"
        "selected\tcontacts\tadded\tleft\t"
        "density\tchi2\tmin_chi2" +
        score_summary_names(scores) + '\n';
    for (const ClusterSummary& one : result.clusters) {
        text += fmt::format("{}\t{}\t{}\t{:.6f}\t{}\t{}",
                            one.selected > 0 ? std::to_string(one.selected) : "NA", one.cluster,
                            one.size, static_cast<double>(one.size) / frames,
                            result.medoids[static_cast<std::size_t>(one.cluster)], one.best_frame);
        for (const double value :
             {one.joint_rank, one.joint_rank_when_selected, one.contacts, one.added,
              one.unexplained_share, one.density, one.chi2, one.min_chi2})
            text += '\t' + cell(value);
        if (!scores.empty())
            text += score_summary_cells(scores, members[static_cast<std::size_t>(one.cluster)]);
        text += '\n';
    }
    return text;
}

/// Each contact with the share of frames that form it, of all frames and of each selected cluster.
std::string explained_table(const Result& result) {
    std::vector<std::vector<Index>> groups(1);  // all frames, then those of the selected clusters
    std::vector<Index> group_of(result.medoids.size(), 0);
    std::string text = "i\tj\tresidue_i\tresidue_j\tstrength\texplained_by\tall";
    for (const ClusterSummary& one : result.clusters) {
        group_of[static_cast<std::size_t>(one.cluster)] = one.selected;
        if (one.selected == 0) continue;
        groups.emplace_back();
        text += fmt::format("\tselected_{}", one.selected);
    }
    text += '\n';
    for (std::size_t frame = 0; frame < result.assignment.size(); ++frame) {
        groups[0].push_back(static_cast<Index>(frame));
        if (result.assignment[frame] < 0) continue;
        const Index group = group_of[static_cast<std::size_t>(result.assignment[frame])];
        if (group > 0) groups[static_cast<std::size_t>(group)].push_back(static_cast<Index>(frame));
    }
    for (std::size_t c = 0; c < result.expected.contacts.size(); ++c) {
        const ExpectedContact& contact = result.expected.contacts[c];
        const Index by = result.explained_by[c];
        text += fmt::format("{}\t{}\t{}\t{}\t{:.6f}\t{}", contact.i, contact.j,
                            table_cell(contact.name_i), table_cell(contact.name_j),
                            contact.strength, by > 0 ? std::to_string(by) : "NA");
        for (const std::vector<Index>& group : groups) {
            Index count = 0;
            for (const Index frame : group)
                count += result.formed_contacts(frame, static_cast<Index>(c)) != 0;
            text += fmt::format("\t{:.4f}",
                                static_cast<double>(count) / static_cast<double>(group.size()));
        }
        text += '\n';
    }
    return text;
}

}  // namespace

void write_results(RunDirectory& run, const Ensemble& ensemble, const Result& result) {
    write_text(run.output("scores.tsv"), scores_table(ensemble, result));
    write_text(run.output("clusters.tsv"), clusters_table(result, ensemble.scores));
    const FrameLabels labels = labels_of(ensemble);
    if (labels.make_a_table())
        write_text(run.output("frames.tsv"),
                   frames_table(labels, ensemble.origins, ensemble.files, result.assignment));
    if (!result.expected.contacts.empty())
        write_text(run.output("explained.tsv"), explained_table(result));
}

}  // namespace pleat::select
