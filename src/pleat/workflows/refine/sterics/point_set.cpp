// Point set: points sorted by piece and by place, with balls around blocks and clusters.
#include "pleat/workflows/refine/sterics/point_set.h"

#include <algorithm>
#include <cmath>

namespace pleat::refine {

namespace {

constexpr std::size_t kBlock = Balls::kBlock;

/// Sets a ball around the points [first, last). Returns its centre.
template <class Real>
Vector enclose(const CoordinatesOf<Real>& points, std::size_t first, std::size_t last, Balls& balls,
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
    balls.radius[number] = static_cast<float>(std::sqrt(square));
    return centre;
}

}  // namespace

PointSet::PointSet(const ChainModel& model, const std::vector<Index>& atoms) : atoms_(atoms) {
    add_groups(model);
    add_clusters(model);
    const std::size_t blocks = now_.first_point.size() - 1, clusters = now_.first_block.size() - 1;
    now_.points.resize_padded(atoms_.size());
    now_.blocks.resize_padded(blocks);
    now_.clusters.resize_padded(clusters);
    for (std::size_t n = 0; n < atoms_.size(); ++n) {
        start_points_.push_back(model.start[static_cast<std::size_t>(atoms_[n])]);
        now_.points.set(n, start_points_.at(n));
    }
    for (std::size_t n = 0; n < blocks; ++n)
        start_blocks_.push_back(
            enclose(start_points_, now_.first_point[n], now_.first_point[n + 1], now_.blocks, n));
    for (std::size_t n = 0; n < clusters; ++n)
        start_clusters_.push_back(enclose(start_points_, now_.first_point[now_.first_block[n]],
                                          now_.first_point[now_.first_block[n + 1]], now_.clusters,
                                          n));
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
        now_.first_block.push_back(static_cast<std::uint32_t>(now_.first_point.size()));
        now_.has_own_pairs.push_back(last > n + 1 ? 1 : 0);
        sort_into_blocks(model, groups_[n].first, groups_[last - 1].last);
        n = last;
    }
    first_group_.push_back(groups_.size());
    now_.first_block.push_back(static_cast<std::uint32_t>(now_.first_point.size()));
    now_.first_point.push_back(static_cast<std::uint32_t>(atoms_.size()));
}

/// Halves the points along their longest axis until they fit into blocks.
void PointSet::sort_into_blocks(const ChainModel& model, std::size_t first, std::size_t last) {
    if (last - first <= kBlock) {
        now_.first_point.push_back(static_cast<std::uint32_t>(first));
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
                            std::size_t last, Balls& to) {
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
            move_by(move, start_points_, group.first, group.last, now_.points);
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
            move_by(move, start_blocks_, block, now_.first_block[cluster + 1], now_.blocks);
            move_by(move, start_clusters_, cluster, cluster + 1, now_.clusters);
        }
    }
}

}  // namespace pleat::refine
