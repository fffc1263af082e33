// Output: what a clustering leaves in its run directory, structures apart.
#pragma once

#include <string_view>
#include <vector>

#include "pleat/bio/ensemble/frame_scores.h"
#include "pleat/cluster/cluster.h"
#include "pleat/core/run/run_directory.h"

namespace pleat::cluster {

/// Writes assignment.npy, clusters.tsv, transitions.tsv, histogram.tsv and, where there are any,
/// tree.nwk, linkage.npy, peaks.tsv and sweep.tsv; README.md of this folder describes each.
/// `series` of each item: transitions are counted between items that follow each other in one
/// series; empty: all are one. `scores` of the items: clusters.tsv has their means and the best
/// item of each cluster. OutputError.
void write_results(RunDirectory& run, const Result& result, const Parameters& parameters,
                   const std::vector<Index>& series, const FrameScores& scores = {});

/// Keys of the papers on which a clustering is based (core/run/citations.bib).
std::vector<std::string_view> citations(Method method, bool has_silhouettes);

}  // namespace pleat::cluster
