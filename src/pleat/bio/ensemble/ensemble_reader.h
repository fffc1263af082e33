// Ensemble reader: the frames of many coordinate files one by one, in the order of the files.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/bio/ensemble/frame_choice.h"
#include "pleat/bio/ensemble/frame_reader.h"
#include "pleat/bio/periodic/whole_molecules.h"
#include "pleat/core/notes.h"

namespace pleat {

/// A frame between EnsembleReader::fetch() and finish().
struct FetchedFrame {
    StoredCoordinates stored;
    View<float, 2> frame;  ///< where it goes
    bool is_finished = false;
    FrameOrigin origin;
    Index number = 0;  ///< among all frames of all files
    PeriodicCell cell;
};

/// What each thread needs of its own to finish frames.
struct FrameScratch {
    Array<float, 2> all_atoms;  ///< [axis, atom]; empty if all atoms are selected
    WholeMolecules molecules;
};

/// Gives the frames of an ensemble one by one, under the conditions of read_ensemble(). Memory: one
/// frame of all atoms.
class EnsembleReader {
public:
    /// Each source is a file, a folder or @LIST, as in ensemble_files.h.
    explicit EnsembleReader(const std::vector<std::string>& sources, EnsembleOptions options = {});

    const std::shared_ptr<const Topology>& topology() const { return topology_; }
    /// All atoms of the files or, with common atoms, all common atoms, whether selected or not.
    const std::shared_ptr<const Topology>& all_atoms() const { return named_; }
    Index atom_count() const { return topology_->atom_count(); }
    /// Sets `frame` [axis, atom] to the next frame; false after the last one.
    bool next(View<float, 2> frame);
    /// Like next(), except that formats that take long to unpack leave the frame to finish().
    bool fetch(FetchedFrame& fetched, View<float, 2> frame);
    /// Sets the frame of a fetch() that did not finish it. Any number of threads may do so, also
    /// during fetch(), each with its own scratch, after update().
    void finish(const FetchedFrame& fetched, FrameScratch& scratch) const;
    /// Prepares a scratch to finish the frames fetched so far, and adds what it counted to notes().
    /// Not during fetch() or finish().
    void update(FrameScratch& scratch);
    /// Skips the next frame without checking its coordinates; returns false after the last one.
    bool skip();
    /// Of the frame last given.
    FrameOrigin origin() const { return origin_; }
    /// The number, from 0, of the last frame read among all frames of all files.
    Index number() const { return seen_ - 1; }
    const std::vector<std::string>& files() const { return files_.paths; }
    /// [file]: of the model, or of the file without endings.
    const std::vector<std::string>& names() const { return files_.names; }
    /// Whether all files are predicted models of folders.
    bool are_models() const;
    /// Of all frames of all files.
    const FrameScores& scores() const { return choice_.scores(); }
    /// The B factors [atom] of the last frame read, for all atoms of the files; empty if there are
    /// none.
    std::span<const double> b_factors() const { return reader_->b_factors(); }
    /// Whether the frames of each file are in temporal order: all files with several frames so far
    /// have a trajectory format (DCD, XTC, TRR, AMBER NetCDF).
    bool is_trajectory() const { return is_trajectory_; }
    /// Notes for the user: the selected atoms, and remarks on the files so far. Notes on doubtful
    /// results begin with "warning: ".
    Notes notes() const;

private:
    void choose_atoms(std::shared_ptr<const Topology> all);
    Index count_frames() const;
    void compare_residues(const std::string& path);
    std::vector<Index> compare_models(std::size_t file);
    void average_b_factors(const std::vector<std::string>& sources);
    void open(std::size_t file);
    bool open_next();
    bool is_wanted(Index frame) const;
    bool find(StoredCoordinates* stored, View<float, 2> frame);
    bool step(bool& wanted, StoredCoordinates* stored, View<float, 2> frame);
    bool advance(StoredCoordinates* stored, View<float, 2> frame);
    const PeriodicCell& cell(bool is_first_of_file);
    void check(const FrameOrigin& origin, View<float, 2> frame) const;
    void check_unit(View<float, 2> frame);

    EnsembleFiles files_;
    EnsembleOptions options_;
    FrameChoice choice_;
    std::vector<std::shared_ptr<const Topology>> first_models_;  // [folder of models]
    std::string range_text_;                    // of options_.range as it was given
    std::shared_ptr<const Topology> all_;       // of the files
    std::shared_ptr<const Topology> named_;     // of these, those in common
    std::shared_ptr<const Topology> topology_;  // of the selected atoms
    std::vector<Index> selected_;               // indices into `all_`
    std::unique_ptr<FrameReader> reader_;
    bool has_noted_assemblies_ = false;
    std::size_t next_file_ = 0;  // the one after that of `reader_`
    Index frames_in_file_ = 0;   // frames of `reader_` so far
    Index seen_ = 0;             // frames of all files so far
    Index frames_given_ = 0;
    Index counted_frames_ = 0;   // frames of all files, if the range counts from the end
    bool is_truncated_ = false;  // `reader_` has no more whole frames
    bool is_trajectory_ = true;
    FrameOrigin origin_;
    FetchedFrame fetched_;
    FrameScratch scratch_;
    std::shared_ptr<Centring> centring_;
    bool is_first_of_file_ = true;  // no frame of `reader_` was given
    bool has_cell_ = false;         // the first frame given has one
    Notes notes_;
};

}  // namespace pleat
