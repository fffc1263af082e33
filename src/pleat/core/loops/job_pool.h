// Job pool: whole jobs, such as runs of an engine, on worker threads.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <system_error>
#include <utility>

#include "pleat/core/view.h"

namespace pleat {

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
auto run_behind(Job job) {
    // std::async loses what was moved into it when it throws.
    const auto shared = std::make_shared<Job>(std::move(job));
    const auto call = [shared] { return (*shared)(); };
    try {
        return std::async(std::launch::async, call);
    } catch (const std::system_error&) {
        return std::async(std::launch::deferred, call);
    }
}

}  // namespace pleat
