// Couplings summary: what `pleat couplings` says at its end.
#pragma once

#include <string>

#include "pleat/couplings/output.h"

namespace pleat::program {

/// The alignment, the fit, the ten strongest contacts, the precision where it is known, and where
/// the run is.
std::string summary(const couplings::Report& report, const std::string& folder);

}  // namespace pleat::program
