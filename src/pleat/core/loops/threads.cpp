// Threads: counts of free units and threads, and the first error of those that run at the same
// time.
#include "pleat/core/loops/threads.h"

#include <omp.h>

#include <chrono>
#include <exception>
#include <limits>
#include <thread>

#include "pleat/core/error.h"

namespace pleat {

namespace {

constexpr std::chrono::milliseconds kPollInterval{
    100};  // an interrupt does not wake a waiting thread, so it polls

}  // namespace

Semaphore::Units& Semaphore::Units::operator=(Units&& other) noexcept {
    if (this == &other) return *this;
    release();
    semaphore_ = std::exchange(other.semaphore_, nullptr);
    count_ = std::exchange(other.count_, 0);
    return *this;
}

void Semaphore::Units::release() {
    Semaphore* const semaphore = std::exchange(semaphore_, nullptr);
    if (semaphore == nullptr) return;
    const std::lock_guard lock(semaphore->mutex_);
    semaphore->free_units_ += std::exchange(count_, 0);
    semaphore->units_changed_.notify_all();
}

Semaphore::Units Semaphore::acquire(std::int64_t min, std::int64_t max,
                                    const std::function<bool()>& is_cancelled) {
    min = std::clamp<std::int64_t>(min, 0, total_units_);
    std::unique_lock lock(mutex_);
    // Leaves the queue, even if is_cancelled() throws. The caller must hold the lock.
    struct Ticket {
        explicit Ticket(Semaphore& owner) : semaphore(owner), number(owner.next_ticket_++) {
            semaphore.waiting_tickets_.insert(number);
        }
        ~Ticket() {
            semaphore.waiting_tickets_.erase(number);
            semaphore.units_changed_.notify_all();
        }
        bool is_next() const { return *semaphore.waiting_tickets_.begin() == number; }
        Semaphore& semaphore;
        const std::int64_t number;
    } ticket(*this);
    while (!ticket.is_next() || free_units_ < min) {
        if (is_cancelled()) throw Cancelled("stopped while waiting for memory or threads");
        units_changed_.wait_for(lock, kPollInterval);
    }
    const std::int64_t count = std::clamp(max, min, free_units_);
    free_units_ -= count;
    return {*this, count};
}

void run_jobs(int workers, Index count, const std::function<void(Index)>& job,
              const std::function<bool()>& stop) {
    std::atomic<Index> next = 0;
    std::atomic<bool> failed = false;
    std::mutex mutex;
    Index first_failed = count;
    std::exception_ptr error;
    const auto work = [&] {
        while (!failed) {
            Index index = count;
            try {
                if (stop()) return;
                index = next.fetch_add(1);
                if (index >= count) return;
                job(index);
            } catch (...) {
                failed = true;
                const std::lock_guard lock(mutex);
                if (!error || index < first_failed) {
                    first_failed = index;
                    error = std::current_exception();
                }
            }
        }
    };
    std::vector<std::thread> threads;
    try {
        const Index wanted = std::min<Index>(workers, count);
        while (std::ssize(threads) + 1 < wanted) threads.emplace_back(work);
    } catch (const std::system_error&) {
        // The system refuses more threads: the existing ones do all the work.
    }
    work();
    for (std::thread& thread : threads) thread.join();
    if (error) std::rethrow_exception(error);
}

namespace {

std::atomic<bool> has_budget = false;
std::atomic<int> free_threads = 0;  // negative if more threads work than the budget has

}  // namespace

ThreadBudget::ThreadBudget(int threads) {
    free_threads = threads;
    has_budget = true;
}

ThreadBudget::~ThreadBudget() { has_budget = false; }

ThreadBudget::Worker::Worker() { --free_threads; }
ThreadBudget::Worker::~Worker() { ++free_threads; }
ThreadBudget::Pause::Pause() { ++free_threads; }
ThreadBudget::Pause::~Pause() { --free_threads; }

int ThreadBudget::take(int wanted) {
    if (!has_budget) return wanted;
    int free = free_threads;
    int taken = 0;
    do taken = std::clamp(free, 0, wanted);
    while (taken > 0 && !free_threads.compare_exchange_weak(free, free - taken));
    return taken;
}

void ThreadBudget::return_threads(int threads) {
    if (has_budget) free_threads += threads;
}

/// Stops tasks in threads other than the caller's.
class ThreadShare::Stop final : public Progress {
public:
    std::atomic<bool> is_asked = false;

    void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {}
    void message(std::string_view) override {}
    bool cancelled() override { return is_asked; }
};

struct ThreadShare::Tasks {
    const int threads, workers;
    const Index count;
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<Index> ended = 0;
    std::atomic<int> from_budget;  // threads of the budget that are not given back
    Stop stop;

    Tasks(int given, Index tasks, int extra)
        : threads(given), workers(extra + 1), count(tasks), from_budget(extra) {}
    ~Tasks() { ThreadBudget::return_threads(std::max(0, from_budget.load())); }

    /// A thread without a further task is available to loops of the others.
    void end_task() {
        if (++ended > count - workers && from_budget.fetch_sub(1) > 0)
            ThreadBudget::return_threads(1);
    }
};

int ThreadShare::threads() const {
    const Index at_once = std::clamp<Index>(tasks_.count - tasks_.ended.load(), 1, tasks_.workers);
    const Index more = index_ % at_once < tasks_.threads % at_once ? 1 : 0;
    return static_cast<int>(std::max<Index>(1, tasks_.threads / at_once + more));
}

Context ThreadShare::context(const Context& given) const {
    Context own = given;
    if (std::this_thread::get_id() != tasks_.caller) own.progress = &tasks_.stop;
    return own;
}

void share_threads(int threads, Index count,
                   const std::function<void(Index, const ThreadShare&)>& task) {
    const bool is_alone = threads <= 1 || omp_in_parallel() != 0;
    const auto others = static_cast<int>(std::clamp<Index>(count - 1, 0, std::max(0, threads - 1)));
    ThreadShare::Tasks tasks(is_alone ? 1 : threads, count,
                             is_alone ? 0 : ThreadBudget::take(others));
    run_jobs(
        tasks.workers, count,
        [&](Index index) {
            try {
                task(index, ThreadShare(tasks, index));
            } catch (...) {
                tasks.end_task();
                // Ignores errors of tasks that an earlier error stopped: they only say so.
                if (!tasks.stop.is_asked.exchange(true)) throw;
                return;
            }
            tasks.end_task();
        },
        [&] { return tasks.stop.is_asked.load(); });
}

void run_team(int threads, const std::function<void(int, int)>& body) {
    if (threads <= 1 || omp_in_parallel()) return body(0, 1);
    const ThreadBudget::Extra extra(threads - 1);
    int first_failed = std::numeric_limits<int>::max();
    std::exception_ptr error;
#pragma omp parallel num_threads(extra.count() + 1)
    {
        const int member = omp_get_thread_num();
        try {
            body(member, omp_get_num_threads());
        } catch (...) {
#pragma omp critical(pleat_run_team_error)
            if (member < first_failed) {
                first_failed = member;
                error = std::current_exception();
            }
        }
    }
    if (error) std::rethrow_exception(error);
}

}  // namespace pleat
