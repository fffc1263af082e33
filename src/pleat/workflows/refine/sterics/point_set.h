// Point set: atoms of a chain model by piece, and the pairs of them that are close.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "pleat/workflows/refine/chain/chain_model.h"

namespace pleat::refine {

/// Some atoms of a model at their positions in a conformation. Large pieces and clusters of small
/// ones are skipped if their spheres are far apart, and so are blocks of neighbouring points within
/// them.
class PointSet {
public:
    PointSet(const ChainModel& model, const std::vector<Index>& atoms);

    Index size() const { return static_cast<Index>(atoms_.size()); }
    /// The atom of a point. Points are sorted by piece.
    Index atom(Index point) const { return atoms_[static_cast<std::size_t>(point)]; }
    void place(const Conformation& conformation);
    double square_distance(Index a, Index b) const;

    /// Calls `use(a, b, squared distance)` for each pair of points of different pieces that are
    /// closer than `reach`, a < b.
    template <class Use>
    void for_each_close_pair(double reach, Use use) const {
        for (std::size_t a = 0; a < clusters_.size(); ++a) {
            if (clusters_[a].pieces > 1) compare_within(clusters_[a], reach, use);
            for (std::size_t b = a + 1; b < clusters_.size(); ++b)
                if (are_near(clusters_[a], clusters_[b], reach))
                    compare(clusters_[a], clusters_[b], reach, use);
        }
    }

private:
    /// Points, and a sphere around them.
    struct Ball {
        std::size_t first = 0, last = 0;
        Vector centre, now;  ///< in the start structure, and currently
        double radius = 0;

        /// The squared distance of two centres below which points may be closer than `reach`.
        double square_reach(double reach, double other) const {
            return (reach + radius + other) * (reach + radius + other);
        }
    };
    /// The points of one piece.
    struct Group : Ball {
        Index piece = 0;
        std::optional<Transform> placed;  ///< by which it is where it is
    };
    /// The points of a large piece, in blocks; or of neighbouring small ones, in a single block.
    struct Cluster : Ball {
        std::size_t first_group = 0, pieces = 1;
        std::vector<Ball> blocks;
    };

    static constexpr std::size_t kBlock = 16;

    Ball ball(std::size_t first, std::size_t last) const;
    void sort_into_blocks(std::size_t first, std::size_t last, std::vector<Ball>& blocks);
    void add_cluster(std::size_t first_group, std::size_t last_group);
    void place(const Transform& move, const Ball& points);

    static bool are_near(const Ball& one, const Ball& other, double reach) {
        const Vector away = one.now - other.now;
        return dot(away, away) < one.square_reach(reach, other.radius);
    }

    template <class Use>
    void compare(const Cluster& one, const Cluster& other, double reach, Use& use) const {
        for (const Ball& own : one.blocks) {
            if (!are_near(own, other, reach)) continue;
            for (const Ball& block : other.blocks) {
                if (!are_near(own, block, reach)) continue;
                const double far = block.square_reach(reach, 0);
                for (std::size_t at = own.first; at < own.last; ++at) {
                    const Vector away = Vector{x_[at], y_[at], z_[at]} - block.now;
                    if (dot(away, away) < far) compare(at, block.first, block.last, reach, use);
                }
            }
        }
    }

    template <class Use>
    void compare_within(const Cluster& cluster, double reach, Use& use) const {
        const auto use_others = [&](Index a, Index b, double square) {
            if (group_of_[static_cast<std::size_t>(a)] != group_of_[static_cast<std::size_t>(b)])
                use(a, b, square);
        };
        for (std::size_t at = cluster.first; at < cluster.last; ++at)
            compare(at, at + 1, cluster.last, reach, use_others);
    }

    /// One point with the points of a block.
    template <class Use>
    void compare(std::size_t at, std::size_t first, std::size_t last, double reach,
                 const Use& use) const {
        const double x = x_[at], y = y_[at], z = z_[at], limit = reach * reach;
        std::array<double, kBlock> squares;
        int is_close = 0;  // no early exit, so that the compiler can use vectors
        for (std::size_t n = 0; n < last - first; ++n) {
            const double dx = x_[first + n] - x, dy = y_[first + n] - y, dz = z_[first + n] - z;
            squares[n] = dx * dx + dy * dy + dz * dz;
            is_close |= squares[n] < limit ? 1 : 0;
        }
        if (is_close == 0) return;
        for (std::size_t n = 0; n < last - first; ++n)
            if (squares[n] < limit)
                use(static_cast<Index>(at), static_cast<Index>(first + n), squares[n]);
    }

    std::vector<Index> atoms_;
    std::vector<Vector> start_;
    std::vector<double> x_, y_, z_;      ///< [point], current
    std::vector<std::size_t> group_of_;  ///< [point]
    std::vector<Group> groups_;
    std::vector<Cluster> clusters_;
};

}  // namespace pleat::refine
