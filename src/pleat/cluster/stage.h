// Stage: what a clustering tries, and passes with their own progress, checkpoint and ranks.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "pleat/cluster/cluster.h"
#include "pleat/core/loops/additive_checkpoint.h"
#include "pleat/core/pairs/pair_source.h"

namespace pleat::cluster {

enum class MethodFamily { greedy, dbscan, tree, medoids, peaks, rounds, shared, centres };

struct Trials {
    MethodFamily family = MethodFamily::greedy;
    std::vector<double> cutoffs, counts;
    /// Whether neighbours are the nearest items, with or without a cutoff. Without a cutoff,
    /// `cutoffs` contains one unused value.
    bool uses_nearest = false, has_cutoff = true;

    bool has_several() const { return cutoffs.size() > 1 || counts.size() > 1; }
    /// Whether the cutoff varies; else k does.
    bool varies_cutoff() const { return counts.size() <= 1 && !cutoffs.empty(); }
    /// Iterated density has a single trial, whose value is not used.
    std::vector<double> values() const {
        if (family == MethodFamily::rounds) return {0};
        return varies_cutoff() ? cutoffs : counts;
    }
};

/// Throws UsageError if an option that the method needs is missing, or if one is given that the
/// method does not use.
Trials trials_of(const Parameters& parameters);

/// "run/checkpoint.npz" and "describe" give "run/checkpoint.describe.npz"; empty stays empty.
std::filesystem::path stage_file(const std::filesystem::path& checkpoint, std::string_view name);

/// The context of a stage over the pairs of `source`: its checkpoint is a file of its own. If the
/// pairs are stored, there is no checkpoint, and each rank does all of the work itself.
Context stage_context(const Context& context, const PairSource& source, std::string_view name);

/// Visits all pairs of `source`, divided among ranks and resuming from a checkpoint. `join`
/// registers arrays with the checkpoint, and `add` adds bands to them. `options`: what the arrays
/// depend on besides the source.
void sum_over_pairs(const PairSource& source, const Context& context, std::string_view stage,
                    std::string_view options, const std::function<void(AdditiveCheckpoint&)>& join,
                    const BandVisitor& add);

/// Cuts `count` items into tiles of at most `batch` items, without an output array.
std::vector<Tile> tiles_of(Index count, Index batch);

/// Calls PairSource::rows() for `items` in batches of `batch` items that the ranks share. The
/// numbers do not depend on the number of ranks.
void gather_rows_of(const PairSource& source, const Context& context, std::span<const Index> items,
                    Index batch, float* values);

}  // namespace pleat::cluster
