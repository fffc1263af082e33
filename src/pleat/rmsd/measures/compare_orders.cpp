// RMSD over orders of superposed atoms: ligands fitted on themselves, flips within the fit.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/measures/order_search.h"
#include "pleat/rmsd/superposition/superpose.h"

namespace pleat::rmsd {

namespace {

/// Computes each pair in float64.
class OrdersRmsd final : public Comparison {
public:
    OrdersRmsd(FrameSet frames, OrderGroups groups, Index first_row, bool allows_unproven,
               bool is_reference)
        : frames_(std::move(frames)),
          groups_(std::move(groups)),
          first_row_(first_row),
          allows_unproven_(allows_unproven) {
        std::vector<std::uint8_t> is_in_group(static_cast<std::size_t>(frames_->atom_count()));
        double choices = 1.0;
        for (const auto& group : groups_) {
            choices *= static_cast<double>(group.size());
            for (const Index atom : group.front()) is_in_group[static_cast<std::size_t>(atom)] = 1;
        }
        for (Index atom = 0; atom < frames_->atom_count(); ++atom)
            if (is_in_group[static_cast<std::size_t>(atom)] == 0) others_.push_back(atom);
        tries_all_ = is_reference && choices <= static_cast<double>(kMaxOrders);
    }

    double cost() const override {
        double work = 9.0 * static_cast<double>(frames_->atom_count()), orders = 0.0;
        for (const auto& group : groups_) {
            orders += static_cast<double>(group.size());
            work += 9.0 * static_cast<double>(group.size() * group.front().size());
        }
        return 2000.0 + work + 60.0 * orders;
    }

    void block(Block rows, Block columns, float* values) const override {
        for (Index i = rows.first; i < rows.first + rows.count; ++i)
            for (Index j = columns.first; j < columns.first + columns.count; ++j)
                *values++ = static_cast<float>(value(i, j));
    }

    Index unproven() const override { return unproven_; }

    /// The RMSD of a row and a column. `best` (may be null): the orders of the column's groups.
    double value(Index row, Index column, OrderChoice* best = nullptr) const {
        const double* p = frames_->frame(first_row_ + row);
        const double* q = frames_->frame(column);
        const double squares =
            frames_->square_sum.data()[first_row_ + row] + frames_->square_sum.data()[column];
        const OrderCandidates found =
            tries_all_
                ? OrderCandidates{.choices = all_choices()}
                : find_orders(groups_, others_, p, q, frames_->atom_count(), 0.5e-6 * squares);
        if (!found.is_proven && !allows_unproven_)
            throw InputError(fmt::format(
                "expected one order of the equivalent atoms that is proven to be the best for each "
                "pair of frames, found a pair{} with more than {} doubtful ones: compare with "
                "--reference, or superpose other atoms, such as the backbone",
                first_row_ == 0 ? fmt::format(" ({} and {})", row, column) : "", kMaxOrders));
        if (!found.is_proven) ++unproven_;
        double min_sum = -1.0;
        for (const OrderChoice& choice : found.choices) {
            const double sum = residual(p, q, choice);
            if (min_sum >= 0 && !(sum < min_sum)) continue;
            min_sum = sum;
            if (best != nullptr) *best = choice;
        }
        return std::sqrt(min_sum / frames_->weight);
    }

private:
    std::vector<OrderChoice> all_choices() const {
        std::vector<OrderChoice> all{{}};
        for (const auto& group : groups_) {
            std::vector<OrderChoice> longer;
            for (const OrderChoice& before : all)
                for (std::size_t n = 0; n < group.size(); ++n) {
                    longer.push_back(before);
                    longer.back().push_back(static_cast<std::int32_t>(n));
                }
            all = std::move(longer);
        }
        return all;
    }

    double residual(const double* p, const double* q, const OrderChoice& choice) const {
        const Index atoms = frames_->atom_count();
        std::vector<double> placed(q, q + 3 * atoms);
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const std::vector<Index>&to = groups_[g].front(),
                  &from = groups_[g][static_cast<std::size_t>(choice[g])];
            for (std::size_t k = 0; k < to.size(); ++k)
                for (Index axis = 0; axis < 3; ++axis)
                    placed[static_cast<std::size_t>(axis * atoms + to[k])] =
                        q[axis * atoms + from[k]];
        }
        return superposed_residual(p, placed.data(), atoms);
    }

    FrameSet frames_;
    OrderGroups groups_;
    std::vector<Index> others_;  // atoms of no group
    Index first_row_;
    bool allows_unproven_, tries_all_ = false;
    mutable std::atomic<Index> unproven_ = 0;
};

}  // namespace

double order_count(const AtomSets& sets) {
    double count = 1.0;
    for (const auto& group : sets.equal_orders) count *= static_cast<double>(group.size());
    return count;
}

void relabel_orders(View<float, 3> xyz, View<const float, 2> reference, const AtomSets& sets,
                    const Context& context) {
    check(sets, xyz.extent(1));
    if (!sets.fit.empty() || !sets.measured.empty() || sets.in_place)
        throw UsageError("expected all atoms superposed and measured to give them one order");
    const Index atoms = xyz.extent(1);
    parallel_for(resolve_threads(context), xyz.extent(0), [&](Index i, int) {
        Array<float, 3> both(Index{2}, atoms, Index{3});
        std::copy(reference.begin(), reference.end(), both.data());
        std::copy_n(xyz[i].data, 3 * atoms, both.data() + 3 * atoms);
        const OrdersRmsd rmsd(owned(centre(both, sets.weights, 1)), sets.equal_orders, 0, true,
                              context.device.kind == Device::Kind::reference);
        OrderChoice best;
        rmsd.value(0, 1, &best);
        for (std::size_t g = 0; g < best.size(); ++g)
            for (std::size_t k = 0; k < sets.equal_orders[g].front().size(); ++k)
                for (Index axis = 0; axis < 3; ++axis)
                    xyz(i, sets.equal_orders[g].front()[k], axis) =
                        both(1, sets.equal_orders[g][static_cast<std::size_t>(best[g])][k], axis);
    });
}

std::unique_ptr<Comparison> make_orders_rmsd(FrameSet frames, OrderGroups equal_orders,
                                             Index first_row, bool allows_unproven,
                                             const Context& context) {
    return std::make_unique<OrdersRmsd>(std::move(frames), std::move(equal_orders), first_row,
                                        allows_unproven,
                                        context.device.kind == Device::Kind::reference);
}

}  // namespace pleat::rmsd
