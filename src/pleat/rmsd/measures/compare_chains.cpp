// RMSD over permutations of equal chains: the residuals of those that may be the best, relabelling.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/measures/chain_permutations.h"
#include "pleat/rmsd/measures/chain_search.h"
#include "pleat/rmsd/superposition/superpose.h"

namespace pleat::rmsd {

namespace {

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

ChainRmsd::ChainRmsd(FrameSet frames, ChainOrder order, Index first_row, bool allows_unproven,
                     bool is_reference)
    : frames_(std::move(frames)),
      order_(std::move(order)),
      first_row_(first_row),
      allows_unproven_(allows_unproven) {
    tries_all_ = is_reference && permutations() <= kMaxPermutations;
}

double ChainRmsd::permutations() const {
    double count = 1.0;
    for (const ChainOrder::Group& group : order_.groups)
        count *= std::tgamma(static_cast<double>(group.chains) + 1);
    return std::round(count);
}

double ChainRmsd::cost() const {
    double products = static_cast<double>(frames_->atom_count());
    for (const ChainOrder::Group& group : order_.groups)
        products += static_cast<double>(group.atoms * group.chains * group.chains);
    // Of more permutations most are never tried.
    return 1000.0 + 8.0 * products + 60.0 * std::min(permutations(), 2 * kMaxPermutations);
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
    // A value that need not be proven is not worth a minute.
    constexpr std::int64_t kFewNodes = 10'000;
    const ChainLimits limits{.nodes = allows_unproven_ ? kFewNodes : kMaxNodes};
    const ChainCandidates found = tries_all_
                                      ? ChainCandidates{.permutations = all_permutations(order_)}
                                      : find_chains(order_, p, q, 0.5e-6 * squares, limits);
    if (!found.is_proven && !allows_unproven_)
        throw InputError(fmt::format(
            "expected one permutation of {} that is proven to be the best for each pair of frames, "
            "found a pair{} where {} partial ones do not decide: compare with --reference, "
            "take --relabel, or select fewer chains",
            permutations(), first_row_ == 0 ? fmt::format(" ({} and {})", row, column) : "",
            kMaxNodes));
    if (!found.is_proven) ++unproven_;
    double min_sum = -1.0;
    for (const ChainPermutation& permutation : found.permutations) {
        const double sum = residual(p, q, permutation);
        if (min_sum >= 0 && !(sum < min_sum)) continue;
        min_sum = sum;
        if (best != nullptr) *best = permutation;
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

Relabelled relabel_chains(View<float, 3> xyz, View<const float, 2> reference, const AtomSets& sets,
                          const Context& context) {
    check(sets, xyz.extent(1));
    const View<const float, 3> one(reference.data, Index{1}, reference.extent(0), Index{3});
    check_coordinates(one, "reference");
    const ChainOrder order(sets, xyz.extent(1));
    std::atomic<Index> changed = 0, unproven = 0;
    parallel_for(resolve_threads(context), xyz.extent(0), [&](Index i, int) {
        const View<const float, 3> frame(xyz[i].data, Index{1}, xyz.extent(1), Index{3});
        const ChainRmsd both(owned(centre_in_order({one, frame}, order, sets.weights, 1)), order, 1,
                             true, context.device.kind == Device::Kind::reference);
        ChainPermutation best;
        both.value(0, 0, &best);
        unproven += both.unproven();
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
    return {changed, unproven};
}

}  // namespace pleat::rmsd
