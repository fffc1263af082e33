// Sets of pleat rmsd: the atoms that are fitted and measured, and what frames are compared with.
#pragma once

#include <string>
#include <vector>

#include "ensemble_options.h"
#include "pleat/rmsd/atom_sets.h"
#include "ranks.h"

namespace pleat::program {

/// What pleat rmsd compares besides all pairs of frames of all selected atoms.
struct SetOptions {
    std::string measure;  ///< atoms; empty: those that are selected
    std::string against, against_frames = "::";
    std::string reference;  ///< a file, a frame's number from 1, or "mean"
    bool rmsf = false;
    std::string superposed = "none";

    bool has_against() const { return !against.empty(); }
    /// Whether frames are compared with one structure instead of each other.
    bool has_reference() const { return !reference.empty() || rmsf || superposed != "none"; }
};
std::vector<Field> fields(SetOptions& options);

/// The frames of fitted and measured atoms, and which is which.
struct ComparedFrames {
    Coordinates frames;
    rmsd::AtomSets sets;
    EnsembleSource source;  ///< what was read: both selections
};
ComparedFrames read_compared(const EnsembleSource& source, const SetOptions& options,
                             RunDirectory& run, const Context& context);

/// Makes coordinates, weights and atom sets those of the leading rank; the rest stays there.
void share(ComparedFrames& compared, Ranks& ranks);

/// The same atoms of the frames of another file or set of files. InputError where they differ.
Coordinates read_others(const ComparedFrames& compared, const std::string& file,
                        const std::string& frames, RunDirectory& run, const Context& context);

}  // namespace pleat::program
