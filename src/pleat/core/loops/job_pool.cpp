// Job pool: std::thread, a counter, and the first error.
#include "pleat/core/loops/job_pool.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace pleat {

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
        while (static_cast<Index>(threads.size()) + 1 < wanted) threads.emplace_back(work);
    } catch (const std::system_error&) {
        // The system refuses more threads: the existing ones do all the work.
    }
    work();
    for (std::thread& thread : threads) thread.join();
    if (error) std::rethrow_exception(error);
}

}  // namespace pleat
