// Point set: atoms of a chain model by piece, and the pairs of them that are close.
#pragma once

#include <utility>
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
        const Vector apart = now_.points.at(static_cast<std::size_t>(a)) -
                             now_.points.at(static_cast<std::size_t>(b));
        return dot(apart, apart);
    }

    /// Calls `use(a, b, squared distance)` for each pair of points of different pieces that are
    /// closer than `reach`, a < b.
    template <class Use>
    void for_each_close_pair(double reach, const Use& use) {
        find_close_pairs(now_, reach, pairs_);
        for (const auto& [a, b] : pairs_) {
            const double square = square_distance(a, b);
            if (square < reach * reach &&
                group_of_[static_cast<std::size_t>(a)] != group_of_[static_cast<std::size_t>(b)])
                use(a, b, square);
        }
    }

private:
    /// The points of one piece.
    struct Group {
        std::size_t first = 0, last = 0;
        Index piece = 0;
        Transform placed;  ///< by which it is where it is
    };

    void add_groups(const ChainModel& model);
    void add_clusters(const ChainModel& model);
    void sort_into_blocks(const ChainModel& model, std::size_t first, std::size_t last);

    std::vector<Index> atoms_;
    std::vector<std::size_t> group_of_;  ///< [point]
    std::vector<Group> groups_;
    std::vector<std::size_t> first_group_;        ///< [cluster, and one]
    BlockedPoints start_, now_;                   ///< in the start structure, and currently
    std::vector<std::pair<Index, Index>> pairs_;  ///< of the last search
};

}  // namespace pleat::refine
