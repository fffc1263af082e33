// Ensemble options: the options of commands that read an ensemble, and reading it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/ensemble/ensemble_reader.h"
#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/core/jobs/shared_inputs.h"
#include "pleat/core/run/run_directory.h"
#include "process/ranks.h"

namespace pleat::program {

/// The files of an ensemble, and which of their frames and atoms are read.
struct EnsembleSource {
    std::vector<std::string> sources;
    std::string topology, assembly, select = "all", frames = "::", weights;
    bool same_residues = false;  ///< see EnsembleOptions
    bool truncated = false;
    Pbc pbc = Pbc::automatic;
    SharedInputs* inputs = nullptr;  ///< what other jobs have read; or null
};
/// Topology, assembly, selection and frames.
std::vector<Field> frame_fields(EnsembleSource& options);
/// The fields of frame_fields() and the weights of atoms.
std::vector<Field> fields(EnsembleSource& options);

/// What the sources may be, for the help of the argument.
inline constexpr const char* kEnsembleFiles =
    "PDB or mmCIF of one or many models, DCD, XTC, TRR, AMBER NetCDF, NumPy arrays "
    "[frame, atom, 3] in angstrom; folders; @LIST";

/// A file that is removed at the end.
struct TemporaryFile {
    explicit TemporaryFile(std::filesystem::path file) : path(std::move(file)) {}
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    std::filesystem::path path;
};

/// The frames of all sources, in the order of atoms that superposition uses.
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
    bool is_trajectory = false;                 ///< see EnsembleReader::is_trajectory()
    FrameStore store() const { return on_disk.is_on_disk() ? on_disk : FrameStore(xyz); }
    Index frames() const { return store().frame_count(); }
    Index atoms() const { return store().atom_count(); }
    /// [atom, axis]
    Array<float, 2> frame(Index frame) const { return store().frame(frame); }
};

/// Copies the coordinates and weights from the leading rank to the others.
void share(Coordinates& coordinates, Ranks& ranks);

/// The size of an ensemble.
struct EnsembleSize {
    Index frames = 0, atoms = 0;
    std::shared_ptr<const Topology> all_atoms = nullptr;  ///< of the files, selected or not
    std::vector<std::string> files = {}, notes = {};      ///< as of EnsembleReader
    bool is_trajectory = false;
};
/// Goes through the frames of the sources without keeping them, and calls `visit` with each, [axis,
/// atom]; it may be empty. `atoms`: as for read_coordinates(). Throws as read_coordinates().
EnsembleSize measure_ensemble(
    const EnsembleSource& options,
    const std::function<void(const EnsembleReader&, View<const float, 2>)>& visit = {},
    const std::shared_ptr<const Topology>& atoms = nullptr);

/// Lists the files of an ensemble among the run's inputs.
void record_ensemble(const EnsembleSource& options, const std::vector<std::string>& files,
                     RunDirectory& run, bool with_topology);

/// What is read of the sources, as one text: jobs with the same text share it.
std::string input_key(const EnsembleSource& options);

/// Reads the sources and lists them among the run's inputs; notes go to the context's messages.
/// `atoms`: the atoms of the files if they are known already, instead of options.topology.
/// `work_bytes`: what the command needs to keep so many frames in memory, besides the coordinates;
/// if that is more than half of what is available, frames go to a file of the run. Not set: they
/// are kept in memory, as those that jobs share.
Coordinates read_coordinates(
    const EnsembleSource& options, RunDirectory& run, const Context& context,
    std::shared_ptr<const Topology> atoms = nullptr,
    const std::function<std::int64_t(Index frames, Index atoms)>& work_bytes = {});

}  // namespace pleat::program
