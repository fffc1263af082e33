// Ranks: the processes of mpirun that run one command together, one for each device.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/failure.h"
#include "pleat/core/loops/progress.h"
#include "pleat/core/ranks/comm.h"

namespace pleat::program {

struct JobCaller;

/// The ranks of this run; one if no launcher started the program. Made once, in main(), before
/// anything else that may fail. A command that supports several ranks does, on every rank:
///
///     Context context = make_context(options.run, ranks);
///     std::optional<RunDirectory> run;
///     ranks.lead([&] { run.emplace(...); context.checkpoint = run->checkpoint(); ... });
///     ranks.share(context.checkpoint);
///     const auto shown = ranks.progress(options.run.quiet);
///     context.progress = run ? &run->watch(shown.get()) : shown.get();
///     if (!ranks.advice().empty()) context.message(ranks.advice());
///     const Alignment alignment = read_input(options.alignment, run ? &*run : nullptr, ranks);
///     ... run the engine with this context ...
///     ranks.lead([&] { write the results; run->finish(); print the summary; });
///
/// Any rank may throw at any time: main() gives the error to end().
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

    /// These ranks if there is one, else a rank of its own for what each process does by itself.
    Ranks& alone();

    /// Throws UsageError if several ranks run a command that supports one only.
    void require_one(std::string_view command) const;
    /// Calls `work` on the leading rank; the others wait, and stop if it throws.
    void lead(const std::function<void()>& work);
    /// Gives every rank the value of the leading one.
    void share(std::string& bytes);
    void share(std::filesystem::path& path);
    template <class T>
    void share(std::vector<T>& values) {
        std::vector<std::uint8_t> bytes(values.size() * sizeof(T));
        if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
        comm_->broadcast(bytes, 0);
        values.resize(bytes.size() / sizeof(T));
        if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    }
    void share(Array<float, 3>& values);
    /// make_progress() on the leading rank; the others show nothing. An interrupt reaches all.
    std::unique_ptr<Progress> progress(bool quiet) const;

    /// Advice for a user whose launcher leaves most CPUs of this machine unused; else empty.
    std::string advice() const;

    /// The end of the program on every rank; `failure` is empty if all went well. Reports the
    /// failure of the run once, and returns its exit code.
    int end(const Failure& failure, const Comm::Report& report);

private:
    explicit Ranks(std::unique_ptr<Comm> comm) : comm_(std::move(comm)) {}

    std::unique_ptr<Comm> comm_;
    JobCaller* caller_ = nullptr;
    std::unique_ptr<Ranks> alone_;
};

}  // namespace pleat::program
