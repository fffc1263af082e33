// Families: many alignments in one call, each with its own run.
#pragma once

#include <vector>

#include "couplings/couplings_fit.h"

namespace pleat::program {

std::vector<Field> family_fields(CouplingsOptions& options);

/// Fits every family that the options name, several at a time, each into its own folder under
/// options.run.output. Skips finished families, and continues after one has failed. Writes
/// families.tsv and prints how many families ended in which way. Throws UsageError if two families
/// have the same name, InputError if one is missing, Cancelled, and at the end the error of the
/// first family, in the order given, that failed.
void run_families(const CouplingsOptions& options);

}  // namespace pleat::program
