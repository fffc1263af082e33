// Process: what the leading rank does and what the others get from it; fwrite and what went wrong
// first.
#include "process/process.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "pleat/core/error.h"
#include "pleat/core/files/text.h"
#include "pleat/core/terminal/progress_terminal.h"

namespace pleat::program {

void Ranks::require_one_rank(std::string_view command) const {
    if (size() == 1) return;
    throw UsageError(
        fmt::format("'pleat {}' works on one rank: expected no mpirun, or mpirun -n 1, "
                    "found {} ranks",
                    command, size()));
}

Ranks& Ranks::alone() {
    if (size() == 1) return *this;
    if (alone_ == nullptr) alone_.reset(new Ranks(std::make_unique<Comm>()));
    return *alone_;
}

std::unique_ptr<Progress> Ranks::progress(bool quiet) const {
    return make_progress(stderr, quiet || !is_leader());
}

std::string Ranks::advice() const {
    const int idle = comm_->idle_cpus();
    const double bound = comm_->cpu_share() * comm_->local_size();
    if (idle <= bound) return {};
    return fmt::format(
        "mpirun has bound no rank to {} CPUs of this machine: its option --bind-to "
        "none lets the ranks share them all",
        idle);
}

int Ranks::end(const Failure& failure, const Comm::Report& report) {
    return comm_->end({failure.text, failure.exit_code}, report);
}

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
