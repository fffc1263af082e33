// Sets of pleat rmsd: the atoms that are fitted and measured, and what frames are compared with.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/ensemble_options.h"
#include "options/symmetry_options.h"
#include "pleat/rmsd/rmsd.h"
#include "process/ranks.h"

namespace pleat::program {

/// The format of superposed frames.
enum class FrameFormat { none, pdb, cif, dcd, npy };
std::span<const std::string_view> names_of(FrameFormat);

/// What pleat rmsd compares besides all pairs of frames of all selected atoms.
struct SetOptions {
    std::string measure;  ///< atoms; empty: those that are selected
    std::string against, against_frames = "::";
    std::string reference;  ///< a file, a frame's number from 0, or "mean"
    bool any_residues = false;
    bool rmsf = false;
    FrameFormat superposed = FrameFormat::none;
    SymmetryOptions symmetry;

    /// Which atoms are superposed and measured.
    ComparedAtoms atoms(const std::string& select) const {
        return compared_atoms(symmetry, select, measure);
    }
    bool has_against() const { return !against.empty(); }
    /// Whether frames are compared with one structure instead of each other.
    bool has_reference() const {
        return !reference.empty() || rmsf || superposed != FrameFormat::none;
    }
};
std::vector<Field> fields(SetOptions& options);

/// What --reference names.
struct ReferenceChoice {
    enum class Kind { mean, frame, file };
    Kind kind = Kind::mean;
    std::string text;  ///< as the user wrote it: a file's path, or a frame's number
};
/// Returns the mean structure if `text` is empty, which it is with --rmsf or --superposed alone.
ReferenceChoice parse_reference(const std::string& text);

/// Throws UsageError for options that exclude each other, or that the metric does not have.
void check_options(const SetOptions& options, const std::string& select, rmsd::Metric metric);

/// The files of --against or --reference; none if there are no such files.
std::vector<std::string> other_files(const SetOptions& options);
/// Throws InputError if a file of --against or --reference does not exist or may not be read.
void check_other_files(const SetOptions& options);

/// The frames with the fitted and the measured atoms, and which atoms are which.
struct ComparedFrames {
    Coordinates frames;
    rmsd::AtomSets sets;
    AtomGroups chains;      ///< with symmetry; in `sets` too if they are tried for each pair
    EnsembleSource source;  ///< what was read: both selections
    Index unproven = 0;     ///< values that are not proven to be the least over all permutations

    /// `sets` with the equal chains.
    rmsd::AtomSets with_chains() const {
        rmsd::AtomSets all = sets;
        all.equal_chains = chains;
        return all;
    }
};
/// `source` with the atoms of both selections.
EnsembleSource compared_source(const EnsembleSource& source, const SetOptions& options);
/// Of all pairs by `parameters` they may be left on disk: see read_coordinates().
ComparedFrames read_compared(const EnsembleSource& source, const SetOptions& options,
                             const rmsd::Parameters& parameters, RunDirectory& run,
                             const Context& context);

/// Which atoms are which, and what may change places, of frames with the atoms that
/// compared_source() selects from `all`.
rmsd::AtomSets sets_of(const Topology& all, const EnsembleSource& source, const SetOptions& options,
                       const Context& context);

/// Facts of the manifest: permutations, automorphisms, values that are not proven.
void record_symmetry(const ComparedFrames& compared, const SetOptions& options, RunDirectory& run);

/// Copies coordinates, weights and atom sets from the leading rank to the others.
void share(ComparedFrames& compared, Ranks& ranks);

/// Reads the same atoms from the frames of another file or set of files. Throws InputError if they
/// differ, or if most residues have other names and not `any_residues`.
Coordinates read_others(const ComparedFrames& compared, const std::string& file,
                        const std::string& frames, Pbc pbc, bool any_residues, RunDirectory& run,
                        const Context& context);

}  // namespace pleat::program
