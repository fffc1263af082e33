// Output: the files of a run of rmsd besides the matrix.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/run/result_columns.h"
#include "pleat/rmsd/rmsd.h"
#include "pleat/rmsd/superposition/superposition.h"

namespace pleat::rmsd {

/// What a result holds, each value described once; see ResultColumn.
ResultColumns columns(const Result& result, const Parameters& parameters);

/// Writes histogram.tsv and, if asked for, neighbours.npz and best.npz; README.md of this folder
/// describes each. Throws OutputError.
void write_results(RunDirectory& run, const Result& result, const Parameters& parameters);

/// Writes reference.tsv: the values of each frame, its file and its number in that file.
/// `origins` refer to `files`. Of lDDT also lddt_residues.npy [frame, residue] and
/// lddt_residues.tsv: of each residue its distances in the structure, and the mean, minimum and
/// maximum over the frames. `topology`: the measured atoms; `residues` [atom]: the residue of each.
void write_reference(RunDirectory& run, const Result& result, const Parameters& parameters,
                     const std::vector<FrameOrigin>& origins, const std::vector<std::string>& files,
                     const Topology& topology, const std::vector<Index>& residues);

/// Writes rmsf.tsv, with one row per atom of the topology, and rmsf_residues.tsv: the roots of the
/// mean squares of each residue's atoms by `weights` (empty: 1).
void write_rmsf(RunDirectory& run, const Topology& topology, const Fluctuations& fluctuations,
                const std::vector<double>& weights);

/// Keys (core/run/citations.bib) of the papers that describe this metric.
std::vector<std::string_view> citations(Metric metric = Metric::rmsd);

}  // namespace pleat::rmsd
