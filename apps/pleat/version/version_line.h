// Version line: the version of the program and the commit that it was built from.
#pragma once

#include <string>

namespace pleat::program {

/// Returns "pleat 1.2.3 (commit 0123456789ab)". "-dirty" follows the commit if tracked files were
/// changed; without the commit, if neither git nor commit.txt knows it.
std::string version_line();

}  // namespace pleat::program
