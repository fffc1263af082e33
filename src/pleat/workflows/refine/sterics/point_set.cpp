// Point set: points sorted by piece and by place, with spheres around pieces and blocks.
#include "pleat/workflows/refine/sterics/point_set.h"

#include <utility>

namespace pleat::refine {

PointSet::PointSet(const ChainModel& model, const std::vector<Index>& atoms) : atoms_(atoms) {
    const auto piece_of = [&](Index atom) {
        return model.piece_of[static_cast<std::size_t>(atom)];
    };
    std::stable_sort(atoms_.begin(), atoms_.end(),
                     [&](Index a, Index b) { return piece_of(a) < piece_of(b); });
    start_.reserve(atoms_.size());
    for (const Index atom : atoms_) start_.push_back(model.start[static_cast<std::size_t>(atom)]);
    for (std::size_t n = 0; n < atoms_.size();) {
        Group group;
        group.piece = piece_of(atoms_[n]);
        std::size_t last = n;
        while (last < atoms_.size() && piece_of(atoms_[last]) == group.piece) ++last;
        sort_into_blocks(n, last, group);
        static_cast<Ball&>(group) = ball(n, last);
        n = last;
        groups_.push_back(std::move(group));
    }
    x_.resize(atoms_.size());
    y_.resize(atoms_.size());
    z_.resize(atoms_.size());
    place(Conformation(model));
}

PointSet::Ball PointSet::ball(std::size_t first, std::size_t last) const {
    Ball ball{.first = first, .last = last, .centre = {}, .now = {}};
    for (std::size_t n = first; n < last; ++n) ball.centre = ball.centre + start_[n];
    ball.centre = (1.0 / static_cast<double>(last - first)) * ball.centre;
    for (std::size_t n = first; n < last; ++n)
        ball.radius = std::max(ball.radius, distance(ball.centre, start_[n]));
    return ball;
}

/// Halves the points along their longest axis until they fit into blocks.
void PointSet::sort_into_blocks(std::size_t first, std::size_t last, Group& group) {
    if (last - first <= kBlock) {
        group.blocks.push_back(ball(first, last));
        return;
    }
    constexpr double Vector::*kAxes[] = {&Vector::x, &Vector::y, &Vector::z};
    double Vector::*longest = kAxes[0];
    double extent = -1;
    for (double Vector::*const axis : kAxes) {
        const auto [low, high] = std::minmax_element(
            start_.begin() + static_cast<std::ptrdiff_t>(first),
            start_.begin() + static_cast<std::ptrdiff_t>(last),
            [&](const Vector& a, const Vector& b) { return a.*axis < b.*axis; });
        if ((*high).*axis - (*low).*axis > extent) {
            extent = (*high).*axis - (*low).*axis;
            longest = axis;
        }
    }
    std::vector<std::pair<Vector, Index>> sorted;
    for (std::size_t n = first; n < last; ++n) sorted.emplace_back(start_[n], atoms_[n]);
    std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
        return a.first.*longest < b.first.*longest;
    });
    for (std::size_t n = first; n < last; ++n) {
        start_[n] = sorted[n - first].first;
        atoms_[n] = sorted[n - first].second;
    }
    // The first half in whole blocks.
    const std::size_t blocks = (last - first + kBlock - 1) / kBlock;
    const std::size_t middle = first + (blocks + 1) / 2 * kBlock;
    sort_into_blocks(first, middle, group);
    sort_into_blocks(middle, last, group);
}

void PointSet::place(const Conformation& conformation) {
    for (Group& group : groups_) {
        const Transform& move = conformation.piece(group.piece);
        group.now = move(group.centre);
        for (Ball& block : group.blocks) block.now = move(block.centre);
        for (std::size_t n = group.first; n < group.last; ++n) {
            const Vector at = move(start_[n]);
            x_[n] = at.x;
            y_[n] = at.y;
            z_[n] = at.z;
        }
    }
}

double PointSet::square_distance(Index a, Index b) const {
    const auto one = static_cast<std::size_t>(a), other = static_cast<std::size_t>(b);
    const Vector apart{x_[one] - x_[other], y_[one] - y_[other], z_[one] - z_[other]};
    return dot(apart, apart);
}

}  // namespace pleat::refine
