// Sterics: overlaps of a conformation's pieces.
#pragma once

#include <vector>

#include "pleat/workflows/refine/chain/chain_model.h"

namespace pleat::refine {

/// Two points (CA, P or C1') closer than `distance` have the energy
/// strength * (distance - d)^2; closer than `hard` they are not allowed.
struct StericOptions {
    double distance = 4.0, hard = 3.6;  ///< angstrom
    double strength = 10.0;             ///< kT per square angstrom
};

struct Overlap {
    double energy = 0;     ///< kT
    Index hard_pairs = 0;  ///< closer than StericOptions::hard
};

/// Energy of points of different pieces. Points of one chain less than 3 residues apart, and pairs
/// within one piece, do not count. Not thread-safe: each chain has its own.
class Sterics {
public:
    explicit Sterics(const ChainModel& model, StericOptions options = {});

    Overlap overlap(const Conformation& conformation);

private:
    struct Sphere {
        Vector centre;
        double radius = 0;
    };
    void place(const Conformation& conformation);
    void add_pieces(std::size_t a, std::size_t b, Overlap& sum) const;
    void add_pair(double square, double sign, double& energy, Index& pairs) const;

    const ChainModel* model_;
    StericOptions options_;
    std::vector<Index> pieces_;                     ///< those that have points
    std::vector<Sphere> spheres_;                   ///< [index into pieces_], in the start
    std::vector<Vector> centres_;                   ///< the same, current
    std::vector<double> x_, y_, z_;                 ///< [point], current
    std::vector<std::pair<Index, Index>> excused_;  ///< neighbours in a chain, of two pieces
};

/// Pairs of heavy atoms of different pieces that are closer than 2.5 angstrom, except those of one
/// residue or of neighbours in a chain, two sulfurs, and pairs as close in the start structure.
class AtomOverlaps {
public:
    explicit AtomOverlaps(const ChainModel& model);
    Index count(const Conformation& conformation) const;

    static constexpr double kDistance = 2.5;  ///< angstrom

private:
    /// Close pairs (a, b), a < b, ascending.
    std::vector<std::pair<Index, Index>> close_pairs(const std::vector<Vector>& positions) const;
    bool counts(Index a, Index b) const;

    const ChainModel* model_;
    std::vector<Index> residue_of_;  ///< [atom]: numbers of neighbours in a chain differ by 1
    std::vector<std::pair<Index, Index>> at_start_;
};

}  // namespace pleat::refine
