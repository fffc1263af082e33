// Pair collector: what a run reports of its pairs, gathered band by band without their matrix.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "pleat/core/loops/sweep.h"
#include "pleat/rmsd/measures/metric.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat {
class NpzReader;
class NpzWriter;
}  // namespace pleat

namespace pleat::rmsd {

/// Gathers statistics, neighbours and nearest frames of all pairs of one set, or of the frames of
/// one set with those of another. Bands may be added in any order and on any ranks: the result is
/// the same. Throws DeviceError before a list of neighbours grows beyond memory.
class PairCollector {
public:
    /// For one set of frames, or with `others` for a rectangle [frame, other].
    PairCollector(Index frames, std::optional<Index> others, Index atoms,
                  const Parameters& parameters, int threads);
    /// Adds rows. `values` has the pairs of `rows` with all later frames, in condensed order; or,
    /// of two sets, [row, other].
    void add(Block rows, const float* values);
    /// Adds rows of one set that a device has counted.
    void add(Block rows, const PairCounts& counts);
    /// Makes it part of what `sums` saves, and adds up over ranks; it must outlive `sums`.
    void join(AdditiveCheckpoint& sums);
    Result finish();

    // The functions of a Collector (core/loops/additive_checkpoint.h): neighbours and nearest.
    void save(NpzWriter& file, std::string_view name) const;
    void load(const NpzReader& file, std::string_view name);
    std::vector<std::uint8_t> bytes() const;
    void merge(std::span<const std::uint8_t> bytes);

private:
    bool has_nearest() const { return result_.nearest.indices.size() > 0; }
    void reserve_pairs(std::size_t more);
    void list_near(Block rows, const float* values);
    void offer_nearest(Block rows, const float* values);
    void offer_all(std::span<const std::int32_t> indices, std::span<const float> values);
    void make_rows();

    const MetricTraits& metric_;
    Index columns_;
    bool is_rectangle_;
    int threads_;
    std::optional<float> cutoff_;
    Result result_;
    std::vector<NearPair> near_pairs_;
};

}  // namespace pleat::rmsd
