// RMSD over permutations of equal chains and atoms: their blocks, the residuals of those that may
// be the best, relabelling.
#include "pleat/rmsd/measures/permutations.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/superposition/superpose.h"

namespace pleat::rmsd {

PlaceTable::PlaceTable(const std::vector<std::vector<std::vector<Index>>>& equal, bool has_chains,
                       Index atoms)
    : are_chains(has_chains) {
    std::vector<std::uint8_t> changes(atoms);
    blocks.emplace_back();
    for (const auto& parts : equal) {
        if (parts.size() < 2) continue;
        const auto places = std::ssize(parts);
        groups.push_back({std::ssize(blocks), has_chains ? places : 1, places});
        for (Index chain = 0; chain < groups.back().chains; ++chain)
            for (const std::vector<Index>& place : parts) blocks.push_back({parts[chain], place});
        depth += groups.back().chains;
        for (const std::vector<Index>& part : parts)
            for (const Index atom : part) changes[atom] = 1;
    }
    for (Index atom = 0; atom < atoms; ++atom)
        if (changes[atom] == 0) blocks.front().row.push_back(atom);
    blocks.front().column = blocks.front().row;
}

double PlaceTable::permutations() const {
    double count = 1.0;
    for (const Group& group : groups)
        count *= are_chains ? std::round(std::tgamma(static_cast<double>(group.chains) + 1))
                            : static_cast<double>(group.places);
    return count;
}

std::vector<PlaceChoice> PlaceTable::choices() const {
    std::vector<PlaceChoice> all{{}};
    for (const Group& group : groups)
        for (Index chain = 0; chain < group.chains; ++chain) {
            std::vector<PlaceChoice> longer;
            for (const PlaceChoice& before : all)
                for (Index place = 0; place < group.places; ++place) {
                    const bool is_taken =
                        std::any_of(before.end() - chain, before.end(), [&](std::int32_t block) {
                            return (block - group.first) % group.places == place;
                        });
                    if (is_taken) continue;
                    longer.push_back(before);
                    longer.back().push_back(
                        static_cast<std::int32_t>(group.first + chain * group.places + place));
                }
            all = std::move(longer);
        }
    return all;
}

bool can_try_all(const AtomSets& sets) {
    const bool has_orders = !sets.equal_orders.empty() && sets.are_one();
    std::size_t blocks = 1;
    for (const auto& group : has_orders ? sets.equal_orders : sets.equal_chains)
        blocks += has_orders ? group.size() : group.size() * group.size();
    return blocks <= static_cast<std::size_t>(kMaxPlaceBlocks) &&
           (has_orders ? order_count(sets) : permutation_count(sets)) <= kMaxPermutations;
}

double permutation_count(const AtomSets& sets) {
    double count = 1.0;
    for (const auto& group : sets.equal_chains)
        count *= std::tgamma(static_cast<double>(group.size()) + 1);
    return std::round(count);
}

double order_count(const AtomSets& sets) {
    double count = 1.0;
    for (const auto& group : sets.equal_orders) count *= static_cast<double>(group.size());
    return count;
}

namespace {

/// Computes the covariances of blocks once per pair. With x the largest eigenvalue of the key
/// matrix of their sum, RMSD^2 = (|p|^2 + |q|^2 - 2 x) / W, and x <= sqrt(3) |R| (Frobenius norm).
/// Newton's iteration starts at this bound, decreases towards x, and stops once it is below the
/// best x so far. Permutations within 1e-6 of the best are compared by rotated coordinates.
class PermutedRmsd final : public Comparison {
public:
    /// `is_reference`: superposes up to a few thousand permutations, without blocks and bounds.
    PermutedRmsd(FrameSet frames, PlaceTable table, Index first_row, bool allows_unproven,
                 bool is_reference)
        : frames_(std::move(frames)),
          table_(std::move(table)),
          first_row_(first_row),
          allows_unproven_(allows_unproven),
          tries_all_(is_reference && table_.permutations() <= max_tried()) {}

    void block(Block rows, Block columns, float* values) const override {
        for (Index i = rows.first; i < rows.first + rows.count; ++i)
            for (Index j = columns.first; j < columns.first + columns.count; ++j)
                *values++ = static_cast<float>(value(i, j));
    }

    double cost() const override {
        auto products = static_cast<double>(frames_->atom_count());
        for (std::size_t n = 1; n < table_.blocks.size(); ++n)
            products += static_cast<double>(table_.blocks[n].row.size());
        if (!table_.are_chains)
            return 2000.0 + 9.0 * products + 60.0 * static_cast<double>(table_.blocks.size() - 1);
        // If there are more permutations, most are never tried.
        return 1000.0 + 8.0 * products +
               60.0 * std::min(table_.permutations(), 2 * kMaxPermutations);
    }

    Index unproven() const override { return unproven_; }

    /// The RMSD of a row and a column, and by which permutation it is reached (may be null).
    double value(Index row, Index column, PlaceChoice* best = nullptr) const {
        const double* p = frames_->frame(first_row_ + row);
        const double* q = frames_->frame(column);
        const double squares =
            frames_->square_sum.data()[first_row_ + row] + frames_->square_sum.data()[column];
        // A value that need not be proven is not worth a minute.
        constexpr std::int64_t kFewNodes = 10'000;
        const PlaceCandidates found =
            tries_all_
                ? PlaceCandidates{.choices = table_.choices()}
                : find_places(table_, p, q, frames_->atom_count(), 0.5e-6 * squares,
                              {.tried = {}, .nodes = allows_unproven_ ? kFewNodes : kMaxNodes});
        if (!found.is_proven && !allows_unproven_) refuse(row, column);
        if (!found.is_proven) ++unproven_;
        double min_sum = -1.0;
        for (const PlaceChoice& choice : found.choices) {
            const double sum = residual(p, q, choice);
            if (min_sum >= 0 && !(sum < min_sum)) continue;
            min_sum = sum;
            if (best != nullptr) *best = choice;
        }
        return std::sqrt(min_sum / frames_->weight);
    }

private:
    double max_tried() const {
        return table_.are_chains ? kMaxPermutations : static_cast<double>(kMaxOrders);
    }

    [[noreturn]] void refuse(Index row, Index column) const {
        const std::string pair = first_row_ == 0 ? fmt::format(" ({} and {})", row, column) : "";
        throw InputError(
            table_.are_chains
                ? fmt::format("expected one permutation of {} that is proven to be the best for "
                              "each pair of frames, found a pair{} where {} partial ones do not "
                              "decide: compare with --reference, take --relabel, or select fewer "
                              "chains",
                              table_.permutations(), pair, kMaxNodes)
                : fmt::format("expected one order of the equivalent atoms that is proven to be the "
                              "best for each pair of frames, found a pair{} with more than {} "
                              "doubtful ones: compare with --reference, or superpose other atoms, "
                              "such as the backbone",
                              pair, kMaxOrders));
    }

    double residual(const double* p, const double* q, const PlaceChoice& choice) const {
        const Index atoms = frames_->atom_count();
        std::vector<double> placed(q, q + 3 * atoms);
        for (const std::int32_t block : choice) {
            const auto& [to, from] = table_.blocks[block];
            for (std::size_t k = 0; k < to.size(); ++k)
                for (Index axis = 0; axis < 3; ++axis)
                    placed[axis * atoms + to[k]] = q[axis * atoms + from[k]];
        }
        return superposed_residual(p, placed.data(), atoms);
    }

    FrameSet frames_;
    PlaceTable table_;
    Index first_row_;
    bool allows_unproven_, tries_all_;
    mutable std::atomic<Index> unproven_ = 0;
};

/// Reorders the atoms of each frame so that it comes closest to `reference`.
Relabelled relabel(View<float, 3> xyz, View<const float, 2> reference, const AtomSets& sets,
                   const PlaceTable& table, const Context& context) {
    const Index atoms = xyz.extent(1);
    std::atomic<Index> changed = 0, unproven = 0;
    parallel_for(resolve_threads(context), xyz.extent(0), [&](Index i, int) {
        Array<float, 3> both(Index{2}, atoms, Index{3});
        std::ranges::copy(reference, both.data());
        std::copy_n(xyz[i].data, 3 * atoms, both.data() + 3 * atoms);
        const PermutedRmsd rmsd(owned(centre(both, sets.weights, 1)), table, 0, true,
                                context.device.kind == Device::Kind::reference);
        // Chains of the frame are assigned to those of the reference; for groups, the order of the
        // reference is found in the frame.
        PlaceChoice best;
        table.are_chains ? rmsd.value(1, 0, &best) : rmsd.value(0, 1, &best);
        unproven += rmsd.unproven();
        bool is_changed = false;
        for (const std::int32_t block : best) {
            const auto& [row, column] = table.blocks[block];
            const std::vector<Index>&from = table.are_chains ? row : column,
                  &to = table.are_chains ? column : row;
            is_changed = is_changed || from != to;
            for (std::size_t k = 0; k < to.size(); ++k)
                for (Index axis = 0; axis < 3; ++axis) xyz(i, to[k], axis) = both(1, from[k], axis);
        }
        if (is_changed) ++changed;
    });
    return {changed, unproven};
}

}  // namespace

Relabelled relabel_chains(View<float, 3> xyz, View<const float, 2> reference, const AtomSets& sets,
                          const Context& context) {
    check(sets, xyz.extent(1));
    check_coordinates({reference.data, Index{1}, reference.extent(0), Index{3}}, "reference");
    return relabel(xyz, reference, sets, {sets.equal_chains, true, xyz.extent(1)}, context);
}

void relabel_orders(View<float, 3> xyz, View<const float, 2> reference, const AtomSets& sets,
                    const Context& context) {
    check(sets, xyz.extent(1));
    if (!sets.fit.empty() || !sets.measured.empty() || sets.in_place)
        throw UsageError("expected all atoms superposed and measured to give them one order");
    relabel(xyz, reference, sets, {sets.equal_orders, false, xyz.extent(1)}, context);
}

std::unique_ptr<Comparison> make_permuted_rmsd(FrameSet frames, PlaceTable table, Index first_row,
                                               bool allows_unproven, const Context& context) {
    return std::make_unique<PermutedRmsd>(std::move(frames), std::move(table), first_row,
                                          allows_unproven,
                                          context.device.kind == Device::Kind::reference);
}

}  // namespace pleat::rmsd
