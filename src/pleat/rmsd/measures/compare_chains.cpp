// RMSD over permutations of equal chains: blocks of covariances, a search with a bound,
// relabelling.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/measures/chain_permutations.h"
#include "pleat/rmsd/superposition/superpose.h"

namespace pleat::rmsd {

namespace {

using Covariance = std::array<double, 9>;

/// Adds the covariance of some atoms of two frames [axis, atom], which begin `stride` apart.
void add_covariance(const double* p, const double* q, Index atoms, Index stride, Covariance& r) {
    for (Index a = 0; a < 3; ++a)
        for (Index b = 0; b < 3; ++b) {
            double sum = 0.0;
            for (Index k = 0; k < atoms; ++k) sum += p[a * stride + k] * q[b * stride + k];
            r[static_cast<std::size_t>(3 * a + b)] += sum;
        }
}

double square_of(const Covariance& r) {
    double sum = 0.0;
    for (const double entry : r) sum += entry * entry;
    return sum;
}

/// The largest eigenvalue of the key matrix, the largest root of its polynomial, by Newton from
/// above, where it falls towards the root; below `limit` wherever it is. Error: 1e-7 of it.
double largest_root(const Covariance& r, double square, double limit) {
    double minors = 0.0, determinant = 0.0;
    for (std::size_t a = 0; a < 3; ++a) {
        const std::size_t u = 3 * ((a + 1) % 3), v = 3 * ((a + 2) % 3);
        for (std::size_t b = 0; b < 3; ++b) {
            const std::size_t s = (b + 1) % 3, t = (b + 2) % 3;
            const double minor = r[u + s] * r[v + t] - r[u + t] * r[v + s];
            minors += minor * minor;
            if (a == 0) determinant += r[b] * minor;
        }
    }
    double x = std::sqrt(3.0 * square);
    constexpr int kMaxRounds = 60;  // a root of two is approached by half each round
    for (int n = 0; n < kMaxRounds && x >= limit; ++n) {
        const double t = x * x - square;
        const double step =
            (t * t - 8.0 * determinant * x - 4.0 * minors) / (4.0 * x * t - 8.0 * determinant);
        if (!std::isfinite(step)) break;
        x -= step;
        if (!(std::fabs(step) > 1e-8 * x)) break;
    }
    return x;
}

/// Goes through all permutations of one pair and keeps those that may be the best.
class Search {
public:
    struct Candidate {
        double root;
        ChainPermutation permutation;
    };

    Search(const ChainOrder& order, const double* p, const double* q, double margin)
        : order_(order), margin_(margin), chosen_(static_cast<std::size_t>(order.chains)) {
        const auto atoms = static_cast<Index>(order.order.size());
        for (const ChainOrder::Group& group : order.groups)
            for (Index a = 0; a < group.chains; ++a)
                for (Index b = 0; b < group.chains; ++b)
                    add_covariance(p + group.first + a * group.atoms,
                                   q + group.first + b * group.atoms, group.atoms, atoms,
                                   blocks_.emplace_back());
        Covariance others{};
        add_covariance(p + order.others, q + order.others, atoms - order.others, atoms, others);
        visit(0, 0, 0, 0, 0, others);
    }

    /// Those whose root is within the margin of the largest.
    std::vector<Candidate> candidates() && {
        std::erase_if(candidates_,
                      [&](const Candidate& one) { return one.root < best_ - margin_; });
        return std::move(candidates_);
    }

private:
    /// Chooses the place of chain `chain` of a group. `used`: bits of the places that are taken;
    /// `first`: the group's first chain among all, `block`: its first block.
    void visit(std::size_t group, Index chain, unsigned used, Index first, Index block,
               const Covariance& sum) {
        if (group == order_.groups.size()) return keep(sum);
        const Index chains = order_.groups[group].chains;
        if (chain == chains)
            return visit(group + 1, 0, 0, first + chains, block + chains * chains, sum);
        for (Index place = 0; place < chains; ++place) {
            if ((used >> place & 1U) != 0) continue;
            chosen_[static_cast<std::size_t>(first + chain)] = static_cast<std::int8_t>(place);
            const Covariance& added =
                blocks_[static_cast<std::size_t>(block + chain * chains + place)];
            Covariance next = sum;
            for (std::size_t n = 0; n < 9; ++n) next[n] += added[n];
            visit(group, chain + 1, used | 1U << place, first, block, next);
        }
    }

    void keep(const Covariance& sum) {
        const double square = square_of(sum), limit = best_ - margin_;
        if (3.0 * square < limit * limit && limit > 0) return;
        const double root = largest_root(sum, square, limit);
        if (root < limit) return;
        best_ = std::max(best_, root);
        candidates_.push_back({root, chosen_});
    }

    const ChainOrder& order_;
    double margin_, best_ = 0.0;  // no key matrix has a negative largest eigenvalue: its trace is 0
    std::vector<Covariance> blocks_;  // [group][chain of p][chain of q]
    ChainPermutation chosen_;
    std::vector<Candidate> candidates_;
};

/// All permutations, in the order of the search.
std::vector<ChainPermutation> all_permutations(const ChainOrder& order) {
    std::vector<ChainPermutation> all{{}};
    for (const ChainOrder::Group& group : order.groups) {
        ChainPermutation places(static_cast<std::size_t>(group.chains));
        for (std::size_t n = 0; n < places.size(); ++n) places[n] = static_cast<std::int8_t>(n);
        std::vector<ChainPermutation> longer;
        do {
            for (const ChainPermutation& before : all) {
                longer.push_back(before);
                longer.back().insert(longer.back().end(), places.begin(), places.end());
            }
        } while (std::next_permutation(places.begin(), places.end()));
        all = std::move(longer);
    }
    return all;
}

/// Calls visit(position, other) for each position of an atom and that whose place it takes.
template <class Visit>
void for_each_position(const ChainOrder& order, const ChainPermutation& permutation,
                       const Visit& visit) {
    std::size_t chain = 0;
    for (const ChainOrder::Group& group : order.groups)
        for (Index a = 0; a < group.chains; ++a, ++chain)
            for (Index k = 0; k < group.atoms; ++k)
                visit(group.first + a * group.atoms + k,
                      group.first + permutation[chain] * group.atoms + k);
    for (auto k = order.others; k < static_cast<Index>(order.order.size()); ++k) visit(k, k);
}

}  // namespace

ChainOrder::ChainOrder(const AtomSets& sets, Index atoms) {
    std::vector<std::uint8_t> is_in_group(static_cast<std::size_t>(atoms));
    for (const auto& group : sets.equal_chains) {
        groups.push_back({static_cast<Index>(order.size()),
                          static_cast<Index>(group.front().size()),
                          static_cast<Index>(group.size())});
        chains += groups.back().chains;
        for (const std::vector<Index>& chain : group)
            for (const Index atom : chain) {
                order.push_back(atom);
                is_in_group[static_cast<std::size_t>(atom)] = 1;
            }
    }
    others = static_cast<Index>(order.size());
    for (Index atom = 0; atom < atoms; ++atom)
        if (!is_in_group[static_cast<std::size_t>(atom)]) order.push_back(atom);
}

ChainRmsd::ChainRmsd(FrameSet frames, ChainOrder order, Index first_row, bool is_reference)
    : frames_(std::move(frames)),
      order_(std::move(order)),
      first_row_(first_row),
      is_reference_(is_reference) {}

double ChainRmsd::cost() const {
    double permutations = 1.0, products = static_cast<double>(frames_->atom_count());
    for (const ChainOrder::Group& group : order_.groups) {
        permutations *= std::tgamma(static_cast<double>(group.chains) + 1);
        products += static_cast<double>(group.atoms * group.chains * group.chains);
    }
    return 1000.0 + 8.0 * products + 60.0 * permutations;
}

double ChainRmsd::residual(const double* p, const double* q,
                           const ChainPermutation& permutation) const {
    const Index atoms = frames_->atom_count();
    std::vector<double> turned(static_cast<std::size_t>(3 * atoms));
    for_each_position(order_, permutation, [&](Index to, Index from) {
        for (Index axis = 0; axis < 3; ++axis)
            turned[static_cast<std::size_t>(axis * atoms + to)] = q[axis * atoms + from];
    });
    return superposed_residual(p, turned.data(), atoms);
}

double ChainRmsd::value(Index row, Index column, ChainPermutation* best) const {
    const double* p = frames_->frame(first_row_ + row);
    const double* q = frames_->frame(column);
    const double squares =
        frames_->square_sum.data()[first_row_ + row] + frames_->square_sum.data()[column];
    std::vector<Search::Candidate> candidates;
    if (is_reference_)
        for (ChainPermutation& permutation : all_permutations(order_))
            candidates.push_back({0.0, std::move(permutation)});
    else
        candidates = Search(order_, p, q, 0.5e-6 * squares).candidates();
    double min_sum = -1.0;
    for (const Search::Candidate& one : candidates) {
        const double sum = residual(p, q, one.permutation);
        if (min_sum >= 0 && !(sum < min_sum)) continue;
        min_sum = sum;
        if (best != nullptr) *best = one.permutation;
    }
    return std::sqrt(min_sum / frames_->weight);
}

void ChainRmsd::block(Block rows, Block columns, float* values) const {
    for (Index i = rows.first; i < rows.first + rows.count; ++i)
        for (Index j = columns.first; j < columns.first + columns.count; ++j)
            *values++ = static_cast<float>(value(i, j));
}

double permutation_count(const AtomSets& sets) {
    double count = 1.0;
    for (const auto& group : sets.equal_chains)
        count *= std::tgamma(static_cast<double>(group.size()) + 1);
    return std::round(count);
}

Index relabel_chains(View<float, 3> xyz, View<const float, 2> reference, const AtomSets& sets,
                     const Context& context) {
    check(sets, xyz.extent(1));
    const View<const float, 3> one(reference.data, Index{1}, reference.extent(0), Index{3});
    check_coordinates(one, "reference");
    const ChainOrder order(sets, xyz.extent(1));
    std::atomic<Index> changed = 0;
    parallel_for(resolve_threads(context), xyz.extent(0), [&](Index i, int) {
        const View<const float, 3> frame(xyz[i].data, Index{1}, xyz.extent(1), Index{3});
        const ChainRmsd both(owned(centre_in_order({one, frame}, order, sets.weights, 1)), order, 1,
                             context.device.kind == Device::Kind::reference);
        ChainPermutation best;
        both.value(0, 0, &best);
        const std::vector<float> before(xyz[i].data, xyz[i].data + 3 * xyz.extent(1));
        bool is_changed = false;
        // Chain k of the frame takes the place of chain best[k] of the reference.
        for_each_position(order, best, [&](Index from, Index to) {
            is_changed = is_changed || from != to;
            const Index source = order.order[static_cast<std::size_t>(from)],
                        target = order.order[static_cast<std::size_t>(to)];
            for (Index axis = 0; axis < 3; ++axis)
                xyz(i, target, axis) = before[static_cast<std::size_t>(3 * source + axis)];
        });
        if (is_changed) ++changed;
    });
    return changed;
}

}  // namespace pleat::rmsd
