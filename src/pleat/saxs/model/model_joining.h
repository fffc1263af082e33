// Joined: the models of a file as the parts of one structure.
#pragma once

#include <string>
#include <string_view>

#include "pleat/bio/ensemble/ensemble.h"

namespace pleat::saxs {

/// Whether the frames are one rigid molecule in several places, as files of assemblies hold them:
/// distances within agree to 0.05 angstrom, and the centres are at least a radius of gyration
/// apart.
bool are_copies(View<const float, 3> xyz);

/// One structure a file, of all its frames. InputError where files hold different numbers.
Ensemble join_models(const Ensemble& ensemble);

/// What an ensemble's models and frames are: "states" leaves them, "parts" makes one structure a
/// file, "auto" does so where one file's are copies of one another. A remark tells what was
/// guessed; empty where nothing was. UsageError for other words; InputError.
std::string interpret_models(std::string_view models, Ensemble& ensemble);

}  // namespace pleat::saxs
