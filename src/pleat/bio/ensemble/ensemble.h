// Ensembles: the frames of many coordinate files as one, with one selection of their atoms.
#pragma once

#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/ensemble/frame_scores.h"
#include "pleat/bio/ensemble/frame_store.h"
#include "pleat/bio/structure/topology.h"
#include "pleat/core/array.h"
#include "pleat/core/error.h"
#include "pleat/core/notes.h"

#pragma GCC visibility push(default)

namespace pleat {

/// A range of frames as a Python slice: from 0, `last` excluded; negative numbers count from the
/// end (docs/decisions/0024).
struct FrameRange {
    static constexpr Index kEnd = std::numeric_limits<Index>::max();

    Index first = 0;
    Index last = kEnd;  ///< the first frame after the range
    Index step = 1;

    /// Whether the range depends on the number of frames.
    bool counts_from_end() const { return first < 0 || last < 0; }
    /// The range for `count` frames, with negative numbers resolved.
    FrameRange resolved(Index count) const;
    /// Whether the range includes this frame (from 0). The range must have no negative numbers.
    bool has(Index frame) const {
        return frame >= first && frame < last && (frame - first) % step == 0;
    }
};

/// Reads `first:last:step`, each part optional: `100:` leaves out the first hundred frames, `:100`
/// keeps them, `-10:` keeps the last ten, `::10` keeps every tenth, and `7` is frame 7 alone.
/// Throws UsageError for any other text, and for a range that can have no frame (`5:5`).
FrameRange parse_frame_range(std::string_view text);

/// Where a frame came from.
struct FrameOrigin {
    Index file = 0;                   ///< index into the files of the ensemble
    Index frame = 0;                  ///< frame (or model) of that file, from 0
    std::optional<double> time = {};  ///< picoseconds, if the file has it
};

/// Whether molecules that are split by the periodic cell are made whole.
enum class Pbc {
    automatic,  ///< where a frame has a cell
    whole,      ///< a frame in which they cannot be is refused
    none        ///< never: coordinates are those of the file
};
/// The names of Pbc in options: "auto", "whole", "none".
std::span<const std::string_view> names_of(Pbc);

/// How atoms of several files are matched.
enum class Matching {
    names,    ///< by chain, residue number and name
    sequence  ///< by atom_match.h
};
/// The names of Matching in options: "names", "sequence".
std::span<const std::string_view> names_of(Matching);

/// The atoms that several files have in common by their sequences.
struct CommonAtoms {
    std::shared_ptr<const Topology> all;  ///< of the file that names the atoms
    std::vector<Index> atoms;             ///< those of `all` that all files have, ascending
    Notes notes;
};
/// Matches the first model of each file of the sources (as in EnsembleReader) to `topology` or, if
/// that is empty, to the first file. Throws InputError if a file has no sequence or no atom in
/// common.
std::shared_ptr<const CommonAtoms> find_common_atoms(const std::vector<std::string>& sources,
                                                     const std::string& topology = {},
                                                     const std::string& assembly = {});

/// What to read of the files.
struct EnsembleOptions {
    /// A PDB, mmCIF, GRO, PSF or PRMTOP file that names the atoms; empty: the first file names
    /// them. Its coordinates are not a frame of the ensemble.
    std::filesystem::path topology;
    std::string assembly = {};  ///< name of the biological assembly to build; empty: as listed
    /// The atoms of all files if they are known already, instead of `topology`; may be null.
    std::shared_ptr<const Topology> atoms = nullptr;
    /// The common atoms of the files given to find_common_atoms(); null: atoms are matched by
    /// chain, residue number and name. Then `topology` and `atoms` are not used.
    std::shared_ptr<const CommonAtoms> common = nullptr;
    std::string select = "all";  ///< as in selection.h
    FrameRange range;            ///< of the frames of all files together
    /// If fewer than half of a file's matched residues have the names of the topology: true refuses
    /// the file, false adds a note.
    bool same_residues = false;
    /// Whether to read the complete frames of a truncated file, such as one that a simulation is
    /// still writing, with a warning; false refuses such a file.
    bool truncated = false;
    /// How float64 frames far from the origin are moved towards it: true: each by its own centre;
    /// false: all by the centre of the first frame.
    bool centre_each_frame = false;
    /// Whether frames are compared without superposition; then none is moved towards the origin.
    bool in_place = false;
    /// Cells count as crystal cells and are not used if the file has one model, a space group other
    /// than P 1, or an assembly.
    Pbc pbc = Pbc::automatic;
    /// Selects the atoms that decide in which periodic image each molecule is placed; empty: those
    /// of `select`. Two calls with the same atoms here place molecules identically.
    std::string placed_by = {};
    /// Scores of frames, and the choice of frames by them.
    ScoreOptions scores = {};
    /// Whether relaxed copies of predicted models are read if relaxed and unrelaxed ones exist.
    bool relaxed = false;
    /// Threads of read_ensemble(). The frames and the errors do not depend on them.
    int threads = 1;
};

/// A file lacks atoms of the topology that are selected.
class MissingAtoms : public InputError {
public:
    using InputError::InputError;
};

/// The atoms of a file have other names, numbers or chains, so that Matching::sequence may find
/// them.
class UnmatchedAtoms : public MissingAtoms {
public:
    using MissingAtoms::MissingAtoms;
};

/// A whole ensemble.
struct Ensemble {
    std::shared_ptr<const Topology> topology;
    std::shared_ptr<const Topology> all_atoms;  ///< all atoms of the files, selected or not
    Array<float, 3> xyz;                        ///< [frame, axis, atom], angstrom
    FrameStore on_disk;                         ///< the frames if they are not in `xyz`
    std::vector<std::string> files;             ///< the files that were read
    std::vector<FrameOrigin> origins;           ///< [frame]; empty if not read from files
    std::vector<std::string> names;             ///< [file]: of the model, or of the file
    std::vector<Index> numbers;                 ///< [frame]: among all frames of all files, from 0
    FrameScores scores;                         ///< of these frames
    bool are_models = false;                    ///< all files are models of folders
    bool is_trajectory = false;                 ///< see EnsembleReader::is_trajectory()
    Notes notes;

    Index frame_count() const {
        return on_disk.is_on_disk() ? on_disk.frame_count() : xyz.extent(0);
    }
    Index atom_count() const { return xyz.extent(2); }
    /// Returns an error about a frame: `FILE: frame N: TEXT`, with N from 0 within the file;
    /// without origins `frame FRAME: TEXT`.
    InputError error_in(Index frame, std::string_view text) const;
};

/// Reads all frames into memory, or, once they do not fit there, into the file of `overflow` (if it
/// is not null), which stays. Each source is a file, a folder or @LIST, as in ensemble_files.h. The
/// atoms are those that `select` selects from the topology. Files that name their atoms (PDB,
/// mmCIF, GRO) are matched to it by identity; other files must have as many atoms as the topology,
/// in its order. Memory beyond the coordinates themselves: 64 MiB. A range that counts from the end
/// reads all files twice, which must be regular files then.
///
/// Throws InputError, naming file and frame, if selected atoms are missing (MissingAtoms), if
/// numbers of atoms differ, if coordinates are not finite or beyond 1e15 angstrom, and for a range
/// without frames; also if models of one folder have different sequences, and if scores are missing
/// or given twice. `plddt` in `select` is the mean over the models that are kept, which are read
/// twice for it. Throws OutputError if the disk of `overflow` would be left with less free space
/// than a tenth of the frames.
Ensemble read_ensemble(const std::vector<std::string>& sources, EnsembleOptions options = {},
                       const FrameOverflow* overflow = nullptr);

/// Returns the coordinates [frame, atom, axis] of these atoms in the layout for superposition; all
/// atoms if `atoms` is empty.
Array<float, 3> atom_by_atom(const Ensemble& ensemble, std::span<const Index> atoms, int threads);

}  // namespace pleat

#pragma GCC visibility pop
