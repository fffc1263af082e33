// Comm over MPI: collective calls that also pass on the failure of any rank.
#include <fmt/format.h>
#include <mpi.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/ranks/comm.h"
#include "pleat/core/ranks/launch.h"

namespace pleat {

namespace {

/// Data with which other processes can watch this one. Trivially copyable.
struct ProcessIdentity {
    std::int64_t process = 0;
    std::uint64_t process_ids = 0;  ///< the namespace that the number belongs to; 0: unknown

    static ProcessIdentity of_this_process() {
        struct stat ids {};
        const bool is_known = ::stat("/proc/self/ns/pid", &ids) == 0;
        return {::getpid(), is_known ? ids.st_ino : 0};
    }
};

/// Watches processes through Linux's pidfd_open(2): one file descriptor per process, readable once
/// it has ended, and never confused with a later process of the same number. A process in another
/// PID namespace, or on a kernel without this call, counts as running.
class ProcessWatch {
public:
    ProcessWatch() = default;
    ~ProcessWatch() {
        for (const int file : files_)
            if (file >= 0) ::close(file);
    }
    ProcessWatch(const ProcessWatch&) = delete;
    ProcessWatch& operator=(const ProcessWatch&) = delete;

    void start(std::span<const ProcessIdentity> processes) {
        const ProcessIdentity own = ProcessIdentity::of_this_process();
        for (const ProcessIdentity& other : processes) {
            const bool is_visible = own.process_ids != 0 && other.process_ids == own.process_ids;
            const bool is_own = other.process == own.process;
            files_.push_back(is_visible && !is_own
                                 ? static_cast<int>(::syscall(SYS_pidfd_open, other.process, 0))
                                 : -1);
        }
    }
    /// The first process that has ended, by its index in the list.
    std::optional<std::size_t> find_ended() const {
        for (std::size_t i = 0; i < files_.size(); ++i)
            if (has_ended(i)) return i;
        return {};
    }
    /// Whether all processes before this index have ended.
    bool is_lowest_running(std::size_t index) const {
        for (std::size_t i = 0; i < index; ++i)
            if (!has_ended(i)) return false;
        return true;
    }
    /// Whether any watched process other than this one runs.
    bool any_other_running() const {
        for (std::size_t i = 0; i < files_.size(); ++i)
            if (files_[i] >= 0 && !has_ended(i)) return true;
        return false;
    }

private:
    bool has_ended(std::size_t index) const {
        pollfd file{files_[index], POLLIN, 0};
        return file.fd >= 0 && ::poll(&file, 1, 0) == 1;
    }

    std::vector<int> files_;  ///< -1: this process, or one that cannot be watched
};

using Clock = std::chrono::steady_clock;

/// The state that each rank contributes to a collective call; all ranks continue with the largest
/// one.
enum Word : int { kNo = 0, kYes = 1, kFailed = 2 };

/// MPI counts in int; pieces of this many elements are far below its limit.
constexpr std::size_t kPiece = std::size_t{1} << 20;
/// How long a failed rank waits for the others, which may be in a long tile.
constexpr std::chrono::seconds kPatience{10};
/// How often a rank that waits checks that the others of its machine still run.
constexpr std::chrono::milliseconds kWatchInterval{100};
/// Time for the last message of a rank that has ended, before its process counts as lost. mpirun
/// kills the other ranks a second after it finds one killed.
constexpr std::chrono::milliseconds kLastMessage{200};
constexpr unsigned kAbortSeconds = 5;
/// Longest text of an error that ranks pass on: a fixed size, because memory may have run out.
constexpr std::size_t kMaxText = 16384;

constexpr int kFirstCpus = 1024;

template <class Action>
void for_each_piece(std::size_t count, Action action) {
    for (std::size_t first = 0; first < count; first += kPiece)
        action(first, static_cast<int>(std::min(kPiece, count - first)));
}

/// One byte per CPU: 1 if `process` may run on it. Process 0 is this one.
std::vector<std::uint8_t> affinity_mask(pid_t process) {
    std::vector<std::uint8_t> mask(kFirstCpus);
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(process, sizeof set, &set) != 0) return mask;
    for (int cpu = 0; cpu < kFirstCpus; ++cpu) mask[cpu] = CPU_ISSET(cpu, &set) != 0;
    return mask;
}

/// Ends the ranks on all machines; does not wait for a launcher that does not answer.
[[noreturn]] void abort_all(MPI_Comm group, int exit_code) {
    static int code = exit_code;
    ::signal(SIGALRM, [](int) { ::_exit(code); });
    ::alarm(kAbortSeconds);
    MPI_Abort(group, exit_code);
    std::_Exit(exit_code);
}

class MpiComm : public Comm {
public:
    explicit MpiComm(const Launch& launch) {
        // Ranks of one machine exchange little data, and Open MPI's default way of copying prints
        // warnings in containers that forbid reading the memory of other processes.
        ::setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
        int provided = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
        // A separate communicator keeps these messages apart from those of other libraries.
        MPI_Comm_dup(MPI_COMM_WORLD, &group_);
        MPI_Comm_rank(group_, &rank_);
        MPI_Comm_size(group_, &size_);
        if (size_ != launch.processes) {
            has_ended_ = true;
            MPI_Comm_free(&group_);
            MPI_Finalize();
            refuse_launch(launch,
                          fmt::format("expected {} ranks, as the launcher says, found {}: start "
                                      "this build with mpirun of the MPI library it was built "
                                      "with; where each is a run of its own, set "
                                      "PLEAT_RANKS=off",
                                      launch.processes, size_));
        }
        find_neighbours();
    }
    ~MpiComm() override {
        // Without end() on this rank, others may wait forever in a collective call.
        if (!has_ended_) abort_all(group_, 1);
    }
    int rank() const override { return rank_; }
    int size() const override { return size_; }
    int local_rank() const override { return local_rank_; }
    int local_size() const override { return local_size_; }
    double cpu_share() const override { return cpu_share_; }
    int idle_cpus() const override { return idle_cpus_; }

    void barrier() override { meet(kNo); }
    bool any(bool value) override { return meet(value ? kYes : kNo) == kYes; }
    double sum(double value) override {
        // Allocates memory first, so that a rank without memory fails while others still wait in
        // meet().
        std::vector<double> values(size_);
        meet(kNo);
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Iallgather(&value, 1, MPI_DOUBLE, values.data(), 1, MPI_DOUBLE, group_, &request);
        complete(request);
        double total = 0.0;
        for (const double one : values) total += one;
        return total;
    }
    void sum(std::span<std::int64_t> values) override { reduce(values, MPI_INT64_T, MPI_SUM); }
    void sum(std::span<std::uint32_t> values) override { reduce(values, MPI_UINT32_T, MPI_SUM); }
    void raise(std::span<double> values) override { reduce(values, MPI_DOUBLE, MPI_MAX); }
    void broadcast(std::vector<std::uint8_t>& bytes, int root) override {
        meet(kNo);
        std::uint64_t size = bytes.size();
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Ibcast(&size, 1, MPI_UINT64_T, root, group_, &request);
        complete(request);
        // If that fails on any rank, all ranks throw before data are sent.
        together(*this, [&] { bytes.resize(size); });
        for_each_piece(bytes.size(), [&](std::size_t first, int count) {
            MPI_Ibcast(bytes.data() + first, count, MPI_BYTE, root, group_, &request);
            complete(request);
        });
    }
    std::vector<std::vector<std::uint8_t>> gather(std::span<const std::uint8_t> bytes,
                                                  int root) override {
        const auto ranks = static_cast<std::size_t>(size_);
        std::vector<std::uint64_t> sizes(ranks);
        std::vector<std::vector<std::uint8_t>> all(rank_ == root ? ranks : 0);
        meet(kNo);
        const std::uint64_t size = bytes.size();
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Iallgather(&size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, group_, &request);
        complete(request);
        together(*this, [&] {
            for (std::size_t from = 0; from < all.size(); ++from) all[from].resize(sizes[from]);
        });
        if (rank_ != root) {
            for_each_piece(bytes.size(), [&](std::size_t first, int count) {
                MPI_Isend(bytes.data() + first, count, MPI_BYTE, root, 0, group_, &request);
                complete(request);
            });
            return all;
        }
        for (int from = 0; from < size_; ++from) {
            std::vector<std::uint8_t>& into = all[from];
            if (from == root) {
                std::ranges::copy(bytes, into.begin());
                continue;
            }
            for_each_piece(into.size(), [&](std::size_t first, int count) {
                MPI_Irecv(into.data() + first, count, MPI_BYTE, from, 0, group_, &request);
                complete(request);
            });
        }
        return all;
    }
    int end(const Outcome& own, const Report& report) override {
        const bool has_failed = own.exit_code != 0;
        if (!loss_.empty()) leave_after_loss(own, report);
        int exit_code = 0;
        try {
            if (!knows_failure_) {
                own_word_ = greatest_word_ = has_failed ? kFailed : kNo;
                MPI_Request request = MPI_REQUEST_NULL;
                MPI_Iallreduce(&own_word_, &greatest_word_, 1, MPI_INT, MPI_MAX, group_, &request);
                const auto max = has_failed ? Clock::duration(kPatience) : Clock::duration::max();
                if (!await(request, max)) leave_alone(own, report);
                knows_failure_ = greatest_word_ == kFailed;
            }
            if (knows_failure_) exit_code = share_failure(own, report);
        } catch (const DeviceError&) {
            leave_after_loss(own, report);
        }
        has_ended_ = true;
        MPI_Comm_free(&group_);
        MPI_Finalize();
        return exit_code;
    }

private:
    int meet(Word word) {
        if (has_ended_) throw std::logic_error("ranks met after the end");
        if (!loss_.empty()) throw DeviceError(loss_);
        if (knows_failure_) throw OtherRankFailed();
        own_word_ = greatest_word_ = word;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Iallreduce(&own_word_, &greatest_word_, 1, MPI_INT, MPI_MAX, group_, &request);
        complete(request);
        if (greatest_word_ != kFailed) return greatest_word_;
        knows_failure_ = true;
        throw OtherRankFailed();
    }
    /// Waits without using a CPU: pauses grow with the time waited. Returns false after `max`.
    /// Throws DeviceError if a process on this machine has ended, since waiting is then useless.
    bool await(MPI_Request& request, Clock::duration max) {
        using namespace std::chrono_literals;
        const Clock::time_point start = Clock::now();
        Clock::duration next_check = kWatchInterval;
        std::optional<std::size_t> ended;
        for (;;) {
            int is_done = 0;
            MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
            if (is_done != 0) return true;
            const Clock::duration waited = Clock::now() - start;
            if (waited > next_check) {
                if (ended) break;
                ended = neighbours_.find_ended();
                next_check = waited + (ended ? kLastMessage : kWatchInterval);
            }
            if (waited > max) return false;
            if (waited < 50us)
                std::this_thread::yield();
            else
                std::this_thread::sleep_for(std::min<Clock::duration>(waited / 8, 2ms));
        }
        loss_ = fmt::format(
            "rank {} ended without reporting an error (killed, perhaps because memory "
            "ran out); run the same command again to resume",
            neighbour_ranks_[*ended]);
        throw DeviceError(loss_);
    }
    void complete(MPI_Request request) { await(request, Clock::duration::max()); }
    template <class T>
    void reduce(std::span<T> values, MPI_Datatype type, MPI_Op operation) {
        meet(kNo);
        for_each_piece(values.size(), [&](std::size_t first, int count) {
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Iallreduce(MPI_IN_PLACE, values.data() + first, count, type, operation, group_,
                           &request);
            complete(request);
        });
    }
    void find_neighbours() {
        MPI_Comm machine = MPI_COMM_NULL;
        MPI_Comm_split_type(group_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine);
        MPI_Comm_rank(machine, &local_rank_);
        MPI_Comm_size(machine, &local_size_);
        const std::vector<std::uint8_t> own = affinity_mask(0),
                                        launcher = affinity_mask(::getppid());
        // The affinity of the parent process is used for mpirun only: other launchers do not bind
        // themselves.
        const bool is_mpirun = std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr;
        std::vector<int> ranks(own.begin(), own.end());
        MPI_Allreduce(MPI_IN_PLACE, ranks.data(), kFirstCpus, MPI_INT, MPI_SUM, machine);
        watch_neighbours(machine);
        MPI_Comm_free(&machine);
        for (std::size_t cpu = 0; cpu < own.size(); ++cpu) {
            if (own[cpu] != 0) cpu_share_ += 1.0 / ranks[cpu];
            if (is_mpirun && launcher[cpu] != 0 && ranks[cpu] == 0) ++idle_cpus_;
        }
    }
    /// Watches the other ranks on this machine. Ranks of other machines are watched by the
    /// launcher's daemon there.
    void watch_neighbours(MPI_Comm machine) {
        const ProcessIdentity own = ProcessIdentity::of_this_process();
        std::vector<ProcessIdentity> all(local_size_);
        neighbour_ranks_.resize(all.size());
        MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, machine);
        MPI_Allgather(&rank_, 1, MPI_INT, neighbour_ranks_.data(), 1, MPI_INT, machine);
        neighbours_.start(all);
    }
    /// Passes the text of the lowest rank with a failure of its own to rank 0, which reports it.
    /// Returns that failure's exit code.
    int share_failure(const Outcome& own, const Report& report) {
        MPI_Request request = MPI_REQUEST_NULL;
        const int mine = own.text.empty() ? size_ : rank_;
        int reporter = mine;
        MPI_Iallreduce(&mine, &reporter, 1, MPI_INT, MPI_MIN, group_, &request);
        complete(request);
        reporter = std::min(reporter, size_ - 1);
        struct {
            int exit_code = 0;
            char text[kMaxText] = {};  // ends with a zero
        } failure;
        if (rank_ == reporter) {
            failure.exit_code = own.exit_code;
            const std::string text = own.text.empty() ? "" : with_rank(own.text);
            text.copy(failure.text, kMaxText - 1);
        }
        MPI_Ibcast(&failure, sizeof failure, MPI_BYTE, reporter, group_, &request);
        complete(request);
        if (rank_ == 0 && failure.text[0] != 0) report(failure.text);
        return failure.exit_code;
    }
    [[noreturn]] void leave_alone(const Outcome& own, const Report& report) {
        report(with_rank(own.text));
        abort_all(group_, own.exit_code);
    }
    /// Called after a process on this machine was lost. The lowest running rank here reports it
    /// once the others have saved their work, and ends the ranks of all machines.
    [[noreturn]] void leave_after_loss(const Outcome& own, const Report& report) {
        const int exit_code = own.exit_code != 0 ? own.exit_code : DeviceError(loss_).exit_code();
        if (!neighbours_.is_lowest_running(static_cast<std::size_t>(local_rank_)))
            std::_Exit(exit_code);
        report(own.text.empty() ? loss_ : own.text);
        const Clock::time_point limit = Clock::now() + kPatience;
        while (neighbours_.any_other_running() && Clock::now() < limit)
            std::this_thread::sleep_for(kWatchInterval);
        abort_all(group_, exit_code);
    }
    /// Prefixes the text with the rank and its machine, except on rank 0.
    std::string with_rank(const std::string& text) const {
        if (rank_ == 0) return text;
        char machine[MPI_MAX_PROCESSOR_NAME + 1] = {};
        int length = 0;
        MPI_Get_processor_name(machine, &length);
        return fmt::format("rank {} on {}: {}", rank_, machine, text);
    }

    MPI_Comm group_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
    double cpu_share_ = 0.0;
    int idle_cpus_ = 0;
    ProcessWatch neighbours_;  ///< by local rank
    std::vector<int> neighbour_ranks_;
    std::string loss_;  ///< not empty: this neighbour was lost, and no collective call can complete
    int own_word_ = kNo, greatest_word_ = kNo;  ///< members: a request may outlive its function
    bool knows_failure_ = false;  ///< every rank knows that one failed, and comes to end()
    bool has_ended_ = false;
};

}  // namespace

std::unique_ptr<Comm> world() {
    const Launch launch = find_launch();
    refuse_separate_processes(launch);
    if (!launch.is_launched) return std::make_unique<Comm>();
    return std::make_unique<MpiComm>(launch);
}

}  // namespace pleat
