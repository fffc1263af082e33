// Burial: how deep the target's residues lie in a structure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/structure/structure.h"
#include "pleat/bio/structure/topology.h"
#include "pleat/core/context.h"
#include "pleat/core/notes.h"
#include "pleat/workflows/mutants/target.h"

#pragma GCC visibility push(default)

namespace pleat::mutants {

/// Which atoms cover a residue: those of the chains that are named, or all of the file but water
/// and hydrogens.
enum class Surroundings { chain, all };
std::span<const std::string_view> names_of(Surroundings);

/// A structure of the target.
struct TargetStructure {
    Structure structure;
    Topology topology;                ///< of the same file
    std::vector<std::string> chains;  ///< one per part of the target; an empty name: any
    Notes notes = {};                 ///< of its reader
};

/// Reads FILE, FILE:CHAIN or FILE:CHAIN,CHAIN (PDB or mmCIF). Throws UsageError for standard input
/// and empty names, InputError as read_structure().
TargetStructure read_target_structure(std::string_view choice);

/// The target's residues in a structure.
struct Burial {
    /// [residue of the target]: relative accessibility (bio/structure/accessibility.h); NaN if the
    /// structure has no residue there or lacks heavy atoms of it.
    std::vector<double> accessibility;
    std::string chain;    ///< name of the chain, or of each part's chain with commas
    double identity = 0;  ///< identical letters over mapped residues
    Index mapped = 0;     ///< residues that the structure has
};

/// Aligns the target to its chains by sequence and measures the surfaces of their residues.
/// `starts`: the first residue of each part, ascending, beginning with 0. Throws UsageError for
/// nucleic acids and unless there is one chain per part; InputError for another protein (as
/// map_residues()) and for structures in which most residues lack heavy atoms.
Burial measure_burial(const Target& target, const std::vector<Index>& starts,
                      const TargetStructure& known, Surroundings surroundings,
                      const Context& context, Notes& notes);

}  // namespace pleat::mutants

#pragma GCC visibility pop
