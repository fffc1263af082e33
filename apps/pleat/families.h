// Families: many alignments in one call, each a run of its own.
#pragma once

#include <vector>

#include "couplings_fit.h"

namespace pleat::program {

std::vector<Field> family_fields(CouplingsOptions& options);

/// Fits every family that the options name into a folder of its own under options.run.output,
/// several at a time; skips those that are finished, and goes on with the others after one has
/// failed. Writes families.tsv and prints how many went how. UsageError and InputError where the
/// families cannot be told apart or found; Cancelled; in the end the kind of Error of the first
/// family, in the order given, that failed.
void run_families(const CouplingsOptions& options);

}  // namespace pleat::program
