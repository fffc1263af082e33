// Missing residues: those of a sequence that a structure lacks, built between its domains.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pleat/bio/structure/topology.h"
#include "pleat/core/array.h"
#include "pleat/core/notes.h"
#include "pleat/workflows/refine/chain/geometry.h"
#include "pleat/workflows/refine/chain/peptide_chains.h"
#include "pleat/workflows/refine/chain/side_chains.h"
#include "pleat/workflows/refine/moves/random.h"

namespace pleat::refine {

struct BuiltResidue {
    std::string name;
    Backbone backbone;
    Vector o;
    bool is_cis = false;  ///< its bond to the residue in front
};

/// The residue of the structure next to missing ones.
struct SegmentEnd {
    std::string name;
    Backbone backbone;
    std::optional<Vector> o;
};

/// Consecutive missing residues, built in the frame of the residue before them.
struct BuiltSegment {
    std::vector<BuiltResidue> residues;
    /// Transforms given positions of later residues to that frame.
    Transform behind;
    bool is_cis_after_segment = false;
};

/// Builds residues with these names with ideal bonds and angles, trans peptide bonds (before
/// prolines 5 % cis), and phi and psi drawn from the prior; phi of prolines is -65 degrees. An end
/// is not set at a terminus.
BuiltSegment build_segment(const std::vector<std::string>& names,
                           const std::optional<SegmentEnd>& before,
                           const std::optional<SegmentEnd>& behind, Random& random);

/// A structure without hydrogens and water.
struct HeavyAtoms {
    std::shared_ptr<const Topology> topology;
    Array<float, 2> xyz;  ///< [axis, atom]
};

/// A structure including the residues that were missing.
struct CompletedStructure {
    HeavyAtoms heavy;
    /// The built residues and, after each segment, the residue whose phi is undefined in the
    /// structure.
    std::vector<ResidueRange> linkers;
    /// [atom]: the number of the rigid unit that was moved as a whole; -1 for built atoms.
    std::vector<Index> units;
    std::vector<std::string> built;  ///< "A:285-301"
    Index built_residues = 0;
    Notes notes;
};

/// Builds the residues that the sequences in `file` (FASTA) have and the structure lacks: linkers
/// between domains, and tails. Domains of a chain move to the ends of its linkers. Units that
/// `groups` or a disulfide bond join move together, and chains and ligands without missing residues
/// move with the domain that they touch most. Side chains are those of build_side_chain(). Of 100
/// draws the one with the fewest close CA atoms is taken. Throws InputError as match_sequences()
/// does, for missing letters that are not amino acids, for incomplete backbones next to them, and
/// for segments in closed loops.
CompletedStructure build_missing_residues(const HeavyAtoms& given,
                                          const std::filesystem::path& file,
                                          const std::vector<std::vector<ResidueRange>>& groups,
                                          std::uint64_t seed);

}  // namespace pleat::refine
