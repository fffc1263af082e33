// Sterics: points sorted by piece and position, close pairs of one level of balls after the other,
// and overlaps.
#include "pleat/workflows/refine/sterics/sterics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <map>

namespace pleat::refine {

namespace {

/// Adds queries of a ball with the balls [first, last).
inline void add(std::uint32_t ball, std::uint32_t first, std::uint32_t last,
                std::vector<BallQuery>& queries) {
    constexpr std::uint32_t kBlock = Balls::kBlock;
    for (; first < last; first += kBlock)
        queries.push_back({ball, first, std::min(kBlock, last - first)});
}

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

constexpr Index kNeighbours = 3;  // residues of a chain less than this apart may be close

bool is_backbone(const std::string& name) {
    return name == "N" || name == "CA" || name == "C" || name == "O" || name == "OXT";
}

/// [residue of the topology]: the heavy side chain atom nearest to the side chain's centre, -1 if
/// there is none.
std::vector<Index> side_chain_atoms(const ChainModel& model) {
    const Topology& topology = *model.topology;
    std::vector<std::vector<Index>> atoms(topology.residues.size());
    for (Index atom = 0; atom < model.atom_count(); ++atom) {
        const Topology::Atom& one = topology.atoms[atom];
        if (one.element != "H" && !is_backbone(one.name)) atoms[one.residue].push_back(atom);
    }
    std::vector<Index> nearest;
    for (const std::vector<Index>& side : atoms) {
        const auto at = [&](Index atom) { return model.start[atom]; };
        Vector centre;
        for (const Index atom : side)
            centre = centre + (1.0 / static_cast<double>(side.size())) * at(atom);
        const auto found = std::min_element(side.begin(), side.end(), [&](Index a, Index b) {
            return distance(at(a), centre) < distance(at(b), centre);
        });
        nearest.push_back(found == side.end() ? -1 : *found);
    }
    return nearest;
}

/// CA, P, C1' and the side chains of residues with CA.
std::vector<StericPoint> steric_points(const ChainModel& model) {
    const std::vector<Index> side_chains = side_chain_atoms(model);
    std::vector<StericPoint> points;
    for (const ClashPoint& point : model.points) {
        points.push_back({point.atom, point.chain, point.residue, false});
        const Topology::Atom& atom = model.topology->atoms[point.atom];
        const Index side = side_chains[atom.residue];
        if (atom.name == "CA" && side >= 0)
            points.push_back({side, point.chain, point.residue, true});
    }
    return points;
}

std::vector<Index> atoms_of(const std::vector<StericPoint>& points) {
    std::vector<Index> atoms;
    atoms.reserve(points.size());
    for (const StericPoint& point : points) atoms.push_back(point.atom);
    return atoms;
}

std::vector<Index> heavy_atoms(const ChainModel& model) {
    std::vector<Index> atoms;
    for (Index atom = 0; atom < model.atom_count(); ++atom)
        if (model.topology->atoms[atom].element != "H") atoms.push_back(atom);
    return atoms;
}

}  // namespace

/// Answers all queries before using the answers, so that nothing waits for mispredicted branches.
/// `use(ball, other)` may add queries for the next level.
template <class Use>
void ClosePairSearch::for_each_near(const Balls& balls, const Balls& others, float reach,
                                    const Use& use) {
    bits_.resize(queries_.size());
    find_near(balls, others, reach, queries_, bits_.data());
    for (std::size_t n = 0; n < queries_.size(); ++n)
        for (std::uint32_t bits = bits_[n]; bits != 0; bits &= bits - 1)
            use(queries_[n].ball,
                queries_[n].first + static_cast<std::uint32_t>(std::countr_zero(bits)));
    std::swap(queries_, next_);
    next_.clear();
}

const std::vector<std::pair<Index, Index>>& ClosePairSearch::find(const BlockedPoints& of,
                                                                  double given_reach) {
    const auto clusters = static_cast<std::uint32_t>(of.has_own_pairs.size());
    // No pair within reach may be left out: a distance and a radius have errors of a few roundings
    // of the largest number.
    constexpr float kRounding = 4e-6f;
    auto largest = static_cast<float>(given_reach);
    for (std::uint32_t n = 0; n < clusters; ++n)
        for (const float axis : {of.clusters.x[n], of.clusters.y[n], of.clusters.z[n]})
            largest = std::max(largest, std::abs(axis) + of.clusters.radius[n]);
    const float reach = static_cast<float>(given_reach) + kRounding * largest;

    pairs_.clear();
    queries_.clear();
    for (std::uint32_t n = 0; n < clusters; ++n) add(n, n + 1, clusters, queries_);
    for_each_near(of.clusters, of.clusters, reach, [&](std::uint32_t a, std::uint32_t b) {
        add(b, of.first_block[a], of.first_block[a + 1], next_);
    });
    for_each_near(of.clusters, of.blocks, reach, [&](std::uint32_t b, std::uint32_t block) {
        add(block, of.first_block[b], of.first_block[b + 1], next_);
    });
    for_each_near(of.blocks, of.blocks, reach, [&](std::uint32_t block, std::uint32_t other) {
        add(other, of.first_point[block], of.first_point[block + 1], next_);
    });
    for_each_near(of.blocks, of.points, reach, [&](std::uint32_t block, std::uint32_t point) {
        add(point, of.first_point[block], of.first_point[block + 1], next_);
    });
    for (std::uint32_t n = 0; n < clusters; ++n) {
        if (of.has_own_pairs[n] == 0) continue;
        const std::uint32_t block = of.first_block[n], last = of.first_point[block + 1];
        for (std::uint32_t point = of.first_point[block]; point < last; ++point)
            add(point, point + 1, last, queries_);
    }
    for_each_near(of.points, of.points, reach,
                  [&](std::uint32_t a, std::uint32_t b) { pairs_.emplace_back(a, b); });
    return pairs_;
}

PointSet::PointSet(const ChainModel& model, const std::vector<Index>& atoms) : atoms_(atoms) {
    add_groups(model);
    add_clusters(model);
    const std::size_t blocks = now_.first_point.size() - 1, clusters = now_.first_block.size() - 1;
    now_.points.resize_padded(atoms_.size());
    now_.blocks.resize_padded(blocks);
    now_.clusters.resize_padded(clusters);
    for (std::size_t n = 0; n < atoms_.size(); ++n) {
        start_points_.push_back(model.start[atoms_[n]]);
        now_.points.set(n, start_points_.at(n));
    }
    for (std::size_t n = 0; n < blocks; ++n)
        start_blocks_.push_back(
            enclose(start_points_, now_.first_point[n], now_.first_point[n + 1], now_.blocks, n));
    for (std::size_t n = 0; n < clusters; ++n)
        cluster_centres_at_start_.push_back(
            enclose(start_points_, now_.first_point[now_.first_block[n]],
                    now_.first_point[now_.first_block[n + 1]], now_.clusters, n));
}

void PointSet::add_groups(const ChainModel& model) {
    const auto piece_of = [&](Index atom) { return model.piece_of[atom]; };
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

/// Puts small neighbouring groups into one cluster.
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
    const auto at = [&](Index atom) { return model.start[atom]; };
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

void PointSet::set_conformation(const Conformation& conformation) {
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
            move_by(move, cluster_centres_at_start_, cluster, cluster + 1, now_.clusters);
        }
    }
}

Sterics::Sterics(const ChainModel& model, StericOptions options)
    : options_(options),
      reach_(
          std::max({options.distance, options.side_chain_to_ca, options.side_chain_to_side_chain})),
      list_(steric_points(model)),
      points_(model, atoms_of(list_)) {
    // In the order of `points_`, which sorts by piece.
    std::map<Index, StericPoint> of_atom;
    for (const StericPoint& point : list_) of_atom[point.atom] = point;
    for (Index n = 0; n < points_.size(); ++n) list_[n] = of_atom[points_.atom(n)];
    Pairs left_out;
    leave_out_neighbours(model, left_out);
    leave_out_fixed_pairs(model, left_out);
    std::sort(left_out.begin(), left_out.end());
    left_out.erase(std::unique(left_out.begin(), left_out.end()), left_out.end());
    first_left_out_.push_back(0);
    for (std::size_t n = 0, point = 0; point < list_.size(); ++point) {
        for (; n < left_out.size() && left_out[n].first == static_cast<Index>(point); ++n)
            left_out_.push_back(left_out[n].second);
        first_left_out_.push_back(left_out_.size());
    }
}

void Sterics::leave_out_neighbours(const ChainModel& model, Pairs& left_out) const {
    std::map<std::pair<Index, Index>, std::vector<Index>> points_at;  // by chain and residue
    for (std::size_t n = 0; n < list_.size(); ++n)
        points_at[{list_[n].chain, list_[n].residue}].push_back(static_cast<Index>(n));
    const auto piece = [&](Index point) { return model.piece_of[points_.atom(point)]; };
    for (std::size_t n = 0; n < list_.size(); ++n)
        for (Index apart = 0; apart < kNeighbours; ++apart) {
            const auto others = points_at.find({list_[n].chain, list_[n].residue + apart});
            if (others == points_at.end()) continue;
            const auto one = static_cast<Index>(n);
            for (const Index other : others->second)
                if (piece(one) != piece(other)) left_out.push_back(std::minmax(one, other));
        }
}

// CA of a linker's residue is on the axes of its hinges: it keeps its distance from all points of
// the pieces that these connect.
void Sterics::leave_out_fixed_pairs(const ChainModel& model, Pairs& left_out) const {
    for (const LinkerResidue& residue : model.residues) {
        const Index own = model.piece_of[residue.ca];
        std::vector<Index> pieces;
        for (const Index hinge : {residue.phi_hinge, residue.bend_hinge, residue.psi_hinge}) {
            if (hinge < 0) continue;
            pieces.push_back(hinge + 1);
            pieces.push_back(model.hinges[hinge].parent);
        }
        Index ca = 0;
        while (points_.atom(ca) != residue.ca) ++ca;
        for (Index point = 0; point < points_.size(); ++point) {
            const Index piece = model.piece_of[points_.atom(point)];
            const double reach = reach_ + 0.1;
            if (piece != own && std::find(pieces.begin(), pieces.end(), piece) != pieces.end() &&
                points_.square_distance(ca, point) < reach * reach)
                left_out.push_back(std::minmax(ca, point));
        }
    }
}

bool Sterics::is_left_out(Index a, Index b) const {
    const auto point = static_cast<std::size_t>(a);
    const Index *const first = left_out_.data() + first_left_out_[point],
                       *const last = left_out_.data() + first_left_out_[point + 1];
    return std::find(first, last, b) != last;
}

void Sterics::add(Index a, Index b, double square, OverlapEnergy& sum) const {
    const int side_chains = (list_[a].is_side_chain ? 1 : 0) + (list_[b].is_side_chain ? 1 : 0);
    const double reach = side_chains == 0   ? options_.distance
                         : side_chains == 1 ? options_.side_chain_to_ca
                                            : options_.side_chain_to_side_chain;
    if (square >= reach * reach) return;
    const double depth = reach - std::sqrt(square);
    sum.energy += options_.strength * depth * depth;
    if (side_chains == 0 && square < options_.hard_distance * options_.hard_distance)
        ++sum.hard_pairs;
}

OverlapEnergy Sterics::overlap(const Conformation& conformation) {
    points_.set_conformation(conformation);
    OverlapEnergy sum;
    points_.for_each_close_pair(
        reach_, [&](Index a, Index b) { return !is_left_out(a, b); },
        [&](Index a, Index b, double square) { add(a, b, square, sum); });
    return sum;
}

AtomOverlaps::AtomOverlaps(const ChainModel& model)
    : model_(&model), points_(model, heavy_atoms(model)) {
    const Topology& topology = *model.topology;
    std::vector<Index> number(topology.residues.size());
    for (std::size_t n = 1; n < number.size(); ++n)
        number[n] =
            number[n - 1] + (topology.residues[n].chain != topology.residues[n - 1].chain ? 2 : 1);
    residue_of_.reserve(topology.atoms.size());
    for (const Topology::Atom& atom : topology.atoms) residue_of_.push_back(number[atom.residue]);
    pairs_at_start_ = close_pairs();
}

bool AtomOverlaps::counts(Index a, Index b) const {
    const auto one = static_cast<std::size_t>(a), other = static_cast<std::size_t>(b);
    const std::vector<Topology::Atom>& atoms = model_->topology->atoms;
    return std::abs(residue_of_[one] - residue_of_[other]) > 1 &&
           !(atoms[one].element == "S" && atoms[other].element == "S");
}

std::vector<std::pair<Index, Index>> AtomOverlaps::close_pairs() {
    std::vector<std::pair<Index, Index>> pairs;
    points_.for_each_close_pair(
        kDistance, [&](Index a, Index b) { return counts(points_.atom(a), points_.atom(b)); },
        [&](Index a, Index b, double) {
            const Index one = points_.atom(a), other = points_.atom(b);
            pairs.push_back(std::minmax(one, other));
        });
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

Index AtomOverlaps::count(const Conformation& conformation) {
    points_.set_conformation(conformation);
    const std::vector<std::pair<Index, Index>> pairs = close_pairs();
    return static_cast<Index>(
        std::count_if(pairs.begin(), pairs.end(), [&](const std::pair<Index, Index>& pair) {
            return !std::binary_search(pairs_at_start_.begin(), pairs_at_start_.end(), pair);
        }));
}

}  // namespace pleat::refine
