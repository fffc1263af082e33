// Sterics: overlaps of a conformation's pieces.
#pragma once

#include <utility>
#include <vector>

#include "pleat/workflows/refine/chain/chain_model.h"
#include "pleat/workflows/refine/sterics/point_set.h"

namespace pleat::refine {

/// Two points closer than their `distance` have the energy strength * (distance - d)^2. Points are
/// CA, P or C1', and of each side chain the atom that is nearest to its centre.
struct StericOptions {
    double distance = 4.0;      ///< of CA, P and C1', angstrom
    double hard = 3.6;          ///< of these: closer is not allowed
    double side_to_main = 3.6;  ///< of a side chain and a CA
    double side_to_side = 3.4;  ///< of two side chains
    double strength = 10.0;     ///< kT per square angstrom
};

/// A point that takes space, with its residue as ClashPoint has it.
struct StericPoint {
    Index atom = 0, chain = 0, residue = 0;
    bool is_side_chain = false;
};

struct Overlap {
    double energy = 0;     ///< kT
    Index hard_pairs = 0;  ///< CA, P or C1' closer than StericOptions::hard
};

/// Energy of pairs of points whose distance the hinges can change. Points of one chain less than 3
/// residues apart do not count. Not thread-safe: each chain has its own.
class Sterics {
public:
    explicit Sterics(const ChainModel& model, StericOptions options = {});

    Overlap overlap(const Conformation& conformation);

private:
    using Pairs = std::vector<std::pair<Index, Index>>;

    void excuse_neighbours(const ChainModel& model, Pairs& excused) const;
    void excuse_fixed_pairs(const ChainModel& model, Pairs& excused) const;
    bool is_excused(Index a, Index b) const;
    void add(Index a, Index b, double square, Overlap& sum) const;

    StericOptions options_;
    double reach_;                   ///< the largest distance of two points that overlap
    std::vector<StericPoint> list_;  ///< [point of points_]
    PointSet points_;
    /// Pairs of points that do not count: the second ones, in ranges for each of the first.
    std::vector<Index> excused_;
    std::vector<std::size_t> first_excused_;  ///< [point, and one]
};

/// Pairs of heavy atoms of different pieces that are closer than 2.5 angstrom, except those of one
/// residue or of neighbours in a chain, two sulfurs, and pairs as close in the start structure. Not
/// thread-safe.
class AtomOverlaps {
public:
    explicit AtomOverlaps(const ChainModel& model);
    Index count(const Conformation& conformation);

    static constexpr double kDistance = 2.5;  ///< angstrom

private:
    /// Close pairs of atoms, the lower index first, ascending.
    std::vector<std::pair<Index, Index>> close_pairs();
    bool counts(Index a, Index b) const;

    const ChainModel* model_;
    PointSet points_;
    std::vector<Index> residue_of_;  ///< [atom]: numbers of neighbours in a chain differ by 1
    std::vector<std::pair<Index, Index>> at_start_;
};

}  // namespace pleat::refine
