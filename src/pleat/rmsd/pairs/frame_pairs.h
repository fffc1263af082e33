// Frame pairs: the RMSD of all pairs of an ensemble as a PairSource.
#pragma once

#include <memory>

#include "pleat/core/pairs/pair_source.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/superposition/frame_source.h"

namespace pleat::rmsd {

/// Superposes pairs when they are asked for, on the device of the context.
class FramePairs final : public PairSource, public PairReductions {
public:
    /// `hash`: identifies coordinates, weights and precision.
    FramePairs(std::shared_ptr<const FrameSource> frames, Precision precision, bool reduces,
               std::string hash, const Context& context);

    Index count() const override { return frames_->frame_count(); }
    void band(Block rows, float* values) const override { kernel_->band(rows, values); }
    Index band_rows() const override;
    void rows(std::span<const Index> items, float* values) const override;
    void between(std::span<const Index> items, std::span<const Index> others,
                 float* values) const override;
    bool is_metric() const override { return true; }
    void among(std::span<const Index> items, const BandVisitor& visit) const override;
    std::string hash() const override { return hash_; }
    double error(double cutoff) const override;
    bool is_below(Index i, Index j, double cutoff) const override;
    const PairReductions* reductions() const override { return reduces_ ? this : nullptr; }

    // As PairReductions.
    void count(Block rows, double bin_width, double cutoff, PairCounts& counts) const override;
    DeviceClusters gromos(double cutoff, const Context& context) const override;

private:
    /// The pairs of all frames, for a kernel that needs no blocks.
    Problem problem() const;
    std::unique_ptr<Kernel> kernel_of(const std::shared_ptr<const FrameSource>& source) const;

    std::shared_ptr<const FrameSource> frames_;
    Precision precision_;
    bool reduces_;
    std::string hash_;
    Context context_;
    std::unique_ptr<Kernel> kernel_;
    mutable std::unique_ptr<Kernel> counting_;   ///< kernel of the last call of count()
    mutable double bin_width_ = 0, cutoff_ = 0;  ///< options of that call
};

}  // namespace pleat::rmsd
