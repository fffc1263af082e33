// Frame choice: the scores of the frames of an ensemble, read before the frames, and what they
// keep.
#pragma once

#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/bio/ensemble/frame_scores.h"
#include "pleat/core/notes.h"

namespace pleat {

/// Scores of all frames that a range has, and the frames that they keep.
class FrameChoice {
public:
    /// Keeps all frames.
    FrameChoice() = default;
    /// Reads the scores of these files. `range` has no negative numbers. Throws UsageError (a
    /// column that there is not, several to choose from), InputError (damaged tables; scores that
    /// are missing, doubled, or of no frame).
    FrameChoice(const ScoreOptions& options, const EnsembleFiles& files, const FrameRange& range);

    /// Whether this frame of all files is kept, if there is one of this number.
    bool keeps(Index frame) const;
    /// Throws InputError if this frame has no scores.
    void require(Index frame) const;
    /// Throws InputError if there are scores of frames from `count` on.
    void check_count(Index count) const;
    /// Whether scores belong to files, each of which must have one frame.
    bool is_of_files() const { return is_of_files_; }
    /// Of all frames of all files.
    const FrameScores& scores() const { return scores_; }
    const Notes& notes() const { return notes_; }

private:
    struct Table;
    void add_table(const Table& table, const EnsembleFiles& files, const FrameRange& range);
    void add_models(const EnsembleFiles& files);
    void add_column(const std::string& source, const std::string& name, std::vector<double> values);
    void choose_column(const ScoreOptions& options, const EnsembleFiles& files);
    void leave_out(const ScoreOptions& options, const FrameRange& range);

    FrameScores scores_;
    bool is_of_files_ = false;
    std::string source_;              // the first one, for messages
    std::vector<std::uint8_t> has_;   // [frame]: its scores are known
    std::vector<std::uint8_t> kept_;  // [frame]; empty: all
    Notes notes_;
};

}  // namespace pleat
