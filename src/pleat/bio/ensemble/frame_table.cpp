// Frame table: the cells of names and scores, and chains copied out of frames.
#include "pleat/bio/ensemble/frame_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pleat/core/files/text.h"
#include "pleat/core/loops/parallel.h"

namespace pleat {

namespace {

std::string cell_of(double value) {
    return std::isnan(value) ? std::string("NA") : fmt::format("{:.9g}", value);
}

}  // namespace

FrameLabels labels_of(const Ensemble& ensemble) {
    return {.names = ensemble.names,
            .numbers = ensemble.numbers,
            .scores = ensemble.scores,
            .are_models = ensemble.are_models};
}

std::string frames_table(const FrameLabels& labels, const std::vector<FrameOrigin>& origins,
                         const std::vector<std::string>& files,
                         std::span<const std::int32_t> clusters) {
    std::string text = fmt::format("frame\tnumber\tname{}\tfile\tframe_of_file",
                                   clusters.empty() ? "" : "\tcluster");
    text += score_names(labels.scores, text) + '\n';
    for (std::size_t frame = 0; frame < origins.size(); ++frame) {
        const auto file = static_cast<std::size_t>(origins[frame].file);
        text +=
            fmt::format("{}\t{}\t{}", frame, labels.numbers[frame], table_cell(labels.names[file]));
        if (!clusters.empty()) text += fmt::format("\t{}", clusters[frame]);
        text += fmt::format("\t{}\t{}", table_cell(files[file]), origins[frame].frame);
        text += score_cells(labels.scores, static_cast<Index>(frame)) + '\n';
    }
    return text;
}

std::string score_names(const FrameScores& scores, std::string_view header) {
    const std::vector<std::string> taken = split_cells(header);
    std::string text;
    for (const std::string& name : scores.columns) {
        const bool is_taken = std::ranges::find(taken, name) != taken.end();
        text += fmt::format("\t{}{}", is_taken ? "score_" : "", table_cell(name));
    }
    return text;
}

std::string score_cells(const FrameScores& scores, Index frame) {
    std::string text;
    for (const std::vector<double>& values : scores.values) text += '\t' + cell_of(values[frame]);
    return text;
}

std::string score_summary_names(const FrameScores& scores) {
    std::string text;
    for (const std::string& name : scores.columns)
        text += fmt::format("\tmean_{}", table_cell(name));
    if (!scores.ranked_by.empty())
        text += fmt::format("\tbest_{}\tbest_frame", table_cell(scores.ranked_by));
    return text;
}

std::string score_summary_cells(const FrameScores& scores, std::span<const Index> frames) {
    std::string text;
    for (const std::vector<double>& values : scores.values) {
        double sum = 0;
        Index count = 0;
        for (const Index frame : frames) {
            const double value = values[frame];
            if (std::isnan(value)) continue;
            sum += value;
            ++count;
        }
        text += '\t' + (count == 0 ? "NA" : cell_of(sum / static_cast<double>(count)));
    }
    if (scores.ranked_by.empty()) return text;
    const std::vector<double>& ranking = scores.ranking();
    std::vector<double> values;
    for (const Index frame : frames) values.push_back(ranking[frame]);
    const std::vector<Index> best = best_frames(values, scores.lowest_is_best, 1, 0);
    if (best.empty() || std::isnan(values[best[0]])) return text + "\tNA\tNA";
    const auto at = static_cast<std::size_t>(best[0]);
    return text + fmt::format("\t{}\t{}", cell_of(values[at]), frames[at]);
}

Array<float, 3> chain_by_chain(const Ensemble& ensemble, const EqualChains& chains, int threads) {
    const Index frames = ensemble.frame_count(), count = std::ssize(chains.atoms),
                atoms = static_cast<Index>(chains.atoms.front().size());
    auto xyz = Array<float, 3>::unset(count * frames, atoms, 3);
    parallel_for(threads, frames, [&](Index frame, int) {
        for (Index chain = 0; chain < count; ++chain)
            for (Index atom = 0; atom < atoms; ++atom)
                for (Index axis = 0; axis < 3; ++axis)
                    xyz(chain * frames + frame, atom, axis) =
                        ensemble.xyz(frame, axis, chains.atoms[chain][atom]);
    });
    return xyz;
}

}  // namespace pleat
