// Point set: atoms of a chain model by piece, and the pairs of them that are close.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "pleat/workflows/refine/chain/chain_model.h"

namespace pleat::refine {

/// Some atoms of a model at their positions in a conformation. Pieces whose spheres are far apart
/// are skipped.
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
            for (std::size_t b = a + 1; b < groups_.size(); ++b) {
                const Vector away = groups_[a].now - groups_[b].now;
                const double both = reach + groups_[a].radius + groups_[b].radius;
                if (dot(away, away) >= both * both) continue;
                // Points of the smaller piece are compared with the sphere of the larger one.
                const bool swaps = groups_[b].radius < groups_[a].radius;
                compare(groups_[swaps ? b : a], groups_[swaps ? a : b], reach, use);
            }
    }

private:
    /// The points of one piece, and a sphere around them.
    struct Group {
        Index piece = 0;
        std::size_t first = 0, last = 0;
        Vector centre, now;  ///< in the start structure, and currently
        double radius = 0;
    };

    template <class Use>
    void compare(const Group& one, const Group& other, double reach, Use& use) const {
        const double far = reach + other.radius, limit = reach * reach;
        constexpr std::size_t kBlock = 32;
        std::array<double, kBlock> squares{};
        for (std::size_t at = one.first; at < one.last; ++at) {
            const double x = x_[at], y = y_[at], z = z_[at];
            const Vector away = Vector{x, y, z} - other.now;
            if (dot(away, away) >= far * far) continue;
            for (std::size_t from = other.first; from < other.last; from += kBlock) {
                const std::size_t count = std::min(kBlock, other.last - from);
                double nearest = limit;
                for (std::size_t n = 0; n < count; ++n) {
                    const double dx = x_[from + n] - x, dy = y_[from + n] - y,
                                 dz = z_[from + n] - z;
                    squares[n] = dx * dx + dy * dy + dz * dz;
                    nearest = std::min(nearest, squares[n]);
                }
                if (nearest >= limit) continue;
                for (std::size_t n = 0; n < count; ++n)
                    if (squares[n] < limit)
                        use(static_cast<Index>(at), static_cast<Index>(from + n), squares[n]);
            }
        }
    }

    std::vector<Index> atoms_;
    std::vector<Vector> start_;
    std::vector<double> x_, y_, z_;  ///< [point], current
    std::vector<Group> groups_;
};

}  // namespace pleat::refine
