// Analysis output: the files, facts and summary of curves that were analysed by themselves.
#pragma once

#include <string>

#include "pleat/core/run/result_columns.h"
#include "pleat/saxs/analysis/analysis.h"

namespace pleat::saxs {

/// Describes each value of the reported curve once; see ResultColumn.
ResultColumns columns(const SampleAnalysis& analysis);

/// The numbers of all curves, one row each, as analysis.tsv has them.
std::vector<TableColumn> analysis_columns(const SampleAnalysis& analysis);

/// Writes analysis.tsv and the tables and files of the reported curve. Throws OutputError.
void write_results(RunDirectory& run, const SampleAnalysis& analysis);

/// What the reported curve says, in lines for the screen.
std::string summary_of(const SampleAnalysis& analysis);

/// Keys (core/run/citations.bib) of the papers behind it.
std::vector<std::string_view> citations(const SampleAnalysis& analysis);

}  // namespace pleat::saxs
