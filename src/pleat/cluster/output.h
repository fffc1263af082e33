// Output: what a clustering leaves in its run directory, structures apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "pleat/bio/ensemble/frame_scores.h"
#include "pleat/bio/ensemble/frame_table.h"
#include "pleat/cluster/cluster.h"
#include "pleat/core/run/run_directory.h"

namespace pleat::cluster {

/// Writes assignment.npy, clusters.tsv, transitions.tsv, histogram.tsv and, where there are any,
/// tree.nwk, linkage.npy, peaks.tsv and sweep.tsv; README.md of this folder describes each.
/// `series`: lengths, as in states.h. `scores` of the items: clusters.tsv has their means and the
/// best item of each cluster. If the items are `chains` of frames, which have these scores, also
/// chains.tsv and combinations.tsv. OutputError.
void write_results(RunDirectory& run, const Result& result, const Parameters& parameters,
                   const std::vector<Index>& series, const FrameScores& scores = {},
                   const ChainItems& chains = {});

/// Writes what states.h finds in the frames of a trajectory: transition_probabilities.tsv,
/// dwell_times.tsv and dwell_distribution.tsv. `interval`: picoseconds from one frame to the next.
/// OutputError.
void write_states(RunDirectory& run, const std::vector<std::int32_t>& assignment,
                  const std::vector<Index>& series, Index lag, std::optional<double> interval);

/// Keys of the papers on which a clustering is based (core/run/citations.bib).
std::vector<std::string_view> citations(Method method, bool has_silhouettes);

}  // namespace pleat::cluster
