// Standard output: printing, and errors such as a full disk.
#pragma once

#include <string_view>

namespace pleat::program {

/// Writes text to stdout; failures are kept for flush_standard_output().
void print(std::string_view text);

/// Flushes stdout. Throws OutputError if something could not be written. A reader that closes the
/// pipe early is not an error.
void flush_standard_output();

}  // namespace pleat::program
