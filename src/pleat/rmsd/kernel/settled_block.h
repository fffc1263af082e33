// Settled blocks: the product and the solver of a block of pairs, doubtful ones measured again.
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

/// Frames as the product takes them, and what makes sure of every pair; those nearer to `cutoff`
/// (angstrom; 0: none) than the product's error get their float64 value, so that they are on its
/// side of it. `frames` must outlive it.
template <class Real>
class SettledBlocks {
public:
    SettledBlocks(const Frames& frames, double cutoff, int threads)
        : frames_(frames),
          // Values are float32, and of `kTolerance` before they are rounded to it.
          from_(static_cast<float>(cutoff - kTolerance - 1.3e-7 * cutoff)),
          to_(static_cast<float>(cutoff > 0 ? cutoff + kTolerance + 1.3e-7 * cutoff : -1.0)),
          packed_(pack<Real>(frames, threads)) {}

    Index panel_count() const { return packed_.panel_count(); }

    /// RMSD of rows.first, ... (up to kBlockRows) with the frames of a panel, into `scratch.rmsd`.
    /// Doubtful pairs (i, j) that are `wanted` are solved again in float64, and what is doubtful
    /// then from rotated coordinates. A pair's value does not depend on which others it is solved
    /// with.
    template <class Wanted>
    void solve(Block rows, Index panel, BlockScratch& scratch, const Wanted& wanted) const {
        rmsd_block(packed_, rows, panel, kTolerance, scratch);
        FramePair pairs[kPanel];
        float* places[kPanel];
        int count = 0;
        const auto again = [&] {
            float found[kPanel];
            const std::uint32_t doubtful = rmsd_pairs(frames_, pairs, count, kTolerance, found);
            for (int n = 0; n < count; ++n)
                *places[n] = (doubtful >> n & 1) != 0 ? certain(pairs[n].i, pairs[n].j) : found[n];
            count = 0;
        };
        for (const auto& [row, lane] : scratch.doubtful) {
            const Index i = rows.first + row, j = panel * kPanel + lane;
            if (!wanted(i, j)) continue;
            pairs[count] = {i, j};
            places[count] = &scratch.rmsd(row, lane);
            if (++count == kPanel) again();
        }
        if (count > 0) again();
        if (to_ > 0) settle_near_cutoff(rows, panel, scratch, wanted);
    }

private:
    /// Angstrom: less than what is promised, since the result is rounded to float32 after this.
    static constexpr double kTolerance = std::is_same_v<Real, float> ? 8e-6 : 8e-7;

    template <class Wanted>
    void settle_near_cutoff(Block rows, Index panel, BlockScratch& scratch,
                            const Wanted& wanted) const {
        for (Index row = 0; row < rows.count; ++row) {
            float* const values = scratch.rmsd[row].data;
            std::uint32_t near = 0;
            for (int lane = 0; lane < kPanel; ++lane)
                near |= static_cast<std::uint32_t>(values[lane] >= from_ && values[lane] <= to_)
                        << lane;
            for (; near != 0; near &= near - 1) {
                const int lane = std::countr_zero(near);
                const Index i = rows.first + row, j = panel * kPanel + lane;
                if (wanted(i, j)) values[lane] = certain(i, j);
            }
        }
    }

    float certain(Index i, Index j) const {
        return static_cast<float>(certain_rmsd(frames_, i, j));
    }

    const Frames& frames_;
    float from_, to_;  ///< values between them are too near to the cut-off
    Packed<Real> packed_;
};

}  // namespace pleat::rmsd
