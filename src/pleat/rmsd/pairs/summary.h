// Summary: what is told of all pairs, gathered band by band without their matrix.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "pleat/core/loops/sweep.h"
#include "pleat/rmsd/measures/metric.h"
#include "pleat/rmsd/pairs/band_tally.h"
#include "pleat/rmsd/pairs/tally.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat {
class AdditiveCheckpoint;
class NpzReader;
class NpzWriter;
}  // namespace pleat

namespace pleat::rmsd {

/// Adds up bands of rows, each row once, in any order and on any ranks: the result is the same.
/// Before a list of neighbours grows beyond memory a DeviceError says so.
class Summary {
public:
    Summary(Index frames, Index atoms, const Parameters& parameters);
    /// `rmsd` has the pairs of the rows with all later frames, in condensed order.
    void add(Block rows, const float* rmsd);
    /// The same where a kernel has counted them; of metrics that are distances.
    void add(Block rows, const BandTally& tally);
    /// Makes it a part of what `sums` saves and adds up; it must outlive `sums`.
    void join(AdditiveCheckpoint& sums);
    Result finish(int threads);

    // What AdditiveCheckpoint asks of a Collector: neighbours and the best.
    void save(NpzWriter& file, std::string_view name) const;
    void load(const NpzReader& file, std::string_view name);
    std::vector<std::uint8_t> bytes() const;
    void merge(std::span<const std::uint8_t> bytes);

private:
    void make_room(std::size_t more);
    void add_row(Index i, const float* rmsd);
    void extend(double least, double most);
    void keep(std::span<const std::int32_t> indices, std::span<const float> values);
    void sort_neighbours(int threads);

    const Metric& metric_;
    double bin_;
    Result result_;
    std::vector<std::int64_t> histogram_;  ///< [bin]
    std::vector<double> sums_;             ///< [frame]: of the row's values, or of its band's
    std::vector<double> extremes_;         ///< the negative of the least, and the most
    bool has_cutoff_ = false;
    float cutoff_ = 0.0f;
    std::vector<NearPair> near_;
};

/// Adds up rows of one set with all frames of another; each row must come once, in ascending order.
class RectangleSummary {
public:
    RectangleSummary(Index frames, Index others, Index atoms, const Parameters& parameters);
    /// `values` [row, other].
    void add(Block rows, const float* values);
    Result finish(int threads);

private:
    void make_room(std::size_t more);

    const Metric& metric_;
    Index others_;
    Result result_;
    Tally tally_;
    bool has_cutoff_ = false;
    float cutoff_ = 0.0f;
};

}  // namespace pleat::rmsd
