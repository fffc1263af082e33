// Deal: rounds in which each rank says how many threads are idle, and the first rank answers.
#include "pleat/core/ranks/deal.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace pleat {

namespace {

using namespace std::chrono_literals;

// Between two rounds. Pauses grow while nothing ends, so that short jobs wait for little and long
// jobs are not disturbed.
constexpr std::chrono::microseconds kMinPause = 1ms, kMaxPause = 50ms;

/// The worker threads of one rank, and the indices that wait for them.
class Workers {
public:
    Workers(int count, const DealCalls& calls);
    /// Stops work in progress, and waits for its end.
    ~Workers();
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    void add(Index index);
    /// Threads for which no work waits; throws the error of work that has failed.
    std::int64_t idle();
    bool is_busy() const;
    /// Waits until some work has ended since the last call, but not longer than `max`.
    void wait(std::chrono::microseconds max);

private:
    void run();

    const DealCalls& calls_;
    mutable std::mutex mutex_;
    std::condition_variable has_work_, has_ended_;
    std::deque<Index> waiting_;
    std::int64_t running_ = 0, ended_ = 0;
    bool closes_ = false;
    std::exception_ptr error_;
    std::vector<std::thread> threads_;
};

Workers::Workers(int count, const DealCalls& calls) : calls_(calls) {
    try {
        while (static_cast<int>(threads_.size()) < count) threads_.emplace_back([this] { run(); });
    } catch (const std::system_error&) {
        // The system refuses more threads: the existing ones do all the work.
        if (threads_.empty()) throw;
    }
}

Workers::~Workers() {
    {
        const std::lock_guard lock(mutex_);
        waiting_.clear();
        closes_ = true;
        if (running_ > 0) calls_.stop();
    }
    has_work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Workers::run() {
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

void Workers::add(Index index) {
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(index);
    }
    has_work_.notify_one();
}

std::int64_t Workers::idle() {
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    return std::ssize(threads_) - running_ - std::ssize(waiting_);
}

bool Workers::is_busy() const {
    const std::lock_guard lock(mutex_);
    return running_ > 0 || !waiting_.empty();
}

void Workers::wait(std::chrono::microseconds max) {
    std::unique_lock lock(mutex_);
    has_ended_.wait_for(lock, max, [&] { return ended_ > 0; });
    ended_ = 0;
}

using Bytes = std::vector<std::uint8_t>;

template <class T>
void append(Bytes& bytes, const T& value) {
    bytes.resize(bytes.size() + sizeof value);
    std::memcpy(bytes.data() + bytes.size() - sizeof value, &value, sizeof value);
}

/// What a rank says in each round; its news follow.
struct Report {
    std::int64_t idle = 0;
    std::uint8_t is_busy = 0, is_stopped = 0;
};

/// What the first rank answers; the dealt indices follow.
struct Answer {
    std::uint8_t is_stopped = 0, has_ended = 0, is_active = 0;
};
struct Dealt {
    std::int64_t rank = 0;
    Index index = 0;
};

/// The first rank's side: hears all reports, and deals from `next`.
Bytes answer(const std::vector<Bytes>& reports, Index& next, Index count, const DealCalls& calls) {
    Answer all{.has_ended = 1};
    std::vector<std::int64_t> idle;
    for (std::size_t rank = 0; rank < reports.size(); ++rank) {
        Report report;
        std::memcpy(&report, reports[rank].data(), sizeof report);
        idle.push_back(report.idle);
        all.is_stopped |= report.is_stopped;
        if (report.is_busy != 0) all.has_ended = 0;
        const std::string_view news(
            reinterpret_cast<const char*>(reports[rank].data()) + sizeof report,
            reports[rank].size() - sizeof report);
        if (!news.empty()) all.is_active = 1;
        if (rank > 0 && !news.empty()) calls.hear(news);
    }
    Bytes dealt;
    bool has_idle = all.is_stopped == 0;
    while (has_idle && next < count) {
        has_idle = false;
        for (std::size_t rank = 0; rank < idle.size() && next < count; ++rank) {
            if (idle[rank] <= 0) continue;
            --idle[rank];
            has_idle = true;
            append(dealt, Dealt{static_cast<std::int64_t>(rank), next++});
        }
    }
    if (!dealt.empty() || (next < count && all.is_stopped == 0)) all.has_ended = 0;
    if (!dealt.empty()) all.is_active = 1;
    Bytes bytes;
    append(bytes, all);
    bytes.insert(bytes.end(), dealt.begin(), dealt.end());
    return bytes;
}

}  // namespace

void lead(Comm& comm, const std::function<void()>& work) {
    std::exception_ptr error;
    try {
        if (comm.rank() == 0) work();
    } catch (...) {
        error = std::current_exception();
    }
    agree_on_error(comm, error);
}

void deal(Comm& comm, int workers, Index count, const DealCalls& calls) {
    Workers own(workers, calls);
    Index next = 0;
    std::chrono::microseconds pause = kMinPause;
    for (;;) {
        // Asked before the news: what has ended by then is in the news.
        const bool is_busy = own.is_busy();
        Bytes bytes;
        append(bytes,
               Report{.idle = own.idle(), .is_busy = is_busy, .is_stopped = calls.is_stopped()});
        const std::string news = calls.news();
        bytes.insert(bytes.end(), news.begin(), news.end());
        const std::vector<Bytes> reports = comm.gather(bytes, 0);
        if (comm.rank() == 0) bytes = answer(reports, next, count, calls);
        comm.broadcast(bytes, 0);
        Answer all;
        std::memcpy(&all, bytes.data(), sizeof all);
        if (all.is_stopped != 0) calls.stop();
        if (all.has_ended != 0) return;
        for (std::size_t at = sizeof all; at < bytes.size(); at += sizeof(Dealt)) {
            Dealt dealt;
            std::memcpy(&dealt, bytes.data() + at, sizeof dealt);
            if (dealt.rank == comm.rank()) own.add(dealt.index);
        }
        pause = all.is_active != 0 ? kMinPause : std::min(pause * 5 / 4, kMaxPause);
        own.wait(pause);
    }
}

}  // namespace pleat
