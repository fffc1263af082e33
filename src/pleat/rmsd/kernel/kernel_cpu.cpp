// The CPU kernel of rmsd: blocks of rows and panels of columns, doubtful pairs one by one.
#include <algorithm>
#include <utility>

#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/kernel/recomputed_block.h"
#include "pleat/rmsd/measures/comparison.h"

namespace pleat::rmsd {

namespace {

/// Columns are the first frames, so that they begin with a panel.
template <class Real>
class PackedRmsd final : public Comparison {
public:
    PackedRmsd(FrameSet frames, Index first_row, double cutoff, int threads)
        : frames_(std::move(frames)), first_row_(first_row), blocks_(*frames_, cutoff, threads) {}

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
                blocks_.solve(some, panel, scratch,
                              [&](Index, Index j) { return j >= from && j < to; });
                for (Index n = 0; n < some.count; ++n)
                    std::copy_n(&scratch.rmsd(n, from - panel * kPanel), to - from,
                                values + (row + n) * columns.count + from - columns.first);
            }
        }
    }

private:
    FrameSet frames_;
    Index first_row_;
    RecomputedBlocks<Real> blocks_;
};

}  // namespace

std::unique_ptr<Comparison> make_packed_rmsd(FrameSet frames, Index first_row, Precision precision,
                                             double cutoff, int threads) {
    if (precision == Precision::float64)
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
