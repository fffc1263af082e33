// Ensembles: the frames of many coordinate files as one, of one selection of their atoms.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/ensemble/frame_range.h"
#include "pleat/bio/ensemble/frame_reader.h"
#include "pleat/bio/structure/topology.h"
#include "pleat/core/array.h"
#include "pleat/core/error.h"

#pragma GCC visibility push(default)

namespace pleat {

/// Where a frame came from.
struct FrameOrigin {
    Index file = 0;   ///< index into the files of the ensemble
    Index frame = 0;  ///< frame (or model) of that file, from 0
};

/// What to read of the files that are given.
struct EnsembleOptions {
    /// A PDB or mmCIF file that names the atoms; empty: the first file does it. Its coordinates are
    /// no frame of the ensemble.
    std::filesystem::path topology;
    std::string assembly = {};  ///< name of the biological assembly to build; empty: as listed
    /// The atoms of all files, known already; instead of `topology` if not null.
    std::shared_ptr<const Topology> atoms = nullptr;
    std::string select = "all";  ///< as in selection.h
    FrameRange range;            ///< of the frames of all files together
    /// Refuse a file fewer than half of whose matched residues have the names of the topology;
    /// without it a note tells so.
    bool same_residues = false;
    /// Whether a file that is cut short, as one that a simulation is still writing, gives its whole
    /// frames and a warning. Otherwise it is refused.
    bool truncated = false;
    /// How frames of float64 far from the origin are moved: see Centring.
    bool centre_each_frame = false;
};

/// Gives the frames of an ensemble one by one. Memory: one frame of all atoms.
///
/// The atoms are those that `select` takes of the topology. Files that name their atoms (PDB,
/// mmCIF) are matched to it by identity; the others must have as many atoms as the topology, in its
/// order. InputError, naming file and frame, for selected atoms that are missing, numbers of atoms
/// that differ, coordinates that are not finite or beyond 1e15 angstrom, and a range without
/// frames. A range that counts from the end reads all files twice, which must be regular files
/// then.
class EnsembleReader {
public:
    /// Each source is a file, a folder or @LIST, as in ensemble_files.h.
    explicit EnsembleReader(const std::vector<std::string>& sources, EnsembleOptions options = {});

    const std::shared_ptr<const Topology>& topology() const { return topology_; }
    /// All atoms of the files, selected or not.
    const std::shared_ptr<const Topology>& all_atoms() const { return all_; }
    Index atom_count() const { return topology_->atom_count(); }
    /// Sets `frame` [axis, atom] to the next frame; false after the last one.
    bool next(View<float, 2> frame);
    FrameOrigin origin() const { return origin_; }  ///< of the frame last given
    const std::vector<std::string>& files() const { return files_; }
    /// What the user should know: the atoms selected, and what was found in the files so far. What
    /// makes results doubtful begins with "warning: ".
    std::vector<std::string> notes() const;

private:
    void choose_atoms(std::shared_ptr<const Topology> all);
    Index count_frames() const;
    void compare_residues(const std::string& path);
    void open(std::size_t file);
    bool step(bool wanted, View<float, 2> frame);
    bool advance(bool wanted, View<float, 2> frame);
    void end_file();
    void gather(View<float, 2> frame) const;
    void check(View<float, 2> frame) const;

    std::vector<std::string> files_;
    EnsembleOptions options_;
    std::string range_text_;                    // of options_.range as it was given
    std::shared_ptr<const Topology> all_;       // of the files
    std::shared_ptr<const Topology> topology_;  // of the selected atoms
    std::vector<Index> selected_;               // indices into `all_`
    std::unique_ptr<FrameReader> reader_;
    bool noted_assemblies_ = false;
    std::size_t next_file_ = 0;  // the one after that of `reader_`
    Index in_file_ = 0;          // frames of `reader_` so far
    Index seen_ = 0;             // frames of all files so far
    Index given_ = 0;
    Index counted_ = 0;    // frames of all files, if the range counts from the end
    bool is_cut_ = false;  // `reader_` has no more whole frames
    FrameOrigin origin_;
    Array<float, 2> scratch_;
    std::shared_ptr<Centring> centring_;
    BrokenMolecules broken_;
    std::vector<std::string> notes_;
};

/// An InputError about a frame: `FILE: frame N: TEXT`, where N is the frame's number within its
/// file, from 0. `frame`: index into `origins`. If there are no origins, as for coordinates that
/// were not read from files, `frame FRAME: TEXT`.
InputError error_in_frame(const std::vector<std::string>& files,
                          const std::vector<FrameOrigin>& origins, Index frame,
                          std::string_view text);

/// A file lacks atoms of the topology that are selected.
class MissingAtoms : public InputError {
public:
    using InputError::InputError;
};

/// A whole ensemble in memory.
struct Ensemble {
    std::shared_ptr<const Topology> topology;
    std::shared_ptr<const Topology> all_atoms;  ///< all atoms of the files, selected or not
    Array<float, 3> xyz;                        ///< [frame, axis, atom], angstrom
    std::vector<std::string> files;             ///< the files that were read
    std::vector<FrameOrigin> origins;           ///< [frame]; empty if not read from files
    std::vector<std::string> notes;

    Index frame_count() const { return xyz.extent(0); }
    Index atom_count() const { return xyz.extent(2); }
    /// error_in_frame() for a frame of this ensemble.
    InputError error_in(Index frame, std::string_view text) const {
        return error_in_frame(files, origins, frame, text);
    }
};

/// Reads all frames. Memory beyond the coordinates themselves: 64 MiB.
Ensemble read_ensemble(const std::vector<std::string>& sources, EnsembleOptions options = {});

}  // namespace pleat

#pragma GCC visibility pop
