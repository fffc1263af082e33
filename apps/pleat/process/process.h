// Process: the ranks that run one command together, one for each device, and standard output.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "pleat/core/failure.h"
#include "pleat/core/loops/progress.h"
#include "pleat/core/ranks/pack.h"

namespace pleat::program {

struct JobCaller;

/// The ranks of this run; one if the program was started without a launcher. Made once, in main(),
/// before anything that may fail. Every rank runs the command: see OpenRun. Any rank may throw at
/// any time; main() passes the error to end().
class Ranks {
public:
    Ranks() : comm_(world()) {}
    /// One rank, in a library that calls a command; `caller` must outlive it.
    explicit Ranks(JobCaller& caller) : comm_(std::make_unique<Comm>()), caller_(&caller) {}
    /// Null in the program.
    JobCaller* caller() const { return caller_; }
    Comm& comm() { return *comm_; }
    int size() const { return comm_->size(); }
    int local_size() const { return comm_->local_size(); }
    /// Whether this rank has the run directory, the terminal and the standard streams.
    bool is_leader() const { return comm_->rank() == 0; }

    /// These ranks if there is only one; else a single rank for work that each process does alone.
    Ranks& alone();

    /// Throws UsageError if a command that supports only one rank runs on several.
    void require_one_rank(std::string_view command) const;
    /// Copies the leading rank's values to every rank: see Packer.
    template <class... T>
    void share(T&... values) {
        pleat::share(*comm_, values...);
    }
    /// make_progress() on the leading rank; the others show nothing. An interrupt reaches all.
    std::unique_ptr<Progress> progress(bool quiet) const;

    /// Advice for a user whose launcher leaves most CPUs of this machine unused; else empty.
    std::string advice() const;

    /// Ends the program on every rank; an empty `failure` means success. Reports the failure once
    /// and returns the exit code.
    int end(const Failure& failure, const Comm::Report& report);

private:
    explicit Ranks(std::unique_ptr<Comm> comm) : comm_(std::move(comm)) {}

    std::unique_ptr<Comm> comm_;
    JobCaller* caller_ = nullptr;
    std::unique_ptr<Ranks> alone_;
};

template <class... Arguments>
void append(std::string& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
}

/// Writes text to stdout; failures are kept for flush_standard_output().
void print(std::string_view text);

/// Flushes stdout. Throws OutputError if something could not be written. A reader that closes the
/// pipe early is not an error.
void flush_standard_output();

}  // namespace pleat::program
