// Ensemble options: the options of commands that read an ensemble, and reading it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/ensemble/ensemble_reader.h"
#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/core/jobs/shared_inputs.h"
#include "pleat/core/run/run_directory.h"

namespace pleat::program {

/// The files of an ensemble, and which of their frames and atoms are read.
struct EnsembleSource {
    std::vector<std::string> sources;
    std::string topology, assembly, select = "all", frames = "::", weights;
    bool same_residues = false;  ///< see EnsembleOptions
    bool truncated = false;
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

/// The frames of all sources, in the order of atoms that superposition uses.
struct Coordinates {
    Array<float, 3> xyz;                        ///< [frame, atom, axis], angstrom
    std::vector<double> weights;                ///< [atom]; empty: all 1
    std::string name;                           ///< the first source, for messages
    std::shared_ptr<const Topology> topology;   ///< of the selected atoms
    std::shared_ptr<const Topology> all_atoms;  ///< of the files, selected or not
    std::vector<FrameOrigin> origins;           ///< [frame]
    std::vector<std::string> files;             ///< that the origins refer to
    Index frames() const { return xyz.extent(0); }
    Index atoms() const { return xyz.extent(1); }
};

/// The size of an ensemble.
struct EnsembleSize {
    Index frames = 0, atoms = 0;
    std::shared_ptr<const Topology> all_atoms = nullptr;  ///< of the files, selected or not
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
Coordinates read_coordinates(const EnsembleSource& options, RunDirectory& run,
                             const Context& context,
                             std::shared_ptr<const Topology> atoms = nullptr);

}  // namespace pleat::program
