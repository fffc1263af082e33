// Permutation search: following superpositions, branch and bound over chains, and bounds of how far
// another choice of orders can turn.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "pleat/rmsd/measures/permutations.h"
#include "pleat/rmsd/superposition/superpose.h"

namespace pleat::rmsd {

namespace {

Covariance operator+(Covariance one, const Covariance& other) {
    for (std::size_t n = 0; n < 9; ++n) one[n] += other[n];
    return one;
}

/// The largest eigenvalue of the key matrix, with relative error 1e-7; if it is below `limit`, any
/// number below `limit`.
double largest_root(const Covariance& r, double limit) {
    return Quartic(r.data()).root_above(limit);
}

using Rotation = Covariance;  // [row][column]

Rotation rotation_for(const Covariance& r) {
    double covariance[9], rotation[9];
    std::ranges::copy(r, covariance);
    rotation_of_covariance(covariance, rotation);
    Rotation m;
    std::copy(rotation, rotation + 9, m.begin());
    return m;
}

/// The covariance of turned atoms.
Covariance turned(const Rotation& m, const Covariance& r) {
    Covariance n{};
    for (std::size_t b = 0; b < 3; ++b)
        for (std::size_t c = 0; c < 3; ++c)
            for (std::size_t a = 0; a < 3; ++a) n[3 * b + c] += m[3 * b + a] * r[3 * a + c];
    return n;
}

double trace(const Covariance& n) { return n[0] + n[4] + n[8]; }

/// The trace of turned().
double turned_trace(const Rotation& m, const Covariance& r) {
    double sum = 0.0;
    for (std::size_t b = 0; b < 3; ++b)
        for (std::size_t a = 0; a < 3; ++a) sum += m[3 * b + a] * r[3 * a + b];
    return sum;
}

double axial_norm(const Covariance& n) { return std::hypot(n[5] - n[7], n[6] - n[2], n[1] - n[3]); }

/// Norm and largest eigenvalue of the symmetric part.
double symmetric_norm(const Covariance& n) {
    const double xy = n[1] + n[3], xz = n[2] + n[6], yz = n[5] + n[7];
    return std::sqrt(n[0] * n[0] + n[4] * n[4] + n[8] * n[8] + (xy * xy + xz * xz + yz * yz) / 2);
}

double largest_eigenvalue(const Covariance& n) {
    const double xy = (n[1] + n[3]) / 2, xz = (n[2] + n[6]) / 2, yz = (n[5] + n[7]) / 2;
    const double mean = trace(n) / 3;
    const double x = n[0] - mean, y = n[4] - mean, z = n[8] - mean;
    const double off = xy * xy + xz * xz + yz * yz;
    const double size = std::sqrt((x * x + y * y + z * z + 2 * off) / 6);
    if (!(size > 0)) return mean;
    const double determinant =
        x * (y * z - yz * yz) - xy * (xy * z - yz * xz) + xz * (xy * yz - y * xz);
    const double cosine = std::clamp(determinant / (2 * size * size * size), -1.0, 1.0);
    return mean + 2 * size * std::cos(std::acos(cosine) / 3);
}

/// Upper bound of the gain of another order of one group after a further rotation.
struct Change {
    double trace, symmetric, axial;
    /// The gain over angles whose 1 - cos and sin are at most these values.
    double gain(double versine, double sine) const {
        return trace + std::max(symmetric - trace, 0.0) * versine + axial * sine;
    }
};

class PlaceSearch {
public:
    PlaceSearch(const PlaceTable& table, const double* p, const double* q, Index atoms,
                double margin)
        : table_(table), margin_(margin) {
        for (const PlaceTable::Atoms& block : table.blocks)
            blocks_.push_back(covariance_of(block, p, q, atoms));
        for (const PlaceTable::Group& group : table.groups) {
            possible_.emplace_back(static_cast<std::size_t>(group.places));
            std::iota(possible_.back().begin(), possible_.back().end(), std::int32_t{0});
        }
    }

    PlaceCandidates find(const SearchLimits& limits) {
        constexpr double kFew = 64;
        PlaceCandidates found;
        const bool are_chains = table_.are_chains;
        if (table_.permutations() > limits.tried.value_or(are_chains ? kMaxPermutations : kFew)) {
            has_bound_ = are_chains;
            max_nodes_ = limits.nodes;
            if (are_chains)
                start_from_chains();
            else
                found.is_proven = leave_doubtful();
        }
        visit({.sum = blocks_.front()});
        if (nodes_ > max_nodes_) {
            const auto best = std::ranges::max_element(candidates_);
            return {{best == candidates_.end() ? start_.choice : best->second}, false};
        }
        for (auto& [root, choice] : candidates_)
            if (root >= best_ - margin_) found.choices.push_back(std::move(choice));
        return found;
    }

private:
    /// A partial assignment: chains of the first groups, and some of the next, have places.
    struct Node {
        std::size_t group = 0;
        Index chain = 0;         ///< of the group, the next to place
        std::uint64_t used = 0;  ///< bits of the group's places that chains have taken
        Covariance sum;
    };

    /// A permutation, the rotation that led to it, and the sum of products that it reaches.
    struct Followed {
        PlaceChoice choice;
        Rotation rotation{};
        double reached = 0.0;
    };

    const Covariance& block(Index number) const { return blocks_[number]; }
    /// The index of the block of a chain at a place, or of a group in an order.
    static std::int32_t number_of(const PlaceTable::Group& group, Index chain, Index place) {
        return static_cast<std::int32_t>(group.first + chain * group.places + place);
    }

    void visit(const Node& node) {
        if (node.group == table_.groups.size()) return keep(node.sum);
        const PlaceTable::Group& group = table_.groups[node.group];
        if (has_bound_ && (++nodes_ > max_nodes_ || !can_be_best(node))) return;
        for (const std::int32_t place : possible_[node.group]) {
            if (group.chains > 1 && (node.used >> place & 1U) != 0) continue;
            const std::int32_t number = number_of(group, node.chain, place);
            Node next{.group = node.group, .chain = node.chain + 1, .used = node.used, .sum = {}};
            if (next.chain == group.chains)
                next = {.group = node.group + 1, .sum = {}};
            else
                next.used |= std::uint64_t{1} << place;
            next.sum = node.sum + block(number);
            chosen_.push_back(number);
            visit(next);
            chosen_.pop_back();
        }
    }

    /// Whether the bound of a partial placement of chains reaches the best so far.
    bool can_be_best(const Node& node) const {
        Covariance share = node.sum;
        for (double& entry : share)
            entry /= static_cast<double>(table_.depth - std::ssize(chosen_));
        const double limit = best_ - margin_;
        double by_chain = 0.0, by_place = 0.0;
        for (std::size_t g = node.group; g < table_.groups.size(); ++g) {
            const PlaceTable::Group& group = table_.groups[g];
            const Index first = g == node.group ? node.chain : 0;
            const std::uint64_t used = g == node.group ? node.used : 0;
            std::vector<double> of_place(group.places, 0.0);
            for (Index a = first; a < group.chains; ++a) {
                double highest = 0.0;
                for (Index b = 0; b < group.places; ++b) {
                    if ((used >> b & 1U) != 0) continue;
                    const double root = largest_root(share + block(number_of(group, a, b)), 0.0);
                    highest = std::max(highest, root);
                    double& of_this = of_place[b];
                    of_this = std::max(of_this, root);
                }
                by_chain += highest;
            }
            for (const double root : of_place) by_place += root;
        }
        // Roots have an error of 1e-7.
        return std::min(by_chain, by_place) * (1 + 1e-6) >= limit;
    }

    void keep(const Covariance& sum) {
        double square = 0.0;
        for (const double entry : sum) square += entry * entry;
        const double limit = best_ - margin_;
        if (3.0 * square < limit * limit && limit > 0) return;
        const double root = largest_root(sum, limit);
        if (root < limit) return;
        best_ = std::max(best_, root);
        candidates_.emplace_back(root, chosen_);
    }

    /// Alternates superposing `sum` and choosing the best places until they no longer change.
    Followed follow(Covariance sum) const {
        Followed found;
        constexpr int kMaxRounds = 50;
        for (int round = 0; round < kMaxRounds; ++round) {
            found.rotation = rotation_for(sum);
            PlaceChoice next;
            sum = blocks_.front();
            for (const PlaceTable::Group& group : table_.groups)
                for (const std::int32_t number : best_places(group, found.rotation)) {
                    next.push_back(number);
                    sum = sum + block(number);
                }
            if (std::exchange(found.choice, next) == next) break;
        }
        found.reached = turned_trace(found.rotation, sum);
        return found;
    }

    PlaceChoice best_places(const PlaceTable::Group& group, const Rotation& rotation) const {
        std::vector<std::vector<double>> reached(group.chains, std::vector<double>(group.places));
        for (Index a = 0; a < group.chains; ++a)
            for (Index b = 0; b < group.places; ++b)
                reached[a][b] = turned_trace(rotation, block(number_of(group, a, b)));
        if (!table_.are_chains) {
            const std::vector<double>& of_orders = reached.front();
            return {number_of(group, 0, std::ranges::max_element(of_orders) - of_orders.begin())};
        }
        PlaceChoice numbers;
        for (const Index place : best_assignment(reached))
            numbers.push_back(number_of(group, std::ssize(numbers), place));
        return numbers;
    }

    /// Sets start_ and best_ from the results of superposing single chains.
    void start_from_chains() {
        for (std::size_t n = 1; n < blocks_.size(); ++n) {
            Followed found = follow(blocks_.front() + blocks_[n]);
            if (found.reached <= best_ && !start_.choice.empty()) continue;
            best_ = std::max(best_, found.reached);
            start_ = std::move(found);
        }
    }

    /// For each group, the changes from its order in start_ to each of its orders.
    std::vector<std::vector<Change>> changes() const {
        std::vector<std::vector<Change>> all;
        for (std::size_t g = 0; g < table_.groups.size(); ++g) {
            all.emplace_back();
            const Covariance& chosen = block(start_.choice[g]);
            for (Index place = 0; place < table_.groups[g].places; ++place) {
                Covariance difference = block(number_of(table_.groups[g], 0, place));
                for (std::size_t n = 0; n < 9; ++n) difference[n] -= chosen[n];
                const Covariance d = turned(start_.rotation, difference);
                all.back().push_back({trace(d), symmetric_norm(d), axial_norm(d)});
            }
        }
        return all;
    }

    /// Keeps the orders of each group that the optimum may have; returns false, with one order per
    /// group, if there are too many.
    bool leave_doubtful() {
        Covariance named = blocks_.front();
        for (const PlaceTable::Group& group : table_.groups) named = named + block(group.first);
        start_ = follow(blocks_.front());
        if (Followed other = follow(named); other.reached > start_.reached)
            start_ = std::move(other);
        Covariance sum = blocks_.front();
        for (const std::int32_t number : start_.choice) sum = sum + block(number);
        const std::vector<std::vector<Change>> all = changes();
        const double widest = widest_angle(all, turned(start_.rotation, sum));
        double count = 1.0;
        for (std::size_t g = 0; g < all.size(); ++g) {
            const auto chosen =
                static_cast<std::int32_t>(start_.choice[g] - table_.groups[g].first);
            std::erase_if(possible_[g], [&](std::int32_t order) {
                const Change& change = all[g][order];
                return order != chosen &&
                       !(change.gain(1 - std::cos(widest), max_sine(0, widest)) >= -margin_);
            });
            count *= static_cast<double>(possible_[g].size());
        }
        if (count <= static_cast<double>(kMaxOrders)) return true;
        for (std::size_t g = 0; g < all.size(); ++g)
            possible_[g] = {static_cast<std::int32_t>(start_.choice[g] - table_.groups[g].first)};
        return false;
    }

    /// The maximum rotation by another choice of orders; `n`: covariance after the rotation.
    double widest_angle(const std::vector<std::vector<Change>>& all, const Covariance& n) const {
        const double loss = std::max(trace(n) - largest_eigenvalue(n), 0.0);
        const double axial = axial_norm(n);
        // Searches from large angles down for an interval in which another choice can be as good.
        constexpr double kFirst = 1e-3, kRatio = 1.25;
        double high = std::numbers::pi;
        while (high > kFirst) {
            const double low = high / kRatio;
            double gain = axial * max_sine(low, high) - (1 - std::cos(low)) * loss;
            for (const std::vector<Change>& group : all) {
                double best = 0.0;
                for (const Change& change : group)
                    best = std::max(best, change.gain(1 - std::cos(high), max_sine(low, high)));
                gain += best;
            }
            if (gain >= -margin_) break;
            high = low;
        }
        return high;
    }

    static double max_sine(double low, double high) {
        constexpr double kRight = std::numbers::pi / 2;
        return high <= kRight ? std::sin(high) : low <= kRight ? 1.0 : std::sin(low);
    }

    const PlaceTable& table_;
    double margin_, best_ = 0.0;  // no key matrix has a negative largest eigenvalue: its trace is 0
    bool has_bound_ = false;
    std::int64_t max_nodes_ = 0, nodes_ = 0;
    std::vector<Covariance> blocks_;
    std::vector<std::vector<std::int32_t>> possible_;  // [group]: places
    Followed start_;
    PlaceChoice chosen_;
    std::vector<std::pair<double, PlaceChoice>> candidates_;
};

}  // namespace

Covariance covariance_of(const PlaceTable::Atoms& block, const double* p, const double* q,
                         Index atoms) {
    double r[9] = {};
    for (std::size_t k = 0; k < block.row.size(); ++k)
        for (Index a = 0; a < 3; ++a)
            for (Index b = 0; b < 3; ++b)
                r[3 * a + b] += p[a * atoms + block.row[k]] * q[b * atoms + block.column[k]];
    return std::to_array(r);
}

std::vector<Index> best_assignment(const std::vector<std::vector<double>>& values) {
    // Shortest paths with potentials; row and column 0 mean "none".
    const std::size_t n = values.size();
    std::vector<double> of_row(n + 1), of_column(n + 1);
    std::vector<std::size_t> row_of(n + 1), before(n + 1);
    for (std::size_t row = 1; row <= n; ++row) {
        row_of[0] = row;
        std::size_t column = 0;
        std::vector<double> distance(n + 1, std::numeric_limits<double>::infinity());
        std::vector<std::uint8_t> is_done(n + 1);
        do {
            is_done[column] = 1;
            const std::size_t from = row_of[column];
            double shortest = std::numeric_limits<double>::infinity();
            std::size_t next = 0;
            for (std::size_t to = 1; to <= n; ++to) {
                if (is_done[to] != 0) continue;
                const double step = -values[from - 1][to - 1] - of_row[from] - of_column[to];
                if (step < distance[to]) {
                    distance[to] = step;
                    before[to] = column;
                }
                if (distance[to] < shortest || next == 0) {
                    shortest = distance[to];
                    next = to;
                }
            }
            for (std::size_t to = 0; to <= n; ++to) {
                if (is_done[to] != 0) {
                    of_row[row_of[to]] += shortest;
                    of_column[to] -= shortest;
                } else {
                    distance[to] -= shortest;
                }
            }
            column = next;
        } while (row_of[column] != 0);
        for (; column != 0; column = before[column]) row_of[column] = row_of[before[column]];
    }
    std::vector<Index> column_of(n);
    for (std::size_t column = 1; column <= n; ++column)
        column_of[row_of[column] - 1] = static_cast<Index>(column) - 1;
    return column_of;
}

PlaceCandidates find_places(const PlaceTable& table, const double* p, const double* q, Index atoms,
                            double margin, const SearchLimits& limits) {
    return PlaceSearch(table, p, q, atoms, margin).find(limits);
}

}  // namespace pleat::rmsd
