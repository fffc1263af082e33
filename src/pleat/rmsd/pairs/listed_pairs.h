// Listed pairs: superposed pairs whose neighbours below a cutoff an earlier run has listed.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "pleat/cluster/distances/distances.h"

namespace pleat::rmsd {

/// What a run of all pairs left in its folder about them.
struct PairList {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> indices;
    std::vector<float> rmsd;
    double cutoff = 0;
    double bin = 0;  ///< of `totals`
    cluster::PairTotals totals;
};

/// Reads neighbours.npz and histogram.tsv of a finished run of `frames` frames. `least`, `mean` and
/// `most` are those of its manifest. Throws InputError for files that contradict each other or the
/// frames.
PairList read_pair_list(const std::filesystem::path& folder, Index frames, double bin, double least,
                        double mean, double most);

/// Gives the distances of `pairs`, and from the list what it says of them: the neighbours below its
/// cutoff or a smaller one. Values of the list as near to the cutoff as doubt() are decided by
/// is_below().
class ListedPairs final : public cluster::Distances {
public:
    ListedPairs(std::unique_ptr<cluster::Distances> pairs, PairList list)
        : pairs_(std::move(pairs)), list_(std::move(list)) {}

    Index count() const override { return pairs_->count(); }
    void for_each_band(std::string_view stage, const cluster::BandVisitor& visit) const override {
        pairs_->for_each_band(stage, visit);
    }
    void for_each_band_among(std::span<const Index> items,
                             const cluster::BandVisitor& visit) const override {
        pairs_->for_each_band_among(items, visit);
    }
    void rows(std::span<const Index> items, float* distances) const override {
        pairs_->rows(items, distances);
    }
    double doubt(double cutoff) const override { return pairs_->doubt(cutoff); }
    bool is_below(Index i, Index j, double cutoff) const override {
        return pairs_->is_below(i, j, cutoff);
    }
    const cluster::WorkInPlace* in_place() const override { return pairs_->in_place(); }
    std::unique_ptr<cluster::Neighbours> listed_neighbours(double cutoff) const override;
    std::optional<cluster::PairTotals> listed_totals(double bin) const override;

private:
    std::unique_ptr<cluster::Distances> pairs_;
    PairList list_;
};

}  // namespace pleat::rmsd
