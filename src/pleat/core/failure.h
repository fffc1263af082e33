// Failure: any error as the lines and the exit code that a user sees.
#pragma once

#include <string>

namespace pleat {

struct Failure {
    std::string text;  ///< one line, or several about one file; empty: another rank reports
    int exit_code = 0;
};

/// Describes the current exception; must be called in a catch block.
Failure current_failure();

/// The first line of a text, followed by the number of further lines.
std::string first_line(const std::string& text);

}  // namespace pleat
