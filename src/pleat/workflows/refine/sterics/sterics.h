// Sterics: overlaps of points and of atoms in a conformation, found by balls around blocks of
// points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "pleat/core/view.h"
#include "pleat/workflows/refine/chain/chain_model.h"
#include "pleat/workflows/refine/sterics/near_balls.h"

namespace pleat::refine {

/// Points in the order of their blocks, of at most Balls::kBlock points each, and blocks in the
/// order of their clusters.
struct BlockedPoints {
    Balls points, blocks, clusters;
    std::vector<std::uint32_t> first_point;  ///< [block, and one]
    std::vector<std::uint32_t> first_block;  ///< [cluster, and one]
    /// [cluster]: whether its points, all in one block, may be close to each other.
    std::vector<std::uint8_t> has_own_pairs;
};

/// Finds pairs of close points, using bounding balls of clusters and then of their blocks.
class ClosePairSearch {
public:
    /// The pairs of points closer than `reach`, lower index first, always in the same order; valid
    /// until the next call. May include pairs slightly farther apart, because positions are rounded
    /// to float32.
    const std::vector<std::pair<Index, Index>>& find(const BlockedPoints& of, double reach);

private:
    template <class Use>
    void for_each_near(const Balls& balls, const Balls& others, float reach, const Use& use);

    std::vector<BallQuery> queries_, next_;
    std::vector<std::uint32_t> bits_;  ///< [query]
    std::vector<std::pair<Index, Index>> pairs_;
};

/// Some atoms of a model at their positions in a conformation. A cluster has the points of a large
/// piece, in blocks of neighbours; or those of several small ones, in a single block. Not
/// thread-safe.
class PointSet {
public:
    PointSet(const ChainModel& model, const std::vector<Index>& atoms);

    Index size() const { return static_cast<Index>(atoms_.size()); }
    /// The atom of a point. Points are sorted by piece.
    Index atom(Index point) const { return atoms_[point]; }
    void set_conformation(const Conformation& conformation);
    double square_distance(Index a, Index b) const {
        const Vector apart = position(a) - position(b);
        return dot(apart, apart);
    }

    /// Calls `use(a, b, squared distance)` for each pair of points of different pieces that are
    /// closer than `reach` and for which `counts(a, b)`; a < b.
    template <class Counts, class Use>
    void for_each_close_pair(double reach, const Counts& counts, const Use& use) {
        for (const auto& [a, b] : search_.find(now_, reach)) {
            if (group_of_[a] == group_of_[b] || !counts(a, b)) continue;
            const double square = square_distance(a, b);
            if (square < reach * reach) use(a, b, square);
        }
    }

private:
    /// The points of one piece.
    struct Group {
        std::size_t first = 0, last = 0;
        Index piece = 0;
        Transform placed;  ///< by which it is where it is
    };

    Vector position(Index point) const {
        const auto n = static_cast<std::size_t>(point);
        return groups_[group_of_[n]].placed(start_points_.at(n));
    }
    void add_groups(const ChainModel& model);
    void add_clusters(const ChainModel& model);
    void sort_into_blocks(const ChainModel& model, std::size_t first, std::size_t last);

    std::vector<Index> atoms_;
    std::vector<std::size_t> group_of_;  ///< [point]
    std::vector<Group> groups_;
    std::vector<std::size_t> first_group_;  ///< [cluster, and one]
    Coordinates start_points_, start_blocks_,
        cluster_centres_at_start_;  ///< in the start structure
    BlockedPoints now_;
    ClosePairSearch search_;
};

/// Two points closer than their `distance` have the energy strength * (distance - d)^2. Points are
/// CA, P or C1', and of each side chain the atom that is nearest to its centre.
struct StericOptions {
    double distance = 4.0;                  ///< of CA, P and C1', angstrom
    double hard_distance = 3.6;             ///< of these: closer is not allowed
    double side_chain_to_ca = 3.6;          ///< of a side chain and a CA
    double side_chain_to_side_chain = 3.4;  ///< of two side chains
    double strength = 10.0;                 ///< kT per square angstrom
};

/// A point with excluded volume, with its residue as in ClashPoint.
struct StericPoint {
    Index atom = 0, chain = 0, residue = 0;
    bool is_side_chain = false;
};

struct OverlapEnergy {
    double energy = 0;     ///< kT
    Index hard_pairs = 0;  ///< CA, P or C1' closer than StericOptions::hard
};

/// Energy of pairs of points whose distance the hinges can change. Points of one chain less than 3
/// residues apart do not count. Not thread-safe: each chain has its own.
class Sterics {
public:
    explicit Sterics(const ChainModel& model, StericOptions options = {});

    OverlapEnergy overlap(const Conformation& conformation);

private:
    using Pairs = std::vector<std::pair<Index, Index>>;

    void leave_out_neighbours(const ChainModel& model, Pairs& left_out) const;
    void leave_out_fixed_pairs(const ChainModel& model, Pairs& left_out) const;
    bool is_left_out(Index a, Index b) const;
    void add(Index a, Index b, double square, OverlapEnergy& sum) const;

    StericOptions options_;
    double reach_;                   ///< the largest distance of two points that overlap
    std::vector<StericPoint> list_;  ///< [point of points_]
    PointSet points_;
    /// Ignored pairs of points: the second points, in ranges for each first point.
    std::vector<Index> left_out_;
    std::vector<std::size_t> first_left_out_;  ///< [point, and one]
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
    std::vector<std::pair<Index, Index>> pairs_at_start_;
};

}  // namespace pleat::refine
