// Failure: any error as the lines and the exit code that a user sees.
#pragma once

#include <string>

namespace pleat {

struct Failure {
    std::string text;  ///< one line, or several about one file; empty: another rank reports
    int exit_code = 0;
};

/// Describes the exception that is being handled; called in a catch block.
Failure current_failure();

/// The first line of a text, and how many more there are.
std::string first_line(const std::string& text);

}  // namespace pleat
