// Output: what a run of rmsd leaves in its run directory beside the matrix.
#pragma once

#include "pleat/core/run_directory.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::rmsd {

/// Writes histogram.tsv and, where asked for, neighbours.npz and best.npz; README.md of this folder
/// describes each. OutputError where files cannot be written.
void write_results(RunDirectory& run, const Result& result, const Parameters& parameters);

}  // namespace pleat::rmsd
