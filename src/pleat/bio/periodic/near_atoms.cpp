// Near atoms: bins along the reduced vectors of the cell, each at least as wide as the cut-off.
#include "pleat/bio/periodic/near_atoms.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pleat {

namespace {

/// A cell around all atoms that is so wide that no image comes near.
PeriodicCell wide_cell(const std::vector<Point>& positions, double cutoff) {
    Point min{}, max{};
    for (std::size_t i = 0; i < positions.size(); ++i)
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double x = positions[i][axis];
            min[axis] = i == 0 ? x : std::min(min[axis], x);
            max[axis] = i == 0 ? x : std::max(max[axis], x);
        }
    PeriodicCell cell;
    for (std::size_t axis = 0; axis < 3; ++axis)
        cell.vectors[axis][axis] = max[axis] - min[axis] + 3 * cutoff + 2;
    return cell;
}

class Bins {
public:
    Bins(const Lattice& lattice, double cutoff, std::size_t atoms) : lattice_(lattice) {
        // No more bins than atoms are of use.
        const double max_bins = std::max(1.0, std::cbrt(static_cast<double>(atoms)) + 1);
        for (std::size_t axis = 0; axis < 3; ++axis)
            count_[axis] = static_cast<Index>(
                std::clamp(std::floor(lattice.height() / cutoff), 1.0, max_bins));
        atoms_.resize(static_cast<std::size_t>(count_[0] * count_[1] * count_[2]));
    }

    std::array<Index, 3> bin_of(const Point& point) const {
        const Point fraction = lattice_.fractions(point);
        std::array<Index, 3> bin{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double inside = fraction[axis] - std::floor(fraction[axis]);
            bin[axis] = std::min(count_[axis] - 1,
                                 static_cast<Index>(inside * static_cast<double>(count_[axis])));
        }
        return bin;
    }

    std::vector<Index>& at(const std::array<Index, 3>& bin) {
        return atoms_[static_cast<std::size_t>((bin[0] * count_[1] + bin[1]) * count_[2] + bin[2])];
    }

    /// A bin and its neighbours along an axis, each once.
    std::vector<Index> around(Index bin, std::size_t axis) const {
        const Index n = count_[axis];
        std::vector<Index> all = {(bin + n - 1) % n, bin, (bin + 1) % n};
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }

private:
    const Lattice& lattice_;
    std::array<Index, 3> count_{};
    std::vector<std::vector<Index>> atoms_;
};

}  // namespace

void for_each_near_pair(const std::vector<Point>& positions, const PeriodicCell& cell,
                        const std::vector<Index>& from, const std::vector<Index>& to, double cutoff,
                        const std::function<void(Index, Index, double)>& visit) {
    const Lattice lattice(cell.exists() ? cell : wide_cell(positions, cutoff));
    Bins bins(lattice, cutoff, to.size());
    const auto position = [&](Index atom) { return positions[static_cast<std::size_t>(atom)]; };
    for (const Index atom : to) bins.at(bins.bin_of(position(atom))).push_back(atom);
    for (const Index one : from) {
        const std::array<Index, 3> bin = bins.bin_of(position(one));
        for (const Index x : bins.around(bin[0], 0))
            for (const Index y : bins.around(bin[1], 1))
                for (const Index z : bins.around(bin[2], 2))
                    for (const Index other : bins.at({x, y, z})) {
                        if (other == one) continue;
                        const double distance =
                            lattice.images(position(other) - position(one)).distance;
                        if (distance < cutoff) visit(one, other, distance);
                    }
    }
}

}  // namespace pleat
