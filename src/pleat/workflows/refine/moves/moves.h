// Moves: proposals of a Monte Carlo chain, with the ratio by which the prior counts for each.
#pragma once

#include <vector>

#include "pleat/workflows/refine/chain/chain_model.h"
#include "pleat/workflows/refine/moves/random.h"
#include "pleat/workflows/refine/prior/prior.h"

namespace pleat::refine {

enum class MoveKind { pivot, redraw, crankshaft, distance };
inline constexpr int kMoveKinds = 4;

/// The spring of the angle N-CA-C, which crankshafts change: a standard deviation of 2.5 degrees
/// about the start's angle.
struct BendSpring {
    double deviation = 0.0436;  ///< radians
    double energy(double bend, double start) const {
        const double away = (bend - start) / deviation;
        return away * away / 2;
    }
};

/// New angles of some hinges. `log_ratio` is the logarithm of
///     p(new) q(new -> old) / (p(old) q(old -> new))
/// for the distribution p of prior and springs and the density q of proposals, so that a move is
/// accepted with probability min(1, exp(log_ratio) w(new) / w(old)), where w is all that counts
/// besides: overlaps and curves.
struct MoveProposal {
    std::vector<double> angles;  ///< [hinge]
    double log_ratio = 0;
};

/// Proposes moves of a model's linkers, those of the first copy alone: Conformation::set_angles()
/// gives their angles to the others. README.md of this folder gives the formulas.
class Moves {
public:
    Moves(const ChainModel& model, const Prior& prior, BendSpring spring = {});

    /// Turns one torsion by an angle uniform in [-width, width].
    MoveProposal pivot(const Conformation& from, double width, Random& random) const;
    /// Draws phi and psi of 1 to 4 neighbouring residues from the prior.
    MoveProposal redraw(const Conformation& from, Random& random) const;
    /// Turns the atoms between two CA atoms of a linker about the line through these, by an angle
    /// uniform in [-width, width]; other atoms do not move. The angles N-CA-C, phi and psi of the
    /// two residues change.
    MoveProposal crankshaft(const Conformation& from, double width, Random& random) const;

    /// Turns 4 or 8 neighbouring torsions between two domains, each by about `width`, so that the
    /// centres of the domains keep their distance. The ratio is 0 where there is no such turn.
    MoveProposal distance(const Conformation& from, double width, Random& random) const;

    bool has_crankshafts() const { return !crankshaft_ends_.empty(); }
    bool has_distance_moves() const { return !paths_.empty(); }
    /// Which domains are too close in the chain for distance moves.
    const Notes& notes() const { return notes_; }
    /// Angles of the prior; those N-CA-C are as in the start structure.
    std::vector<double> draw_all(Random& random) const;
    /// draw_all() with the angles N-CA-C of their springs.
    std::vector<double> draw_prior(Random& random) const;
    /// The log density of prior and restraints, up to a constant.
    double log_density(const Conformation& conformation) const;

private:
    /// Two domains, and the hinges of torsions on the path between them.
    struct DomainPath {
        Index first = 0, last = 0;
        std::vector<Index> hinges;
    };
    /// Adds the path unless it has hinges of other copies, which a move would also turn elsewhere.
    void add_path(Index first, Index last);
    void set_phi_psi(Index residue, std::pair<double, double> drawn,
                     std::vector<double>& angles) const;
    double bend_energy(const Conformation& conformation, Index residue) const;

    const ChainModel* model_;
    const Prior* prior_;
    BendSpring spring_;
    std::vector<Index> torsion_hinges_;                     ///< hinges of phi and psi
    std::vector<Index> residue_of_;                         ///< [hinge]
    std::vector<std::pair<Index, Index>> crankshaft_ends_;  ///< pairs of residues
    std::vector<DomainPath> paths_;
    Notes notes_;
};

}  // namespace pleat::refine
