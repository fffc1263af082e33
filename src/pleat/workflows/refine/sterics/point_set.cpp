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
        std::size_t last = n;
        while (last < atoms_.size() && piece_of(atoms_[last]) == piece_of(atoms_[n])) ++last;
        Group group;
        group.first = n;
        group.last = last;
        group.piece = piece_of(atoms_[n]);
        group_of_.insert(group_of_.end(), last - n, groups_.size());
        groups_.push_back(group);
        n = last;
    }
    const auto size_of = [&](std::size_t n) { return groups_[n].last - groups_[n].first; };
    for (std::size_t n = 0; n < groups_.size();) {
        std::size_t last = n + 1;
        for (std::size_t size = size_of(n); last < groups_.size() && size + size_of(last) <= kBlock;
             ++last)
            size += size_of(last);
        add_cluster(n, last);
        n = last;
    }
    x_.resize(atoms_.size());
    y_.resize(atoms_.size());
    z_.resize(atoms_.size());
    place(Conformation(model));
}

void PointSet::add_cluster(std::size_t first_group, std::size_t last_group) {
    Cluster cluster;
    cluster.first = groups_[first_group].first;
    cluster.last = groups_[last_group - 1].last;
    cluster.first_group = first_group;
    cluster.pieces = last_group - first_group;
    if (cluster.pieces == 1)
        sort_into_blocks(cluster.first, cluster.last, cluster.blocks);
    else
        cluster.blocks.resize(1);
    for (std::size_t n = first_group; n < last_group; ++n)
        static_cast<Ball&>(groups_[n]) = ball(groups_[n].first, groups_[n].last);
    clusters_.push_back(std::move(cluster));
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
void PointSet::sort_into_blocks(std::size_t first, std::size_t last, std::vector<Ball>& blocks) {
    if (last - first <= kBlock) {
        blocks.push_back(ball(first, last));
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
    const std::size_t count = (last - first + kBlock - 1) / kBlock;
    const std::size_t middle = first + (count + 1) / 2 * kBlock;
    sort_into_blocks(first, middle, blocks);
    sort_into_blocks(middle, last, blocks);
}

void PointSet::place(const Transform& move, const Ball& points) {
    for (std::size_t n = points.first; n < points.last; ++n) {
        const Vector at = move(start_[n]);
        x_[n] = at.x;
        y_[n] = at.y;
        z_[n] = at.z;
    }
}

void PointSet::place(const Conformation& conformation) {
    constexpr double kRounding = 1e-9;  // no pair within reach may be left out, however rounded
    for (Cluster& cluster : clusters_) {
        bool has_moved = false;
        for (std::size_t n = cluster.first_group; n < cluster.first_group + cluster.pieces; ++n) {
            Group& group = groups_[n];
            const Transform& move = conformation.piece(group.piece);
            if (group.placed == move) continue;
            has_moved = true;
            group.placed = move;
            group.now = move(group.centre);
            place(move, group);
            if (cluster.pieces > 1) continue;
            for (Ball& block : cluster.blocks) block.now = move(block.centre);
        }
        if (!has_moved) continue;
        const Group& first = groups_[cluster.first_group];
        cluster.now = first.now;
        cluster.radius = first.radius;
        if (cluster.pieces == 1) continue;
        for (std::size_t n = 1; n < cluster.pieces; ++n)
            cluster.now = cluster.now + groups_[cluster.first_group + n].now;
        cluster.now = (1.0 / static_cast<double>(cluster.pieces)) * cluster.now;
        cluster.radius = 0;
        for (std::size_t n = cluster.first; n < cluster.last; ++n)
            cluster.radius = std::max(
                cluster.radius, distance(cluster.now, Vector{x_[n], y_[n], z_[n]}) + kRounding);
        cluster.blocks.front() = cluster;
    }
}

double PointSet::square_distance(Index a, Index b) const {
    const auto one = static_cast<std::size_t>(a), other = static_cast<std::size_t>(b);
    const Vector apart{x_[one] - x_[other], y_[one] - y_[other], z_[one] - z_[other]};
    return dot(apart, apart);
}

}  // namespace pleat::refine
