// Point set: points sorted by piece and by place, with balls around blocks and clusters.
#include "pleat/workflows/refine/sterics/point_set.h"

#include <algorithm>
#include <cmath>

namespace pleat::refine {

namespace {

constexpr std::size_t kBlock = Balls::kBlock;

/// Sets a ball around the points [first, last).
void enclose(const Coordinates& points, std::size_t first, std::size_t last, Balls& balls,
             std::size_t number) {
    Vector centre;
    for (std::size_t n = first; n < last; ++n) centre = centre + points.at(n);
    centre = (1.0 / static_cast<double>(last - first)) * centre;
    double square = 0;
    for (std::size_t n = first; n < last; ++n) {
        const Vector away = points.at(n) - centre;
        square = std::max(square, dot(away, away));
    }
    balls.set(number, centre);
    balls.radius[number] = std::sqrt(square);
}

/// Balls around all blocks and clusters.
void enclose_all(BlockedPoints& of) {
    const std::size_t blocks = of.first_point.size() - 1, clusters = of.first_block.size() - 1;
    of.blocks.resize_padded(blocks);
    of.clusters.resize_padded(clusters);
    for (std::size_t n = 0; n < blocks; ++n)
        enclose(of.points, of.first_point[n], of.first_point[n + 1], of.blocks, n);
    for (std::size_t n = 0; n < clusters; ++n)
        enclose(of.points, of.first_point[of.first_block[n]], of.first_point[of.first_block[n + 1]],
                of.clusters, n);
}

}  // namespace

PointSet::PointSet(const ChainModel& model, const std::vector<Index>& atoms) : atoms_(atoms) {
    add_groups(model);
    add_clusters(model);
    start_.points.resize_padded(atoms_.size());
    for (std::size_t n = 0; n < atoms_.size(); ++n)
        start_.points.set(n, model.start[static_cast<std::size_t>(atoms_[n])]);
    enclose_all(start_);
    now_ = start_;
}

void PointSet::add_groups(const ChainModel& model) {
    const auto piece_of = [&](Index atom) {
        return model.piece_of[static_cast<std::size_t>(atom)];
    };
    std::stable_sort(atoms_.begin(), atoms_.end(),
                     [&](Index a, Index b) { return piece_of(a) < piece_of(b); });
    for (std::size_t n = 0; n < atoms_.size();) {
        std::size_t last = n;
        while (last < atoms_.size() && piece_of(atoms_[last]) == piece_of(atoms_[n])) ++last;
        group_of_.insert(group_of_.end(), last - n, groups_.size());
        groups_.push_back({n, last, piece_of(atoms_[n]), {}});
        n = last;
    }
}

/// Neighbouring small groups share a cluster.
void PointSet::add_clusters(const ChainModel& model) {
    for (std::size_t n = 0; n < groups_.size();) {
        std::size_t last = n + 1;
        while (last < groups_.size() && groups_[last].last - groups_[n].first <= kBlock) ++last;
        first_group_.push_back(n);
        start_.first_block.push_back(start_.first_point.size());
        start_.has_own_pairs.push_back(last > n + 1 ? 1 : 0);
        sort_into_blocks(model, groups_[n].first, groups_[last - 1].last);
        n = last;
    }
    first_group_.push_back(groups_.size());
    start_.first_block.push_back(start_.first_point.size());
    start_.first_point.push_back(atoms_.size());
}

/// Halves the points along their longest axis until they fit into blocks.
void PointSet::sort_into_blocks(const ChainModel& model, std::size_t first, std::size_t last) {
    if (last - first <= kBlock) {
        start_.first_point.push_back(first);
        return;
    }
    const auto begin = atoms_.begin() + static_cast<std::ptrdiff_t>(first),
               end = atoms_.begin() + static_cast<std::ptrdiff_t>(last);
    const auto at = [&](Index atom) { return model.start[static_cast<std::size_t>(atom)]; };
    double Vector::*longest = &Vector::x;
    double extent = -1;
    for (double Vector::*const axis : {&Vector::x, &Vector::y, &Vector::z}) {
        const auto [low, high] = std::minmax_element(
            begin, end, [&](Index a, Index b) { return at(a).*axis < at(b).*axis; });
        if (at(*high).*axis - at(*low).*axis <= extent) continue;
        extent = at(*high).*axis - at(*low).*axis;
        longest = axis;
    }
    std::stable_sort(begin, end, [&](Index a, Index b) { return at(a).*longest < at(b).*longest; });
    // The first half in whole blocks.
    const std::size_t count = (last - first + kBlock - 1) / kBlock;
    const std::size_t middle = first + (count + 1) / 2 * kBlock;
    sort_into_blocks(model, first, middle);
    sort_into_blocks(model, middle, last);
}

void PointSet::place(const Conformation& conformation) {
    const auto move_by = [](const Transform& move, const Coordinates& from, std::size_t first,
                            std::size_t last, Coordinates& to) {
        write_moved(move, from, first, last, to.x.data() + first, to.y.data() + first,
                    to.z.data() + first);
    };
    for (std::size_t cluster = 0; cluster + 1 < first_group_.size(); ++cluster) {
        bool has_moved = false;
        for (std::size_t n = first_group_[cluster]; n < first_group_[cluster + 1]; ++n) {
            Group& group = groups_[n];
            const Transform& move = conformation.piece(group.piece);
            if (group.placed == move) continue;
            has_moved = true;
            group.placed = move;
            move_by(move, start_.points, group.first, group.last, now_.points);
        }
        if (!has_moved) continue;
        const std::size_t block = now_.first_block[cluster];
        if (now_.has_own_pairs[cluster] != 0) {
            enclose(now_.points, now_.first_point[block], now_.first_point[block + 1],
                    now_.clusters, cluster);
            now_.blocks.set(block, now_.clusters.at(cluster));
            now_.blocks.radius[block] = now_.clusters.radius[cluster];
        } else {
            const Transform& move = groups_[first_group_[cluster]].placed;
            move_by(move, start_.blocks, block, now_.first_block[cluster + 1], now_.blocks);
            move_by(move, start_.clusters, cluster, cluster + 1, now_.clusters);
        }
    }
}

}  // namespace pleat::refine
