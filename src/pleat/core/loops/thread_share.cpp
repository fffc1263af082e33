// Thread share: jobs on threads of their own, and a count of those that have not ended.
#include "pleat/core/loops/thread_share.h"

#include <omp.h>

#include <algorithm>
#include <thread>

#include "pleat/core/loops/job_pool.h"
#include "pleat/core/loops/thread_budget.h"

namespace pleat {

/// Tells tasks in other threads than the caller's to stop.
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
    ~Tasks() { ThreadBudget::give_back(std::max(0, from_budget.load())); }

    /// A thread that finds no further task is free for loops of the others.
    void end_task() {
        if (++ended > count - workers && from_budget.fetch_sub(1) > 0) ThreadBudget::give_back(1);
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
                // Tasks that this one stops say only that they were stopped.
                if (!tasks.stop.is_asked.exchange(true)) throw;
                return;
            }
            tasks.end_task();
        },
        [&] { return tasks.stop.is_asked.load(); });
}

}  // namespace pleat
