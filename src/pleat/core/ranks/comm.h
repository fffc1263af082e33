// Comm: the ranks of a run. One rank needs nothing; MPI comes behind the same interface.
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

/// How a rank's part of a run ended: a text to tell and an exit code, or nothing and 0. A failure
/// without a text is that of a rank that stopped because of another.
struct Outcome {
    std::string text;
    int exit_code = 0;
};

/// A group of processes that share one job. This base class is the group of one.
///
/// Every function from barrier() on is a meeting: all ranks call the same one in the same order.
/// Where a rank calls end() with a failure instead, the others throw OtherRankFailed from the
/// meeting at which they wait, or to which they come next.
class Comm {
public:
    virtual ~Comm() = default;
    virtual int rank() const { return 0; }
    virtual int size() const { return 1; }
    /// The same among the ranks of this machine.
    virtual int local_rank() const { return 0; }
    virtual int local_size() const { return 1; }
    /// CPUs of this rank's affinity mask, one that n ranks of this machine share counted as 1 / n;
    /// 0: no rank shares any.
    virtual double cpu_share() const { return 0.0; }
    /// CPUs of this machine that mpirun may use and has bound no rank to.
    virtual int idle_cpus() const { return 0; }

    virtual void barrier() {}
    /// True when it is true on any rank (cancel, failure).
    virtual bool any(bool value) { return value; }
    /// Sum over ranks, in their order: the same bits on every rank.
    virtual double sum(double value) { return value; }
    /// Sums over ranks, element by element, in place on every rank; exact while they fit.
    virtual void sum(std::span<std::int64_t>) {}
    virtual void sum(std::span<std::uint32_t>) {}
    /// Raises each element to the largest of all ranks, on every rank; no NaN may be among them.
    virtual void raise(std::span<double>) {}
    /// Makes `bytes` those of the rank `root`.
    virtual void broadcast(std::vector<std::uint8_t>& bytes, int root) {
        (void)bytes;
        (void)root;
    }
    /// On `root` the bytes of each rank; empty on the others.
    virtual std::vector<std::vector<std::uint8_t>> gather(std::span<const std::uint8_t> bytes,
                                                          int root) {
        (void)root;
        return {{bytes.begin(), bytes.end()}};
    }

    using Tell = std::function<void(const std::string& text)>;
    /// The last meeting, to which a program's ranks come also after an error. Returns on every rank
    /// the exit code of the run: that of the lowest rank with a failure of its own, else 0. That
    /// failure's text goes to `tell` on one rank. A rank that comes with a failure while the others
    /// stay away for long tells it and ends the processes of all ranks.
    virtual int end(const Outcome& own, const Tell& tell) {
        if (!own.text.empty()) tell(own.text);
        return own.exit_code;
    }
};

/// Rethrows a rank's error; where only others have one, throws OtherRankFailed. A meeting.
void agree_on_error(Comm& comm, const std::exception_ptr& error);

/// The ranks that a launcher (mpirun, srun) started this process as one of; else the group of one.
/// Call it once, before the process uses threads, and end() before the result is destroyed.
/// UsageError where there are several and this build or its MPI library cannot join them. With
/// PLEAT_RANKS=off in the environment each process is a group of one.
std::unique_ptr<Comm> world();

}  // namespace pleat

#pragma GCC visibility pop
