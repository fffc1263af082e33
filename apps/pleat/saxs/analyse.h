// Analyse: `pleat saxs` of curves without a structure.
#pragma once

#include <string>
#include <vector>

#include "saxs/saxs.h"

namespace pleat::program {

/// Whether this small regular file is a measured curve.
bool is_curve(const std::string& file);

/// Whether the inputs are curves, to be analysed without a structure.
bool is_analysis(const SaxsOptions& options);

/// Makes --data an input if there is no structure, or the other inputs are curves too.
void take_data_as_input(SaxsOptions& options);

/// Analyses the curves and writes the folder of the run; returns the summary. Throws every kind of
/// Error.
std::string analyse_curves(SaxsOptions& options, const JobTask& task, Ranks& ranks);
void check_analysis(const SaxsOptions& options);
RunEstimate estimate_analysis(const SaxsOptions& options);

}  // namespace pleat::program
