// Piece graph: the rigid pieces of a structure, and the bonds about which they turn.
#pragma once

#include <string>
#include <vector>

#include "pleat/bio/structure/topology.h"
#include "pleat/core/notes.h"
#include "pleat/workflows/refine/chain/geometry.h"
#include "pleat/workflows/refine/chain/peptide_chains.h"

namespace pleat::refine {

/// What divides a structure into rigid domains and linkers.
struct ChainOptions {
    std::vector<ResidueRange> linkers;
    std::vector<std::vector<ResidueRange>> groups = {};  ///< rigid domains that move as one
    /// [atom]: as CompletedStructure has them; empty if no residues were missing.
    std::vector<Index> units = {};
};

/// What a hinge changes: phi, the angle N-CA-C, or psi.
enum class HingeKind { phi, bend, psi };

/// A hinge between two pieces, before the tree has a root. The piece `after` turns by a positive
/// angle about `axis` when the angle rises and `before` rests.
struct HingeEdge {
    HingeKind kind = HingeKind::phi;
    Index before = 0, after = 0;         ///< pieces, towards the N and the C terminus
    std::size_t chain = 0, residue = 0;  ///< of Molecules
    Vector origin, axis;                 ///< in the start structure
};

struct PieceGraph {
    std::vector<Index> piece_of;  ///< [atom]
    std::vector<HingeEdge> edges;
    Index pieces = 0;
    Notes notes;
};

/// Divides a structure into pieces: a rigid domain, or the atoms between two rotatable bonds of a
/// linker. Groups, disulfide bonds within a unit, and contacts of chains and ligands without
/// linkers, each to a domain of its unit, join pieces. Throws InputError for a closed loop (named),
/// for a group whose residues are of one piece without it, for pieces that nothing connects, and if
/// no bond is rotatable.
PieceGraph make_pieces(const Molecules& molecules, const Topology& topology,
                       const std::vector<Vector>& positions, const ChainOptions& options);

}  // namespace pleat::refine
