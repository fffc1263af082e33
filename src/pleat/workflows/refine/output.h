// Output: the files and facts of a refinement.
#pragma once

#include <string>
#include <vector>

#include "pleat/core/run/result_columns.h"
#include "pleat/workflows/refine/refine.h"

namespace pleat::refine {

/// A column of frames.tsv.
struct FrameColumn {
    std::string name;
    ColumnValue value;
    Shown shown;
};
std::vector<FrameColumn> frame_columns(const Result& result);

/// What a result holds, each value described once; see ResultColumn.
ResultColumns columns(const Result& result);

/// Writes frames.dcd, topology.pdb (or .cif), frames.tsv, convergence.json and, with --pae,
/// domains.txt; README.md of this
/// folder describes each. Throws OutputError, Cancelled.
void write_results(RunDirectory& run, const Result& result, const Context& context);
/// Those of them that are texts but topology.pdb.
void write_tables(RunDirectory& run, const Result& result);

/// Records the numbers that summarise a run in its manifest.
void record_facts(RunDirectory& run, const Result& result);

/// "not converged: R-hat 1.08 of rg, ..."; empty if converged.
std::string convergence_remark(const Result& result);

/// "no single conformation explains the curve: ..."; empty if residuals are noise.
std::string misfit_remark(const Result& result);

/// The smallest effective size of all quantities.
double smallest_size(const Result& result);

/// The file that names the atoms of frames.dcd.
std::string topology_name(const Result& result);

}  // namespace pleat::refine
