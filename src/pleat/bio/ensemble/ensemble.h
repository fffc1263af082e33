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

/// Frames as a Python slice counts them: from 0, without `last`; negative numbers count from the
/// end (docs/decisions/0024).
struct FrameRange {
    static constexpr Index kEnd = std::numeric_limits<Index>::max();

    Index first = 0;
    Index last = kEnd;  ///< the first frame after the range
    Index step = 1;

    /// Whether the range depends on the number of frames.
    bool counts_from_end() const { return first < 0 || last < 0; }
    /// The same range of `count` frames, without negative numbers.
    FrameRange resolved(Index count) const;
    /// Whether the range has this frame (from 0). For ranges without negative numbers.
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

/// Whether molecules that lie on both sides of their periodic cell are made whole.
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
/// Looks at the first model of each file of the sources, which are as those of an EnsembleReader,
/// and matches it to `topology`, or to the first file if that is empty. Throws InputError if files
/// have no sequence or no atom in common.
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
    /// Whether a file is refused if fewer than half of its matched residues have the names of the
    /// topology; otherwise a note says so.
    bool same_residues = false;
    /// Whether the whole frames of a file that is cut short are read, with a warning, as of a file
    /// that a simulation is still writing; otherwise such a file is refused.
    bool truncated = false;
    /// Frames of float64 far from the origin are moved towards it: each by its own centre, or all
    /// by that of the first one.
    bool centre_each_frame = false;
    /// Frames are compared where they are: none is moved towards the origin.
    bool in_place = false;
    /// Cells of structures of one model, of space groups other than P 1 and of assemblies are those
    /// of crystals and not used.
    Pbc pbc = Pbc::automatic;
    /// Atoms that decide in which images of the periodic cell molecules lie; empty: those of
    /// `select`. Two readings with the same atoms here put each molecule at the same place.
    std::string placed_by = {};
    /// Scores of frames, and the choice of frames by them.
    ScoreOptions scores = {};
    /// Whether relaxed copies of predicted models are read if relaxed and unrelaxed ones exist.
    bool relaxed = false;
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
    /// An error about a frame: `FILE: frame N: TEXT`, where N is the frame's number within its
    /// file, from 0; without origins `frame FRAME: TEXT`.
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

/// Coordinates [frame, atom, axis] of these atoms of an ensemble, as superposition uses them; of
/// all atoms if `atoms` is empty.
Array<float, 3> atom_by_atom(const Ensemble& ensemble, std::span<const Index> atoms, int threads);

}  // namespace pleat

#pragma GCC visibility pop
