// Output: the result files and the facts of a run of saxs.
#pragma once

#include <string_view>
#include <vector>

#include "pleat/core/run/result_columns.h"
#include "pleat/saxs/fit/reweight.h"
#include "pleat/saxs/model/fixed_contrast.h"
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {

/// Describes each value of a result once; see ResultColumn. `bin_width`: of P(r).
ResultColumns columns(const Fit& fit);
ResultColumns columns(const Weighted& weighted);
ResultColumns columns(const FixedContrastModel& made);
ResultColumns columns(const Reweighting& found);
ResultColumns columns(const Result& result, double bin_width);

/// Writes the tables and arrays that README.md describes. Throws OutputError.
void write_results(RunDirectory& run, const Result& result, const Parameters& parameters);

/// Records the numbers that summarise a run in its manifest.
void record_facts(RunDirectory& run, const Result& result);

/// Keys (core/run/citations.bib) of the papers that describe the methods behind this result.
std::vector<std::string_view> citations(const Result& result);

}  // namespace pleat::saxs
