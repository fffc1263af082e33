// The CPU kernel of rmsd: blocks of rows and panels of columns, doubtful pairs one by one.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/kernel/pair_block.h"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd {

namespace {

template <class Real>
void pack_frame(const double* p, const std::vector<double>& m, Index frame, Packed<Real>& packed) {
    const Index atoms = packed.atoms, lane = frame % kPanel;
    double terms[9] = {};
    double square_sum = 0.0, deviation_norm = 0.0;
    const auto deviation = [&](int axis, Index k) {
        return static_cast<Real>(p[axis * atoms + k] - m[axis * atoms + k]);
    };
    for (Index k = 0; k < atoms; ++k) {
        for (int a = 0; a < 3; ++a) {
            const Real rounded = deviation(a, k);
            packed.rows(frame, k, a) = rounded;
            packed.columns(frame / kPanel, k, a, lane) = rounded;
            const double from_m = rounded, value = m[a * atoms + k] + from_m;
            square_sum += value * value;
            deviation_norm += from_m * from_m;
            for (int b = 0; b < 3; ++b)
                terms[3 * a + b] += (from_m + 0.5 * m[a * atoms + k]) * m[b * atoms + k];
        }
    }
    for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
            packed.row_terms(frame, 3 * a + b) = terms[3 * a + b];
            packed.column_terms(frame / kPanel, 3 * b + a, lane) = terms[3 * a + b];
        }
    }
    packed.square_sum[frame] = square_sum;
    packed.inverse_norm[frame] = square_sum > 0 ? 1.0 / std::sqrt(square_sum) : 0.0;
    packed.deviation_norm[frame] = std::sqrt(deviation_norm);
}

template <class Real>
Packed<Real> pack(const Frames& frames, int threads) {
    Packed<Real> packed;
    const Index atoms = frames.atom_count();
    const Index panels = (frames.frame_count() + kPanel - 1) / kPanel, padded = panels * kPanel;
    packed.frames = frames.frame_count();
    packed.atoms = atoms;
    packed.weight = frames.weight;
    packed.rows = Array<Real, 3>(padded, atoms, Index{3});
    packed.columns = Array<Real, 4>(panels, atoms, Index{3}, kPanel);
    packed.row_terms = Array<double, 2>(padded, Index{9});
    packed.column_terms = Array<double, 3>(panels, Index{9}, kPanel);
    packed.square_sum = Array<double, 1>(padded);
    packed.inverse_norm = Array<double, 1>(padded);
    packed.deviation_norm = Array<double, 1>(padded);
    constexpr bool kTurned = std::is_same_v<Real, float>;
    const std::vector<double> m =
        kTurned ? common_structure(frames, threads) : std::vector<double>(3 * atoms, 0.0);
    parallel_for(threads, packed.frames, [&](Index i, int) {
        if constexpr (kTurned) {
            std::vector<double> turned(3 * atoms);
            rotate_onto(frames.frame(i), m.data(), atoms, turned.data());
            pack_frame(turned.data(), m, i, packed);
        } else {
            pack_frame(frames.frame(i), m, i, packed);
        }
    });
    return packed;
}

/// Packed frames, and float64 for every pair that is not certain. Pairs nearer to `cutoff`
/// (angstrom; 0: none) than the error of the product get their float64 value, so that they are on
/// its side of it. Columns are the first frames, so that they begin with a panel.
template <class Real>
class PackedRmsd final : public Comparison {
public:
    PackedRmsd(FrameSet frames, Index first_row, double cutoff, int threads)
        : frames_(std::move(frames)),
          first_row_(first_row),
          // Values have an error of up to kTolerance, and are then rounded to float32.
          near_cutoff_min_(static_cast<float>(cutoff - kTolerance - 1.3e-7 * cutoff)),
          near_cutoff_max_(
              static_cast<float>(cutoff > 0 ? cutoff + kTolerance + 1.3e-7 * cutoff : -1.0)),
          packed_(pack<Real>(*frames_, threads)) {}

    Index block_rows() const override { return kBlockRows; }
    Index block_columns() const override { return 16 * kPanel; }
    double cost() const override {
        return 20.0 + 0.15 * static_cast<double>(frames_->atom_count());
    }

    void block(Block rows, Block columns, float* values) const override {
        thread_local BlockScratch scratch;
        const Index end = columns.first + columns.count;
        const Index first_panel = columns.first / kPanel, panels = (end + kPanel - 1) / kPanel;
        for (Index row = 0; row < rows.count; row += kBlockRows) {
            const Block some{first_row_ + rows.first + row, std::min(kBlockRows, rows.count - row)};
            for (Index panel = first_panel; panel < panels; ++panel) {
                const Index from = std::max(columns.first, panel * kPanel);
                const Index to = std::min(end, (panel + 1) * kPanel);
                rmsd_block(packed_, some, panel, kTolerance, scratch);
                recompute_doubtful(some, panel, {from, to - from}, scratch);
                if (near_cutoff_max_ > 0)
                    recompute_near_cutoff(some, panel, {from, to - from}, scratch);
                for (Index n = 0; n < some.count; ++n)
                    std::copy_n(&scratch.rmsd(n, from - panel * kPanel), to - from,
                                values + (row + n) * columns.count + from - columns.first);
            }
        }
    }

private:
    /// Angstrom; smaller than the documented error, since results are then rounded to float32.
    static constexpr double kTolerance = std::is_same_v<Real, float> ? 8e-6 : 8e-7;

    /// Solves doubtful pairs with `columns` again in float64; pairs that are still doubtful are
    /// recomputed from rotated coordinates. A pair's value does not depend on which others it is
    /// solved with.
    void recompute_doubtful(Block rows, Index panel, Block columns, BlockScratch& scratch) const {
        FramePair pairs[kPanel];
        float* results[kPanel];
        int count = 0;
        const auto recompute = [&] {
            float solved[kPanel];
            const std::uint32_t doubtful = rmsd_pairs(*frames_, pairs, count, kTolerance, solved);
            for (int n = 0; n < count; ++n)
                *results[n] =
                    (doubtful >> n & 1) != 0 ? recomputed(pairs[n].i, pairs[n].j) : solved[n];
            count = 0;
        };
        for (const auto& [row, lane] : scratch.doubtful) {
            const Index j = panel * kPanel + lane;
            if (j < columns.first || j >= columns.first + columns.count) continue;
            pairs[count] = {rows.first + row, j};
            results[count] = &scratch.rmsd(row, lane);
            if (++count == kPanel) recompute();
        }
        if (count > 0) recompute();
    }

    void recompute_near_cutoff(Block rows, Index panel, Block columns,
                               BlockScratch& scratch) const {
        for (Index row = 0; row < rows.count; ++row) {
            float* const values = scratch.rmsd[row].data;
            std::uint32_t near = 0;
            for (int lane = 0; lane < kPanel; ++lane)
                near |= static_cast<std::uint32_t>(values[lane] >= near_cutoff_min_ &&
                                                   values[lane] <= near_cutoff_max_)
                        << lane;
            for (; near != 0; near &= near - 1) {
                const int lane = std::countr_zero(near);
                const Index j = panel * kPanel + lane;
                if (j >= columns.first && j < columns.first + columns.count)
                    values[lane] = recomputed(rows.first + row, j);
            }
        }
    }

    float recomputed(Index i, Index j) const {
        return static_cast<float>(rmsd_in_float64(*frames_, i, j));
    }

    FrameSet frames_;
    Index first_row_;
    float near_cutoff_min_, near_cutoff_max_;  ///< values between them are too near to the cutoff
    Packed<Real> packed_;
};

}  // namespace

std::unique_ptr<Comparison> make_packed_rmsd(FrameSet frames, Index first_row,
                                             FitPrecision precision, double cutoff, int threads) {
    if (precision == FitPrecision::float64)
        return std::make_unique<PackedRmsd<double>>(std::move(frames), first_row, cutoff, threads);
    return std::make_unique<PackedRmsd<float>>(std::move(frames), first_row, cutoff, threads);
}

std::unique_ptr<Kernel> make_cpu_kernel(const Problem& problem, const Context& context) {
    const int threads = resolve_threads(context);
    return make_pair_kernel(
        make_packed_rmsd(borrowed(*problem.frames), 0, problem.precision, problem.cutoff, threads),
        problem.frames->frame_count(), threads);
}

}  // namespace pleat::rmsd
