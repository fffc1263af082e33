// Ranks: the processes of mpirun that run one command together, one for each device.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "failure.h"
#include "pleat/core/array.h"
#include "pleat/core/loops/progress.h"
#include "pleat/core/ranks/comm.h"

namespace pleat::program {

/// The ranks of this run; one where no launcher started the program. Made once, in main(), before
/// anything else that may fail. A command that knows of ranks does, on every rank:
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
/// Any rank may throw at any place: main() takes the error to end().
class Ranks {
public:
    Ranks() : comm_(world()) {}
    Comm& comm() { return *comm_; }
    int size() const { return comm_->size(); }
    /// Whether this rank has the run directory, the terminal and the standard streams.
    bool leads() const { return comm_->rank() == 0; }

    /// UsageError where several ranks would run a command that works alone.
    void require_one(std::string_view command) const;
    /// Calls `work` on the leading rank; the others wait, and stop with it where it throws.
    void lead(const std::function<void()>& work);
    /// Makes the value the leading rank's.
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
    /// make_progress() on the leading rank; on the others silence. An interrupt reaches all.
    std::unique_ptr<Progress> progress(bool quiet) const;

    /// What to tell a user whose launcher leaves most CPUs of this machine to no rank; else
    /// nothing.
    std::string advice() const;

    /// The end of the program on every rank, `failure` being empty where all went well: tells the
    /// failure of the run once, and returns its exit code.
    int end(const Failure& failure, const Comm::Report& tell);

private:
    std::unique_ptr<Comm> comm_;
};

}  // namespace pleat::program
