// The CPU kernel of rmsd: panels of columns spread over threads, doubtful pairs measured one by
// one.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "pleat/core/parallel.h"
#include "pleat/rmsd/kernel.h"
#include "pleat/rmsd/pair_block.h"
#include "pleat/rmsd/superpose.h"

namespace pleat::rmsd {

namespace {

/// Angstrom: less than what is promised, since the result is rounded to float32 after this.
constexpr double kMixedTolerance = 8e-6, kFloat64Tolerance = 8e-7;

template <class Real>
class CpuKernel final : public Kernel {
public:
    CpuKernel(const Frames& frames, double tolerance, int threads)
        : frames_(frames),
          packed_(pack<Real>(frames, threads)),
          tolerance_(tolerance),
          threads_(threads),
          scratch_(static_cast<std::size_t>(threads)) {}

    void band(Block rows, float* rmsd) override {
        const Index first = rows.first / kPanel;
        parallel_for(threads_, packed_.panel_count() - first, [&](Index n, int thread) {
            for (Index row = 0; row < rows.count; row += kBlockRows) {
                const Block part{rows.first + row, std::min(kBlockRows, rows.count - row)};
                const Index panel = first + n;
                if ((panel + 1) * kPanel <= part.first + 1) break;  // no later frame in it
                block(part, panel, scratch_[static_cast<std::size_t>(thread)], rows.first, rmsd);
            }
        });
    }

private:
    void block(Block rows, Index panel, BlockScratch& scratch, Index band_first, float* rmsd) {
        rmsd_block(packed_, rows, panel, tolerance_, scratch);
        settle(rows.first, panel, scratch);
        const Index count = frames_.frame_count(), last = std::min(count, (panel + 1) * kPanel);
        for (Index row = 0; row < rows.count; ++row) {
            const Index i = rows.first + row, j = std::max(i + 1, panel * kPanel);
            if (j >= last) continue;
            const Index place =
                pairs_before(i, count) - pairs_before(band_first, count) + j - i - 1;
            std::memcpy(rmsd + place, &scratch.rmsd(row, j - panel * kPanel),
                        static_cast<std::size_t>(last - j) * sizeof(float));
        }
    }

    /// Doubtful pairs again in float64, and what is doubtful then from rotated coordinates. A
    /// pair's value does not depend on which others it is solved with.
    void settle(Index first, Index panel, BlockScratch& scratch) const {
        FramePair pairs[kPanel];
        float* places[kPanel];
        int count = 0;
        const auto solve = [&] {
            float found[kPanel];
            const std::uint32_t doubtful = rmsd_pairs(frames_, pairs, count, tolerance_, found);
            for (int n = 0; n < count; ++n)
                *places[n] = (doubtful >> n & 1) != 0 ? certain(pairs[n].i, pairs[n].j) : found[n];
            count = 0;
        };
        for (const auto& [row, lane] : scratch.doubtful) {
            const Index i = first + row, j = panel * kPanel + lane;
            if (j <= i || j >= frames_.frame_count()) continue;
            pairs[count] = {i, j};
            places[count] = &scratch.rmsd(row, lane);
            if (++count == kPanel) solve();
        }
        if (count > 0) solve();
    }

    float certain(Index i, Index j) const {
        const double sum =
            superposed_residual(frames_.frame(i), frames_.frame(j), frames_.atom_count());
        return static_cast<float>(std::sqrt(sum / frames_.weight));
    }

    const Frames& frames_;
    Packed<Real> packed_;
    double tolerance_;
    int threads_;
    std::vector<BlockScratch> scratch_;
};

}  // namespace

std::unique_ptr<Kernel> make_cpu_kernel(const Problem& problem, const Context& context) {
    const int threads = resolve_threads(context);
    if (problem.precision == Precision::float64)
        return std::make_unique<CpuKernel<double>>(*problem.frames, kFloat64Tolerance, threads);
    return std::make_unique<CpuKernel<float>>(*problem.frames, kMixedTolerance, threads);
}

}  // namespace pleat::rmsd
