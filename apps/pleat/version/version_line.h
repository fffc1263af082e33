// Version line: the version of the program and the commit that it was built from.
#pragma once

#include <string>

namespace pleat::program {

/// "pleat 1.2.3 (commit 0123456789ab)", with "-dirty" behind the commit if tracked files had been
/// changed, and without the parentheses if neither git nor commit.txt knows it.
std::string version_line();

}  // namespace pleat::program
