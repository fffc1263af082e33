// Recomputed blocks: the product and the solver of a block of pairs; doubtful pairs in float64.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/kernel/packed.h"
#include "pleat/rmsd/kernel/pair_block.h"
#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd {

/// Packed frames, and float64 for every pair that is not certain. Pairs nearer to `cutoff`
/// (angstrom; 0: none) than the error of the product get their float64 value, so that they are on
/// its side of it. `frames` must outlive the object.
template <class Real>
class RecomputedBlocks {
public:
    RecomputedBlocks(const Frames& frames, double cutoff, int threads)
        : frames_(frames),
          // Values have an error of up to kTolerance, and are then rounded to float32.
          near_cutoff_min_(static_cast<float>(cutoff - kTolerance - 1.3e-7 * cutoff)),
          near_cutoff_max_(
              static_cast<float>(cutoff > 0 ? cutoff + kTolerance + 1.3e-7 * cutoff : -1.0)),
          packed_(pack<Real>(frames, threads)) {}

    Index panel_count() const { return packed_.panel_count(); }

    /// RMSD of rows.first, ... (up to kBlockRows) with the frames of a panel, into `scratch.rmsd`.
    /// Doubtful pairs for which `wanted(i, j)` is true are solved again in float64; pairs that are
    /// still doubtful are recomputed from rotated coordinates. A pair's value does not depend on
    /// which others it is solved with.
    template <class Wanted>
    void solve(Block rows, Index panel, BlockScratch& scratch, const Wanted& is_wanted) const {
        rmsd_block(packed_, rows, panel, kTolerance, scratch);
        FramePair pairs[kPanel];
        float* results[kPanel];
        int count = 0;
        const auto recompute_doubtful = [&] {
            float solved[kPanel];
            const std::uint32_t doubtful = rmsd_pairs(frames_, pairs, count, kTolerance, solved);
            for (int n = 0; n < count; ++n)
                *results[n] =
                    (doubtful >> n & 1) != 0 ? recomputed(pairs[n].i, pairs[n].j) : solved[n];
            count = 0;
        };
        for (const auto& [row, lane] : scratch.doubtful) {
            const Index i = rows.first + row, j = panel * kPanel + lane;
            if (!is_wanted(i, j)) continue;
            pairs[count] = {i, j};
            results[count] = &scratch.rmsd(row, lane);
            if (++count == kPanel) recompute_doubtful();
        }
        if (count > 0) recompute_doubtful();
        if (near_cutoff_max_ > 0) recompute_near_cutoff(rows, panel, scratch, is_wanted);
    }

private:
    /// Angstrom; smaller than the promised error, since the result is rounded to float32
    /// afterwards.
    static constexpr double kTolerance = std::is_same_v<Real, float> ? 8e-6 : 8e-7;

    template <class Wanted>
    void recompute_near_cutoff(Block rows, Index panel, BlockScratch& scratch,
                               const Wanted& is_wanted) const {
        for (Index row = 0; row < rows.count; ++row) {
            float* const values = scratch.rmsd[row].data;
            std::uint32_t near = 0;
            for (int lane = 0; lane < kPanel; ++lane)
                near |= static_cast<std::uint32_t>(values[lane] >= near_cutoff_min_ &&
                                                   values[lane] <= near_cutoff_max_)
                        << lane;
            for (; near != 0; near &= near - 1) {
                const int lane = std::countr_zero(near);
                const Index i = rows.first + row, j = panel * kPanel + lane;
                if (is_wanted(i, j)) values[lane] = recomputed(i, j);
            }
        }
    }

    float recomputed(Index i, Index j) const {
        return static_cast<float>(rmsd_in_float64(frames_, i, j));
    }

    const Frames& frames_;
    float near_cutoff_min_, near_cutoff_max_;  ///< values between them are too near to the cutoff
    Packed<Real> packed_;
};

}  // namespace pleat::rmsd
