// Settled blocks: the product and the solver of a block of pairs, doubtful ones measured again.
#pragma once

#include <cmath>
#include <vector>

#include "pleat/rmsd/frames.h"
#include "pleat/rmsd/kernel.h"
#include "pleat/rmsd/packed.h"
#include "pleat/rmsd/pair_block.h"
#include "pleat/rmsd/superpose.h"

namespace pleat::rmsd {

/// Frames as the product takes them, and what makes sure of every pair. `frames` must outlive it.
template <class Real>
class SettledBlocks {
public:
    SettledBlocks(const Frames& frames, int threads)
        : frames_(frames), packed_(pack<Real>(frames, threads)) {}

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
    }

private:
    /// Angstrom: less than what is promised, since the result is rounded to float32 after this.
    static constexpr double kTolerance = std::is_same_v<Real, float> ? 8e-6 : 8e-7;

    float certain(Index i, Index j) const {
        const double sum =
            superposed_residual(frames_.frame(i), frames_.frame(j), frames_.atom_count());
        return static_cast<float>(std::sqrt(sum / frames_.weight));
    }

    const Frames& frames_;
    Packed<Real> packed_;
};

}  // namespace pleat::rmsd
