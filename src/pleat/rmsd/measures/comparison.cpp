// Comparison: the choice of a measure, gathering of its atoms, blocks spread over threads.
#include "pleat/rmsd/measures/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/cuda/gpu_comparisons.h"
#include "pleat/rmsd/measures/permutations.h"

namespace pleat::rmsd {

namespace {

/// Concatenates the frames of several sides, with some atoms (empty: all).
Array<float, 3> gather(const std::vector<View<const float, 3>>& sides,
                       const std::vector<Index>& atoms) {
    Index frames = 0;
    for (const View<const float, 3>& side : sides) frames += side.extent(0);
    const Index count = atoms.empty() ? sides[0].extent(1) : std::ssize(atoms);
    auto to = Array<float, 3>::unset(frames, count, Index{3});
    float* at = to.data();
    for (const View<const float, 3>& side : sides) {
        if (atoms.empty()) {
            at = std::copy(side.begin(), side.end(), at);
            continue;
        }
        for (Index i = 0; i < side.extent(0); ++i)
            for (const Index atom : atoms) at = std::copy_n(side[i][atom].data, 3, at);
    }
    return to;
}

template <class T>
std::vector<T> gather(const std::vector<T>& values, const std::vector<Index>& atoms) {
    if (values.empty() || atoms.empty()) return values;
    std::vector<T> some;
    some.reserve(atoms.size());
    for (const Index atom : atoms) some.push_back(values[atom]);
    return some;
}

/// The positions of `atoms` in `all`, which is ascending.
std::vector<Index> positions_of(const std::vector<Index>& atoms, const std::vector<Index>& all) {
    std::vector<Index> positions;
    positions.reserve(atoms.size());
    for (const Index atom : atoms)
        positions.push_back(std::ranges::lower_bound(all, atom) - all.begin());
    return positions;
}

Frames centre_some(View<const float, 3> side, const std::vector<Index>& atoms,
                   const std::vector<double>& weights, int threads) {
    if (atoms.empty()) return centre(side, weights, threads);
    return centre(gather({side}, atoms), gather(weights, atoms), threads);
}

/// The orders of groups as positions among `atoms` (empty: all).
std::vector<std::vector<std::vector<Index>>> orders_among(const AtomSets& sets,
                                                          const std::vector<Index>& atoms) {
    std::vector<std::vector<std::vector<Index>>> groups = sets.equal_orders;
    for (auto& group : groups)
        for (std::vector<Index>& order : group)
            if (!atoms.empty()) order = positions_of(order, atoms);
    return groups;
}

/// Makes one side, and the other one too unless both are the same data.
template <class Make>
auto both_sides(const TwoSets& sides, const Make& make) {
    auto rows = make(sides.rows);
    auto columns = sides.are_one() ? rows : make(sides.columns);
    return std::make_pair(std::move(rows), std::move(columns));
}

/// Divides a band into blocks of its rows with later columns; blocks end at multiples of the width.
class PairKernel final : public Kernel {
public:
    PairKernel(std::unique_ptr<const Comparison> comparison, Index frames, int threads)
        : comparison_(std::move(comparison)),
          frames_(frames),
          threads_(comparison_->is_on_gpu() ? 1 : threads) {}

    PairCounter* counter() override { return comparison_->counter(); }

    void band(Block rows, float* to) override {
        const Index step = comparison_->block_rows(), width = comparison_->block_columns();
        // On a GPU blocks take about 20 ms, but are small enough that only a small part is before
        // the diagonal.
        const double busy = 2e7 / (comparison_->cost() * static_cast<double>(frames_));
        const Index large = std::min(static_cast<Index>(std::min(busy, 1e9)), frames_ / 8);
        const Index height = comparison_->is_on_gpu() ? std::max(large / step * step, step) : step;
        std::vector<std::pair<Block, Block>> blocks;
        const Index rows_end = rows.first + rows.count;
        // The outer loop is over columns: their frames stay in the cache for all rows of the band.
        for (Index j = (rows.first + 1) / width * width; j < frames_; j += width) {
            const Index end = std::min(j + width, frames_);
            for (Index i = rows.first; i < std::min(rows_end, end - 1); i += height) {
                const Index from = std::max(i + 1, j);
                blocks.push_back({{i, std::min(height, rows_end - i)}, {from, end - from}});
            }
        }
        std::vector<std::vector<float>> values(threads_);
        parallel_for(threads_, std::ssize(blocks), [&](Index n, int thread) {
            const auto& [some, columns] = blocks[n];
            std::vector<float>& found = values[thread];
            found.resize(some.count * columns.count);
            comparison_->block(some, columns, found.data());
            for (Index row = 0; row < some.count; ++row) {
                const Index i = some.first + row, j = std::max(i + 1, columns.first);
                const Index last = columns.first + columns.count;
                if (j >= last) continue;
                const Index before = pairs_before(i, frames_) - pairs_before(rows.first, frames_);
                std::copy_n(found.data() + row * columns.count + j - columns.first, last - j,
                            to + before + j - i - 1);
            }
        });
    }

private:
    std::unique_ptr<const Comparison> comparison_;
    Index frames_;
    int threads_;
};

/// With few atoms the rounding of the few distances does not average out, so float64 is used.
FitPrecision drmsd_precision(const TwoSets& sides, const AtomSets& atoms, FitPrecision precision) {
    constexpr Index kFew = 8;
    const Index count = atoms.measured.empty() ? sides.rows.extent(1) : std::ssize(atoms.measured);
    return count <= kFew ? FitPrecision::float64 : precision;
}

/// Copies frames on the host only if some atoms are left out.
std::unique_ptr<Comparison> drmsd_on_gpu(const TwoSets& sides, const AtomSets& atoms,
                                         const Accuracy& accuracy, const Context& context) {
    Array<float, 3> rows, columns;
    TwoSets some = sides;
    if (!atoms.measured.empty()) {
        rows = gather({sides.rows}, atoms.measured);
        if (!sides.are_one()) columns = gather({sides.columns}, atoms.measured);
        some.rows = rows;
        some.columns = sides.are_one() ? some.rows : View<const float, 3>(columns);
    }
    return make_drmsd_on_cuda(some, gather(atoms.weights, atoms.measured),
                              drmsd_precision(sides, atoms, accuracy.precision), context);
}

/// Throws DeviceError if GPUs do not compute this measure.
void require_gpu_measure(const AtomSets& atoms, Metric metric, const Context& context) {
    if (context.device.kind != Device::Kind::cuda) return;
    if (metric != Metric::rmsd || can_try_all(atoms)) return;
    throw DeviceError(
        fmt::format("{} cannot search the permutations of these atoms: GPUs try up to {:g} of up "
                    "to {} blocks of atoms; take --device cpu",
                    context.device.name(), kMaxPermutations, kMaxPlaceBlocks));
}

}  // namespace

FitFrames fit_frames(View<const float, 3> side, const AtomSets& sets, int threads) {
    const std::vector<double> fit_weights = gather(sets.weights, sets.fit);
    FitFrames frames;
    if (!sets.in_place) frames.fit = centre_some(side, sets.fit, sets.weights, threads);
    if (sets.are_one()) {
        frames.weight = frames.fit.weight;
        return frames;
    }
    const Array<float, 3> measured = gather({side}, sets.measured);
    const std::vector<double> weights = gather(sets.weights, sets.measured);
    const auto weight = [&](Index k) { return weights.empty() ? 1.0 : weights[k]; };
    const auto fit_weight = [&](Index k) { return fit_weights.empty() ? 1.0 : fit_weights[k]; };
    const Index atoms = measured.extent(1), fitted = sets.in_place ? 0 : frames.fit.atom_count();
    for (Index k = 0; k < atoms; ++k) frames.weight += weight(k);
    frames.equal_orders = orders_among(sets, sets.measured);
    frames.measured = Array<double, 3>::unset(side.extent(0), Index{3}, atoms);
    frames.square_sum.resize(side.extent(0));
    check_coordinates(measured);
    parallel_for(threads, side.extent(0), [&](Index i, int) {
        double squares = 0.0;
        for (int axis = 0; axis < 3; ++axis) {
            const auto at = [&](Index k) {
                return double{side(i, sets.fit.empty() ? k : sets.fit[k], axis)};
            };
            double sum = 0.0;
            for (Index k = 0; k < fitted; ++k) sum += fit_weight(k) * (at(k) - at(0));
            const double origin = sets.in_place ? 0.0 : at(0) + sum / frames.fit.weight;
            for (Index k = 0; k < atoms; ++k) {
                double& x = frames.measured(i, axis, k);
                x = std::sqrt(weight(k)) * (measured(i, k, axis) - origin);
                squares += x * x;
            }
        }
        frames.square_sum[i] = squares;
    });
    return frames;
}

std::unique_ptr<Comparison> make_comparison(const TwoSets& sides, const AtomSets& atoms,
                                            Metric metric, const Accuracy& accuracy,
                                            const Context& context) {
    require_gpu_measure(atoms, metric, context);
    const bool is_on_gpu = context.device.kind == Device::Kind::cuda;
    const int threads = resolve_threads(context);
    const auto unweighted = [&](View<const float, 3> side) {
        return owned(centre_some(side, atoms.measured, {}, threads));
    };
    if (metric == Metric::drmsd && is_on_gpu) return drmsd_on_gpu(sides, atoms, accuracy, context);
    if (metric == Metric::drmsd) {
        auto [rows, columns] = both_sides(sides, unweighted);
        return make_drmsd(std::move(rows), std::move(columns),
                          gather(atoms.weights, atoms.measured),
                          drmsd_precision(sides, atoms, accuracy.precision), context);
    }
    if (metric == Metric::lddt) {
        auto [rows, columns] = both_sides(sides, [&](View<const float, 3> side) {
            check_coordinates(side);
            return std::make_shared<const Array<float, 3>>(gather({side}, atoms.measured));
        });
        return make_lddt({std::move(rows), std::move(columns),
                          gather(atoms.residues, atoms.measured), sides.is_reference},
                         context);
    }
    if (metric != Metric::rmsd) {
        auto [rows, columns] = both_sides(sides, unweighted);
        return make_tm(std::move(rows), std::move(columns), metric, context);
    }
    const bool has_chains = !atoms.equal_chains.empty();
    // In float64, deviations from a common structure are not needed.
    const bool is_plain_on_gpu = is_on_gpu && !has_chains && atoms.equal_orders.empty();
    if (!atoms.are_one() || is_plain_on_gpu) {
        auto [rows, columns] = both_sides(sides, [&](View<const float, 3> side) {
            return std::make_shared<const FitFrames>(fit_frames(side, atoms, threads));
        });
        if (is_on_gpu) return make_fit_on_cuda(*rows, *columns, accuracy.cutoff, context);
        return make_fit_rmsd(std::move(rows), std::move(columns), context);
    }
    // Columns come first; if both sides are the same, rows are the same frames.
    const Index first_row = sides.are_one() ? 0 : sides.columns.extent(0);
    FrameSet all =
        owned(sides.are_one() ? centre_some(sides.rows, atoms.fit, atoms.weights, threads)
                              : centre(gather({sides.columns, sides.rows}, atoms.fit),
                                       gather(atoms.weights, atoms.fit), threads));
    if (has_chains || !atoms.equal_orders.empty()) {
        PlaceTable table(has_chains ? atoms.equal_chains : orders_among(atoms, atoms.fit),
                         has_chains, all->atom_count());
        if (is_on_gpu)
            return make_permuted_on_cuda(*all, first_row, table, accuracy.cutoff, context);
        return make_permuted_rmsd(std::move(all), std::move(table), first_row,
                                  accuracy.allows_unproven, context);
    }
    if (context.device.kind == Device::Kind::reference)
        return make_reference_rmsd(std::move(all), first_row);
    return make_packed_rmsd(std::move(all), first_row, accuracy.precision, accuracy.cutoff,
                            threads);
}

std::int64_t comparison_memory(Index frames, Index atoms, Metric metric, bool has_fit) {
    const std::int64_t coordinates = 3 * frames * atoms;
    const bool is_plain = metric == Metric::rmsd && !has_fit;
    // Gathered in float32, centred in float64, and for plain RMSD packed twice.
    return (12 + (is_plain  ? 16
                  : has_fit ? 24
                            : 8)) *
               coordinates +
           200 * frames + (std::int64_t{64} << 20);
}

std::int64_t comparison_gpu_memory(Index frames, Index atoms) {
    // Coordinates in float64, and values, distances of some frames, and a reserve.
    return 24 * frames * atoms + (std::int64_t{3} << 30);
}

void compare(const Comparison& comparison, Block rows, Block columns, int threads, float* values,
             Index stride) {
    if (stride == 0) stride = columns.count;
    const bool is_on_gpu = comparison.is_on_gpu();
    const Index height = is_on_gpu ? rows.count : comparison.block_rows(),
                width = comparison.block_columns();
    const Index across = (columns.count + width - 1) / width;
    const Index down = (rows.count + height - 1) / height;
    parallel_for(is_on_gpu ? 1 : threads, across * down, [&](Index n, int) {
        const Index row = n / across * height, column = n % across * width;
        const Block some{rows.first + row, std::min(height, rows.count - row)};
        const Block others{columns.first + column, std::min(width, columns.count - column)};
        std::vector<float> found(some.count * others.count);
        comparison.block(some, others, found.data());
        for (Index i = 0; i < some.count; ++i)
            std::copy_n(found.data() + i * others.count, others.count,
                        values + (row + i) * stride + column);
    });
}

std::unique_ptr<Kernel> make_pair_kernel(std::unique_ptr<const Comparison> comparison, Index frames,
                                         int threads) {
    return std::make_unique<PairKernel>(std::move(comparison), frames, threads);
}

}  // namespace pleat::rmsd
