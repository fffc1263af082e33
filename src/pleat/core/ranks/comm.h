// Comm: the ranks of a run. A single rank needs no MPI; several use it behind the same interface.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace pleat {

/// How a run ended on one rank: an error's text and exit code, or an empty text and 0. A failure
/// without a text is that of a rank that stopped because another one failed.
struct Outcome {
    std::string text;
    int exit_code = 0;
};

/// A group of processes that share one job. This base class is the group of one.
///
/// barrier() and the functions after it are collective: all ranks call them, in the same order.
/// A rank that fails calls end() instead; the current or next collective call of the others then
/// throws OtherRankFailed.
class Comm {
public:
    virtual ~Comm() = default;
    virtual int rank() const { return 0; }
    virtual int size() const { return 1; }
    /// Rank and number of ranks on this machine.
    virtual int local_rank() const { return 0; }
    virtual int local_size() const { return 1; }
    /// CPUs in this rank's affinity mask; one that n ranks of this machine share counts as 1 / n.
    /// 0: no CPU is shared.
    virtual double cpu_share() const { return 0.0; }
    /// CPUs of this machine that mpirun may use, but to which it has bound no rank.
    virtual int idle_cpus() const { return 0; }

    virtual void barrier() {}
    /// Whether the value is true on any rank (cancel, failure).
    virtual bool any(bool value) { return value; }
    /// Sum over the ranks in their order: the same bits on every rank.
    virtual double sum(double value) { return value; }
    /// Replaces each element by its sum over the ranks. Exact unless the sum overflows.
    virtual void sum(std::span<std::int64_t>) {}
    virtual void sum(std::span<std::uint32_t>) {}
    /// Replaces each element by its largest value on any rank. No element may be NaN.
    virtual void raise(std::span<double>) {}
    /// Sends the bytes of rank `root` to every rank.
    virtual void broadcast(std::vector<std::uint8_t>& bytes, int root) {
        (void)bytes;
        (void)root;
    }
    /// Returns the bytes of each rank on `root`; empty on the others.
    virtual std::vector<std::vector<std::uint8_t>> gather(std::span<const std::uint8_t> bytes,
                                                          int root) {
        (void)root;
        return {{bytes.begin(), bytes.end()}};
    }

    using Report = std::function<void(const std::string& text)>;
    /// The last collective call of a program, also after an error. Returns the exit code of the run
    /// on every rank: that of the lowest rank with an error's text, else 0. One rank reports that
    /// text. If a rank fails and the others do not call end() for long, it reports its error and
    /// ends the processes of all ranks.
    virtual int end(const Outcome& own, const Report& report) {
        if (!own.text.empty()) report(own.text);
        return own.exit_code;
    }
};

/// Rethrows this rank's error; throws OtherRankFailed if only other ranks have one. A collective
/// call.
void agree_on_error(Comm& comm, const std::exception_ptr& error);
/// Calls `work` on every rank; if it throws on any, all ranks throw as agree_on_error() does.
void together(Comm& comm, const std::function<void()>& work);

/// The ranks that a launcher (mpirun, srun) started, of which this process is one; a group of one
/// if there is no launcher, or with PLEAT_RANKS=off in the environment. Call it once, before the
/// process starts threads, and call end() before the result is destroyed. Throws UsageError if
/// there are several ranks and this build has no MPI, or another MPI library than the launcher.
std::unique_ptr<Comm> world();

}  // namespace pleat

#pragma GCC visibility pop
