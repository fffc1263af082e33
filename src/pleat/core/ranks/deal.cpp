// Deal: rounds in which each rank says how many threads are idle, and the first rank answers.
#include "pleat/core/ranks/deal.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "pleat/core/error.h"
#include "pleat/core/ranks/pack.h"

namespace pleat {

namespace {

using namespace std::chrono_literals;

// Between two rounds. Pauses grow while nothing ends, so that short jobs wait for little and long
// jobs are not disturbed.
constexpr std::chrono::microseconds kMinPause = 1ms, kMaxPause = 50ms;

/// The worker threads of one rank, and the queue of indices for them.
class Workers {
public:
    Workers(int count, const DealCalls& calls) : calls_(calls) {
        try {
            while (static_cast<int>(threads_.size()) < count)
                threads_.emplace_back([this] { run(); });
        } catch (const std::system_error&) {
            // The system refuses more threads: the existing ones do all the work.
            if (threads_.empty()) throw;
        }
    }
    /// Stops work in progress, and waits for its end.
    ~Workers() {
        {
            const std::lock_guard lock(mutex_);
            waiting_.clear();
            closes_ = true;
            if (running_ > 0) calls_.stop();
        }
        has_work_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    void add(Index index) {
        {
            const std::lock_guard lock(mutex_);
            waiting_.push_back(index);
        }
        has_work_.notify_one();
    }
    /// The number of threads without work; throws the error of failed work.
    std::int64_t idle() {
        const std::lock_guard lock(mutex_);
        if (error_) std::rethrow_exception(error_);
        return std::ssize(threads_) - running_ - std::ssize(waiting_);
    }
    bool is_busy() const {
        const std::lock_guard lock(mutex_);
        return running_ > 0 || !waiting_.empty();
    }
    /// Waits until some work has ended since the last call, but not longer than `max`.
    void wait(std::chrono::microseconds max) {
        std::unique_lock lock(mutex_);
        has_ended_.wait_for(lock, max, [&] { return ended_ > 0; });
        ended_ = 0;
    }

private:
    void run() {
        std::unique_lock lock(mutex_);
        for (;;) {
            has_work_.wait(lock, [&] { return closes_ || !waiting_.empty(); });
            if (closes_) return;
            const Index index = waiting_.front();
            waiting_.pop_front();
            ++running_;
            lock.unlock();
            std::exception_ptr error;
            try {
                if (!calls_.is_stopped()) calls_.work(index);
            } catch (...) {
                error = std::current_exception();
            }
            lock.lock();
            --running_;
            ++ended_;
            if (error && !error_) error_ = error;
            has_ended_.notify_all();
        }
    }

    const DealCalls& calls_;
    mutable std::mutex mutex_;
    std::condition_variable has_work_, has_ended_;
    std::deque<Index> waiting_;
    std::int64_t running_ = 0, ended_ = 0;
    bool closes_ = false;
    std::exception_ptr error_;
    std::vector<std::thread> threads_;
};

/// What a rank says in each round.
struct Report {
    std::int64_t idle = 0;
    bool is_busy = false, is_stopped = false;
    std::string news = {};
};
void members(Packer& pack, Report& report) {
    pack(report.idle, report.is_busy, report.is_stopped, report.news);
}

/// What the first rank answers.
struct Answer {
    bool is_stopped = false, has_ended = true, is_active = false;
    struct Dealt {
        int rank = 0;
        Index index = 0;
    };
    std::vector<Dealt> dealt = {};
};
void members(Packer& pack, Answer& answer) {
    pack(answer.is_stopped, answer.has_ended, answer.is_active, answer.dealt);
}

/// The first rank's side: receives all reports and hands out jobs from `next` on.
Answer answer(const std::vector<Bytes>& reports, Index& next, Index count, const DealCalls& calls) {
    Answer all;
    std::vector<std::int64_t> idle;
    for (std::size_t rank = 0; rank < reports.size(); ++rank) {
        Report report;
        Packer{reports[rank]}(report);
        idle.push_back(report.idle);
        all.is_stopped |= report.is_stopped;
        if (report.is_busy) all.has_ended = false;
        if (!report.news.empty()) all.is_active = true;
        if (rank > 0 && !report.news.empty()) calls.hear(report.news);
    }
    bool has_idle = !all.is_stopped;
    while (has_idle && next < count) {
        has_idle = false;
        for (std::size_t rank = 0; rank < idle.size() && next < count; ++rank) {
            if (idle[rank] <= 0) continue;
            --idle[rank];
            has_idle = true;
            all.dealt.push_back({static_cast<int>(rank), next++});
        }
    }
    if (!all.dealt.empty() || (next < count && !all.is_stopped)) all.has_ended = false;
    if (!all.dealt.empty()) all.is_active = true;
    return all;
}

}  // namespace

void together(Comm& comm, const std::function<void()>& work) {
    std::exception_ptr error;
    try {
        work();
    } catch (...) {
        error = std::current_exception();
    }
    agree_on_error(comm, error);
}

void run_on_first_rank(Comm& comm, const std::function<void()>& work) {
    together(comm, [&] {
        if (comm.rank() == 0) work();
    });
}

void deal(Comm& comm, int workers, Index count, const DealCalls& calls) {
    Workers own(workers, calls);
    Index next = 0;
    std::chrono::microseconds pause = kMinPause;
    for (;;) {
        // Queried before the news, so that the news includes all work that has ended by then.
        const bool is_busy = own.is_busy();
        Report report{.idle = own.idle(), .is_busy = is_busy, .is_stopped = calls.is_stopped()};
        report.news = calls.news();
        const std::vector<Bytes> reports = comm.gather(Packer()(report).bytes, 0);
        Answer all;
        if (comm.rank() == 0) all = answer(reports, next, count, calls);
        share(comm, all);
        if (all.is_stopped) calls.stop();
        if (all.has_ended) return;
        for (const auto& [rank, index] : all.dealt)
            if (rank == comm.rank()) own.add(index);
        pause = all.is_active ? kMinPause : std::min(pause * 5 / 4, kMaxPause);
        own.wait(pause);
    }
}

void collect_rounds(Comm& comm, const std::function<RoundPiece(int rank)>& make,
                    const std::function<void(const std::vector<Bytes>& pieces)>& collect) {
    for (bool goes_on = true; goes_on;) {
        const RoundPiece own = make(comm.rank());
        const std::vector<Bytes> pieces = comm.gather(own.bytes, 0);
        run_on_first_rank(comm, [&] { collect(pieces); });
        goes_on = comm.any(own.has_more);
    }
}

void agree_on_error(Comm& comm, const std::exception_ptr& error) {
    if (!comm.any(error != nullptr)) return;
    if (error == nullptr) throw OtherRankFailed();
    std::rethrow_exception(error);
}

}  // namespace pleat
