// Threads: what jobs and tasks of one process share, teams that wait for one another, and sorting.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/view.h"

namespace pleat {

/// A semaphore for jobs. Jobs acquire units in the order of their requests, so that small jobs
/// cannot delay a large one forever. Jobs that use several semaphores must acquire them in the same
/// order to avoid deadlock.
class Semaphore {
public:
    explicit Semaphore(std::int64_t units) : total_units_(units), free_units_(units) {}
    Semaphore(const Semaphore&) = delete;
    Semaphore& operator=(const Semaphore&) = delete;

    /// Acquired units; the destructor releases them. Must not outlive the semaphore.
    class Units {
    public:
        Units() = default;
        Units(Units&& other) noexcept { *this = std::move(other); }
        Units& operator=(Units&& other) noexcept;
        ~Units() { release(); }
        std::int64_t count() const { return count_; }
        void release();

    private:
        friend class Semaphore;
        Units(Semaphore& semaphore, std::int64_t count) : semaphore_(&semaphore), count_(count) {}
        Semaphore* semaphore_ = nullptr;
        std::int64_t count_ = 0;
    };

    /// Waits until at least `min` units are free, and acquires as many free units as `max` allows.
    /// A request for more than total() waits until all units are free, and gets all. Calls
    /// `is_cancelled` about ten times a second while waiting; throws Cancelled if it returns true.
    Units acquire(std::int64_t min, std::int64_t max, const std::function<bool()>& is_cancelled);
    /// Acquires exactly `count` units, or all if there are fewer.
    Units acquire(std::int64_t count, const std::function<bool()>& is_cancelled) {
        return acquire(count, count, is_cancelled);
    }

    std::int64_t total() const { return total_units_; }

private:
    const std::int64_t total_units_;
    std::int64_t free_units_;
    std::int64_t next_ticket_ = 0;
    std::set<std::int64_t> waiting_tickets_;  ///< tickets; the lowest one is served next
    std::mutex mutex_;
    std::condition_variable units_changed_;
};

/// Calls `job(index)` for each index in [0, count) on `workers` threads, one of which is the
/// calling thread; a free thread takes the next index. Unlike the bodies of parallel_for(), jobs
/// may use threads themselves. No job starts once `stop()` returns true or a job has thrown; the
/// error of the lowest index is then thrown here. If the system refuses threads, those that it gave
/// do the work.
void run_jobs(int workers, Index count, const std::function<void(Index)>& job,
              const std::function<bool()>& stop);

/// Calls `job()` on a new thread. If the system refuses one, the call is made when its result is
/// first waited for.
template <class Job>
auto run_in_background(Job job) {
    // std::async loses arguments that were moved into it if it throws.
    const auto shared = std::make_shared<Job>(std::move(job));
    const auto call = [shared] { return (*shared)(); };
    try {
        return std::async(std::launch::async, call);
    } catch (const std::system_error&) {
        return std::async(std::launch::deferred, call);
    }
}

/// While one exists, each parallel_for() of the process uses the calling thread and as many free
/// threads as are available, up to the requested number. Jobs that run at the same time have one
/// thread each; the last ones use threads of jobs that have ended. At most one exists at a time.
class ThreadBudget {
public:
    explicit ThreadBudget(int threads);
    ~ThreadBudget();
    ThreadBudget(const ThreadBudget&) = delete;
    ThreadBudget& operator=(const ThreadBudget&) = delete;

    /// Counts the calling thread as one of the budget's threads while this object exists.
    class Worker {
    public:
        Worker();
        ~Worker();
        Worker(const Worker&) = delete;
        Worker& operator=(const Worker&) = delete;
    };
    /// While this object exists the calling thread waits, and others may use its place.
    class Pause {
    public:
        Pause();
        ~Pause();
        Pause(const Pause&) = delete;
        Pause& operator=(const Pause&) = delete;
    };

    /// Up to `wanted` free threads, held while this object exists.
    class Extra {
    public:
        explicit Extra(int wanted) : count_(take(wanted)) {}
        ~Extra() { return_threads(count_); }
        Extra(const Extra&) = delete;
        Extra& operator=(const Extra&) = delete;
        int count() const { return count_; }

    private:
        const int count_;
    };

    /// Acquires up to `wanted` free threads and returns their number; without a budget, that is
    /// `wanted`.
    static int take(int wanted);
    static void return_threads(int threads);
};

/// The threads that one task of share_threads() may use. Must not outlive the task.
class ThreadShare {
public:
    /// Threads that one loop of this task may use now; the unfinished tasks divide all threads.
    int threads() const;
    /// A copy of `given` for this task. In the caller's thread it has the caller's progress; in
    /// other threads it reports nothing and is cancelled once a task has thrown.
    Context context(const Context& given) const;

private:
    class Stop;
    struct Tasks;
    friend void share_threads(int threads, Index count,
                              const std::function<void(Index, const ThreadShare&)>& task);

    ThreadShare(Tasks& tasks, Index index) : tasks_(tasks), index_(index) {}

    Tasks& tasks_;
    const Index index_;
};

/// Calls `task(index, share)` for each index in [0, count) on up to `threads` threads, one of which
/// is the caller's. Unlike the bodies of parallel_for(), tasks may begin parallel loops, of
/// `share.threads()` threads: more once other tasks have ended. Once a task has thrown, none is
/// started; its error is thrown here when the others have ended. Inside a parallel_for() the tasks
/// run one after another on the calling thread.
void share_threads(int threads, Index count,
                   const std::function<void(Index, const ThreadShare&)>& task);

/// Calls `body(member, members)` once on each of up to `threads` concurrent threads; fewer if the
/// ThreadBudget has no more, and only one inside a parallel_for(). If calls throw, the others
/// continue, and the error of the lowest member is thrown here at the end: a body must not wait for
/// a failed member.
void run_team(int threads, const std::function<void(int, int)>& body);

/// Sorts by `before`, a strict order in which no two values are equal, so that the result is the
/// same for any number of threads. Needs additional memory of the size of `values`.
template <class T, class Before>
void parallel_sort(std::vector<T>& values, int threads, Before before) {
    const auto count = std::ssize(values);
    Index parts = 1;
    while (parts < threads) parts *= 2;
    const auto edge = [&](Index part) { return part * count / parts; };
    parallel_for(threads, parts, [&](Index part, int) {
        std::sort(values.begin() + edge(part), values.begin() + edge(part + 1), before);
    });
    std::vector<T> merged(parts > 1 ? values.size() : 0);
    for (Index step = 1; step < parts; step *= 2) {
        parallel_for(threads, parts / (2 * step), [&](Index pair, int) {
            const auto at = [&](Index k) { return values.begin() + edge((2 * pair + k) * step); };
            std::merge(at(0), at(1), at(1), at(2), merged.begin() + edge(2 * pair * step), before);
        });
        values.swap(merged);
    }
}

}  // namespace pleat
