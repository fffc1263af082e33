// Chain model: a structure as rigid pieces in a tree, which turn about the bonds of linkers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pleat/bio/structure/topology.h"
#include "pleat/core/notes.h"
#include "pleat/core/view.h"
#include "pleat/workflows/refine/chain/geometry.h"
#include "pleat/workflows/refine/chain/peptide_chains.h"
#include "pleat/workflows/refine/prior/torsion_counts.h"

namespace pleat::refine {

/// The options that divide a structure into rigid domains and linkers.
struct ChainOptions {
    std::vector<ResidueRange> linkers;
    std::vector<std::vector<ResidueRange>> groups = {};  ///< rigid domains that move as one
    /// [atom]: as CompletedStructure has them; empty if no residues were missing.
    std::vector<Index> units = {};
    Index copies = 1;  ///< chains with linkers that have the same angles; see make_symmetric()
};

/// The angle that a hinge changes: phi, the angle N-CA-C, or psi.
enum class HingeKind { phi, bend, psi };

/// The connection of a piece to its parent. The piece and its whole subtree rotate by the hinge's
/// angle relative to the start structure.
struct Hinge {
    HingeKind kind = HingeKind::phi;
    Index parent = 0;     ///< piece
    Vector origin, axis;  ///< in the start structure; a positive angle raises the torsion
};

/// A residue of a linker. Hinges are indices, -1 for none; atoms are indices into the topology.
struct LinkerResidue {
    int linker = 0;  ///< number of its linker
    ResidueClass residue_class = ResidueClass::other;
    Index phi_hinge = -1, bend_hinge = -1, psi_hinge = -1;
    double phi = 0, psi = 0;                ///< of the start, radians; 0 at an end of the chain
    bool has_phi = false, has_psi = false;  ///< whether they exist, also where they cannot turn
    double bend = 0;                        ///< N-CA-C of the start, radians
    Index previous_c = -1, n = -1, ca = -1, c = -1, n_behind = -1;
};

/// A rigid domain: a piece with at least kMinDomain residues.
struct Domain {
    std::string name;  ///< "A:1-288"
    Index piece = 0;
    Vector centre;  ///< of its CA atoms in the start structure
    Index residues = 0;
};
inline constexpr Index kMinDomain = 5;

/// A point that must not overlap others: CA of a residue, P or C1' of a nucleotide.
struct ClashPoint {
    Index atom = 0;
    Index chain = 0;  ///< chains are numbered; neighbours in one may be close
    Index residue = 0;
};

/// A tree of pieces connected by hinges. Subtrees have consecutive numbers: piece p and all
/// following pieces up to subtree_end[p] rotate together. Piece 0, the root, does not move; no
/// subtree has more than half of the atoms.
struct ChainModel {
    std::shared_ptr<const Topology> topology;
    std::vector<Vector> start;       ///< [atom]
    std::vector<Index> piece_of;     ///< [atom]
    std::vector<Hinge> hinges;       ///< [piece - 1]
    std::vector<Index> subtree_end;  ///< [piece]
    std::vector<LinkerResidue> residues;
    Index copies = 1;        ///< chains with linkers that have the same angles
    Index own_residues = 0;  ///< of `residues`, the first: those of the first copy
    /// [hinge]: that of the first copy whose angle it has; empty if there is one copy.
    std::vector<Index> source_hinge;
    std::vector<Domain> domains;
    std::vector<ClashPoint> points;
    std::vector<std::string> linkers;  ///< "A:289-301"
    Notes notes;

    Index piece_count() const { return static_cast<Index>(subtree_end.size()); }
    Index hinge_count() const { return static_cast<Index>(hinges.size()); }
    Index atom_count() const { return static_cast<Index>(start.size()); }
    /// Angles that change independently.
    Index angle_count() const { return hinge_count() / copies; }
    /// Whether a hinge has the angle of that of the first copy.
    bool is_repeated(Index hinge) const { return copies > 1 && source_hinge[hinge] != hinge; }
};

/// `xyz` [axis, atom], angstrom. Throws InputError as mark_linkers() and make_pieces() do.
ChainModel make_chain_model(std::shared_ptr<const Topology> topology, View<const float, 2> xyz,
                            const ChainOptions& options);

/// The positions of all pieces for given hinge angles.
class Conformation {
public:
    explicit Conformation(const ChainModel& model);

    /// The start structure turned by `angles` [hinge], radians, of which those of the first copy
    /// count. Everything is computed from the angles, so errors do not add up over moves.
    void set_angles(const std::vector<double>& angles);
    const std::vector<double>& angles() const { return angles_; }
    const Transform& piece(Index number) const { return pieces_[number]; }
    Vector atom(Index index) const;
    /// Writes all atoms, [axis, atom], moved so that `resting_piece` is as in the start structure.
    void write(View<float, 2> xyz, Index resting_piece) const;
    /// Current phi, psi and N-CA-C of a linker's residue, in radians; phi and psi in [-pi, pi).
    double phi(const LinkerResidue& residue) const;
    double psi(const LinkerResidue& residue) const;
    double bend(const LinkerResidue& residue) const;

    const ChainModel& model() const { return *model_; }

private:
    double angle(Index hinge) const { return hinge < 0 ? 0.0 : angles_[hinge]; }

    const ChainModel* model_;
    std::vector<double> angles_;
    std::vector<Transform> hinge_rotations_;  ///< [hinge]: about its axis in the start structure
    std::vector<Transform> pieces_;           ///< [piece]
    std::vector<std::uint8_t> moved_;         ///< [piece]: by the last call of set_angles()
};

}  // namespace pleat::refine
