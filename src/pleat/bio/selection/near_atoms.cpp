// Near atoms: a tree of the atoms that others are near to.
#include "pleat/bio/selection/near_atoms.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "pleat/bio/periodic/point_tree.h"
#include "pleat/core/error.h"

namespace pleat::selection {

Flags near_flags(const Topology& topology, const Flags& others, double distance) {
    if (topology.positions.size() != topology.atoms.size())
        throw InputError(topology.source.string(), 0,
                         "expected coordinates of the topology for distances, found none");
    for (const Point& point : topology.positions)
        if (!std::all_of(point.begin(), point.end(), [](double x) { return std::isfinite(x); }))
            throw InputError(topology.source.string(), 0,
                             "expected finite coordinates for distances, found others");
    std::vector<Point> points;
    for (std::size_t n = 0; n < others.size(); ++n)
        if (others[n]) points.push_back(topology.positions[n]);
    const PointTree tree(points);
    Flags near(others.size());
    for (std::size_t n = 0; n < near.size(); ++n)
        near[n] = others[n] || tree.has_near(topology.positions[n], distance);
    return near;
}

}  // namespace pleat::selection
