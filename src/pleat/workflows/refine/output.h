// Output: the files and facts of a refinement.
#pragma once

#include "pleat/core/run/run_directory.h"
#include "pleat/workflows/refine/refine.h"

namespace pleat::refine {

/// Writes frames.dcd, topology.pdb (or .cif), frames.tsv, convergence.json and, with --pae,
/// domains.txt; README.md of this
/// folder describes each. Throws OutputError, Cancelled.
void write_results(RunDirectory& run, const Result& result, const Context& context);

/// Records the numbers that summarise a run in its manifest.
void record_facts(RunDirectory& run, const Result& result);

/// "not converged: R-hat 1.08 of rg, ..."; empty if converged.
std::string convergence_remark(const Result& result);

/// "no single conformation explains the curve: ..."; empty if residuals are noise.
std::string misfit_remark(const Result& result);

/// The file that names the atoms of frames.dcd.
std::string topology_name(const Result& result);

}  // namespace pleat::refine
