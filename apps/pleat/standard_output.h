// Standard output: printing with the failures of a full disk or a reader that left.
#pragma once

#include <string_view>

namespace pleat::program {

/// Writes text to stdout; failures are kept for flush_standard_output().
void print(std::string_view text);

/// Flushes stdout. OutputError when something could not be written; a reader that closed the pipe
/// is no failure: nobody wants the rest.
void flush_standard_output();

}  // namespace pleat::program
