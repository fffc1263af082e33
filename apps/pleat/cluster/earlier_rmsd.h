// Earlier RMSDs: what a finished run of pleat rmsd compared, from its manifest.
#pragma once

#include <map>
#include <string>

#include "options/ensemble_options.h"
#include "options/symmetry_options.h"
#include "pleat/core/run/manifest.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::program {

/// The ensemble that it read, to read it again.
EnsembleSource source_of(const EarlierRun& earlier);
/// Why the files of an earlier run cannot be read again as they were; empty if they can.
std::string obstacle(const EarlierRun& earlier);
/// Whether the run measured other atoms than it superposed.
bool has_other_atoms(const EarlierRun& earlier);
/// The metric of an earlier run, which must have compared all pairs of one set by distances.
rmsd::Metric metric_of(const EarlierRun& earlier, const std::string& folder);
/// The precision of its values.
rmsd::Precision precision_of(const EarlierRun& earlier);
/// The number with this name in an earlier run; NaN if there is none.
double number_of(const std::map<std::string, std::string>& values, const std::string& name);
/// The symmetry of an earlier run.
SymmetryOptions symmetry_of(const EarlierRun& earlier);
/// Throws InputError if it is not a run of pleat rmsd.
void refuse_other_command(const EarlierRun& earlier, const std::string& folder);
/// A count among the results of a run; 0 if there is none.
Index whole_number(const std::map<std::string, std::string>& values, const std::string& name);

}  // namespace pleat::program
