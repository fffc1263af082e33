// Analyse: `pleat saxs` of curves without a structure.
#pragma once

#include <string>
#include <vector>

#include "saxs/saxs.h"

namespace pleat::program {

/// Whether this small regular file is a measured curve.
bool is_curve(const std::string& file);

/// Whether there is a curve and no structure: further inputs, if any, are curves.
bool is_analysis(const SaxsOptions& options);

/// The curves of an analysis: those of --data (a file, a folder or @LIST), then those behind it.
std::vector<std::string> curve_files(const SaxsOptions& options);

/// Throws UsageError for an option that is not its default and only for structures, or else only
/// for curves without one.
void refuse_options_of(const SaxsOptions& options, bool are_structures);

/// Analyses the curves and writes the folder of the run; returns the summary. Throws every kind of
/// Error.
std::string analyse_curves(SaxsOptions& options, const JobTask& task, Ranks& ranks);
void check_analysis(const SaxsOptions& options);
RunEstimate estimate_analysis(const SaxsOptions& options);

}  // namespace pleat::program
