// Output: the tables that a selection writes into its run directory.
#pragma once

#include "pleat/core/run/result_columns.h"
#include "pleat/workflows/select/select.h"

namespace pleat::select {

/// What a result holds, each value described once; see ResultColumn.
ResultColumns columns(const Result& result);

/// Writes scores.tsv, clusters.tsv and, with contacts, explained.tsv; README.md of this folder
/// describes each. Throws OutputError.
void write_results(RunDirectory& run, const Ensemble& ensemble, const Result& result);

}  // namespace pleat::select
