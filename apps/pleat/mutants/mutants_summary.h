// Mutants summary: the text that `pleat mutants` prints at its end.
#pragma once

#include <string>

#include "pleat/workflows/mutants/output.h"

namespace pleat::program {

/// The target, the most and least tolerant residues, what became of the listed mutants, and the
/// folder of the run.
std::string summary(const mutants::Report& report, const couplings::ModelDescription& about,
                    const std::string& folder);

}  // namespace pleat::program
