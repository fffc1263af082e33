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

/// The scores of all frames in a range, and which frames they keep.
class FrameChoice {
public:
    /// Keeps all frames.
    FrameChoice() = default;
    /// Reads the scores of these files. `range` must have no negative numbers. Throws UsageError if
    /// the column does not exist or is ambiguous, InputError for damaged tables and for scores that
    /// are missing, given twice or of frames that do not exist.
    FrameChoice(const ScoreOptions& options, const EnsembleFiles& files, const FrameRange& range);

    /// Whether this frame of all files is kept. The frame need not exist.
    bool keeps(Index frame) const;
    /// Throws InputError if scores are used and this frame has none.
    void require(Index frame) const;
    /// Throws InputError if a frame number with scores is `count` or larger.
    void check_count(Index count) const;
    /// Whether scores belong to whole files, which then must have one frame each.
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
    std::string source_;                   // the first one, for messages
    std::vector<std::uint8_t> has_score_;  // [frame]: its scores are known
    std::vector<std::uint8_t> kept_;       // [frame]; empty: all
    Notes notes_;
};

}  // namespace pleat
