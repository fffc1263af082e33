// Output: what a run of rmsd leaves in its run directory beside the matrix.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/run/run_directory.h"
#include "pleat/rmsd/rmsd.h"
#include "pleat/rmsd/superposition/superposition.h"

namespace pleat::rmsd {

/// Writes histogram.tsv and, where asked for, neighbours.npz and best.npz; README.md of this folder
/// describes each. OutputError where files cannot be written.
void write_results(RunDirectory& run, const Result& result, const Parameters& parameters);

/// reference.tsv: each frame's value by `metric` and where it came from. `origins` count `files`.
void write_reference(RunDirectory& run, const std::vector<float>& values, std::string_view metric,
                     const std::vector<FrameOrigin>& origins,
                     const std::vector<std::string>& files);

/// rmsf.tsv and rmsf_residues.tsv: of each atom of the topology, and of each residue the roots of
/// its atoms' mean squares by `weights` (empty: 1).
void write_rmsf(RunDirectory& run, const Topology& topology, const Fluctuations& fluctuations,
                const std::vector<double>& weights);

/// Keys of the papers on which a run with this metric is based (core/run/citations.bib).
std::vector<std::string_view> citations(std::string_view metric = "rmsd");

}  // namespace pleat::rmsd
