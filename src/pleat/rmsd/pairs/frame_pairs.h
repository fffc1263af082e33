// Frame pairs: the RMSD of all pairs of an ensemble as a PairSource.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "pleat/cluster/cluster.h"
#include "pleat/core/pairs/pair_source.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/superposition/frames.h"

namespace pleat::rmsd {

/// Superposes pairs on demand on the device of the context.
class FramePairs final : public PairSource {
public:
    /// `hash`: identifies coordinates, weights and precision.
    FramePairs(std::shared_ptr<const FrameSource> frames, FitPrecision precision, bool reduces,
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
    PairCounter* counter() const override;
    DeviceClusters gromos(double cutoff, std::vector<std::int32_t> neighbours,
                          const Context& context) const override;

private:
    Problem problem_of(const std::shared_ptr<const FrameSource>& source) const;

    std::shared_ptr<const FrameSource> frames_;
    Problem problem_;  ///< of `frames_`, wherever they are
    bool has_counter_;
    std::string hash_;
    Context context_;
    std::unique_ptr<Kernel> kernel_;
    mutable std::unique_ptr<Kernel> counting_kernel_;  ///< made when pairs are counted
};

/// Reads neighbours.npz and histogram.tsv of a finished run of `frames` frames, for clustering.
/// `bin_width`, `min`, `mean` and `max` are those of its manifest. Throws InputError for files that
/// contradict each other or the number of frames.
cluster::KnownPairs read_known_pairs(const std::filesystem::path& folder, Index frames,
                                     double bin_width, double min, double mean, double max);

}  // namespace pleat::rmsd
