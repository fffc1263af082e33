// Comm over MPI: meetings at which a failure of any rank reaches all others.
#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

#include "pleat/core/comm.h"
#include "pleat/core/error.h"
#include "pleat/core/launch.h"

namespace pleat {

namespace {

using Clock = std::chrono::steady_clock;

/// What a rank brings to a meeting; all go on with the greatest.
enum Word : int { kNo = 0, kYes = 1, kFailed = 2 };

/// MPI counts in int; pieces of this many elements are far below its limit.
constexpr std::size_t kPiece = std::size_t{1} << 20;
/// How long a failed rank waits for the others, who may be in a long tile.
constexpr std::chrono::seconds kPatience{10};

constexpr int kFirstCpus = 1024;

template <class Action>
void for_each_piece(std::size_t count, Action action) {
    for (std::size_t first = 0; first < count; first += kPiece)
        action(first, static_cast<int>(std::min(kPiece, count - first)));
}

/// Waits without keeping a CPU busy: the pauses grow with the time waited. False when it takes
/// longer than `most`.
bool await(MPI_Request& request, Clock::duration most) {
    using namespace std::chrono_literals;
    const Clock::time_point start = Clock::now();
    for (;;) {
        int is_done = 0;
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
        if (is_done != 0) return true;
        const Clock::duration waited = Clock::now() - start;
        if (waited > most) return false;
        if (waited < 50us)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::min<Clock::duration>(waited / 8, 2ms));
    }
}

/// One byte a CPU: whether a process may run there; 0: this one.
std::vector<std::uint8_t> affinity_mask(pid_t process) {
    std::vector<std::uint8_t> mask(kFirstCpus);
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(process, sizeof set, &set) != 0) return mask;
    for (int cpu = 0; cpu < kFirstCpus; ++cpu)
        mask[static_cast<std::size_t>(cpu)] = CPU_ISSET(cpu, &set) != 0;
    return mask;
}

class MpiComm : public Comm {
public:
    explicit MpiComm(const Launch& launch);
    ~MpiComm() override;
    int rank() const override { return rank_; }
    int size() const override { return size_; }
    int local_rank() const override { return local_rank_; }
    int local_size() const override { return local_size_; }
    double cpu_share() const override { return cpu_share_; }
    int idle_cpus() const override { return idle_cpus_; }

    void barrier() override { meet(kNo); }
    bool any(bool value) override { return meet(value ? kYes : kNo) == kYes; }
    double sum(double value) override;
    void sum(std::span<std::int64_t> values) override { reduce(values, MPI_INT64_T, MPI_SUM); }
    void sum(std::span<std::uint32_t> values) override { reduce(values, MPI_UINT32_T, MPI_SUM); }
    void raise(std::span<double> values) override { reduce(values, MPI_DOUBLE, MPI_MAX); }
    void broadcast(std::vector<std::uint8_t>& bytes, int root) override;
    std::vector<std::vector<std::uint8_t>> gather(std::span<const std::uint8_t> bytes,
                                                  int root) override;
    int end(const Outcome& own, const Tell& tell) override;

private:
    int meet(Word word);
    template <class T>
    void reduce(std::span<T> values, MPI_Datatype type, MPI_Op operation);
    void send(std::span<const std::uint8_t> bytes, int to);
    void find_neighbours();
    void share_bytes(std::vector<std::uint8_t>& bytes, int root);
    [[noreturn]] void leave_alone(const Outcome& own, const Tell& tell);
    std::string placed(const std::string& text) const;

    MPI_Comm group_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
    double cpu_share_ = 0.0;
    int idle_cpus_ = 0;
    bool knows_failure_ = false;  ///< every rank knows that one failed, and comes to end()
    bool has_ended_ = false;
};

MpiComm::MpiComm(const Launch& launch) {
    // Ranks of one machine exchange little, and a container that forbids reading another's memory
    // makes this way of copying complain at every message.
    ::setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    // Messages of another library in this process, if any, stay apart.
    MPI_Comm_dup(MPI_COMM_WORLD, &group_);
    MPI_Comm_rank(group_, &rank_);
    MPI_Comm_size(group_, &size_);
    if (size_ != launch.processes) {
        has_ended_ = true;
        MPI_Comm_free(&group_);
        MPI_Finalize();
        refuse_launch(launch, fmt::format("expected {} ranks, as the launcher says, found {}: start "
                                          "this build with mpirun of the MPI library it was built "
                                          "with; where each is a run of its own, set "
                                          "PLEAT_RANKS=off",
                                          launch.processes, size_));
    }
    find_neighbours();
}

MpiComm::~MpiComm() {
    // Without end() the others may wait in a meeting for ever.
    if (!has_ended_) MPI_Abort(group_, 1);
}

void MpiComm::find_neighbours() {
    MPI_Comm machine = MPI_COMM_NULL;
    MPI_Comm_split_type(group_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &local_rank_);
    MPI_Comm_size(machine, &local_size_);
    const std::vector<std::uint8_t> own = affinity_mask(0), launcher = affinity_mask(::getppid());
    // Other launchers leave their own process where it may run anywhere.
    const bool is_mpirun = std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr;
    std::vector<int> ranks(own.begin(), own.end());
    MPI_Allreduce(MPI_IN_PLACE, ranks.data(), kFirstCpus, MPI_INT, MPI_SUM, machine);
    MPI_Comm_free(&machine);
    for (std::size_t cpu = 0; cpu < own.size(); ++cpu) {
        if (own[cpu] != 0) cpu_share_ += 1.0 / ranks[cpu];
        if (is_mpirun && launcher[cpu] != 0 && ranks[cpu] == 0) ++idle_cpus_;
    }
}

int MpiComm::meet(Word word) {
    if (has_ended_) throw std::logic_error("ranks met after the end");
    if (knows_failure_) throw OtherRankFailed();
    int own = word, greatest = word;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(&own, &greatest, 1, MPI_INT, MPI_MAX, group_, &request);
    await(request, Clock::duration::max());
    if (greatest != kFailed) return greatest;
    knows_failure_ = true;
    throw OtherRankFailed();
}

template <class T>
void MpiComm::reduce(std::span<T> values, MPI_Datatype type, MPI_Op operation) {
    meet(kNo);
    for_each_piece(values.size(), [&](std::size_t first, int count) {
        MPI_Allreduce(MPI_IN_PLACE, values.data() + first, count, type, operation, group_);
    });
}

double MpiComm::sum(double value) {
    meet(kNo);
    std::vector<double> values(static_cast<std::size_t>(size_));
    MPI_Allgather(&value, 1, MPI_DOUBLE, values.data(), 1, MPI_DOUBLE, group_);
    double total = 0.0;
    for (const double one : values) total += one;
    return total;
}

void MpiComm::broadcast(std::vector<std::uint8_t>& bytes, int root) {
    meet(kNo);
    share_bytes(bytes, root);
}

void MpiComm::share_bytes(std::vector<std::uint8_t>& bytes, int root) {
    std::uint64_t size = bytes.size();
    MPI_Bcast(&size, 1, MPI_UINT64_T, root, group_);
    bytes.resize(size);
    for_each_piece(bytes.size(), [&](std::size_t first, int count) {
        MPI_Bcast(bytes.data() + first, count, MPI_BYTE, root, group_);
    });
}

void MpiComm::send(std::span<const std::uint8_t> bytes, int to) {
    const std::uint64_t size = bytes.size();
    MPI_Send(&size, 1, MPI_UINT64_T, to, 0, group_);
    for_each_piece(bytes.size(), [&](std::size_t first, int count) {
        MPI_Send(bytes.data() + first, count, MPI_BYTE, to, 0, group_);
    });
}

std::vector<std::vector<std::uint8_t>> MpiComm::gather(std::span<const std::uint8_t> bytes,
                                                       int root) {
    meet(kNo);
    if (rank_ != root) {
        send(bytes, root);
        return {};
    }
    std::vector<std::vector<std::uint8_t>> all(static_cast<std::size_t>(size_));
    for (int from = 0; from < size_; ++from) {
        std::vector<std::uint8_t>& into = all[static_cast<std::size_t>(from)];
        if (from == root) {
            into.assign(bytes.begin(), bytes.end());
            continue;
        }
        std::uint64_t size = 0;
        MPI_Recv(&size, 1, MPI_UINT64_T, from, 0, group_, MPI_STATUS_IGNORE);
        into.resize(size);
        for_each_piece(into.size(), [&](std::size_t first, int count) {
            MPI_Recv(into.data() + first, count, MPI_BYTE, from, 0, group_, MPI_STATUS_IGNORE);
        });
    }
    return all;
}

/// The text with the rank and its machine, where it is not the first.
std::string MpiComm::placed(const std::string& text) const {
    if (rank_ == 0) return text;
    char machine[MPI_MAX_PROCESSOR_NAME + 1] = {};
    int length = 0;
    MPI_Get_processor_name(machine, &length);
    return fmt::format("rank {} on {}: {}", rank_, machine, text);
}

void MpiComm::leave_alone(const Outcome& own, const Tell& tell) {
    tell(placed(own.text));
    MPI_Abort(group_, own.exit_code);
    std::_Exit(own.exit_code);
}

int MpiComm::end(const Outcome& own, const Tell& tell) {
    const bool has_failed = own.exit_code != 0;
    if (!knows_failure_) {
        int word = has_failed ? kFailed : kNo, greatest = word;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Iallreduce(&word, &greatest, 1, MPI_INT, MPI_MAX, group_, &request);
        const auto patience = has_failed ? Clock::duration(kPatience) : Clock::duration::max();
        if (!await(request, patience)) leave_alone(own, tell);
        knows_failure_ = greatest == kFailed;
    }
    int exit_code = 0;
    if (knows_failure_) {
        const int mine = own.text.empty() ? size_ : rank_;
        int teller = mine;
        MPI_Allreduce(&mine, &teller, 1, MPI_INT, MPI_MIN, group_);
        teller = std::min(teller, size_ - 1);
        const std::string text = own.text.empty() ? "" : placed(own.text);
        std::vector<std::uint8_t> bytes(text.begin(), text.end());
        share_bytes(bytes, teller);
        exit_code = own.exit_code;
        MPI_Bcast(&exit_code, 1, MPI_INT, teller, group_);
        if (rank_ == 0 && !bytes.empty()) tell({bytes.begin(), bytes.end()});
    }
    has_ended_ = true;
    MPI_Comm_free(&group_);
    MPI_Finalize();
    return exit_code;
}

}  // namespace

std::unique_ptr<Comm> world() {
    const Launch launch = find_launch();
    if (!launch.is_launched) return std::make_unique<Comm>();
    return std::make_unique<MpiComm>(launch);
}

}  // namespace pleat
