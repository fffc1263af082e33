// Output: tables of frames, clusters and contacts.
#include "pleat/workflows/select/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "pleat/bio/ensemble/frame_table.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"

namespace pleat::select {

namespace {

/// The scores of a frame, as Python and scores.tsv have them; NaN: not known.
struct FrameScore {
    Index position;
    std::int32_t cluster;
    double joint_rank, contacts, unexplained_share, density, chi2, rmsd, contact_rank, cluster_rank,
        curve_rank, score_rank;
};

/// Residues from 0.
struct Contact {
    Index i, j;
    double strength;
    Index explained_by;
};

template <class T>
double value_at(const std::vector<T>& values, std::size_t at) {
    return values.empty() ? std::nan("") : static_cast<double>(values[at]);
}

std::vector<FrameScore> frame_scores(const Result& result) {
    const Scores& scores = result.scores;
    std::vector<FrameScore> all;
    for (std::size_t n = 0; n < result.assignment.size(); ++n)
        all.push_back({scores.position[n], result.assignment[n], value_at(scores.joint_rank, n),
                       value_at(scores.contacts, n), value_at(scores.unexplained_share, n),
                       value_at(result.density, n), value_at(result.chi2, n),
                       value_at(result.rmsd, n), value_at(scores.contact_rank, n),
                       value_at(scores.cluster_rank, n), value_at(scores.curve_rank, n),
                       value_at(scores.score_rank, n)});
    return all;
}

std::vector<Contact> contacts_of(const Result& result) {
    std::vector<Contact> all;
    for (std::size_t c = 0; c < result.expected.contacts.size(); ++c) {
        const ExpectedContact& one = result.expected.contacts[c];
        all.push_back({one.i - 1, one.j - 1, one.strength, result.explained_by[c]});
    }
    return all;
}

std::vector<RecordField> score_fields() {
    return {record_field("position", &FrameScore::position, {.name = "place"}),
            record_field("cluster", &FrameScore::cluster),
            record_field("joint", &FrameScore::joint_rank, {.name = "joined"}),
            record_field("contacts", &FrameScore::contacts),
            record_field("unexplained", &FrameScore::unexplained_share, {.name = "left"}),
            record_field("density", &FrameScore::density),
            record_field("chi2", &FrameScore::chi2),
            record_field("rmsd", &FrameScore::rmsd),
            record_field("contact_rank", &FrameScore::contact_rank, {.name = "contact_part"}),
            record_field("cluster_rank", &FrameScore::cluster_rank, {.name = "cluster_part"}),
            record_field("curve_rank", &FrameScore::curve_rank, {.name = "curve_part"}),
            record_field("score_rank", &FrameScore::score_rank, {.name = "score_part"})};
}

std::vector<RecordField> cluster_fields() {
    using One = ClusterSummary;
    return {record_field("selected", &One::selected, {.missing = 0}),
            record_field("cluster", &One::cluster),
            record_field("size", &One::size),
            record_field("best_frame", &One::best_frame, {.name = "best"}),
            record_field("joint", &One::joint_rank, {.name = "joined"}),
            record_field("when_selected", &One::joint_rank_when_selected),
            record_field("contacts", &One::contacts),
            record_field("added", &One::added),
            record_field("unexplained", &One::unexplained_share, {.name = "left"}),
            record_field("density", &One::density),
            record_field("chi2", &One::chi2),
            record_field("min_chi2", &One::min_chi2)};
}

std::vector<RecordField> contact_fields() {
    return {record_field("i", &Contact::i, {.first = 1}),
            record_field("j", &Contact::j, {.first = 1}),
            record_field("strength", &Contact::strength,
                         {.format = std::chars_format::fixed, .digits = 6}),
            record_field("explained_by", &Contact::explained_by, {.missing = 0})};
}

/// The best frame first.
void write_scores(const std::filesystem::path& path, const Ensemble& ensemble,
                  const Result& result) {
    const std::vector<FrameScore> scores = frame_scores(result);
    std::vector<FrameScore> placed(scores.size());
    std::vector<Index> frames(scores.size());
    for (std::size_t frame = 0; frame < scores.size(); ++frame) {
        const auto place = static_cast<std::size_t>(scores[frame].position - 1);
        placed[place] = scores[frame];
        frames[place] = static_cast<Index>(frame);
    }
    const auto origin = [&](std::size_t row) -> const FrameOrigin& {
        return ensemble.origins[frames[row]];
    };
    std::vector<TableColumn> table = with_columns(table_columns("", {placed, score_fields()}),
                                                  "cluster", table_columns("frame", frames));
    table.push_back(table_column(
        "file", [&](std::size_t row) { return table_cell(ensemble.files[origin(row).file]); }));
    table.push_back(
        table_column("frame_of_file", [&](std::size_t row) { return origin(row).frame; }));
    if (!ensemble.scores.empty())
        table.push_back(table_column(
            score_names(ensemble.scores, header_line_of(table)).substr(1),
            [&](std::size_t row) { return score_cells(ensemble.scores, frames[row]).substr(1); }));
    write_table(path, placed.size(), table);
}

void write_clusters(const std::filesystem::path& path, const Result& result,
                    const ResultColumns& columns, const FrameScores& scores) {
    std::vector<std::vector<Index>> members(scores.empty() ? 0 : result.medoids.size());
    for (std::size_t frame = 0; !members.empty() && frame < result.assignment.size(); ++frame)
        if (result.assignment[frame] >= 0)
            members[result.assignment[frame]].push_back(static_cast<Index>(frame));
    const auto cluster = [&](std::size_t row) {
        return static_cast<std::size_t>(result.clusters[row].cluster);
    };
    const auto frames = static_cast<double>(result.assignment.size());
    std::vector<TableColumn> table = with_columns(
        table_columns(columns, "clusters.tsv"), "best",
        {table_column("share",
                      [&](std::size_t row) {
                          return fmt::format(
                              "{:.6f}", static_cast<double>(result.clusters[row].size) / frames);
                      }),
         table_column("medoid", [&](std::size_t row) { return result.medoids[cluster(row)]; })});
    if (!scores.empty())
        table.push_back(table_column(score_summary_names(scores).substr(1), [&](std::size_t row) {
            return score_summary_cells(scores, members[cluster(row)]).substr(1);
        }));
    write_table(path, result.clusters.size(), table);
}

/// Each contact with the share of frames that form it, of all frames and of each selected cluster.
void write_explained(const std::filesystem::path& path, const Result& result,
                     const ResultColumns& columns) {
    std::vector<std::vector<Index>> groups(1);  // all frames, then those of the selected clusters
    std::vector<Index> group_of(result.medoids.size(), 0);
    std::vector<std::string> names = {"all"};
    for (const ClusterSummary& one : result.clusters) {
        group_of[one.cluster] = one.selected;
        if (one.selected == 0) continue;
        groups.emplace_back();
        names.push_back(fmt::format("selected_{}", one.selected));
    }
    for (std::size_t frame = 0; frame < result.assignment.size(); ++frame) {
        groups[0].push_back(static_cast<Index>(frame));
        if (result.assignment[frame] < 0) continue;
        const Index group = group_of[result.assignment[frame]];
        if (group > 0) groups[group].push_back(static_cast<Index>(frame));
    }
    const std::vector<ExpectedContact>& contacts = result.expected.contacts;
    std::vector<TableColumn> table = with_columns(
        table_columns(columns, "explained.tsv"), "strength",
        {table_column("residue_i",
                      [&](std::size_t row) { return table_cell(contacts[row].name_i); }),
         table_column("residue_j",
                      [&](std::size_t row) { return table_cell(contacts[row].name_j); })});
    for (std::size_t g = 0; g < groups.size(); ++g)
        table.push_back(table_column(names[g], [&result, &frames = groups[g]](std::size_t row) {
            Index count = 0;
            for (const Index frame : frames)
                count += result.formed_contacts(frame, static_cast<Index>(row)) != 0;
            return fmt::format("{:.4f}",
                               static_cast<double>(count) / static_cast<double>(frames.size()));
        }));
    write_table(path, contacts.size(), table);
}

}  // namespace

ResultColumns columns(const Result& result) {
    const ExpectedContacts& expected = result.expected;
    const bool has_contacts = !expected.contacts.empty();
    const std::vector<Index>& positions = result.scores.position;
    const Index selected = std::ranges::count_if(
        result.clusters, [](const ClusterSummary& one) { return one.selected > 0; });
    return {
        {"scores",
         "records [frame] (position, cluster, joint, contacts, unexplained, density, chi2, "
         "rmsd, contact_rank, cluster_rank, curve_rank, score_rank). Position 1 has the "
         "highest joint score, the weighted mean of the ranks, which go from 0 (worst) to "
         "1 (best); rmsd is from the medoid of the first selected cluster, in angstrom; "
         "NaN: not known",
         ColumnValue::owned(frame_scores(result), score_fields()), "scores.tsv"},
        {"clusters",
         "records (cluster, size, selected, best_frame, joint, when_selected, contacts, "
         "unexplained, density, chi2, min_chi2, added), medians over the cluster's frames. "
         "The selected clusters come first, in their order: selected = 1, 2, ...; it is 0 "
         "for the others",
         {result.clusters, cluster_fields()},
         "clusters.tsv"},
        {"medoids", "int64 [cluster], frames", result.medoids},
        {"contacts",
         "records (i, j, strength, explained_by): residues of the sequence, from 0, and "
         "which selected cluster explains the contact, 0 for none",
         ColumnValue::owned(contacts_of(result), contact_fields()), "explained.tsv"},
        {"residues", "[(name, name)] of the structure, one pair per contact",
         ColumnValue::kept("list[tuple[str, str]]")},
        {"formed", "uint8 [frame, contact], 1 if the frame forms the contact",
         result.formed_contacts},
        fact("contacts", ColumnValue(std::ssize(expected.contacts)).or_none(has_contacts),
             "number of expected contacts"),
        {"chain", "the chain that the sequence was aligned to, or None",
         ColumnValue(expected.chain).or_none(!expected.chain.empty()), "results"},
        fact("identity", ColumnValue(expected.identity).or_none(has_contacts),
             "the share of identical letters"),
        fact("mapped_residues", ColumnValue(expected.mapped_residues).or_none(has_contacts),
             "residues of the sequence that are aligned to the chain"),
        fact("frames", std::ssize(positions), "number of frames"),
        fact("clusters", std::ssize(result.clusters), "number of clusters"),
        fact("selected", selected, "of these"),
        {"identity", "the share of identical letters", expected.identity},
        {"cutoff", "RMSD below which frames are neighbours, angstrom", result.cutoff, "results"},
        fact("best_frame", std::ranges::find(positions, 1) - positions.begin(),
             "the frame of position 1"),
        fact("first_cluster",
             ColumnValue(selected > 0 ? result.clusters.front().cluster : 0).or_none(selected > 0),
             "the first selected cluster"),
    };
}

void write_results(RunDirectory& run, const Ensemble& ensemble, const Result& result) {
    const ResultColumns all = columns(result);
    write_scores(run.output("scores.tsv"), ensemble, result);
    write_clusters(run.output("clusters.tsv"), result, all, ensemble.scores);
    const FrameLabels labels = labels_of(ensemble);
    if (labels.has_table_columns())
        write_text(run.output("frames.tsv"),
                   frames_table(labels, ensemble.origins, ensemble.files, result.assignment));
    if (!result.expected.contacts.empty())
        write_explained(run.output("explained.tsv"), result, all);
    record(run, all);
}

}  // namespace pleat::select
