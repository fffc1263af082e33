// Superposed pairs: the RMSD of all pairs of an ensemble as distances that can be clustered.
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "pleat/cluster/distances/distances.h"
#include "pleat/rmsd/pairs/bands.h"

namespace pleat::rmsd {

/// Pairs are superposed when they are asked for. The coordinates must outlive it.
class SuperposedPairs final : public cluster::Distances, public cluster::WorkInPlace {
public:
    /// As Bands takes them. `in_place`: whether the device finds Daura's clusters and counts pairs
    /// itself.
    SuperposedPairs(View<const float, 3> xyz, std::span<const double> weights,
                    const Parameters& parameters, bool in_place, const Context& context)
        : bands_(xyz, weights, parameters, context), in_place_(in_place) {}

    Index count() const override { return bands_.frame_count(); }
    void for_each_band(std::string_view stage, const cluster::BandVisitor& visit) const override {
        bands_.for_each(stage, visit);
    }
    void for_each_band_among(std::span<const Index> items,
                             const cluster::BandVisitor& visit) const override {
        bands_.for_each_among(items, visit);
    }
    void rows(std::span<const Index> items, float* distances) const override {
        bands_.rows(items, distances);
    }
    double doubt(double cutoff) const override { return bands_.error() + 1.3e-7 * cutoff; }
    bool is_below(Index i, Index j, double cutoff) const override {
        return static_cast<float>(bands_.certain(i, j)) < static_cast<float>(cutoff);
    }
    const cluster::WorkInPlace* in_place() const override { return in_place_ ? this : nullptr; }
    cluster::PairTotals totals(double bin) const override {
        BandTally tally = bands_.totals(bin);
        return {std::move(tally.histogram), tally.sum, tally.least, tally.most};
    }
    cluster::Clustering daura(double cutoff) const override {
        DauraClusters found = bands_.daura(cutoff);
        return {std::move(found.assignment), {found.middles.begin(), found.middles.end()}};
    }

private:
    Bands bands_;
    bool in_place_;
};

}  // namespace pleat::rmsd
