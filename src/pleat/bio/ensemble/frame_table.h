// Frame table: names, first numbers and scores of frames, as tables of runs show them, and chains
// as items.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/structure/equivalent_atoms.h"
#include "pleat/core/array.h"

namespace pleat {

/// Data of frames besides their origin.
struct FrameLabels {
    std::vector<std::string> names = {};  ///< [file], as in Ensemble; so are the others
    std::vector<Index> numbers = {};
    FrameScores scores = {};
    bool are_models = false;

    /// Whether a table of the frames says more than their numbers.
    bool has_table_columns() const { return are_models || !scores.empty(); }
};
FrameLabels labels_of(const Ensemble& ensemble);

/// The table frames.tsv: frame, number among all frames of the ensemble, name, cluster (unless
/// `clusters` is empty), file, frame of the file, scores.
std::string frames_table(const FrameLabels& labels, const std::vector<FrameOrigin>& origins,
                         const std::vector<std::string>& files,
                         std::span<const std::int32_t> clusters = {});

/// The names of the scores as further header cells, each preceded by a tab; a name that the header
/// already has gets the prefix `score_`.
std::string score_names(const FrameScores& scores, std::string_view header);
/// The scores of a frame as cells, each preceded by a tab.
std::string score_cells(const FrameScores& scores, Index frame);

/// Header cells for the means of all scores, the best value and its frame, each preceded by a tab.
std::string score_summary_names(const FrameScores& scores);
/// The cells for these frames; unknown values are ignored.
std::string score_summary_cells(const FrameScores& scores, std::span<const Index> frames);

/// Maps items to chains and frames. Items are ordered by chain, then by frame, so that each chain
/// forms a trajectory.
struct ChainItems {
    std::vector<std::string> names;  ///< of the chains; empty: items are frames
    Index frames = 0;

    bool are_chains() const { return !names.empty(); }
    Index chain_of(Index item) const { return item / frames; }
    Index frame_of(Index item) const { return are_chains() ? item % frames : item; }
};

/// Coordinates [item, atom, axis] of the equal chains of an ensemble in memory.
Array<float, 3> chain_by_chain(const Ensemble& ensemble, const EqualChains& chains, int threads);

}  // namespace pleat
