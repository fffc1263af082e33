// Frame scores: numbers that are known of each frame, and frames kept by them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/view.h"

#pragma GCC visibility push(default)

namespace pleat {

/// Which scores of frames are read, and how they choose frames before any other work.
struct ScoreOptions {
    /// Tables of scores. The first line names the columns: `frame` (number among all frames, from
    /// 0) or `name` (of a file or model with one frame), and numbers; tabs or commas separate them.
    std::vector<std::string> tables;
    bool of_models = false;       ///< scores of the programs that predicted the models
    std::string column;           ///< by which frames are kept; empty: the only one, or that by
                                  ///< which the program ranks its models
    std::int64_t best = 0;        ///< frames to keep; 0: all
    bool lowest_is_best = false;  ///< as of energies
    double worst_share = 0;       ///< share of the frames to leave out, below 1

    bool are_read() const { return of_models || !tables.empty(); }
    bool leave_out() const { return best > 0 || worst_share > 0; }
};

/// Reads FILE,FILE,...; the word `folder` means the scores of the programs that predicted the
/// models. Throws UsageError for an empty name.
void parse_score_sources(std::string_view text, ScoreOptions& options);
/// Parses a percentage such as 10%, below 100%. Throws UsageError.
double parse_percentage(std::string_view text);

/// The scores of frames.
struct FrameScores {
    std::vector<std::string> columns;
    std::vector<std::vector<double>> values;  ///< [column][frame]; NaN: not known
    std::string ranked_by;                    ///< the column that says which frame is best; or none
    bool lowest_is_best = false;              ///< of that column

    bool empty() const { return columns.empty(); }
    /// The column `ranked_by`; empty if there is none.
    const std::vector<double>& ranking() const;
    /// Those of these frames, in their order.
    FrameScores of(const std::vector<Index>& frames) const;
};

/// Returns the numbers of the frames to keep, ascending: at most `best` frames with the best
/// `values` (0: no limit), without the `worst_share` fraction of frames, rounded down. NaN is
/// worst; of equal values the earlier frame is better.
std::vector<Index> best_frames(const std::vector<double>& values, bool lowest_is_best,
                               std::int64_t best, double worst_share);

}  // namespace pleat

#pragma GCC visibility pop
