// Mutual information summary: a few lines and a table for people.
#pragma once

#include <string>

#include "pleat/mutual_information/output.h"

namespace pleat::program {

/// What `pleat mi` prints when it has finished.
std::string summary(const mutual_information::Report& report, const std::string& folder);

}  // namespace pleat::program
