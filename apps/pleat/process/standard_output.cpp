// Standard output: fwrite, fflush and what went wrong first.
#include "process/standard_output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "pleat/core/files/text.h"

namespace pleat::program {

namespace {

int first_failure = 0;

void keep_failure(bool failed) {
    if (failed && first_failure == 0) first_failure = errno;
}

}  // namespace

void print(std::string_view text) {
    const std::string shown = printable_lines(text);
    keep_failure(std::fwrite(shown.data(), 1, shown.size(), stdout) != shown.size());
}

void flush_standard_output() {
    keep_failure(std::fflush(stdout) != 0 || std::ferror(stdout) != 0);
    if (first_failure == 0 || first_failure == EPIPE) return;
    throw OutputError(
        fmt::format("standard output: cannot be written: {}", std::strerror(first_failure)));
}

}  // namespace pleat::program
