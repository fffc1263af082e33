// Couplings summary: the text that `pleat couplings` prints at its end.
#pragma once

#include <string>

#include "pleat/couplings/output.h"

namespace pleat::program {

/// The alignment, the fit, the ten strongest contacts, the precision if there is a structure, and
/// the folder of the run.
std::string summary(const couplings::Report& report, const std::string& folder);

}  // namespace pleat::program
