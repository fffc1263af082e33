// Output: what a clustering leaves in its run directory, structures apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/ensemble/frame_scores.h"
#include "pleat/bio/ensemble/frame_table.h"
#include "pleat/cluster/cluster.h"
#include "pleat/cluster/states.h"
#include "pleat/core/run/result_columns.h"

namespace pleat::cluster {

/// Describes each value of a result once; see ResultColumn. `swept`: the name of the swept option.
ResultColumns columns(const Result& result, const std::string& swept = "{sweep_of}");
std::vector<RecordField> transition_fields();
std::vector<RecordField> dwell_fields();
std::vector<RecordField> dwell_time_fields();

/// Writes assignment.npy, clusters.tsv, transitions.tsv, histogram.tsv and, where there are any,
/// tree.nwk, linkage.npy, peaks.tsv and sweep.tsv; README.md of this folder describes each.
/// `series`: lengths, as in states.h. `scores` of the items: clusters.tsv has their means and the
/// best item of each cluster. If the items are `chains` of frames, which have these scores, also
/// chains.tsv and combinations.tsv. OutputError.
void write_results(RunDirectory& run, const Result& result, const Parameters& parameters,
                   const std::vector<Index>& series, const FrameScores& scores = {},
                   const ChainItems& chains = {});

/// Records the numbers that summarise a run in its manifest.
void record_facts(RunDirectory& run, const Result& result);

/// Writes what states.h finds in the frames of a trajectory: transition_probabilities.tsv,
/// dwell_times.tsv and dwell_distribution.tsv. `interval`: picoseconds from one frame to the next.
/// OutputError.
void write_states(RunDirectory& run, const std::vector<std::int32_t>& assignment,
                  const std::vector<Index>& series, Index lag, std::optional<double> interval);

/// Keys (core/run/citations.bib) of the papers that describe the methods used.
std::vector<std::string_view> citations(Method method, bool has_silhouettes);

}  // namespace pleat::cluster
