// Ensemble options: the options of commands that read an ensemble and compare its frames, and
// reading it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "options/common_options.h"
#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/bio/ensemble/ensemble_reader.h"
#include "pleat/bio/ensemble/frame_table.h"
#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/core/jobs/job_command.h"
#include "pleat/core/run/manifest.h"
#include "pleat/core/run/run_directory.h"
#include "pleat/rmsd/rmsd.h"
#include "pleat/rmsd/symmetry/symmetry.h"
#include "process/process.h"

namespace pleat::program {

/// The files of an ensemble, and the selection of their frames and atoms.
struct EnsembleSource {
    std::vector<std::string> sources;
    std::string topology, assembly, select = "all", frames = "::", weights;
    bool same_residues = false;  ///< see EnsembleOptions
    bool truncated = false;
    Pbc pbc = Pbc::automatic;
    bool in_place = false;                  ///< frames are not moved: see EnsembleOptions
    bool each_chain = false;                ///< the equal chains of frames are the items
    std::string scores = {}, score = {};    ///< files of scores, and the column by which to rank
    std::optional<std::int64_t> best = {};  ///< frames to keep
    bool lowest_is_best = false;
    std::string worst_left_out = {};  ///< a percentage
    bool relaxed = false;
    Matching match = Matching::names;                     ///< of atoms of several files
    std::vector<std::string> files_to_match = {};         ///< see match_sources()
    std::shared_ptr<const CommonAtoms> common = nullptr;  ///< as match_sources() found them
    SharedInputs* inputs = nullptr;                       ///< what other jobs have read; or null
};
/// Topology, assembly, selection, range of frames, and choice of frames by scores.
std::vector<Field> frame_fields(EnsembleSource& options);
/// The fields of scores, of the choice of frames by scores, and of relaxed copies of models.
std::vector<Field> score_fields(EnsembleSource& options);
/// Converts the options for read_ensemble(); each frame is centred separately. Throws UsageError.
EnsembleOptions reading_options(const EnsembleSource& options);
std::vector<std::string> files_of(const EnsembleSource& options);
/// The tables of scores, and the score files of the programs that predicted the models.
std::vector<std::string> score_files(const EnsembleSource& options);
/// How atoms of several files are matched.
Field match_field(EnsembleSource& options);
/// With Matching::sequence sets `common` to the atoms that the sources and `others` (files to
/// compare with) have in common, and adds a note. Later readings use only these atoms.
void match_sources(EnsembleSource& options, const std::vector<std::string>& others,
                   const Context& context);
/// Returns the format, NPY or XYZ, if the atoms of these files have no names without a topology;
/// else an empty text. Pipes are not inspected.
std::string format_without_names(const EnsembleSource& options);
/// The value of --atom-weights for equal weights.
inline constexpr std::string_view kEqualWeights = "none";
/// What it says for gmx_masses().
inline constexpr std::string_view kGmxWeights = "gmx";
/// [atom]: masses as --atom-weights mass or gmx says. Throws InputError that names atoms of unknown
/// element.
std::vector<double> masses_of(const Topology& topology, const std::string& weights);

/// All fields of frame_fields() and match_field(), and the field of atom weights.
std::vector<Field> fields(EnsembleSource& options);

/// Describes the accepted files in the help of the argument.
inline constexpr const char* kEnsembleFiles =
    "PDB, mmCIF, GRO, SDF, MOL2 or XYZ of one or many models, DCD, XTC, TRR, AMBER NetCDF, NumPy "
    "arrays "
    "[frame, atom, 3] in angstrom; folders, also of models by AlphaFold, ColabFold, Boltz and "
    "Chai-1; @LIST";

/// A file that is removed at the end.
struct TemporaryFile {
    explicit TemporaryFile(std::filesystem::path file) : path(std::move(file)) {}
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    std::filesystem::path path;
};

/// The frames of all sources, or their equal chains as separate frames, in the atom order that
/// superposition uses.
struct Coordinates {
    Array<float, 3> xyz;                        ///< [frame, atom, axis], angstrom; or empty, and
    FrameStore on_disk;                         ///< the frames that do not fit in memory
    std::shared_ptr<const TemporaryFile> file;  ///< which are in this file
    std::vector<double> weights;                ///< [atom]; empty: all 1
    std::string name;                           ///< the first source, for messages
    std::shared_ptr<const Topology> topology;   ///< of the selected atoms
    std::shared_ptr<const Topology> all_atoms;  ///< of the files, selected or not
    std::vector<FrameOrigin> origins;           ///< [frame]
    std::vector<std::string> files;             ///< that the origins refer to
    FrameLabels labels;                         ///< of the frames that were read
    ChainItems chains;                          ///< with EnsembleSource::each_chain
    bool is_trajectory = false;                 ///< see EnsembleReader::is_trajectory()
    FrameStore store() const { return on_disk.is_on_disk() ? on_disk : FrameStore(xyz); }
    Index frames() const { return store().frame_count(); }
    Index atoms() const { return store().atom_count(); }
    /// [atom, axis]
    Array<float, 2> frame(Index frame) const { return store().frame(frame); }
};

/// Writes frames.tsv if frames have names or scores. `clusters`: the cluster of each frame; empty:
/// none. If items are chains, their clusters are left out.
void write_frames(RunDirectory& run, const Coordinates& coordinates,
                  std::span<const std::int32_t> clusters = {});

/// Packs name, coordinates and weights.
void members(Packer& pack, Coordinates& coordinates);

struct EnsembleSize {
    Index frames = 0, atoms = 0;
    std::shared_ptr<const Topology> all_atoms = nullptr;  ///< of the files, selected or not
    std::vector<std::string> files = {};                  ///< as of EnsembleReader
    Notes notes = {};
    bool is_trajectory = false;
};
/// Reads the frames of the sources one by one and calls `visit`, which may be empty, with each
/// [axis, atom]. `atoms`: as for read_coordinates(). Throws as read_coordinates().
EnsembleSize measure_ensemble(
    const EnsembleSource& options,
    const std::function<void(const EnsembleReader&, View<const float, 2>)>& visit = {},
    const std::shared_ptr<const Topology>& atoms = nullptr);

/// Lists the files of an ensemble among the run's inputs.
void record_ensemble(const EnsembleSource& options, const std::vector<std::string>& files,
                     RunDirectory& run, bool with_topology);

/// Clears the options of scores, to read other frames of the same atoms.
void clear_score_options(EnsembleSource& options);
/// Whether an option of scores or of copies of models is given.
bool has_scores(const EnsembleSource& options);
/// Sets the score options to their values in an earlier run.
void restore_score_options(const EarlierRun& earlier, EnsembleSource& options);

/// A key that identifies what is read from the sources; jobs with the same key share the data.
std::string input_key(const EnsembleSource& options);

/// Reads the sources and lists them among the run's inputs; notes go to the context's messages.
/// `atoms`: the atoms of the files, if known, instead of options.topology. `work_bytes`: memory
/// that the command needs for so many frames and atoms besides the coordinates; if the total
/// exceeds half of the available memory, frames are stored in a file of the run. Not set: frames
/// stay in memory, as do frames that jobs share.
Coordinates read_coordinates(
    const EnsembleSource& options, RunDirectory& run, const Context& context,
    std::shared_ptr<const Topology> atoms = nullptr,
    const std::function<std::int64_t(Index frames, Index atoms)>& work_bytes = {});

using rmsd::Symmetry;

/// The value of --fit that compares frames without superposing them.
inline constexpr std::string_view kNoFit = "none";

struct SymmetryOptions {
    Symmetry symmetry = Symmetry::none;
    bool relabel = false;
    std::string fit;  ///< atoms to superpose, kNoFit, or empty

    bool has_chains() const { return symmetry == Symmetry::chains; }
    /// Whether permutations are tried for each pair of frames.
    bool permutes_each_pair() const { return symmetry != Symmetry::none && !relabel; }
};
std::vector<Field> fields(SymmetryOptions& options);

/// The selections of atoms to superpose and of atoms to measure.
struct ComparedAtoms {
    std::string superposed, measured;
    bool in_place = false;  ///< frames are not superposed

    /// Whether the measured atoms differ from the superposed atoms.
    bool differ() const { return in_place || superposed != measured; }
};
/// Interprets --select, --measure (may be empty) and --fit. Without --fit, ligands are measured
/// without superposition unless --measure names other atoms. Throws UsageError if --fit and
/// --measure name atoms and --select names others.
ComparedAtoms compared_atoms(const SymmetryOptions& options, const std::string& select,
                             const std::string& measure);

/// Throws UsageError for --relabel without symmetry.
void check_options(const SymmetryOptions& options);

using AtomGroups = std::vector<std::vector<std::vector<Index>>>;  ///< as in rmsd::AtomSets

/// Calls rmsd::find_symmetry() and reports the permutations that it found.
rmsd::FoundSymmetry find_symmetry(const SymmetryOptions& options, const Topology& all,
                                  const std::vector<Index>& read, const rmsd::AtomSets& sets,
                                  const Context& context);

/// With --relabel: reorders the equal chains of each frame so that it comes closest to `reference`
/// [atom, axis], which messages call `name`.
void relabel(const SymmetryOptions& options, View<float, 3> xyz, View<const float, 2> reference,
             const std::string& name, const rmsd::AtomSets& sets, const Context& context);

/// Lines for the summary: `symmetry: exact, 24 permutations`, and whether frames were not
/// superposed; empty without symmetry. `sets` includes equal chains and atom orders; `unproven` of
/// `count` values may not be the minimum over all permutations.
std::string symmetry_lines(const SymmetryOptions& options, const rmsd::AtomSets& sets,
                           Index unproven = 0, Index count = 0);

}  // namespace pleat::program
