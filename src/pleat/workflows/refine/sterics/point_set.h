// Point set: atoms of a chain model by piece, and the pairs of them that are close.
#pragma once

#include <vector>

#include "pleat/workflows/refine/chain/chain_model.h"
#include "pleat/workflows/refine/sterics/close_pairs.h"

namespace pleat::refine {

/// Some atoms of a model at their positions in a conformation. A cluster has the points of a large
/// piece, in blocks of neighbours; or those of several small ones, in a single block. Not
/// thread-safe.
class PointSet {
public:
    PointSet(const ChainModel& model, const std::vector<Index>& atoms);

    Index size() const { return static_cast<Index>(atoms_.size()); }
    /// The atom of a point. Points are sorted by piece.
    Index atom(Index point) const { return atoms_[static_cast<std::size_t>(point)]; }
    void place(const Conformation& conformation);
    double square_distance(Index a, Index b) const {
        const Vector apart = position(a) - position(b);
        return dot(apart, apart);
    }

    /// Calls `use(a, b, squared distance)` for each pair of points of different pieces that are
    /// closer than `reach` and for which `counts(a, b)`; a < b.
    template <class Counts, class Use>
    void for_each_close_pair(double reach, const Counts& counts, const Use& use) {
        for (const auto& [a, b] : search_.find(now_, reach)) {
            if (group_of_[static_cast<std::size_t>(a)] == group_of_[static_cast<std::size_t>(b)] ||
                !counts(a, b))
                continue;
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
    std::vector<std::size_t> first_group_;                      ///< [cluster, and one]
    Coordinates start_points_, start_blocks_, start_clusters_;  ///< in the start structure
    BlockedPoints now_;
    ClosePairSearch search_;
};

}  // namespace pleat::refine
