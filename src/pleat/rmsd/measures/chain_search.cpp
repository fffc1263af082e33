// Chain search: all permutations, or branch and bound from a good one.
#include "pleat/rmsd/measures/chain_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "pleat/rmsd/measures/covariance_root.h"
#include "pleat/rmsd/superposition/rotation.h"

namespace pleat::rmsd {

namespace {

std::size_t at(Index n) { return static_cast<std::size_t>(n); }

class ChainSearch {
public:
    ChainSearch(const ChainOrder& order, const double* p, const double* q, double margin,
                const ChainLimits& limits)
        : order_(order), margin_(margin), max_nodes_(limits.nodes), chosen_(at(order.chains)) {
        const auto atoms = static_cast<Index>(order.order.size());
        double permutations = 1.0;
        for (const ChainOrder::Group& group : order.groups) {
            permutations *= std::tgamma(static_cast<double>(group.chains) + 1);
            first_block_.push_back(static_cast<Index>(blocks_.size()));
            for (Index a = 0; a < group.chains; ++a)
                for (Index b = 0; b < group.chains; ++b)
                    add_covariance(p + group.first + a * group.atoms,
                                   q + group.first + b * group.atoms, group.atoms, atoms,
                                   blocks_.emplace_back());
        }
        add_covariance(p + order.others, q + order.others, atoms - order.others, atoms, others_);
        has_bound_ = permutations > limits.tried;
    }

    ChainCandidates find() {
        ChainCandidates found;
        if (has_bound_) start();
        visit({.left = order_.chains, .sum = others_});
        found.is_proven = nodes_ <= max_nodes_;
        if (!found.is_proven) {
            const auto best = std::max_element(candidates_.begin(), candidates_.end());
            found.permutations = {best == candidates_.end() ? start_ : best->second};
            return found;
        }
        for (auto& [root, permutation] : candidates_)
            if (root >= best_ - margin_) found.permutations.push_back(std::move(permutation));
        return found;
    }

private:
    /// The chains of the first groups, and some of the next, are placed.
    struct Node {
        std::size_t group = 0;
        Index chain = 0;         ///< of the group, the next to place
        std::uint64_t used = 0;  ///< bits of the group's places that are taken
        Index first = 0;         ///< the group's first chain among all
        Index left = 0;          ///< chains that are not placed
        Covariance sum;
    };

    const Covariance& block(std::size_t group, Index chain, Index place) const {
        return blocks_[at(first_block_[group] + chain * order_.groups[group].chains + place)];
    }

    void visit(const Node& node) {
        if (node.group == order_.groups.size()) return keep(node.sum);
        const Index chains = order_.groups[node.group].chains;
        if (node.chain == chains)
            return visit({.group = node.group + 1,
                          .first = node.first + chains,
                          .left = node.left,
                          .sum = node.sum});
        if (has_bound_ && (++nodes_ > max_nodes_ || !can_be_best(node))) return;
        for (Index place = 0; place < chains; ++place) {
            if ((node.used >> place & 1U) != 0) continue;
            chosen_[at(node.first + node.chain)] = static_cast<std::int8_t>(place);
            Node next = node;
            ++next.chain;
            --next.left;
            next.used |= std::uint64_t{1} << place;
            next.sum = node.sum + block(node.group, node.chain, place);
            visit(next);
        }
    }

    /// Whether the bound of a partial placement reaches the best so far.
    bool can_be_best(const Node& node) const {
        Covariance share = node.sum;
        for (double& entry : share) entry /= static_cast<double>(node.left);
        const double limit = best_ - margin_;
        double by_chain = 0.0, by_place = 0.0;
        for (std::size_t g = node.group; g < order_.groups.size(); ++g) {
            const Index chains = order_.groups[g].chains;
            const Index first = g == node.group ? node.chain : 0;
            const std::uint64_t used = g == node.group ? node.used : 0;
            std::vector<double> of_place(at(chains), 0.0);
            for (Index a = first; a < chains; ++a) {
                double highest = 0.0;
                for (Index b = 0; b < chains; ++b) {
                    if ((used >> b & 1U) != 0) continue;
                    const Covariance r = share + block(g, a, b);
                    const double root = largest_root(r, 0.0);
                    highest = std::max(highest, root);
                    of_place[at(b)] = std::max(of_place[at(b)], root);
                }
                by_chain += highest;
            }
            for (const double root : of_place) by_place += root;
        }
        // Roots have an error of 1e-7.
        return std::min(by_chain, by_place) * (1 + 1e-6) >= limit;
    }

    void keep(const Covariance& sum) {
        const double square = square_of(sum), limit = best_ - margin_;
        if (3.0 * square < limit * limit && limit > 0) return;
        const double root = largest_root(sum, limit);
        if (root < limit) return;
        best_ = std::max(best_, root);
        candidates_.emplace_back(root, chosen_);
    }

    /// Sets start_ and best_ by following the superpositions of single chains.
    void start() {
        for (std::size_t g = 0; g < order_.groups.size(); ++g)
            for (Index a = 0; a < order_.groups[g].chains; ++a)
                for (Index b = 0; b < order_.groups[g].chains; ++b)
                    follow(others_ + block(g, a, b));
    }

    void follow(Covariance sum) {
        ChainPermutation before;
        constexpr int kMaxRounds = 50;
        for (int round = 0; round < kMaxRounds; ++round) {
            double covariance[9], m[9];
            std::copy(sum.begin(), sum.end(), covariance);
            rotation_of_covariance(covariance, m);
            ChainPermutation places;
            sum = others_;
            for (std::size_t g = 0; g < order_.groups.size(); ++g) {
                const Index chains = order_.groups[g].chains;
                std::vector<std::vector<double>> reached(at(chains),
                                                         std::vector<double>(at(chains)));
                for (Index a = 0; a < chains; ++a)
                    for (Index b = 0; b < chains; ++b)
                        for (std::size_t i = 0; i < 3; ++i)
                            for (std::size_t j = 0; j < 3; ++j)
                                reached[at(a)][at(b)] += m[3 * i + j] * block(g, a, b)[3 * j + i];
                const std::vector<Index> of_group = best_assignment(reached);
                for (Index a = 0; a < chains; ++a) {
                    places.push_back(static_cast<std::int8_t>(of_group[at(a)]));
                    sum = sum + block(g, a, of_group[at(a)]);
                }
            }
            if (std::exchange(before, places) == places) break;
        }
        const double root = largest_root(sum, 0.0);
        if (root <= best_ && !start_.empty()) return;
        best_ = std::max(best_, root);
        start_ = before;
    }

    const ChainOrder& order_;
    double margin_, best_ = 0.0;  // no key matrix has a negative largest eigenvalue: its trace is 0
    bool has_bound_ = false;
    std::int64_t max_nodes_, nodes_ = 0;
    Covariance others_{};
    std::vector<Index> first_block_;  // [group]
    std::vector<Covariance> blocks_;  // [group][chain of p][chain of q]
    ChainPermutation chosen_, start_;
    std::vector<std::pair<double, ChainPermutation>> candidates_;
};

}  // namespace

std::vector<Index> best_assignment(const std::vector<std::vector<double>>& values) {
    // Shortest paths with potentials; row and column 0 stand for none.
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

ChainCandidates find_chains(const ChainOrder& order, const double* p, const double* q,
                            double margin, const ChainLimits& limits) {
    return ChainSearch(order, p, q, margin, limits).find();
}

}  // namespace pleat::rmsd
