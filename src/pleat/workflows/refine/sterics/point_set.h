// Point set: atoms of a chain model by piece, and the pairs of them that are close.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "pleat/workflows/refine/chain/chain_model.h"

namespace pleat::refine {

/// Some atoms of a model at their positions in a conformation. Pieces whose spheres are far apart
/// are skipped, and so are blocks of neighbouring points within them.
class PointSet {
public:
    PointSet(const ChainModel& model, const std::vector<Index>& atoms);

    Index size() const { return static_cast<Index>(atoms_.size()); }
    /// The atom of a point. Points are sorted by piece.
    Index atom(Index point) const { return atoms_[static_cast<std::size_t>(point)]; }
    void place(const Conformation& conformation);
    double square_distance(Index a, Index b) const;

    /// Calls `use(a, b, squared distance)` for each pair of points of different pieces that are
    /// closer than `reach`.
    template <class Use>
    void for_each_close_pair(double reach, Use use) const {
        for (std::size_t a = 0; a < groups_.size(); ++a)
            for (std::size_t b = a + 1; b < groups_.size(); ++b)
                if (are_near(groups_[a], groups_[b], reach))
                    compare(groups_[a], groups_[b], reach, use);
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
    /// The points of one piece, in blocks.
    struct Group : Ball {
        Index piece = 0;
        std::vector<Ball> blocks;
    };

    static constexpr std::size_t kBlock = 16;

    Ball ball(std::size_t first, std::size_t last) const;
    void sort_into_blocks(std::size_t first, std::size_t last, Group& group);

    static bool are_near(const Ball& one, const Ball& other, double reach) {
        const Vector away = one.now - other.now;
        return dot(away, away) < one.square_reach(reach, other.radius);
    }

    template <class Use>
    void compare(const Group& one, const Group& other, double reach, Use& use) const {
        for (const Ball& own : one.blocks) {
            if (!are_near(own, other, reach)) continue;
            for (const Ball& block : other.blocks)
                if (are_near(own, block, reach)) compare(own, block, reach, use);
        }
    }

    template <class Use>
    void compare(const Ball& one, const Ball& other, double reach, Use& use) const {
        const double far = other.square_reach(reach, 0), limit = reach * reach;
        const std::size_t count = other.last - other.first;
        std::array<double, kBlock> squares{};
        for (std::size_t at = one.first; at < one.last; ++at) {
            const double x = x_[at], y = y_[at], z = z_[at];
            const Vector away = Vector{x, y, z} - other.now;
            if (dot(away, away) >= far) continue;
            double nearest = limit;
            for (std::size_t n = 0; n < count; ++n) {
                const double dx = x_[other.first + n] - x, dy = y_[other.first + n] - y,
                             dz = z_[other.first + n] - z;
                squares[n] = dx * dx + dy * dy + dz * dz;
                nearest = std::min(nearest, squares[n]);
            }
            if (nearest >= limit) continue;
            for (std::size_t n = 0; n < count; ++n)
                if (squares[n] < limit)
                    use(static_cast<Index>(at), static_cast<Index>(other.first + n), squares[n]);
        }
    }

    std::vector<Index> atoms_;
    std::vector<Vector> start_;
    std::vector<double> x_, y_, z_;  ///< [point], current
    std::vector<Group> groups_;
};

}  // namespace pleat::refine
