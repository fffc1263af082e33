// Point set: points sorted by piece, with a sphere around each piece.
#include "pleat/workflows/refine/sterics/point_set.h"

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
        Group group{.piece = piece_of(atoms_[n]), .first = n, .last = n, .centre = {}, .now = {}};
        while (group.last < atoms_.size() && piece_of(atoms_[group.last]) == group.piece)
            group.centre = group.centre + start_[group.last++];
        group.centre = (1.0 / static_cast<double>(group.last - group.first)) * group.centre;
        for (std::size_t m = group.first; m < group.last; ++m)
            group.radius = std::max(group.radius, distance(group.centre, start_[m]));
        n = group.last;
        groups_.push_back(group);
    }
    x_.resize(atoms_.size());
    y_.resize(atoms_.size());
    z_.resize(atoms_.size());
    place(Conformation(model));
}

void PointSet::place(const Conformation& conformation) {
    for (Group& group : groups_) {
        const Transform& move = conformation.piece(group.piece);
        group.now = move(group.centre);
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
