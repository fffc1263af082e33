// Ensemble options: how commands on ensembles take their coordinates, and what they read.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/core/run/run_directory.h"

namespace pleat::program {

/// Which frames and atoms of which files.
struct EnsembleSource {
    std::vector<std::string> sources;
    std::string topology, assembly, select = "all", frames = "::", weights;
    bool same_residues = false;  ///< see EnsembleOptions
    bool truncated = false;
};
/// Topology, assembly, selection and frames.
std::vector<Field> frame_fields(EnsembleSource& options);
/// All but the sources.
std::vector<Field> fields(EnsembleSource& options);

/// What the sources may be, for the help of the argument.
inline constexpr const char* kEnsembleFiles =
    "PDB or mmCIF of one or many models, DCD, XTC, TRR, AMBER NetCDF, NumPy arrays "
    "[frame, atom, 3] in angstrom; folders; @LIST";

/// The frames of all sources, atom by atom as engines take them.
struct Coordinates {
    Array<float, 3> xyz;                        ///< [frame, atom, axis], angstrom
    std::vector<double> weights;                ///< of atoms; empty: all 1
    std::string name;                           ///< for messages
    std::shared_ptr<const Topology> topology;   ///< of the selected atoms
    std::shared_ptr<const Topology> all_atoms;  ///< of the files, selected or not
    std::vector<FrameOrigin> origins;           ///< one a frame
    std::vector<std::string> files;             ///< that the origins count
    Index frames() const { return xyz.extent(0); }
    Index atoms() const { return xyz.extent(1); }
};

/// Reads the sources and lists them among the run's inputs; notes go to the context's messages.
/// `atoms`: those of the files where they are known already, instead of options.topology.
Coordinates read_coordinates(const EnsembleSource& options, RunDirectory& run,
                             const Context& context,
                             std::shared_ptr<const Topology> atoms = nullptr);

}  // namespace pleat::program
