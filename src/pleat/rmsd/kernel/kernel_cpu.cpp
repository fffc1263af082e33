// The CPU kernel of rmsd: panels of columns spread over threads, doubtful pairs measured one by
// one.
#include <algorithm>
#include <cstring>
#include <vector>

#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/kernel/settled_block.h"

namespace pleat::rmsd {

namespace {

template <class Real>
class CpuKernel final : public Kernel {
public:
    CpuKernel(const Frames& frames, double cutoff, int threads)
        : count_(frames.frame_count()),
          blocks_(frames, cutoff, threads),
          threads_(threads),
          scratch_(static_cast<std::size_t>(threads)) {}

    void band(Block rows, float* rmsd) override {
        const Index first = rows.first / kPanel;
        parallel_for(threads_, blocks_.panel_count() - first, [&](Index n, int thread) {
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
        blocks_.solve(rows, panel, scratch, [&](Index i, Index j) { return j > i && j < count_; });
        const Index last = std::min(count_, (panel + 1) * kPanel);
        for (Index row = 0; row < rows.count; ++row) {
            const Index i = rows.first + row, j = std::max(i + 1, panel * kPanel);
            if (j >= last) continue;
            const Index place =
                pairs_before(i, count_) - pairs_before(band_first, count_) + j - i - 1;
            std::memcpy(rmsd + place, &scratch.rmsd(row, j - panel * kPanel),
                        static_cast<std::size_t>(last - j) * sizeof(float));
        }
    }

    Index count_;
    SettledBlocks<Real> blocks_;
    int threads_;
    std::vector<BlockScratch> scratch_;
};

}  // namespace

std::unique_ptr<Kernel> make_cpu_kernel(const Problem& problem, const Context& context) {
    const int threads = resolve_threads(context);
    if (problem.precision == Precision::float64)
        return std::make_unique<CpuKernel<double>>(*problem.frames, problem.tally.cutoff, threads);
    return std::make_unique<CpuKernel<float>>(*problem.frames, problem.tally.cutoff, threads);
}

}  // namespace pleat::rmsd
