// RMSD of two sets of structures: as the kernels of all pairs have it, and of some atoms after
// superposing others.
#include <algorithm>
#include <cmath>
#include <utility>

#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/kernel/settled_block.h"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/superposition/rotation.h"
#include "pleat/rmsd/superposition/superpose.h"

namespace pleat::rmsd {

namespace {

/// Columns come first, so that they begin with a panel; rows may lie anywhere.
template <class Real>
class PackedRmsd final : public Comparison {
public:
    PackedRmsd(Frames all, Index columns, double cutoff, int threads)
        : all_(std::move(all)), columns_(columns), blocks_(all_, cutoff, threads) {}

    Index block_rows() const override { return kBlockRows; }
    Index block_columns() const override { return 16 * kPanel; }
    double cost() const override { return 20.0 + 0.15 * static_cast<double>(all_.atom_count()); }

    void block(Block rows, Block columns, float* values) const override {
        BlockScratch scratch;
        const Index last = columns.first + columns.count;
        const Index first_panel = columns.first / kPanel, panels = (last + kPanel - 1) / kPanel;
        for (Index row = 0; row < rows.count; row += kBlockRows) {
            const Block some{columns_ + rows.first + row, std::min(kBlockRows, rows.count - row)};
            for (Index panel = first_panel; panel < panels; ++panel) {
                const Index from = std::max(columns.first, panel * kPanel);
                const Index to = std::min(last, (panel + 1) * kPanel);
                blocks_.solve(some, panel, scratch,
                              [&](Index, Index j) { return j >= from && j < to; });
                for (Index n = 0; n < some.count; ++n)
                    std::copy_n(&scratch.rmsd(n, from - panel * kPanel), to - from,
                                values + (row + n) * columns.count + from - columns.first);
            }
        }
    }

private:
    Frames all_;
    Index columns_;
    SettledBlocks<Real> blocks_;
};

class ReferenceRmsd final : public Comparison {
public:
    ReferenceRmsd(Frames all, Index columns) : all_(std::move(all)), columns_(columns) {}
    double cost() const override { return 1000.0 + 20.0 * static_cast<double>(all_.atom_count()); }

    void block(Block rows, Block columns, float* values) const override {
        for (Index i = rows.first; i < rows.first + rows.count; ++i)
            for (Index j = columns.first; j < columns.first + columns.count; ++j)
                *values++ = static_cast<float>(certain_rmsd(all_, columns_ + i, j));
    }

private:
    Frames all_;
    Index columns_;
};

/// Each pair by its own rotation in float64.
class FitRmsd final : public Comparison {
public:
    FitRmsd(FitFrames rows, std::unique_ptr<FitFrames> columns, bool is_reference)
        : rows_(std::move(rows)), columns_(std::move(columns)), is_reference_(is_reference) {}

    double cost() const override {
        return 1000.0 + 5.0 * static_cast<double>(rows_.fit.atom_count() + atoms());
    }

    void block(Block rows, Block columns, float* values) const override {
        const FitFrames& others = columns_ != nullptr ? *columns_ : rows_;
        for (Index i = rows.first; i < rows.first + rows.count; ++i)
            for (Index j = columns.first; j < columns.first + columns.count; ++j) {
                double covariance[9], rotation[9];
                covariance_of(rows_.fit.frame(i), others.fit.frame(j), rows_.fit.atom_count(),
                              covariance);
                is_reference_ ? rotation_by_jacobi(covariance, rotation)
                              : rotation_of_covariance(covariance, rotation);
                const double sum =
                    rotated_residual(measured(rows_, i), measured(others, j), atoms(), rotation);
                *values++ = static_cast<float>(std::sqrt(sum / rows_.weight));
            }
    }

private:
    Index atoms() const { return rows_.measured.extent(2); }
    const double* measured(const FitFrames& frames, Index i) const {
        return frames.measured.data() + i * 3 * atoms();
    }

    FitFrames rows_;
    std::unique_ptr<FitFrames> columns_;
    bool is_reference_;
};

}  // namespace

std::unique_ptr<Comparison> make_rmsd(Frames all, Index columns, Precision precision, double cutoff,
                                      const Context& context) {
    if (context.device.kind == Device::Kind::reference)
        return std::make_unique<ReferenceRmsd>(std::move(all), columns);
    const int threads = resolve_threads(context);
    if (precision == Precision::float64)
        return std::make_unique<PackedRmsd<double>>(std::move(all), columns, cutoff, threads);
    return std::make_unique<PackedRmsd<float>>(std::move(all), columns, cutoff, threads);
}

std::unique_ptr<Comparison> make_fit_rmsd(FitFrames rows, std::unique_ptr<FitFrames> columns,
                                          const Context& context) {
    return std::make_unique<FitRmsd>(std::move(rows), std::move(columns),
                                     context.device.kind == Device::Kind::reference);
}

}  // namespace pleat::rmsd
